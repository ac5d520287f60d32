//! Skills of a repository that are not taken, while the others are.

use std::os::unix::fs::symlink;

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
