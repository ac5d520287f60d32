//! Consent: silence is not a yes, wider rights are asked for, a no is remembered, and the words of an error do
//! not decide whether the user is asked.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::binary::{self, Place, Run};

const SERVER: &str = include_str!("../../src/tool/server.py");

pub(crate) fn command(place: &Place, args: &[&str]) -> Command {
    let mut command = place.command(args);
    command.args(["--source", "skills"]);
    command.env_remove("XDG_STATE_HOME").env_remove("XDG_CACHE_HOME");
    command
}

pub(crate) fn run(place: &Place, args: &[&str]) -> Run {
    binary::finish(command(place, args), b"")
}

/// Runs the command at a terminal, where the user types `answer` to its question. Returns the exit code, and what was
/// shown.
pub(crate) fn at_terminal(place: &Place, args: &[&str], answer: &str) -> (i32, String) {
    after_a_while(place, args, answer, || {})
}

/// Runs the command at a terminal, where `meanwhile` happens between its question and the `answer`.
pub(crate) fn after_a_while(
    place: &Place,
    args: &[&str],
    answer: &str,
    meanwhile: impl Fn(),
) -> (i32, String) {
    let plain = command(place, args);
    let words = std::iter::once(plain.get_program()).chain(plain.get_args());
    let words: Vec<&str> = words.map(|word| word.to_str().unwrap()).collect();
    let mut terminal = Command::new("script");
    terminal.args(["-qec", &shlex::try_join(words).unwrap(), "/dev/null"]);
    terminal.current_dir(plain.get_current_dir().unwrap_or(place.path()));
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => terminal.env(name, value),
            None => terminal.env_remove(name),
        };
    }
    terminal.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = terminal.spawn().unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (mut shown, mut part) = (Vec::new(), [0; 1024]);
    let mut is_answered = false;
    loop {
        let n = output.read(&mut part).unwrap();
        shown.extend_from_slice(&part[..n]);
        if n == 0 {
            break;
        }
        if !is_answered && String::from_utf8_lossy(&shown).contains("(`y` or `n`)") {
            meanwhile();
            writeln!(input, "{answer}").unwrap();
            is_answered = true;
        }
    }
    let status = child.wait().unwrap();
    (status.code().unwrap(), String::from_utf8_lossy(&shown).into_owned())
}

/// Writes the skill `words` with an MCP server that asks for these rights.
fn ask(place: &Place, rights: &Value) {
    let entry = json!({"class": "tools/server.py:mcp", "rights": rights});
    let head = json!({"name": "words", "description": "d", "toolsets": [entry]});
    place.write("skills/words/SKILL.md", format!("---\n{head}\n---\nBody\n"));
}

fn place(rights: &Value) -> Place {
    let place = Place::new();
    ask(&place, rights);
    place.write("skills/words/tools/server.py", SERVER);
    place.write("skills/words/scripts/say.sh", "#!/bin/sh\necho ran\n");
    place
}

/// Trusts the skill with the rights that it asks for now.
fn trust(place: &Place) {
    run(place, &["trust", "add", "words", "--yes"]).exits(0);
}

pub(crate) fn listed(place: &Place) -> Value {
    run(place, &["trust", "list", "--json"]).exits(0).json()
}

/// The rights that the server was granted; null if it is not trusted.
fn granted(place: &Place) -> Value {
    let listed = listed(place);
    let files = listed["trusted"].as_array().unwrap().iter();
    let mut servers = files.filter(|file| file["path"].as_str().unwrap().ends_with("server.py"));
    servers.next().map_or(Value::Null, |file| file["rights"]["mcp"].clone())
}

#[test]
fn silence_is_not_a_yes() {
    let place = place(&json!({}));
    let script = "skills/words/scripts/say.sh";
    for named in ["words", "skills/words", script, "skills/words/tools/server.py"] {
        for args in [&["trust", "add", named][..], &["trust", "add", named, "--json"]] {
            let refused = run(&place, args).exits(1);
            let told = format!("{}{}", refused.stdout, refused.stderr);
            assert!(
                told.contains("CONSENT_REQUIRED") && told.contains("--yes"),
                "{args:?}: {told}"
            );
            assert_eq!(listed(&place)["trusted"], json!([]), "{args:?}");
            assert_eq!(listed(&place)["refused"], json!([]), "nobody said no");
        }
    }
    run(&place, &["run", "words", "say.sh"]).exits(1);
    let shown = run(&place, &["trust", "add", "words"]).exits(1).stdout;
    for reads in ["reads its skill alone", "reads its skill and the project in which it runs"] {
        assert_eq!(shown.matches(&format!("{reads} · no network · writes nothing")).count(), 1);
    }
    run(&place, &["trust", "add", "words", "--yes", "--json"]).exits(0);
    run(&place, &["run", "words", "say.sh"]).exits(0);
}

#[test]
fn a_no_at_the_terminal_is_listed_until_it_is_forgotten() {
    let place = place(&json!({}));
    let (code, shown) = at_terminal(&place, &["trust", "add", "words"], "n");
    assert!(code == 1 && shown.contains("trust all of it?"), "{shown}");
    let refused = listed(&place)["refused"].as_array().unwrap().clone();
    let names: Vec<&str> = refused.iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert!(names[0].ends_with("say.sh") && names[1].ends_with("server.py"), "{names:?}");
    let shown = run(&place, &["trust", "list"]).exits(0).stdout;
    assert!(shown.starts_with("refused ") && shown.contains("say.sh to run\n"), "{shown}");

    let forgot = run(&place, &["trust", "remove", "skills/words/scripts/say.sh"]).exits(0).stdout;
    assert!(forgot.starts_with("forgot "), "{forgot}");
    assert_eq!(listed(&place)["refused"].as_array().unwrap().len(), 1);
    run(&place, &["trust", "remove", "skills/words/scripts/say.sh"]).exits(1);

    let (code, shown) = at_terminal(&place, &["trust", "add", "words"], "y");
    assert!(code == 0 && shown.contains("trusted "), "{shown}");
    assert_eq!(listed(&place)["refused"], json!([]), "a yes replaces a no");
}

#[test]
fn a_build_asks_whenever_rights_widen() {
    let place = place(&json!({}));
    let build = |more: &[&str]| run(&place, &[&["tool", "build", "skills/words"], more].concat());
    trust(&place);
    build(&[]).exits(0);
    assert_eq!(granted(&place), Value::Null);

    let data = place.path().canonicalize().unwrap().join("data");
    let wide = json!({"read": [data]});
    ask(&place, &wide);
    for more in [&[][..], &["--json"]] {
        let run = build(more).exits(1);
        assert!(run.stderr.contains("was not granted it; `--yes` grants it"), "{run:?}");
        assert_eq!(granted(&place), Value::Null, "nobody was asked");
        assert_eq!(listed(&place)["refused"], json!([]));
    }
    build(&["--yes"]).exits(0);
    assert_eq!(granted(&place)["read"], json!([data]));
    build(&[]).exits(0);
    assert_eq!(granted(&place)["read"], json!([data]), "nothing widens");

    // A directory below one that was granted is covered by it; the rest is wider.
    let below = data.join("deep");
    ask(&place, &json!({"read": [below]}));
    build(&[]).exits(0);
    assert_eq!(granted(&place)["read"], json!([below]));
    for wider in [wide, json!({"read": [below], "network": true})] {
        ask(&place, &wider);
        build(&[]).exits(1);
        let left = if wider["network"] == true { &json!([below]) } else { &Value::Null };
        assert_eq!(&granted(&place)["read"], left, "{wider}");
        assert_ne!(granted(&place)["network"], true);
        ask(&place, &json!({"read": [below]}));
        build(&["--yes"]).exits(0);
    }
}

#[test]
fn rights_that_were_refused_are_not_asked_for_at_the_next_build() {
    let place = Place::new();
    run(&place, &["tool", "new", "words", "--lang", "c", "--dir", "skills"]).exits(0);
    let ask = |rights: Value| {
        let entry = json!({"class": "toolsets/words-toolset:WordsToolset", "rights": rights});
        let head = json!({"name": "words", "description": "d", "toolsets": [entry]});
        place.write("skills/words/SKILL.md", format!("---\n{head}\n---\nBody\n"));
    };
    let granted = || listed(&place)["trusted"][0]["rights"]["WordsToolset"].clone();
    ask(json!({"network": true}));
    let build = ["tool", "build", "skills/words"];
    let (code, shown) = at_terminal(&place, &build, "n");
    assert!(code == 0 && shown.contains("grant the rights that are asked for?"), "{shown}");
    assert!(shown.contains("uses the network"), "{shown}");
    assert_eq!(granted(), Value::Null);
    let refused = listed(&place)["refused"].clone();
    assert_eq!(
        (&refused[0]["class"], &refused[0]["rights"]["network"]),
        (&json!("WordsToolset"), &json!(true))
    );
    let shown = run(&place, &["trust", "list"]).exits(0).stdout;
    assert!(shown.contains("libwords_toolset.so `WordsToolset` to use the network"), "{shown}");

    // Also for another build of the same tools, which is other content.
    let source = "skills/words-toolset/toolset.c";
    let text = std::fs::read_to_string(place.path().join(source)).unwrap();
    place.write(source, text.replace("\"Hello\"", "\"Ahoy\""));
    let (_, shown) = at_terminal(&place, &build, "y");
    assert!(!shown.contains("grant the rights that are asked for?"), "{shown}");
    assert_eq!(granted(), Value::Null);
    ask(json!({"network": true, "read": ["."]}));
    let (_, shown) = at_terminal(&place, &build, "y");
    assert!(shown.contains("grant the rights that are asked for?"), "other rights are asked for");
    assert_eq!(granted()["network"], true);
    assert_eq!(listed(&place)["refused"], json!([]));
}

#[test]
fn dev_grants_nothing_that_a_file_asks_for_while_it_is_edited() {
    let place = place(&json!({}));
    trust(&place);
    let mut dev = command(&place, &["tool", "dev", "skills/words"]);
    dev.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut dev = dev.spawn().unwrap();
    let told = crate::build::lines(&mut dev);
    crate::build::wait_for(&told, "waiting for changes");
    ask(&place, &json!({"network": true}));
    crate::build::wait_for(&told, "was not granted it");
    crate::build::wait_for(&told, "waiting for changes");
    assert_eq!(granted(&place), Value::Null);
    dev.kill().unwrap();
    dev.wait().unwrap();
}

/// `SQLite` reports a refused file as one that it cannot open.
#[test]
fn an_error_in_other_words_names_the_rights_that_are_missing() {
    if !Path::new("/usr/bin/python3").exists() {
        eprintln!("SKIPPED: there is no `/usr/bin/python3`");
        return;
    }
    let place = place(&json!({}));
    let tool = "@tool\ndef count(file: str):\n    \"\"\"Counts.\"\"\"\n    import sqlite3\n    \
        return str(sqlite3.connect(file).execute(\"select count(*) from sqlite_master\").fetchone()[0])\n\n\n";
    let server = SERVER.replace("def describe(", &format!("{tool}def describe("));
    let server = server.replacen("/usr/bin/env python3", "/usr/bin/python3", 1);
    place.write("skills/words/tools/server.py", server);
    let data = place.path().canonicalize().unwrap().join("data");
    let file = data.join("x.db");
    let create = format!(
        "import os, sqlite3\nos.mkdir({data:?})\nc = sqlite3.connect({file:?})\nc.execute('create table t(x)')\n"
    );
    assert!(Command::new("/usr/bin/python3").args(["-c", &create]).status().unwrap().success());

    trust(&place);
    ask(&place, &json!({"read": [data]}));
    let arguments = json!({"file": file}).to_string();
    let count = || run(&place, &["tool", "call", "words.count", &arguments, "--json"]);
    let failed = count().exits(1).json()["error"].clone();
    assert!(
        failed["message"].as_str().unwrap().contains("unable to open database file"),
        "{failed}"
    );
    assert!(failed["help"].as_str().unwrap().contains("repertoire trust add "), "{failed}");
    run(&place, &["tool", "build", "skills/words", "--yes"]).exits(0);
    assert_eq!(count().exits(0).json()["text"], "1");
}
