//! Trust that a build gives: what it built, and nothing else of the skill without a question.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::binary::{Place, Run};
use crate::consent::{at_terminal, command, listed, run};

const SERVER: &str = include_str!("../../src/tool/server.py");
const BUILD: [&str; 3] = ["tool", "build", "skills/hello"];
/// The error for a build that left something untrusted.
const CONSENT: [&str; 3] = ["CONSENT_REQUIRED", "`--yes`", "`repertoire trust add`"];

/// Creates a place with the skill `hello`, whose tools are in C.
fn in_c() -> Place {
    let place = Place::new();
    run(&place, &["tool", "new", "hello", "--lang", "c", "--dir", "skills"]).exits(0);
    place
}

/// Creates a place with the skill `hello`, of which all is trusted: tools in C, and a script that loads another file.
fn trusted() -> Place {
    let place = in_c();
    place.write("skills/hello/scripts/run.sh", "#!/bin/sh\n. \"$(dirname \"$0\")/../lib/f.sh\"\n");
    place.write("skills/hello/lib/f.sh", "echo one\n");
    run(&place, &[&BUILD[..], &["--yes"]].concat()).exits(0);
    run(&place, &["trust", "add", "hello", "--yes"]).exits(0);
    assert_eq!(script(&place).exits(0).stdout, "one\n");
    place
}

fn script(place: &Place) -> Run {
    run(place, &["run", "hello", "run.sh"])
}

fn greet(place: &Place) -> Run {
    run(place, &["tool", "call", "hello.greet", r#"{"name": "Ada"}"#])
}

fn trusted_names(place: &Place) -> Vec<String> {
    let listed = listed(place);
    let files = listed["trusted"].as_array().unwrap().iter();
    let names = files.map(|file| file["path"].as_str().unwrap().rsplit('/').next().unwrap());
    names.map(str::to_owned).collect()
}

#[track_caller]
fn assert_told(run: &Run, parts: &[&str]) {
    let told = format!("{}{}", run.stdout, run.stderr);
    for part in parts {
        assert!(told.contains(part), "`{part}` is not in {told}");
    }
}

#[test]
fn a_build_accepts_no_other_change_of_the_skill_without_a_yes() {
    for (path, text, change) in [
        ("lib/f.sh", "echo two\n", "`lib/f.sh` (changed)"),
        ("lib/new.sh", "echo new\n", "`lib/new.sh` (added)"),
        ("scripts/json.py", "evil()\n", "`scripts/json.py` (added)"),
        ("toolsets/x86_64-other/libevil.so", "", "`toolsets/x86_64-other/libevil.so` (added)"),
    ] {
        let place = trusted();
        place.write(&format!("skills/hello/{path}"), text);
        script(&place).exits(1);
        for more in [&[][..], &["--json"]] {
            let built = run(&place, &[&BUILD[..], more].concat()).exits(1);
            assert_told(&built, &[&CONSENT[..], &[change, "libhello_toolset.so"]].concat());
            script(&place).exits(1);
            greet(&place).exits(1);
            let changes = listed(&place)["skills"][0]["changes"].clone();
            assert_eq!(changes.as_array().unwrap().len(), 1, "{changes}");
        }
        run(&place, &[&BUILD[..], &["--yes"]].concat()).exits(0);
        script(&place).exits(0);
        assert_eq!(greet(&place).exits(0).stdout, "Hello, Ada!\n");
    }
}

#[test]
fn what_was_removed_or_declared_anew_asks_as_well() {
    let place = trusted();
    std::fs::remove_file(place.path().join("skills/hello/lib/f.sh")).unwrap();
    assert_told(&run(&place, &BUILD).exits(1), &["`lib/f.sh` (removed)"]);

    let place = trusted();
    let entry = "toolsets/hello-toolset:HelloToolset";
    let head =
        json!({"name": "hello", "description": "d", "toolsets": [entry], "scripts": ["lib/f.sh"]});
    place.write("skills/hello/SKILL.md", format!("---\n{head}\n---\nBody\n"));
    assert_told(&run(&place, &BUILD).exits(1), &["`SKILL.md` (changed)"]);
    run(&place, &["run", "hello", "lib/f.sh"]).exits(1);
}

#[test]
fn a_build_trusts_what_it_built_and_the_code_that_it_read() {
    let place = in_c();
    run(&place, &BUILD).exits(0);
    assert_eq!(trusted_names(&place), ["libhello_toolset.so"]);
    greet(&place).exits(0);
    // The code is in the skill. What no compiler reads may be code of something else.
    let code = place.path().join("skills/hello-toolset");
    std::fs::rename(code, place.path().join("skills/hello/hello-toolset")).unwrap();
    let built = run(&place, &BUILD).exits(0);
    assert!(!built.stderr.contains("CONSENT_REQUIRED"), "{built:?}");
    greet(&place).exits(0);
    place.write("skills/hello/hello-toolset/more.h", "\n");
    run(&place, &BUILD).exits(0);
    greet(&place).exits(0);
    place.write("skills/hello/hello-toolset/f.sh", "echo f\n");
    assert_told(&run(&place, &BUILD).exits(1), &["`hello-toolset/f.sh` (added)"]);
}

#[test]
fn a_server_that_nobody_built_is_asked_for() {
    let place = Place::new();
    let head = json!({"name": "hello", "description": "d", "toolsets": ["tools/s.py:mcp"]});
    place.write("skills/hello/SKILL.md", format!("---\n{head}\n---\nBody\n"));
    place.write("skills/hello/tools/s.py", SERVER);
    for more in [&[][..], &["--json"]] {
        let built = run(&place, &[&BUILD[..], more].concat()).exits(1);
        assert_told(&built, &[&CONSENT[..], &["tools/s.py"]].concat());
        assert_eq!(listed(&place)["trusted"], json!([]));
    }
    let (code, shown) = at_terminal(&place, &BUILD, "n");
    assert!(code == 0 && shown.contains("trust all of it?"), "{shown}");
    assert!(shown.contains("an MCP server, in a process of its own"), "{shown}");
    assert_eq!(listed(&place)["trusted"], json!([]));
    for _ in 0..2 {
        let (_, shown) = at_terminal(&place, &BUILD, "y");
        assert!(!shown.contains("trust all of it?"), "a no is remembered: {shown}");
    }
    place.write("skills/hello/tools/s.py", format!("{SERVER}\n# Edited.\n"));
    let (code, shown) = at_terminal(&place, &BUILD, "y");
    assert!(code == 0 && shown.contains("trust all of it?"), "{shown}");
    assert_eq!(trusted_names(&place), ["s.py"]);
    run(&place, &BUILD).exits(0);
    greet(&place).exits(0);
}

#[test]
fn a_no_to_the_rest_of_a_skill_leaves_the_library_trusted() {
    let place = trusted();
    place.write("skills/hello/lib/f.sh", "echo two\n");
    let (code, shown) = at_terminal(&place, &BUILD, "n");
    assert!(code == 0 && shown.contains("changed") && shown.contains("lib/f.sh"), "{shown}");
    for _ in 0..2 {
        let again = run(&place, &BUILD).exits(0);
        assert_told(&again, &["the answer was no: `lib/f.sh` (changed)"]);
    }
    script(&place).exits(1);
    place.write("skills/hello/lib/f.sh", "echo one\n");
    assert_eq!(script(&place).exits(0).stdout, "one\n");
}

#[test]
fn dev_trusts_no_change_that_it_did_not_build() {
    let place = trusted();
    let mut dev = command(&place, &["tool", "dev", "skills/hello"]);
    dev.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut dev = dev.spawn().unwrap();
    let told = crate::build::lines(&mut dev);
    crate::build::wait_for(&told, "waiting for changes");
    place.write("skills/hello/lib/f.sh", "echo two\n");
    let source = "skills/hello-toolset/toolset.c";
    let text = std::fs::read_to_string(place.path().join(source)).unwrap();
    place.write(source, format!("{text}\n/* Edited. */\n"));
    crate::build::wait_for(&told, "CONSENT_REQUIRED");
    crate::build::wait_for(&told, "waiting for changes");
    script(&place).exits(1);
    dev.kill().unwrap();
    dev.wait().unwrap();
}

/// Code in the user's own directories runs without trust, so that a build has nothing to ask.
#[test]
fn a_skill_of_the_user_is_built_without_a_question() {
    let place = Place::new();
    let own = "home/.agents/skills";
    run(&place, &["tool", "new", "hello", "--lang", "c", "--dir", own]).exits(0);
    place.write(&format!("{own}/hello/references/a.md"), "a");
    let built = |place: &Place| place.run(["tool", "build", "home/.agents/skills/hello"]);
    built(&place).exits(0);
    let listed: Value = listed(&place);
    assert_eq!(listed["skills"][0]["changes"], json!([]), "{listed}");
}
