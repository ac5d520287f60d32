//! Skills of a repository that are not taken, while the others are.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;

use crate::binary::Place;
use crate::repository::Repository;

#[test]
fn a_link_that_leaves_the_source_costs_one_skill() {
    let (place, repository) = (Place::new(), Repository::with_deploy());
    repository.skill("skills/bad", "bad", "Do it.\n");
    repository.skill("skills/late", "late", "Do it.\n");
    symlink("/Users/ann/notes", repository.path().join("skills/bad/notes")).unwrap();
    repository.commit();
    let url = repository.url();
    let added = place.run(["add", &url, "--name", "team", "--json"]).exits(0).json();
    assert_eq!(added["skills"], json!(["deploy", "late"]));
    assert_eq!(added["left_out"][0]["dir"], "skills/bad", "{added}");
    let text = place.run(["add", &url, "--name", "other", "--dry-run"]).exits(0).stdout;
    assert!(text.contains("left out: `skills/bad`: its `skills/bad/notes` is a link"), "{text}");
    let run = place.run(["add", &url, "--name", "x", "--skill", "bad"]).exits(1);
    assert!(run.stderr.contains("PERMISSION_DENIED"), "{run:?}");

    symlink("../../../out", repository.path().join("skills/late/out")).unwrap();
    repository.commit();
    let updated = place.run(["update", "team", "--json"]).exits(0).json();
    let left_out = updated["sources"][0]["left_out"].as_array().unwrap();
    assert_eq!(left_out.len(), 2, "{updated}");
}

#[test]
fn submodules_and_directories_that_are_nearly_named_skills_are_told() {
    let (place, repository, other) = (Place::new(), Repository::with_deploy(), Repository::new());
    other.skill("sub", "sub", "Do it.\n");
    other.commit();
    repository.skill(".claude/Skills/odd", "odd", "Do it.\n");
    repository.skill(".claude/Skills/odder", "odder", "Do it.\n");
    repository.write("docs/Skills/README.md", "About skills.\n");
    let from = other.url();
    repository.git(&["-c", "protocol.file.allow=always", "submodule", "add", &from, "skills/sub"]);
    repository.commit();
    let url = repository.url();
    let added = place.run(["add", &url, "--name", "team", "--json"]).exits(0).json();
    assert_eq!(added["skills"], json!(["deploy"]), "{added}");
    let told = |of: &serde_json::Value| {
        let all = of["left_out"].as_array().unwrap().iter();
        all.map(|of| of["dir"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(told(&added), [".claude/Skills", "skills/sub"], "{added}");
    let text = place.run(["add", &url, "--name", "other", "--list"]).exits(0).stdout;
    assert!(text.contains("`skills/sub`: a submodule is not fetched"), "{text}");
    assert!(text.contains("`.claude/Skills`: no agent looks there"), "{text}");
    // Who names a skill did not ask for the others.
    let args = ["add", &url, "--name", "one", "--skill", "deploy", "--json"];
    assert_eq!(told(&place.run(args).exits(0).json()), [""; 0]);
}

/// Puts a submodule at `path`, whose address is written as `url`.
fn submodule(repository: &Repository, path: &str, url: &str, commit: &str) {
    let known = fs::read_to_string(repository.path().join(".gitmodules")).unwrap_or_default();
    repository.write(
        ".gitmodules",
        &format!("{known}[submodule \"{path}\"]\n\tpath = {path}\n\turl = {url}\n"),
    );
    repository.git(&["add", ".gitmodules"]);
    repository.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{commit},{path}")]);
    repository.git(&["commit", "--quiet", "--message", "submodule"]);
}

#[test]
fn submodules_of_the_same_host_are_fetched_at_their_commit() {
    let (place, repository, team) = (Place::new(), Repository::with_deploy(), Repository::new());
    team.skill("skills/pdf", "pdf", "Version 1.\n");
    team.skill("docx", "docx", "Do it.\n");
    let commit = team.commit();
    team.skill("skills/pdf", "pdf", "Version 2.\n");
    let later = team.commit();
    place.write(
        "home/.gitconfig",
        format!(
            "[url \"{}\"]\n\tinsteadOf = https://h.org/o/r.git\n\
             [url \"{}\"]\n\tinsteadOf = https://h.org/p/team\n",
            repository.url(),
            team.url()
        ),
    );
    submodule(&repository, "skills/team", "../../p/team", &commit);
    submodule(&repository, "vendor/lib", "../../p/nothing", &commit);
    submodule(&repository, "skills/other", "https://evil.org/p/team", &commit);
    let url = "https://h.org/o/r.git";
    let added = place.run(["add", url, "--name", "all", "--json"]).exits(0).json();
    assert_eq!(added["skills"], json!(["deploy", "docx", "pdf"]), "{added}");
    let told = added["left_out"].as_array().unwrap().iter().map(|of| &of["dir"]);
    assert_eq!(told.collect::<Vec<_>>(), ["skills/other", "vendor/lib"], "{added}");
    assert!(place.run(["use", "pdf"]).exits(0).stdout.contains("Version 1."));
    let updated = place.run(["update", "--json"]).exits(0).json();
    assert_eq!(updated["sources"][0]["status"], "unchanged", "{updated}");
    place.run(["update", "--frozen"]).exits(0);
    submodule(&repository, "skills/team", "../../p/team", &later);
    place.run(["update"]).exits(0);
    assert!(place.run(["use", "pdf"]).exits(0).stdout.contains("Version 2."));

    // A submodule that is not needed is not fetched, so it cannot fail.
    submodule(&repository, "skills/secret", "../../p/secret", &commit);
    let run = place.run(["add", url, "--name", "more"]).exits(1);
    assert!(run.stderr.contains("its submodule `skills/secret`"), "{run:?}");
    assert!(run.stderr.contains("--skill '!skills/secret'"), "{run:?}");
    for skills in ["!skills/secret", "deploy"] {
        place.run(["add", url, "--name", "some", "--skill", skills]).exits(0);
        place.run(["remove", "some"]).exits(0);
    }
}

#[test]
fn a_skill_with_a_submodule_that_is_not_fetched_is_left_out() {
    let (place, repository, other) = (Place::new(), Repository::with_deploy(), Repository::new());
    other.write("lib.sh", "echo lib\n");
    let commit = other.commit();
    repository.skill("skills/pdf", "pdf", "Do it.\n");
    repository.commit();
    submodule(&repository, "skills/pdf/lib", &other.url(), &commit);
    let added = place.run(["add", &repository.url(), "--name", "a", "--json"]).exits(0).json();
    assert_eq!(added["skills"], json!(["deploy"]), "{added}");
    assert_eq!(added["left_out"][0]["dir"], "skills/pdf", "{added}");

    let target = other.path();
    let relative = format!("../../{}", target.strip_prefix("/tmp").unwrap_or(&target).display());
    submodule(&repository, "skills/pdf/lib", &relative, &commit);
    if target.starts_with("/tmp") {
        let added = place.run(["add", &repository.url(), "--name", "b", "--json"]).exits(0).json();
        assert_eq!(added["skills"], json!(["deploy", "pdf"]), "{added}");
        let lib = Path::new(added["path"].as_str().unwrap()).join("pdf/lib/lib.sh");
        assert_eq!(fs::read_to_string(lib).unwrap(), "echo lib\n");
    }
}

#[test]
fn the_same_files_for_several_agents_come_once() {
    let (place, repository) = (Place::new(), Repository::new());
    for dir in [".agent", ".claude", ".github"] {
        repository.skill(&format!("{dir}/skills/pdf"), "pdf", "Do it.\n");
        repository.write(&format!("{dir}/skills/pdf/note.md"), "x\n");
    }
    repository.skill(".github/skills/own", "own", "Do it.\n");
    repository.commit();
    let added = place.run(["add", &repository.url(), "--json"]).exits(0).json();
    assert_eq!((&added["skills"], &added["files"]), (&json!(["own", "pdf"]), &json!(3)), "{added}");
    assert_eq!(added["shadowed"], json!([]), "{added}");
    let updated = place.run(["update", "--json"]).exits(0).json();
    assert_eq!(updated["sources"][0]["status"], "unchanged", "{updated}");
}
