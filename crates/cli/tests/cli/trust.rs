//! The command `trust`: what it shows before code is trusted, and what has changed since.

use super::*;

pub(super) const SCRIPT: &str = "#!/bin/sh\n# Fetches.\necho one\n";

/// Creates a project with a skill that has a script, and whose front matter asks for `rights`.
pub(super) fn project(rights: &str) -> Place {
    let place = Place::new();
    write(&place, rights);
    place.write(".agents/skills/fetch/scripts/fetch.sh", SCRIPT);
    place
}

fn write(place: &Place, rights: &str) {
    let text = format!("---\nname: fetch\ndescription: Fetches pages.\n{rights}---\nBody\n");
    place.write(".agents/skills/fetch/SKILL.md", text);
}

pub(super) fn changes(place: &Place, code: i32) -> Vec<(String, String)> {
    let json = place.run(["trust", "diff", "--json"]).exits(code).json();
    let changes = json["changes"].as_array().unwrap().iter();
    let pair = |change: &Value| {
        let path = change["path"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        (change["what"].as_str().unwrap().to_owned(), path)
    };
    changes.map(pair).collect()
}

/// Returns the files that `trust add` trusted for the only skill, and how each has changed.
fn accepted(added: &Value) -> Vec<(String, String)> {
    let changes = added["skills"][0]["changes"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    changes.map(|change| (text(&change["kind"]), text(&change["path"]))).collect()
}

pub(super) fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(what, path)| ((*what).to_owned(), (*path).to_owned())).collect()
}

#[test]
fn what_a_script_may_do_is_shown_before_it_is_trusted() {
    let asks = "rights: {network: true}\n";
    let in_metadata = "metadata: {rights: {network: true}}\n";
    for (rights, network) in [("", false), (asks, true), (in_metadata, true)] {
        let place = project(rights);
        let shown = place.run(["trust", "show", "fetch", "--json"]).exits(0).json();
        let code = &shown["code"][0];
        assert_eq!(
            (code["name"].as_str(), code["network"].as_bool()),
            (Some("scripts/fetch.sh"), Some(network)),
            "{rights}"
        );
        assert!(code["runs"].as_str().unwrap().contains("/sh"), "{code}");
        // Showing a skill does not trust it.
        place.run(["run", "fetch", "fetch.sh"]).exits(1);
        let added = place.run(["trust", "add", "--yes", "fetch"]).exits(0).stdout;
        let reads = "reads its skill and the project in which it runs";
        let told = if network {
            format!("{reads} · uses the network · writes nothing (network: open, as its skill")
        } else {
            format!("{reads} · no network · writes nothing\n")
        };
        let (before, after) = added.split_once("trusted ").unwrap();
        assert_contains(before, &["scripts/fetch.sh", &told]);
        assert!(after.contains("fetch.sh"), "{added}");
        let ran = place.run(["run", "fetch", "fetch.sh", "--json"]).exits(0).json();
        let offline = if network { Value::Null } else { "not-asked".into() };
        assert_eq!(ran["data"]["offline"], offline, "{ran}");
    }
}

#[test]
fn what_changed_since_is_shown_and_the_network_stays_closed() {
    let place = project("");
    assert_eq!(changes(&place, 0), []);
    place.run(["trust", "add", "--yes", "fetch"]).exits(0);
    assert_eq!(changes(&place, 0), []);

    write(&place, "rights: {network: true}\n");
    assert_eq!(changes(&place, 1), owned(&[("rights", "fetch.sh")]));
    let ran = place.run(["run", "fetch", "fetch.sh", "--json"]).exits(0).json();
    assert_eq!(ran["data"]["offline"], "not-allowed", "{ran}");

    place.write(".agents/skills/fetch/scripts/fetch.sh", SCRIPT.replace("one", "two\u{1b}[2J"));
    place.write(".agents/skills/fetch/scripts/json.py", "evil()\n");
    let expected = [("changed", "fetch.sh"), ("new", "json.py"), ("rights", "fetch.sh")];
    assert_eq!(changes(&place, 1), owned(&expected));
    let text = place.run(["trust", "diff", "fetch"]).exits(1).stdout;
    assert_contains(&text, &["-echo one", "+echo two"]);
    assert!(!text.contains('\u{1b}'), "{text:?}");

    place.run(["trust", "add", "--yes", "fetch"]).exits(0);
    assert_eq!(changes(&place, 0), []);
    std::fs::remove_file(place.path().join(".agents/skills/fetch/scripts/json.py")).unwrap();
    assert_eq!(changes(&place, 1), owned(&[("missing", "json.py")]));
}

#[test]
fn a_file_beside_a_script_that_changed_is_named_everywhere() {
    let place = project("");
    let path = ".agents/skills/fetch/scripts/fetch.sh";
    place.write(path, "#!/bin/sh\n. \"$(dirname \"$0\")/../lib/f.sh\"\n");
    let beside = ".agents/skills/fetch/lib/f.sh";
    place.write(beside, "echo one\n");
    place.write(".agents/skills/fetch/lib/gone.sh", "");
    let added = place.run(["trust", "add", "--yes", "fetch", "--json"]).exits(0).json();
    assert_eq!(added["skills"][0]["files"], 4, "{added}");
    let all = ["SKILL.md", "lib/f.sh", "lib/gone.sh", "scripts/fetch.sh"];
    assert_eq!(accepted(&added), owned(&all.map(|path| ("added", path))));
    let run = || place.run(["run", "fetch", "fetch.sh"]);
    assert_eq!(run().exits(0).stdout, "one\n");
    place.run(["doctor"]).exits(0);

    place.write(beside, "echo two\n");
    place.write(".agents/skills/fetch/lib/new.sh", "");
    std::fs::remove_file(place.path().join(".agents/skills/fetch/lib/gone.sh")).unwrap();
    let files = ["`lib/f.sh` (changed)", "`lib/gone.sh` (removed)", "`lib/new.sh` (added)"];
    let commands = ["`repertoire trust diff ", "`repertoire trust add "];
    assert_contains(&run().exits(1).stderr, &[&files[..], &commands].concat());
    assert_contains(&place.run(["trust", "list"]).exits(0).stdout, &files);
    assert_contains(&place.run(["doctor"]).exits(1).stdout, &files);
    let listed = place.run(["trust", "list", "--json"]).exits(0).json();
    let change = &listed["skills"][0]["changes"][0];
    assert_eq!((&change["path"], &change["kind"]), (&"lib/f.sh".into(), &"changed".into()));
    let expected = [("changed", "f.sh"), ("missing", "gone.sh"), ("new", "new.sh")];
    assert_eq!(changes(&place, 1), owned(&expected));
    let text = place.run(["trust", "diff", "fetch"]).exits(1).stdout;
    assert_contains(&text, &["-echo one", "+echo two"]);

    // Trusting a file trusts all files of its skill, so all of them are named.
    place.write(path, "#!/bin/sh\n. \"$(dirname \"$0\")/../lib/f.sh\"\necho end\n");
    let refused = run().exits(1).stderr;
    assert_contains(&refused, &[&["fetch.sh has changed", "other files"], &files[..]].concat());
    assert_contains(&refused, &commands);
    let added = place.run(["trust", "add", "--yes", path, "--json"]).exits(0).json();
    let expected = [
        ("changed", "lib/f.sh"),
        ("removed", "lib/gone.sh"),
        ("added", "lib/new.sh"),
        ("changed", "scripts/fetch.sh"),
    ];
    assert_eq!(accepted(&added), owned(&expected));
    assert_eq!(run().exits(0).stdout, "two\nend\n");
    assert_eq!(changes(&place, 0), []);
    // A change of the instructions does not affect code, so the script stays trusted.
    let skill = "---\nname: fetch\ndescription: Fetches pages.\n---\nOther\n";
    place.write(".agents/skills/fetch/SKILL.md", skill);
    run().exits(0);
    assert_eq!(changes(&place, 0), []);
}

#[test]
fn code_that_was_trusted_without_its_other_files_is_asked_for_again() {
    let place = project("");
    place.run(["trust", "add", "--yes", "fetch"]).exits(0);
    let listed = place.run(["trust", "list", "--json"]).exits(0).json();
    let old = serde_json::json!({"version": 1, "trusted": listed["trusted"]});
    let store = listed["store"].as_str().unwrap();
    std::fs::write(store, old.to_string()).unwrap();
    let refused = place.run(["run", "fetch", "fetch.sh"]).exits(1).stderr;
    assert_contains(&refused, &["without the other files", "`repertoire trust add "]);
    assert_eq!(changes(&place, 1), owned(&[("unknown", "fetch")]));
    assert_contains(&place.run(["doctor"]).exits(1).stdout, &["`repertoire trust add fetch`"]);
    place.run(["trust", "add", "--yes", "fetch"]).exits(0);
    place.run(["run", "fetch", "fetch.sh"]).exits(0);
}

#[test]
fn a_skill_with_many_new_files_is_shown_in_part() {
    let place = project("");
    for n in 0..50 {
        place.write(&format!(".agents/skills/fetch/data/{n}.txt"), "");
    }
    let added = place.run(["trust", "add", "--yes", "fetch"]).exits(0).stdout;
    assert_contains(&added, &["added   ", "and 12 more files, which `--json` lists\n"]);
    let script = place.run(["trust", "add", "--yes", "fetch", "--json"]).exits(0).json();
    assert_eq!(accepted(&script), [], "nothing is new");
}

#[test]
fn a_skill_that_cannot_be_compared_is_told_of() {
    let place = project("");
    place.run(["trust", "add", "--yes", "fetch"]).exits(0);
    let deep = "x/".repeat(40);
    place.write(&format!(".agents/skills/fetch/{deep}f"), "");
    let told = ["/skills/fetch cannot be compared: ", "directories nested deeper than 32"];
    assert_contains(&place.run(["trust", "list"]).exits(0).stdout, &told);
    let listed = place.run(["trust", "list", "--json"]).exits(0).json();
    assert_eq!(listed["skills"][0]["error"]["code"], "INVALID_PARAM", "{listed}");
    assert_eq!(listed["skills"][0]["changes"], serde_json::json!([]));

    let skill = place.path().join(".agents/skills/fetch");
    std::fs::remove_dir_all(skill.join("x")).unwrap();
    let listed = place.run(["trust", "list", "--json"]).exits(0).json();
    assert_eq!(listed["skills"][0]["error"], Value::Null, "{listed}");
    #[cfg(unix)]
    {
        let script = skill.join("scripts/fetch.sh");
        std::fs::remove_file(&script).unwrap();
        std::os::unix::fs::symlink("fetch.sh", script).unwrap();
        let listed = place.run(["trust", "list", "--json"]).exits(0).json();
        assert_eq!(listed["trusted"][0]["state"], "unreadable", "{listed}");
        assert_eq!(changes(&place, 1)[0], ("unknown".to_owned(), "fetch.sh".to_owned()));
    }
}

#[test]
fn a_directory_that_is_called_as_a_skill_file_makes_no_skill() {
    let place = project("");
    place.write(".agents/skills/fetch/scripts/inner/SKILL.md/x", "");
    place.write(".agents/skills/fetch/scripts/inner/i.sh", "echo inner\n");
    let script = ".agents/skills/fetch/scripts/inner/i.sh";
    let added = place.run(["trust", "add", "--yes", script, "--json"]).exits(0).json();
    let dir = added["skills"][0]["dir"].as_str().unwrap();
    assert!(dir.ends_with("/skills/fetch"), "{added}");
    let inner =
        place.run(["trust", "add", "--yes", ".agents/skills/fetch/scripts/inner", "--json"]);
    assert!(inner.exits(1).stdout.contains("is not a skill"), "it is one");
}

#[cfg(unix)]
#[test]
fn the_command_that_makes_a_script_safe_repairs_it_and_accepts_nothing() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = project("");
    place.run(["trust", "add", "--yes", "fetch"]).exits(0);
    let script = place.path().join(".agents/skills/fetch/scripts/fetch.sh");
    std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o646)).unwrap();
    let refused = place.run(["run", "fetch", "fetch.sh"]).exits(1).stderr;
    assert_contains(&refused, &["help: to repair it, run `chmod o-w "]);
}

#[test]
fn the_network_that_is_shown_is_the_one_that_code_gets() {
    const OWN: &str = "home/.agents/skills/own";
    let place = Place::new();
    write_skill(&place, OWN);
    place.write(&format!("{OWN}/scripts/a.sh"), SCRIPT);
    let server = "toolsets: [{class: \"tools/s.py:mcp\", rights: {network: true}}]";
    for (name, toolsets) in [("asks", server), ("quiet", "toolsets: [\"tools/s.py:mcp\"]")] {
        let front = format!("name: {name}\ndescription: Does it.\n{toolsets}");
        place.write(&format!(".agents/skills/{name}/SKILL.md"), format!("---\n{front}\n---\nB\n"));
        place.write(&format!(".agents/skills/{name}/tools/s.py"), "#!/usr/bin/env python3\n");
    }
    let script = format!("{OWN}/scripts/a.sh");
    for (named, told) in [
        ("own", "network: open, as for every user skill"),
        (OWN, "network: open, as for every user skill"),
        (&script, "network: open, as for every user skill"),
        ("asks", "network: open, as its skill asks for it"),
        ("quiet", "reads its skill alone · no network · writes nothing"),
    ] {
        assert_contains(&place.run(["trust", "show", named]).exits(0).stdout, &[told]);
        let shown = place.run(["trust", "show", named, "--json"]).exits(0).json();
        assert_eq!(shown["code"][0]["network"], told.contains("open"), "{named}: {shown}");
    }
    let ran = place.run(["run", "own", "a.sh", "--json"]).exits(0).json();
    assert_eq!(ran["data"]["offline"], Value::Null, "{ran}");
    place.write("home/.repertoire/config.toml", "[scripts]\nnetwork = false\n");
    let shown = place.run(["trust", "show", OWN]).exits(0).stdout;
    assert_contains(&shown, &["reads all your files · no network"]);
}

#[test]
fn rights_of_scripts_are_shown_everywhere() {
    let asks = |port: u16| {
        format!(
            "rights: {{read: [~/notes], network: [\"api.example.com:{port}\", \"localhost:80\"]}}\n"
        )
    };
    let place = project(&asks(443));
    place.write("home/notes/a.txt", "");
    let home = place.path().join("home").canonicalize().unwrap();
    let notes = format!("`{}`", home.join("notes").display());
    let network = "the network at `api.example.com:443`, `localhost:80`";
    let shown = place.run(["trust", "show", "fetch"]).exits(0).stdout;
    assert_contains(&shown, &[&notes, &format!("uses {network}")]);
    place.run(["trust", "add", "--yes", "fetch"]).exits(0);
    let listed = place.run(["trust", "list"]).exits(0).stdout;
    assert_contains(&listed, &[&format!("trusted to read {notes} and to use {network}")]);
    assert_eq!(changes(&place, 0), []);
    write(&place, &asks(8443));
    let changed = place.run(["trust", "diff", "fetch"]).exits(1).stdout;
    let asks = "asks to use the network at `api.example.com:8443`, and it was trusted without";
    let less =
        "was trusted to use the network at `api.example.com:443`, and its skill asks for that";
    assert_contains(&changed, &[asks, less]);
}

#[cfg(unix)]
#[test]
fn what_is_trusted_is_what_can_run() {
    use super::use_and_run::{SOURCE, place};

    let place = place();
    let skill = "---\nname: x\ndescription: X.\n";
    place.write("skills/all/SKILL.md", format!("{skill}scripts: ['/', '.', '..', go.sh]\n---\n"));
    place.write("skills/all/go.sh", "echo gone\n");
    place.write("skills/all/data.txt", "data");
    place.write("skills/all/sub/SKILL.md", format!("{skill}---\n"));
    place.write("skills/all/sub/scripts/a.sh", "");
    // A directory in the working directory, which has the same name as a skill but is not the skill.
    place.write("review/notes.txt", "");
    let trusted = |name: &str| -> Vec<String> {
        let added =
            place.run(["trust", "add", "--yes", "--json", name].iter().chain(&SOURCE)).exits(0);
        let root = place.path().canonicalize().unwrap();
        let files = added.json()["trusted"].as_array().unwrap().clone();
        let path = |file: &Value| file["path"].as_str().unwrap().to_owned();
        let below = |path: String| path.strip_prefix(root.to_str().unwrap()).unwrap().to_owned();
        files.iter().map(path).map(below).collect()
    };
    for name in ["all", "skills/all"] {
        assert_eq!(trusted(name), ["/skills/all/go.sh"], "{name}");
    }
    let scripts = ["echo", "slow", "write"];
    assert_eq!(trusted("review"), scripts.map(|s| format!("/skills/review/scripts/{s}.sh")));
    let refused = ["trust", "add", "--yes", "--json", "./review"];
    let refused = place.run(refused.iter().chain(&SOURCE)).exits(1).json();
    assert_eq!(refused["error"]["code"], "NOT_FOUND", "{refused}");
}
