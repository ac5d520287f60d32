//! `eval --ask`: models with known habits give figures that are known in advance, however they are reached.
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]
#![expect(clippy::float_cmp, reason = "shares of four and of two messages are exact")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::thread;

use repertoire_authoring::ask::{
    AskReport, Asking, Call, Figure, Model, Replies, Reply, Request, Role, Way, WayFigures,
};
use repertoire_authoring::eval::read;
use serde_json::{Value, json};

use crate::binary::{Place, Run};

/// The skills: an id and a description.
const SKILLS: [(&str, &str); 3] = [
    ("deploy", "Deploys a service to a cluster."),
    ("pdf", "Merges and splits PDF files."),
    ("review", "Reviews a change for mistakes."),
];

/// Messages, with the skill that each calls for. The disclosure shows `deploy` and `review` in full, by their
/// keywords; the others get no text and at most lines.
const MESSAGES: [(&str, Option<&str>); 6] = [
    ("split these files", Some("pdf")),
    ("deploy the service", Some("deploy")),
    ("please review it", Some("review")),
    ("look for mistakes in the change", Some("review")),
    ("thanks", None),
    ("is a change of weather near?", None),
];

/// The figures of one way that the habit of a model decides, as shares.
type Shares = [f64; 4];

/// Each habit, with the shares of right, wrong, never and needless: with the list, and with the disclosure. With
/// nothing, no skill can be loaded.
const HABITS: [(&str, Shares, Shares); 3] = [
    ("never", [0.0, 0.0, 1.0, 0.0], [0.5, 0.0, 0.5, 0.0]),
    // `deploy` is first in the list; the disclosure lists `pdf` and `review` alone where it lists anything.
    ("first", [0.25, 0.75, 0.0, 1.0], [0.75, 0.0, 0.25, 0.0]),
    // "change" is a word of `review`, and of the message about the weather.
    ("nearest", [0.75, 0.0, 0.25, 0.5], [0.75, 0.0, 0.25, 0.0]),
];

pub(crate) fn place() -> Place {
    let place = Place::new();
    for (name, description) in SKILLS {
        let head = format!("name: {name}\ndescription: {description}\ntriggers: [{name}]");
        place.write(
            &format!("skills/{name}/SKILL.md"),
            format!("---\n{head}\n---\n# Skill {name}\n\nFollow it.\n"),
        );
    }
    place.write("cases.jsonl", cases());
    place.write("habit.py", include_str!("../fixtures/eval/ask/habit.py"));
    place
}

fn cases() -> String {
    let case = |(query, skill): &(&str, Option<&str>)| {
        json!({"query": query, "expected_skill": skill}).to_string()
    };
    MESSAGES.iter().map(case).collect::<Vec<_>>().join("\n")
}

/// Tells that there is no Python, and returns `None`, where a program with a habit cannot run.
pub(crate) fn python() -> Option<&'static str> {
    let found = ["/usr/bin/python3", "/usr/local/bin/python3"]
        .into_iter()
        .find(|path| Path::new(path).exists());
    if found.is_none() {
        eprintln!("SKIPPED: there is no `python3`");
    }
    found
}

pub(crate) fn ask(place: &Place, model: &str, args: &[&str]) -> Run {
    let common = ["eval", "cases.jsonl", "--source", "skills", "--ask", model];
    place.run(common.iter().chain(args).copied())
}

fn shares(way: &Value) -> Shares {
    ["right", "wrong", "never", "needless"].map(|name| way[name]["mean"].as_f64().unwrap())
}

fn assert_habit(report: &Value, habit: &str) {
    let (_, list, disclosed) = HABITS.iter().find(|(name, ..)| *name == habit).unwrap();
    let ways = report["ways"].as_array().unwrap();
    let names: Vec<_> = ways.iter().map(|way| way["way"].as_str().unwrap()).collect();
    assert_eq!(names, ["nothing", "list", "disclosed"], "{habit}");
    let expected = [[0.0, 0.0, 1.0, 0.0], *list, *disclosed];
    assert_eq!(ways.iter().map(shares).collect::<Vec<_>>(), expected, "{habit}");
    assert_eq!((&report["messages"], &report["left"]), (&json!(6), &json!(0)), "{habit}");
}

#[test]
fn programs_that_print_a_reply_have_the_figures_of_their_habit() {
    let Some(python) = python() else { return };
    let place = place();
    for (habit, ..) in HABITS {
        let run =
            ask(&place, &format!("{python} habit.py {habit}"), &["--json", "--jobs", "4"]).exits(0);
        assert_habit(&run.json(), habit);
    }
}

#[test]
fn programs_that_answer_lines_have_the_same_figures_and_count_their_own_tokens() {
    let Some(python) = python() else { return };
    let place = place();
    for (habit, ..) in HABITS {
        let run =
            ask(&place, &format!("{python} habit.py {habit} lines"), &["--json", "--json-lines"])
                .exits(0);
        assert_habit(&run.json(), habit);
        // One that calls a tool counts 100 and 5 tokens for that, then 10 and 1 for its answer.
        let list = &run.json()["ways"][1];
        let calls =
            if habit == "never" { 0.0 } else { list["turns"]["mean"].as_f64().unwrap() - 1.0 };
        let input = list["input"]["mean"].as_f64().unwrap();
        assert!((input - (10.0 + 100.0 * calls)).abs() < 1e-9, "{habit}: {list}");
    }
}

/// Starts a server that answers each request with the rest of its first line and headers, and a body. Returns its
/// address.
pub(crate) fn serve(
    mut answer: impl FnMut(Value) -> (&'static str, String) + Send + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut reader = BufReader::new(stream.unwrap());
            let (mut length, mut line) = (0, String::new());
            while reader.read_line(&mut line).unwrap() > 2 {
                if let Some(n) = line.to_lowercase().strip_prefix("content-length:") {
                    length = n.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let (head, answer) = answer(serde_json::from_slice(&body).unwrap());
            let head = format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\n\r\n", answer.len());
            // A client that has seen enough may have gone.
            let _ = reader.get_mut().write_all((head + &answer).as_bytes());
        }
    });
    address
}

/// An answer in the API of chat completions: `use_skill` is called for `pdf` where it may be.
fn completion(request: &Value) -> Value {
    assert_eq!(request["model"], "tiny");
    let messages = request["messages"].as_array().unwrap();
    let last = messages.last().unwrap();
    let usage = json!({"prompt_tokens": 7, "completion_tokens": 2});
    let said = if request.get("tools").is_some() && last["role"] == "user" {
        assert_eq!(request["tools"][0]["function"]["name"], "use_skill");
        let function = json!({"name": "use_skill", "arguments": "{\"skill\": \"pdf\"}"});
        json!({"content": null, "tool_calls": [{"id": "x", "type": "function", "function": function}]})
    } else {
        if last["role"] == "tool" {
            assert_eq!(
                (&last["tool_call_id"], &messages[messages.len() - 2]["tool_calls"][0]["id"]),
                (&json!("call_1"), &json!("call_1"))
            );
            assert!(last["content"].as_str().unwrap().contains("Follow it."), "{last}");
        }
        json!({"content": "Done."})
    };
    json!({"choices": [{"message": said}], "usage": usage})
}

#[test]
fn an_address_of_this_machine_is_asked_as_a_chat_completion() {
    let place = place();
    let server = serve(|request| ("200 OK", completion(&request).to_string()));
    let run = ask(&place, &server, &["--model", "tiny", "--ways", "list", "--json"]).exits(0);
    let report = run.json();
    assert_eq!(shares(&report["ways"][0]), [0.25, 0.75, 0.0, 1.0]);
    assert_eq!(
        (&report["ways"][0]["input"]["mean"], &report["ways"][0]["turns"]["mean"]),
        (&json!(14.0), &json!(2.0))
    );
    for elsewhere in ["https://api.example.com/v1", "http://192.0.2.1/v1"] {
        let run = ask(&place, elsewhere, &[]).exits(2);
        assert!(run.stderr.contains("not an address of a model on this machine"), "{run:?}");
    }
}

#[test]
fn what_was_kept_is_not_asked_again_until_the_model_sees_something_else() {
    let Some(python) = python() else { return };
    let place = place();
    let model = format!("{python} habit.py nearest");
    let kept = ["--replies", "replies.jsonl", "--json"];
    let part = ask(&place, &model, &["--sample", "2", "--replies", "replies.jsonl", "--json"])
        .exits(0)
        .json();
    assert_eq!((&part["messages"], &part["reused"]), (&json!(2), &json!(0)));
    let all = ask(&place, &model, &kept).exits(0).json();
    assert_eq!((&all["messages"], &all["reused"]), (&json!(6), &json!(6)));
    // A recorded run is replayed: the program is gone, and its name stands for its replies.
    place.write("habit.py", "import sys; sys.exit('gone')");
    let again = ask(&place, &model, &kept).exits(0).json();
    assert_eq!(again["reused"], 18);
    assert_habit(&again, "nearest");
    // Times are added up in another order, so that their last digit may differ.
    let without_times = |report: &Value| -> Vec<Value> {
        let mut ways = report["ways"].as_array().unwrap().clone();
        for way in &mut ways {
            way["seconds"] = Value::Null;
        }
        ways
    };
    assert_eq!(without_times(&again), without_times(&all));
    // What the model would see has changed, but for the messages alone.
    place.write(
        "skills/pdf/SKILL.md",
        "---\nname: pdf\ndescription: Rotates pages.\n---\nRotate.\n",
    );
    let changed = ask(&place, &model, &kept).exits(1).json();
    assert!(
        changed["reused"].as_u64().unwrap() >= 6 && changed["left"].as_u64().unwrap() > 0,
        "{changed}"
    );
}

#[test]
fn a_model_that_is_away_is_left_after_three_failures_and_is_told() {
    let Some(python) = python() else { return };
    let place = place();
    let run = ask(&place, &format!("{python} habit.py fails"), &["--json"]).exits(1);
    let report = run.json();
    assert_eq!((&report["messages"], &report["left"]), (&json!(0), &json!(6)));
    assert_eq!(report["failed"].as_array().unwrap().len(), 3, "{report}");
    assert!(run.stderr.contains("cases.jsonl:1: no reply (nothing)"), "{run:?}");
    assert!(run.stderr.contains("the model is away"), "{run:?}");
    assert!(run.stderr.contains("6 messages were not asked in every way"), "{run:?}");
    let run = ask(&place, "no-such-program", &[]).exits(1);
    assert!(run.stderr.contains("cannot start `no-such-program`"), "{run:?}");
    assert!(run.stderr.contains("install it, or write its path"), "{run:?}");
    assert_eq!(run.stdout.trim_end(), "no message was answered in every way");
}

#[test]
fn no_conversation_begins_past_the_tokens() {
    let Some(python) = python() else { return };
    let place = place();
    let model = format!("{python} habit.py never");
    let run = ask(&place, &model, &["--max-tokens", "600", "--replies", "kept", "--json"]).exits(1);
    let report = run.json();
    let (asked, left) = (report["messages"].as_u64().unwrap(), report["left"].as_u64().unwrap());
    assert!(asked >= 1 && left >= 1 && asked + left == 6, "{report}");
    assert!(report["failed"].as_array().unwrap().is_empty(), "{report}");
    assert!(run.stderr.contains("run the command again"), "{run:?}");
    let report = ask(&place, &model, &["--replies", "kept", "--json"]).exits(0).json();
    assert_eq!(report["messages"], 6);
}

#[test]
fn a_judge_is_put_over_the_replies_that_were_kept() {
    let Some(python) = python() else { return };
    let place = place();
    let model = format!("{python} habit.py nearest");
    let judge = format!("{python} habit.py judge");
    ask(&place, &model, &["--replies", "kept"]).exits(0);
    let run = ask(&place, &model, &["--replies", "kept", "--judge", &judge]).exits(0);
    assert!(run.stdout.contains("18 replies judged"), "{run:?}");
    // It finds a reply good if it followed a skill.
    let report =
        ask(&place, &model, &["--replies", "kept", "--judge", &judge, "--json"]).exits(0).json();
    let good = [0, 1, 2].map(|way| report["ways"][way]["good"]["mean"].as_f64().unwrap());
    let loaded = |way: &Value| (4.0 * (1.0 - shares(way)[2]) + 2.0 * shares(way)[3]) / 6.0;
    let expected = [0, 1, 2].map(|way| loaded(&report["ways"][way]));
    for (good, expected) in good.into_iter().zip(expected) {
        assert!((good - expected).abs() < 1e-9, "{report}");
    }
    // Both the replies and the verdicts are kept.
    place.write("habit.py", "import sys; sys.exit('gone')");
    let again =
        ask(&place, &model, &["--replies", "kept", "--judge", &judge, "--json"]).exits(0).json();
    assert_eq!(again["ways"], report["ways"]);
}

/// Loads the skill that it is made for, whatever it is asked.
struct Always(&'static str);

impl Model for Always {
    fn answer(&self, request: &Request) -> Result<Reply, String> {
        let is_first = request.messages.iter().all(|message| message.role != Role::Tool);
        let call = Call { name: "use_skill".into(), arguments: json!({"skill": self.0}) };
        let calls =
            Some(call).filter(|_| is_first && !request.tools.is_empty()).into_iter().collect();
        Ok(Reply { text: "done".into(), calls, tokens: None })
    }
}

#[test]
fn a_host_can_ask_its_own_model() {
    let place = place();
    let source = repertoire::Source::project(place.path().join("skills"));
    let engine = repertoire::Engine::builder().source(source).build().unwrap();
    let (cases, problems) = read("cases.jsonl", &cases(), None);
    assert!(problems.is_empty(), "{problems:?}");
    let asking = Asking {
        model_name: "always",
        ways: &[Way::List, Way::Disclosed],
        jobs: 2,
        max_tokens: None,
    };
    let asked =
        asking.run(&engine, &cases, &Always("review"), &mut Replies::default(), || ()).unwrap();
    let report = AskReport::new(asked, asking.ways);
    let mean = |figure: Option<Figure>| figure.unwrap().mean;
    let of =
        |way: &WayFigures| [mean(way.right), mean(way.wrong), mean(way.never), mean(way.needless)];
    assert_eq!(of(&report.ways[0]), [0.5, 0.5, 0.0, 1.0]);
    // The disclosure adds `deploy`, in full, where the model loads `review` beside it.
    assert_eq!(of(&report.ways[1]), [0.75, 0.5, 0.0, 1.0]);
    assert_eq!(of(&report.differences[0]), [0.25, 0.0, 0.0, 0.0]);
}
