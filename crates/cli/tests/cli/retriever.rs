//! A program that ranks, in the command line, the hooks and the MCP server.

use std::fs;

use serde_json::{Value, json};

use crate::binary::{Place, Run};

const USER: &str = "home/.repertoire/config.toml";
const PROJECT: &str = ".repertoire/config.toml";
const MESSAGE: &str = "convert the quarterly numbers";

/// Scores `s07` above all others, but for messages that ask for a fault. Each start adds a line to a file.
const PROGRAM: &str = r#"
import json, sys, time

open(sys.argv[1], "a").write("started\n")
for line in sys.stdin:
    request = json.loads(line)
    if "prepare" in request:
        ids = [candidate["id"] for candidate in request["prepare"]]
        answer = {"ok": True}
        if "--levels" in sys.argv:
            answer["levels"] = {"floor": 0.1, "enough": 0.5}
    else:
        message = request["rank"]
        open(sys.argv[1] + ".asked", "a").write(message + "\n")
        scores = [float(id == "s07" and "quarterly" in message) for id in ids]
        if "fault-quit" in message:
            sys.exit("no memory is left")
        if "fault-sleep" in message:
            time.sleep(60)
        if "fault-few" in message:
            scores.pop()
        if "fault-nan" in message:
            scores[2] = float("nan")
        if "fault-chatter" in message:
            print("loading weights " * 20, flush=True)
        answer = {"scores": scores}
        if "--twice" in sys.argv:
            print(json.dumps(answer), flush=True)
    print(json.dumps(answer), flush=True)
"#;

/// Creates a project with thirty skills, and a user whose settings name the program.
fn place(levels: &str) -> Place {
    let place = Place::new();
    for n in 0..30 {
        let text = format!("---\nname: s{n:02}\ndescription: Handles invoices.\n---\nB\n");
        place.write(&format!(".agents/skills/s{n:02}/SKILL.md"), text);
    }
    place.write("home/.repertoire/rank.py", PROGRAM);
    // The script is beside the settings; the project has one of the same name.
    place.write("rank.py", "raise SystemExit('the wrong one')");
    let command = format!("python3 rank.py ~/starts {levels}");
    place.write(USER, format!("[routing]\nretriever = \"{command}\"\nretriever_timeout = 5\n"));
    place
}

fn n_starts(place: &Place) -> usize {
    let starts = fs::read_to_string(place.path().join("home/starts"));
    starts.map_or(0, |starts| starts.lines().count())
}

fn disclose(place: &Place, message: &str) -> Run {
    place.run(["disclose", "--json", message]).exits(0)
}

fn hook(place: &Place, message: &str, deadline: &str) -> Run {
    let call = json!({
        "hook_event_name": "UserPromptSubmit", "session_id": message, "prompt": message,
        "cwd": place.path(),
    });
    let args = ["hook", "claude-code", "--deadline", deadline];
    place.run_with(args, call.to_string().as_bytes()).exits(0)
}

/// Returns the text of each answer to a search.
fn searches(place: &Place, messages: &[&str]) -> Vec<String> {
    let client = json!({"name": "raw", "version": "1"});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    let mut lines = vec![
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).to_string(),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string(),
    ];
    lines.extend(messages.iter().enumerate().map(|(n, message)| {
        let params = json!({"name": "find_skills", "arguments": {"query": message}});
        json!({"jsonrpc": "2.0", "id": n + 1, "method": "tools/call", "params": params}).to_string()
    }));
    let run = place.run_with(["mcp"], (lines.join("\n") + "\n").as_bytes()).exits(0);
    let answers = run.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut answers: Vec<Value> =
        answers.filter(|answer| answer["id"].as_u64() > Some(0)).collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    let text = |answer: &Value| answer["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    answers.iter().map(text).collect()
}

#[test]
fn a_program_ranks_in_every_channel() {
    for levels in ["--levels", ""] {
        let place = place(levels);
        let shown = disclose(&place, MESSAGE).json();
        assert_eq!((&shown["registry"], &shown["failure"]), (&json!(["s07"]), &Value::Null));
        assert_eq!(n_starts(&place), 1);
        let text = hook(&place, MESSAGE, "60").stdout;
        assert!(text.contains("s07") && !text.contains("s08"), "{text}");
        assert_eq!(n_starts(&place), 2);
        let found = searches(&place, &[MESSAGE, "something else", MESSAGE]);
        assert_eq!(
            found,
            ["- s07: Handles invoices.", "No skill fits.", "- s07: Handles invoices."]
        );
        assert_eq!(n_starts(&place), 3);
    }
}

#[test]
fn a_hook_asks_a_program_once_for_a_message() {
    let place = place("");
    hook(&place, MESSAGE, "60");
    // The other messages tell what its scores mean.
    let asked = fs::read_to_string(place.path().join("home/starts.asked")).unwrap();
    assert_eq!(asked.lines().filter(|message| *message == MESSAGE).count(), 1, "{asked}");
}

#[test]
fn commands_that_rank_nothing_start_nothing() {
    let place = place("--levels");
    for args in [&["list"][..], &["show", "s07"], &["config"], &["doctor"]] {
        place.run(args);
    }
    hook(&place, "thanks", "60");
    assert_eq!(n_starts(&place), 0);
    let doctor = place.run(["doctor", "--json"]).json();
    assert_eq!(doctor["config"]["meaning"], "python3 rank.py ~/starts --levels");
}

#[test]
fn a_program_that_fails_leaves_words_alone_and_is_told() {
    let place = place("--levels");
    for (message, told) in [
        (
            "convert the quarterly numbers fault-quit",
            "ended without an answer: exit status: 1: no memory is left",
        ),
        ("convert the quarterly numbers fault-few", " scores for "),
        (
            "convert the quarterly numbers fault-nan",
            "wrote a line that is not an answer: {\"scores\": [0.0, 0.0, NaN",
        ),
        (
            "convert the quarterly numbers fault-chatter",
            "wrote a line that is not an answer: loading weights loading weights",
        ),
    ] {
        let run = disclose(&place, message);
        let failure = run.json()["failure"].as_str().unwrap().to_owned();
        assert!(failure.contains(told), "{message}: {failure}");
        assert!(failure.len() < 300, "{failure}");
        let note = "skills were ranked by words alone: ";
        assert!(run.stderr.contains(note) && run.stderr.contains("retriever"), "{run:?}");
        let run = hook(&place, message, "60");
        assert!(run.stderr.contains(note), "{message}: {run:?}");
        let log = fs::read_to_string(place.path().join("home/.local/state/repertoire/hook.log"));
        assert!(log.unwrap().contains(note));
    }
}

#[test]
fn a_program_that_is_slow_or_missing_holds_nothing_up() {
    let place = place("--levels");
    let text = fs::read_to_string(place.path().join(USER)).unwrap();
    place.write(USER, text.replace("retriever_timeout = 5", "retriever_timeout = 1.5"));
    let failure =
        disclose(&place, "convert the quarterly numbers, then fault-sleep").json()["failure"]
            .clone();
    assert!(failure.as_str().unwrap().contains("did not answer within 1.5 s"), "{failure}");
    // A hook has less time, and answers all the same: by name here.
    place.write(USER, &text);
    let run = hook(&place, "convert the quarterly fault-sleep numbers, then use s07", "6");
    assert!(run.stdout.contains("s07"), "{run:?}");
    for (command, told) in [
        ("/no/such/program", "cannot be started"),
        ("true", "ended without an answer: exit status: 0"),
        ("sh -c 'read request; echo {}'", "wrote a line that is not an answer: {}"),
    ] {
        place.write(USER, format!("[routing]\nretriever = \"{command}\"\n"));
        let failure = disclose(&place, MESSAGE).json()["failure"].clone();
        assert!(failure.as_str().unwrap().contains(told), "{command}: {failure}");
    }
}

#[test]
fn the_server_starts_a_program_again_that_has_ended() {
    let place = place("--levels");
    let found = searches(
        &place,
        &[MESSAGE, "the quarterly fault-quit", MESSAGE, "the quarterly fault-few", MESSAGE],
    );
    for (at, answer) in found.iter().enumerate() {
        let is_asked_well = at % 2 == 0;
        let is_told = answer.starts_with("No skill fits.\n[found by words alone: the retriever ");
        assert_eq!(is_told, !is_asked_well, "{at}: {answer}");
        assert_eq!(answer == "- s07: Handles invoices.", is_asked_well, "{at}: {answer}");
    }
    // The server answers in any order. If the program was running, the question that ends it is asked again; a wrong
    // number of scores ends it, too.
    assert!((2..=4).contains(&n_starts(&place)), "{}", n_starts(&place));
}

#[test]
fn an_answer_that_comes_twice_is_never_that_of_the_next_message() {
    let place = place("--levels --twice");
    let other = "something else entirely";
    let messages = [MESSAGE, other, MESSAGE, other, other, MESSAGE];
    let found = searches(&place, &messages);
    let told = "[found by words alone: the retriever ";
    for (message, answer) in messages.iter().zip(&found) {
        let is_told = answer.contains(told);
        assert!(!is_told || answer.contains("wrote a line that nothing asked for: {"), "{answer}");
        let is_right = answer.contains("s07") == (*message == MESSAGE);
        assert!(is_told || is_right, "{message}: {answer}");
    }
    // Every second message is answered by a program that was started anew.
    let n_told = found.iter().filter(|answer| answer.contains(told)).count();
    assert_eq!((n_told, n_starts(&place)), (3, 3), "{found:?}");
}

#[test]
fn a_project_cannot_name_a_program() {
    let place = place("");
    place.write(USER, "");
    place.write(PROJECT, "[routing]\nretriever = \"touch ran\"\nretriever_timeout = 1\n");
    let shown = disclose(&place, MESSAGE).json();
    assert_eq!(shown["failure"], Value::Null);
    let config = place.run(["config", "--json"]).exits(1).json();
    let findings = config["diagnostics"].as_array().unwrap();
    let codes: Vec<_> = findings.iter().map(|finding| &finding["code"]).collect();
    assert_eq!(codes, ["refused-setting", "refused-setting"]);
    hook(&place, MESSAGE, "60");
    searches(&place, &[MESSAGE]);
    for dir in ["", ".repertoire", "home", "home/.repertoire"] {
        assert!(!place.path().join(dir).join("ran").exists());
    }
    for (wrong, code) in [
        ("retriever = 3", "wrong-type"),
        ("retriever = \"./rank\"", "invalid-value"),
        ("retriever = \"rank 'x\"", "invalid-value"),
        ("meaning = 3", "wrong-type"),
        ("meaning = \"../x\"", "invalid-value"),
    ] {
        place.write(PROJECT, "");
        place.write(USER, format!("[routing]\n{wrong}\n"));
        let config = place.run(["config", "--json"]).exits(1).json();
        assert_eq!(config["diagnostics"][0]["code"], code, "{wrong}");
    }
}
