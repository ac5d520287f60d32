//! Skills that are looked at before they are taken.

use serde_json::json;

use crate::binary::Place;
use crate::repository::{Repository, skill};

fn repository() -> Repository {
    let repository = Repository::with_deploy();
    let fields = "allowed-tools: Read, Bash(git:*)\n";
    repository.write("skills/sem-ver/SKILL.md", &skill("sem-ver", fields, &"word ".repeat(80)));
    repository.write("skills/sem-log/SKILL.md", &skill("sem-log", "", "Ask \u{200b}nobody.\n"));
    repository.commit();
    repository
}

#[test]
fn skills_are_shown_with_tokens_code_rights_and_findings_and_nothing_is_taken() {
    let (place, repository) = (Place::new(), repository());
    for mode in ["--list", "--dry-run"] {
        let shown = place.run(["add", &repository.url(), mode, "--json"]).exits(0).json();
        let skills = shown["skills"].as_array().unwrap();
        let ids: Vec<_> = skills.iter().map(|skill| &skill["id"]).collect();
        assert_eq!(ids, ["deploy", "sem-log", "sem-ver"], "{shown}");
        assert_eq!(skills[0]["code"], json!(["scripts/go.sh"]));
        assert_eq!(skills[0]["rights"], json!(["all tools"]));
        assert_eq!(skills[0]["description"], "Does deploy.");
        assert_eq!(skills[2]["rights"], json!(["tool: Read", "tool: Bash(git:*)"]));
        assert_eq!(skills[2]["loaded_tokens"], 100, "{shown}");
        // `sem-ver` and `Does sem-ver.` in bytes, a quarter each, rounded up.
        assert_eq!(skills[2]["always_tokens"], 2 + 4, "{shown}");
        let found = skills[1]["findings"].to_string();
        assert!(found.contains("invisible-text"), "{shown}");
        assert!(found.contains("\"sem-log/SKILL.md\""), "paths are those in the copy: {shown}");
        let text = place.run(["add", &repository.url(), mode]).exits(0).stdout;
        for part in ["Does sem-ver.", "6 tokens always, 100 when loaded", "code: scripts/go.sh"] {
            assert!(text.contains(part), "{mode} {part}: {text}");
        }
        assert!(!place.path().join("home/.repertoire").exists(), "{mode}");
    }
    let listed = place.run(["list", "--json"]).exits(0).stdout;
    assert!(!listed.contains("sem-ver"), "{listed}");
}

#[test]
fn a_dry_run_shows_what_would_be_written() {
    let (place, repository) = (Place::new(), repository());
    let url = repository.url();
    place.run(["add", &url, "--name", "team", "--skill", "deploy"]).exits(0);
    let dry = ["add", &url, "--name", "team", "--skill", "sem*", "--dry-run"];
    let text = place.run(dry).exits(0).stdout;
    assert!(text.contains("would add 3 skills") && text.contains("skills: deploy, sem*"), "{text}");
    assert!(text.contains("`[fetch.team]`"), "{text}");
    let only = place.run(["add", &url, "--skill", "sem*", "--list", "--json"]).exits(0).json();
    let ids: Vec<_> = only["skills"].as_array().unwrap().iter().map(|skill| &skill["id"]).collect();
    assert_eq!(ids, ["sem-log", "sem-ver"]);
}
