//! The codes of errors, as a protocol of tools has them.

use std::fs;
use std::sync::Arc;

use repertoire::catalog::{MemoryFiles, ProvidedFile, Provider, Scope};
use repertoire::{Engine, Error, ErrorCode, Source};
use serde_json::json;

use super::{builder, skill, tree, use_skill};

#[test]
fn seed_003_each_failure_of_the_tool_has_its_code() {
    use ErrorCode::{ExecutionError, InternalError, InvalidParam, NotFound};

    let dir = tree(&[
        ("fine/SKILL.md", &skill("fine", "", "Do.")),
        ("other/SKILL.md", &skill("other", "", "Do.")),
        ("unparsed/SKILL.md", "---\nname: [\n---\n"),
        ("bytes/SKILL.md", "x"),
        ("directory/SKILL.md/notes.md", "x"),
        ("gone/SKILL.md", &skill("gone", "", "Do.")),
    ]);
    fs::write(dir.path().join("bytes/SKILL.md"), b"---\nname: \xff\n").unwrap();
    let engine = builder(&dir).build().unwrap();
    fs::remove_file(dir.path().join("gone/SKILL.md")).unwrap();
    for (arguments, code, word) in [
        (json!({}), InvalidParam, "skill"),
        (json!({"skill": null}), InvalidParam, "string"),
        (json!({"skill": "unknown"}), NotFound, "unknown"),
        (json!({"skill": "unparsed"}), InternalError, "rejected"),
        (json!({"skill": "bytes"}), InternalError, "UTF-8"),
        (json!({"skill": "directory"}), ExecutionError, "directory"),
        (json!({"skill": "gone"}), ExecutionError, "cannot"),
        (json!({"skill": "fine", "by": "fine"}), InvalidParam, "fine → fine"),
    ] {
        let answer = use_skill(&engine, "model", &arguments);
        assert_eq!(answer.code(), Some(code), "{arguments}: {answer:?}");
        assert!(answer.text().contains(word), "{word}: {answer:?}");
        let json = serde_json::to_value(&answer).unwrap();
        assert_eq!(
            (&json["status"], &json["error"]["code"]),
            (&json!("error"), &json!(code.as_str()))
        );
    }
    let prompt = engine.prompt().text;
    assert!(!prompt.contains("unparsed"), "what cannot be parsed is not listed: {prompt}");
}

/// A provider that may list its files, and may not read some of them.
#[derive(Debug)]
struct Guarded(MemoryFiles, ErrorCode);

impl Provider for Guarded {
    fn list(&self) -> Result<Vec<ProvidedFile>, Error> {
        self.0.list()
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, Error> {
        if path.ends_with("notes.md") {
            return Err(Error::new(self.1, "the database refuses it", "ask its owner"));
        }
        self.0.read(path)
    }
}

#[test]
fn seed_003_a_file_that_may_not_be_read_is_told_from_one_that_cannot_be_read() {
    for code in [ErrorCode::PermissionDenied, ErrorCode::ExecutionError] {
        let files = MemoryFiles::new();
        files.put("a/SKILL.md", skill("a", "", "Read notes.md."));
        files.put("a/notes.md", "secret");
        let source = Source::provided(Scope::Memory, "db", Arc::new(Guarded(files, code)));
        let engine = Engine::builder().source(source).build().unwrap();
        let tools = engine.tools(&engine.session("s"));
        let answer = tools.call("read_skill_file", &json!({"skill": "a", "path": "notes.md"}));
        assert_eq!(answer.code(), Some(code), "{answer:?}");
    }
}

#[cfg(unix)]
#[test]
fn seed_003_a_skill_file_without_permission_is_permission_denied() {
    use std::os::unix::fs::PermissionsExt as _;

    let dir = tree(&[("locked/SKILL.md", &skill("locked", "", "Do."))]);
    let file = dir.path().join("locked/SKILL.md");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o0)).unwrap();
    if fs::read(&file).is_ok() {
        return; // root reads every file
    }
    let engine = builder(&dir).build().unwrap();
    let answer = use_skill(&engine, "model", &json!({"skill": "locked"}));
    assert_eq!(answer.code(), Some(ErrorCode::PermissionDenied), "{answer:?}");
}

#[test]
fn seed_003_of_two_skills_with_a_name_the_last_counts_and_a_warning_says_so() {
    let dir = tree(&[
        ("a/SKILL.md", &skill("twin", "", "first")),
        ("b/SKILL.md", &skill("twin", "", "last")),
        ("directory/SKILL.md", &skill("real-name", "", "named")),
    ]);
    let engine = builder(&dir).build().unwrap();
    let activation = engine.activate("twin", "", &engine.session("s")).unwrap();
    assert_eq!(activation.content.trim(), "last");
    assert!(engine.diagnostics().iter().any(|found| found.message.contains("twin")));
    // The name in front matter wins over that of the directory, by which the skill is found as well.
    for name in ["real-name", "directory"] {
        assert_eq!(engine.activate(name, "", &engine.session("s")).unwrap().id, "real-name");
    }
}
