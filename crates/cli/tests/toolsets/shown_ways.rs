//! The line before trust names what a file may do in each way in which it can run, and it runs in no other.

use std::sync::{Arc, Mutex};

use repertoire::engine::{CallIo, Caller};
use repertoire::script::ScriptIo;
use repertoire::trust::{Approval, TrustRequest, TrustStore};
use serde_json::{Value, json};

use crate::binary::{Place, Run};
use crate::channels::engine;
use crate::consent::{listed, run};

const SERVER: &str = include_str!("../../src/tool/server.py");
const OF_SCRIPTS: &str = "uses the network at `api.example.com:443`";
const OF_SERVER: &str = "uses the network at `tools.example.com:443`";
const OF_BOTH: &str = "uses the network at `api.example.com:443`, `tools.example.com:443`";
const NONE: &str = "no network";

/// Creates a skill with a server at `program`, and these files as scripts; `None` for those in `scripts/`.
fn place(program: &str, scripts: Option<&[&str]>) -> Place {
    let place = Place::new();
    let network = |host: &str| json!({"network": [format!("{host}.example.com:443")]});
    let server = json!({"class": format!("{program}:mcp"), "rights": network("tools")});
    let mut head = json!({
        "name": "words", "description": "d", "toolsets": [server], "rights": network("api"),
    });
    if let Some(scripts) = scripts {
        head["scripts"] = json!(scripts);
    }
    place.write("skills/words/SKILL.md", format!("---\n{head}\n---\nBody\n"));
    place.write(&format!("skills/words/{program}"), SERVER);
    place
}

fn start(place: &Place, script: &str) -> Run {
    run(place, &["run", "words", script, "--json"])
}

/// Returns the phrase on the network of each file, by its name.
fn shown(place: &Place, name: &str) -> Value {
    let shown = run(place, &["trust", "show", "words", "--json"]).exits(0).json();
    let code = shown["code"].as_array().unwrap();
    code.iter().find(|code| code["name"] == name).unwrap_or_else(|| panic!("{shown}")).clone()
}

#[test]
fn the_line_is_true_of_each_way_in_which_a_file_runs() {
    for (program, scripts, name, may, is_script) in [
        ("tools/s.py", None, "tools/s.py", OF_SERVER, false),
        ("scripts/s.py", None, "scripts/s.py", OF_BOTH, true),
        ("tools/s.py", Some(&["tools/s.py"][..]), "tools/s.py", OF_BOTH, true),
        ("scripts/s.py", Some(&[][..]), "scripts/s.py", OF_SERVER, false),
        // Files beside the server are read by it.
        ("tools/s.py", None, "tools/lib.py", OF_SERVER, false),
        ("scripts/s.py", None, "scripts/lib.py", OF_BOTH, true),
        ("tools/s.py", None, "scripts/a.sh", OF_SCRIPTS, true),
        // Nothing loads such a library but, by name, as a program.
        ("tools/s.py", None, "scripts/x.so", OF_SCRIPTS, true),
        ("tools/s.py", None, "toolsets/x.so", NONE, false),
    ] {
        let case = format!("{program} {scripts:?} {name}");
        let place = place(program, scripts);
        if name != program {
            place.write(&format!("skills/words/{name}"), "#!/bin/sh\n");
        }
        let told = shown(&place, name);
        assert!(told["may"].as_str().unwrap().contains(may), "{case}: {told}");
        let _ = run(&place, &["trust", "add", "words", "--yes"]);
        let listed = listed(&place);
        let files = listed["trusted"].as_array().unwrap();
        let path = |file: &&Value| file["path"].as_str().unwrap().ends_with(name);
        let file = files.iter().find(path).unwrap_or_else(|| panic!("{case}: {listed}"));
        let has_rights = file["network"].as_array().is_some_and(|network| !network.is_empty());
        assert_eq!(has_rights, is_script, "{case}: {file}");
        if !is_script {
            start(&place, name).exits(1);
        }
    }
}

#[test]
fn what_a_build_trusts_does_not_run_as_a_script() {
    let place = place("scripts/s.py", None);
    let refused = "trusted as a library or a server, and not as a script";
    run(&place, &["tool", "build", "skills/words", "--yes"]).exits(0);
    for _ in 0..2 {
        assert!(start(&place, "s.py").exits(1).stdout.contains(refused));
        run(&place, &["tool", "build", "skills/words"]).exits(0);
    }
    let greet = ["tool", "call", "words.greet", r#"{"name": "Ada"}"#];
    assert_eq!(run(&place, &greet).exits(0).stdout, "Hello, Ada!\n");
    run(&place, &["trust", "add", "words", "--yes"]).exits(0);
    assert!(!start(&place, "s.py").stdout.contains(refused));
    run(&place, &["tool", "build", "skills/words"]).exits(0);
    assert!(!start(&place, "s.py").stdout.contains(refused), "it stays a script");
}

/// A host that was asked about tools has not seen what a script may do.
#[test]
fn a_hosts_yes_to_tools_is_not_one_to_a_script() {
    let place = place("scripts/s.py", None);
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&asked);
    let of_tools = Approval::new(move |request: &TrustRequest| {
        noted.lock().unwrap().push(request.abilities.to_string());
        (!request.classes.is_empty()).then_some(true)
    });
    let trust = Arc::new(TrustStore::in_memory());
    let engine = engine(place.path().join("skills"), Some(of_tools), &trust);
    let session = engine.session("s");
    let greeted = engine
        .all_tools()
        .find("words.greet")
        .unwrap()
        .call(&json!({"name": "A"}), &CallIo::default());
    assert!(greeted.is_ok(), "{greeted:?}");
    let no_args: [&str; 0] = [];
    let ran =
        engine.run_script("words", "s.py", &no_args, Caller::user(&session), ScriptIo::default());
    let refused = ran.unwrap_err().to_string();
    assert!(refused.contains("and not as a script"), "{refused}");
    let asked = asked.lock().unwrap();
    assert!(asked.last().unwrap().contains("the project in which it runs"), "{asked:?}");
    assert!(asked[0].starts_with("reads its skill alone"), "{asked:?}");
}
