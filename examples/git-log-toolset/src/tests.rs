use std::path::Path;
use std::process::Command;

use super::*;
use repertoire_plugin::ErrorCode;
use tempfile::TempDir;

fn git(dir: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null");
    let output = command.args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn commit(dir: &Path, author: &str, file: &str, text: &str, subject: &str) {
    std::fs::create_dir_all(dir.join(file).parent().unwrap()).unwrap();
    std::fs::write(dir.join(file), text).unwrap();
    git(dir, &["add", "--all"]);
    let (name, email) = (format!("user.name={author}"), "user.email=a@example.org");
    git(dir, &["-c", &name, "-c", email, "commit", "--quiet", "--message", subject]);
}

/// Creates a repository with three commits of two people, one of which renames a file.
fn repository() -> (TempDir, GitLogToolset) {
    let dir = tempfile::tempdir().unwrap();
    git(dir.path(), &["init", "--quiet"]);
    let poem = "roses are red\nviolets are blue\n";
    commit(dir.path(), "Ada", "notes/old.md", poem, "Write a poem");
    std::fs::rename(dir.path().join("notes/old.md"), dir.path().join("notes/new.md")).unwrap();
    commit(dir.path(), "Grace", "notes/new.md", &format!("{poem}so it goes\n"), "Rename it");
    commit(dir.path(), "Ada", "-x", "1", "Add an odd file; `touch $(id)`");
    let toolset = open(dir.path());
    (dir, toolset)
}

fn open(dir: &Path) -> GitLogToolset {
    <GitLogToolset as Toolset>::create(json!({"repository": dir})).unwrap()
}

fn call(toolset: &GitLogToolset, tool: &str, arguments: Value) -> ToolResult {
    FakeHost::new().call(toolset, tool, arguments)
}

fn subjects(output: &ToolOutput) -> Vec<&str> {
    output.output.lines().map(|line| line.split_once(": ").unwrap().1).collect()
}

#[test]
fn commits_are_listed_newest_first() {
    let (_dir, toolset) = repository();
    let output = call(&toolset, "recent_commits", json!({})).unwrap();
    assert_eq!(subjects(&output), ["Add an odd file; `touch $(id)`", "Rename it", "Write a poem"]);
    assert_eq!(output.metadata["commits"].as_array().unwrap().len(), 3);
    let output = call(&toolset, "recent_commits", json!({"limit": 1})).unwrap();
    assert_eq!(output.title, "1 commit");
    let output = call(&toolset, "recent_commits", json!({"author": "Grace"})).unwrap();
    assert_eq!(subjects(&output), ["Rename it"]);
    let output = call(&toolset, "recent_commits", json!({"author": "."})).unwrap();
    assert_eq!(subjects(&output).len(), 3, "a dot is in the address");
    let output = call(&toolset, "recent_commits", json!({"author": "G.*e"})).unwrap();
    assert_eq!(output.output, "no commits", "text, not a pattern");
}

#[test]
fn options_and_magic_are_paths() {
    let (_dir, toolset) = repository();
    let output = call(&toolset, "recent_commits", json!({"path": "-x"})).unwrap();
    assert_eq!(subjects(&output).len(), 1);
    let output = call(&toolset, "recent_commits", json!({"path": ":(top)"})).unwrap();
    assert_eq!(output.output, "no commits");
    let output = call(&toolset, "recent_commits", json!({"author": "--all"})).unwrap();
    assert_eq!(output.output, "no commits");
}

#[test]
fn the_history_of_a_file_goes_across_renames() {
    let (_dir, toolset) = repository();
    let output = call(&toolset, "file_history", json!({"path": "notes/new.md"})).unwrap();
    let expected = [
        "Rename it (1 file changed, 1 insertion(+))",
        "Write a poem (1 file changed, 2 insertions(+))",
    ];
    assert_eq!(subjects(&output), expected);
    let error = call(&toolset, "file_history", json!({"path": "nothing"})).unwrap_err();
    assert_eq!(error.message(), "no commit touches `nothing`; is it in the repository?");
}

#[test]
fn contributors_are_counted() {
    let (_dir, toolset) = repository();
    let output = call(&toolset, "contributors", json!({})).unwrap();
    assert_eq!(output.output, "2 Ada <a@example.org>\n1 Grace <a@example.org>");
    let output = call(&toolset, "contributors", json!({"path": "notes", "limit": 1})).unwrap();
    assert_eq!(output.title, "1 of 2 contributors");
}

#[test]
fn paths_stay_in_the_repository() {
    let (dir, toolset) = repository();
    for path in ["../x", "/etc/passwd", "notes/../../x", ""] {
        let error = call(&toolset, "file_history", json!({"path": path})).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidArguments, "{path}");
    }
    // A directory inside of a repository is not a repository: git must not search its parents.
    let inside = open(&dir.path().join("notes"));
    let error = call(&inside, "recent_commits", json!({})).unwrap_err();
    assert!(error.message().ends_with("is not the root of a git repository"));
}

#[test]
fn problems_are_said() {
    let dir = tempfile::tempdir().unwrap();
    let error = call(&open(dir.path()), "contributors", json!({})).unwrap_err();
    assert!(error.message().ends_with("is not the root of a git repository"));
    git(dir.path(), &["init", "--quiet"]);
    for tool in ["contributors", "recent_commits"] {
        let error = call(&open(dir.path()), tool, json!({})).unwrap_err();
        assert!(error.message().ends_with("has no commits yet"), "{}", error.message());
    }
    let error = call(&open(&dir.path().join("gone")), "contributors", json!({})).unwrap_err();
    assert!(error.message().contains("cannot open the repository"), "{}", error.message());
}

#[test]
fn a_cancelled_call_ends() {
    let (_dir, toolset) = repository();
    let host = FakeHost::new();
    host.cancel();
    let error = host.call(&toolset, "recent_commits", json!({})).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Cancelled);
}
