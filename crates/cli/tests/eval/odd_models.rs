//! Programs that answer as programs on real machines do: what is not an answer is told, and costs no other message.

use std::fs;

use serde_json::{Value, json};

use crate::ask::{ask, place, python};
use crate::binary::Place;

/// The line of a text program that loads `pdf`.
const CALL: &str = r#"CALL use_skill {"skill": "pdf"}"#;

/// Asks one message, "split these files", with the plain list; the program is a script in Python, which gets the
/// prompt as `prompt`.
fn one(place: &Place, python: &str, script: &str, args: &[&str]) -> (Value, String) {
    place.write(
        "odd.py",
        format!("import os, subprocess, sys\nprompt = sys.stdin.read()\n{script}\n"),
    );
    place.write(
        "cases.jsonl",
        json!({"query": "split these files", "expected_skill": "pdf"}).to_string(),
    );
    let common = ["--json", "--ways", "list"];
    let args: Vec<&str> = common.iter().chain(args).copied().collect();
    let run = ask(place, &format!("{python} odd.py"), &args);
    assert_eq!(run.code, i32::from(run.json()["left"] != json!(0)), "{run:?}");
    (run.json(), run.stderr)
}

#[test]
fn a_reply_is_found_whatever_is_printed_around_it() {
    let Some(python) = python() else { return };
    let place = place();
    let said = "print('Done.' if '## Answer' in prompt else";
    for (script, right) in [
        (format!("sys.stderr.write('x' * 300_000)\n{said} '{CALL}')"), 1.0),
        // A process that it leaves behind keeps its output open.
        (format!("subprocess.Popen(['sleep', '311'])\n{said} '{CALL}')"), 1.0),
        (format!("{said} '\\x1b[32m{CALL}\\x1b[0m')"), 1.0),
        (format!("{said} '<think>\\nPerhaps\\nCALL use_skill {{}}\\n</think>\\n\\n{CALL}')"), 1.0),
        (format!("print('Thinking...\\n{CALL}\\n...done thinking.\\n\\nParis.')"), 0.0),
        (format!("print('<think>\\n{CALL}\\n</think>Paris.')"), 0.0),
        (format!("sys.stdout.buffer.write(b'\\xff\\n'); {said} '{CALL}')"), 1.0),
    ] {
        let (report, _) = one(&place, python, &script, &[]);
        assert_eq!(report["ways"][0]["right"]["mean"], json!(right), "{script}: {report}");
    }
}

#[test]
fn what_is_no_reply_is_told_with_its_reason() {
    let Some(python) = python() else { return };
    let place = place();
    for (script, args, reason) in [
        ("pass", &[][..], "printed no reply"),
        ("sys.exit('no key')", &[], "no key"),
        ("print('Credit balance is too low'); sys.exit(1)", &[], "Credit balance is too low"),
        ("print('<think>for too long')", &[], "printed no reply"),
        ("import time; time.sleep(60)", &["--reply-timeout", "1"], "did not answer within 1 s"),
    ] {
        let (report, told) = one(&place, python, script, args);
        assert_eq!(report["left"], json!(1), "{script}: {report}");
        assert!(told.contains(reason), "{script}: {told}");
    }
}

/// Writes a program that answers each line by `answer`, with `first` printed before the first one.
fn lines(place: &Place, first: &str, answer: &str) {
    let script = format!(
        "import json, sys\n{first}\nfor line in sys.stdin:\n    request = json.loads(line)\n    \
         query = request['messages'][-1]['text']\n    {answer}\n"
    );
    place.write("lines.py", script);
}

#[test]
fn a_line_that_is_no_reply_fails_and_no_later_message_gets_a_line_of_another() {
    let Some(python) = python() else { return };
    let place = place();
    let answer = "print(json.dumps({'text': 'to: ' + query}), flush=True)";
    let first_only =
        "print('[]' if 'split' in query else json.dumps({'text': 'to: ' + query}), flush=True)";
    for (first, answer, left, reason) in [
        ("", answer, 0, ""),
        ("print('Loading model ...', flush=True)", answer, 6, "Loading model ..."),
        ("", first_only, 1, "not a line such as"),
        (
            "",
            "print('{\"error\": {\"message\": \"rate limit reached\"}}', flush=True)",
            6,
            "rate limit reached",
        ),
        ("sys.exit('no key')", answer, 6, "no key"),
        ("", "print('{}', flush=True)", 6, "not a line such as"),
        ("", "print('{\"text\": \"\"}', flush=True)", 6, "an empty reply"),
        ("", &format!("{answer}; {answer}"), -1, ""),
    ] {
        lines(&place, first, answer);
        let _ = fs::remove_file(place.path().join("kept"));
        let args =
            ["--json", "--json-lines", "--ways", "nothing", "--jobs", "2", "--replies", "kept"];
        let run = ask(&place, &format!("{python} lines.py"), &args);
        if left >= 0 {
            assert_eq!(run.json()["left"], json!(left), "{answer}: {run:?}");
        }
        assert!(run.stderr.contains(reason), "{answer}: {}", run.stderr);
        for line in fs::read_to_string(place.path().join("kept")).unwrap().lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            let (Some(query), Some(reply)) = (record["query"].as_str(), record["reply"].as_str())
            else {
                continue;
            };
            assert_eq!(reply, format!("to: {query}"), "{answer}");
        }
    }
}

/// Fails for the messages with one of these words, and answers the others.
fn refusing(place: &Place, words: &[&str]) {
    let script = format!(
        "import sys\nprompt = sys.stdin.read()\n\
         sys.exit('blocked') if any(word in prompt for word in {words:?}) else print('Done.')\n"
    );
    place.write("refusing.py", script);
}

#[test]
fn messages_that_a_model_refuses_keep_no_others_from_being_asked() {
    let Some(python) = python() else { return };
    let args = ["--json", "--ways", "nothing", "--replies", "kept"];
    // One message, in each of three ways, is one failure.
    let place_of_one = place();
    refusing(&place_of_one, &["split these"]);
    let model = format!("{python} refusing.py");
    let run = ask(&place_of_one, &model, &["--json", "--replies", "kept"]).exits(1);
    assert_eq!((&run.json()["left"], &run.json()["messages"]), (&json!(1), &json!(5)), "{run:?}");
    // After three, the model seems to be away: the next run begins with the others.
    let place = place();
    refusing(&place, &["split these", "deploy", "review"]);
    let first = ask(&place, &model, &args).exits(1).json();
    assert_eq!((&first["left"], &first["messages"]), (&json!(6), &json!(0)), "{first}");
    let second = ask(&place, &model, &args).exits(1).json();
    assert_eq!((&second["left"], &second["messages"]), (&json!(3), &json!(3)), "{second}");
    refusing(&place, &[]);
    let last = ask(&place, &model, &args).exits(0).json();
    assert_eq!((&last["messages"], &last["reused"]), (&json!(6), &json!(3)), "{last}");
}

#[test]
fn a_text_that_a_tool_gave_and_is_another_now_is_asked_for_again() {
    let Some(python) = python() else { return };
    let place = place();
    let (model, judge) = (format!("{python} habit.py nearest"), format!("{python} habit.py judge"));
    let args = ["--json", "--ways", "list", "--replies", "kept", "--judge", &judge];
    let first = ask(&place, &model, &args).exits(0).json();
    assert_eq!(ask(&place, &model, &args).exits(0).json()["reused"], json!(6));
    let skill = place.path().join("skills/pdf/SKILL.md");
    let text = fs::read_to_string(&skill).unwrap() + "\nUse the new tool.\n";
    fs::write(&skill, text).unwrap();
    let verdicts =
        || fs::read_to_string(place.path().join("kept")).unwrap().matches("\"is_good\"").count();
    let before = verdicts();
    let changed = ask(&place, &model, &args).exits(0).json();
    assert_eq!(changed["reused"], json!(5), "{changed}");
    assert_eq!(changed["ways"][0]["right"], first["ways"][0]["right"]);
    // Its reply is judged by the new text.
    assert_eq!(verdicts(), before + 1);
}

#[test]
fn a_judge_that_fails_is_told_and_left() {
    let Some(python) = python() else { return };
    let place = place();
    let model = format!("{python} habit.py never");
    for (judge, reason) in [
        ("no-such-judge", "cannot start `no-such-judge`"),
        ("echo The reply is good.", "which begins neither with `good` nor with `bad`"),
    ] {
        let run = ask(&place, &model, &["--json", "--ways", "nothing", "--judge", judge]).exits(1);
        assert_eq!(run.json()["unjudged"]["replies"], json!(6), "{run:?}");
        assert!(run.stderr.contains("no verdict on 6 replies"), "{run:?}");
        assert!(run.stderr.contains(reason), "{run:?}");
    }
}

#[test]
fn limits_and_skills_that_do_not_count_are_told() {
    let place = place();
    for limit in ["--min-recall", "--min-precision", "--max-false-fire"] {
        ask(&place, "echo hi", &[limit, "0.9"]).exits(2);
    }
    let head = "---\nname: own\ndescription: Does it.\ndisable-model-invocation: true\n---\nB\n";
    place.write("skills/own/SKILL.md", head);
    let cases = [
        json!({"query": "own", "expected_skill": "own"}),
        json!({"query": "thanks", "expected_skill": null}),
    ];
    place.write("cases.jsonl", cases.map(|case| case.to_string()).join("\n"));
    for args in [&["--json"][..], &["--json", "--sample", "1"]] {
        let run = ask(&place, "echo hi", args).exits(0);
        assert_eq!(run.json()["messages"], json!(1), "{run:?}");
        assert!(
            run.stderr.contains("1 prompt expects `own`, which only the user may invoke"),
            "{run:?}"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_model_with_what_it_started() {
    use std::path::Path;
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, Signal, kill_process, test_kill_process};

    let place = place();
    place.write(
        "slow.sh",
        "sleep 313 & echo $! > pids.new; echo $$ >> pids.new; mv pids.new pids; wait\n",
    );
    let args = ["eval", "cases.jsonl", "--source", "skills", "--ask", "sh slow.sh"];
    let mut command = place.command(args);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let wait_until = |is_done: &dyn Fn() -> bool| {
        let end = Instant::now() + Duration::from_secs(20);
        while !is_done() {
            assert!(Instant::now() < end, "it takes too long");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let pids = place.path().join("pids");
    wait_until(&|| pids.exists());
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert!(!child.wait().unwrap().success());
    for pid in fs::read_to_string(&pids).unwrap().lines() {
        let pid = Pid::from_raw(pid.parse().unwrap()).unwrap();
        let stat = || {
            fs::read_to_string(Path::new("/proc").join(pid.as_raw_pid().to_string()).join("stat"))
        };
        wait_until(&|| {
            test_kill_process(pid).is_err() || stat().is_ok_and(|stat| stat.contains(") Z "))
        });
    }
}
