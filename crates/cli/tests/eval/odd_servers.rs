//! Servers of models that answer as real ones do, in each form that they have.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::ask::{ask, place, serve};

/// An answer, as [`serve`] takes it.
type Answer = (&'static str, String);

/// Starts a server that gives these answers, and the last of them for ever. Returns its address and the requests that
/// it got.
fn server(answers: Vec<Answer>) -> (String, Arc<Mutex<Vec<Value>>>) {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&requests);
    let address = serve(move |request| {
        let mut seen = seen.lock().unwrap();
        seen.push(request);
        answers[(seen.len() - 1).min(answers.len() - 1)].clone()
    });
    (address, requests)
}

fn said(message: &Value) -> Answer {
    ("200 OK", json!({"choices": [{"message": message}]}).to_string())
}

fn counted(usage: &Value) -> Answer {
    ("200 OK", json!({"choices": [{"message": {"content": "Done."}}], "usage": usage}).to_string())
}

fn calling(function: &Value) -> Vec<Answer> {
    vec![
        said(&json!({"content": null, "tool_calls": [{"function": function}]})),
        said(&json!({"content": "Done."})),
    ]
}

/// Asks one message; returns the report and what is told on standard error.
fn one(answers: Vec<Answer>) -> (Value, String, Vec<Value>) {
    let place = place();
    place.write(
        "cases.jsonl",
        json!({"query": "split these files", "expected_skill": "pdf"}).to_string(),
    );
    let (address, requests) = server(answers);
    let run = ask(&place, &address, &["--json", "--ways", "list", "--reply-timeout", "30"]);
    let requests = requests.lock().unwrap().clone();
    (run.json(), run.stderr, requests)
}

#[test]
fn answers_count_in_each_form_that_servers_give_them() {
    let pdf = json!({"skill": "pdf"});
    let busy = (
        "429 Too Many Requests\r\nRetry-After: 0",
        json!({"error": {"message": "slow down"}}).to_string(),
    );
    let loading = ("503 Service Unavailable", "loading".to_owned());
    for (answers, right) in [
        (vec![said(&json!({"content": [{"type": "text", "text": "Done."}]}))], 0.0),
        (vec![counted(&json!({}))], 0.0),
        (vec![counted(&json!({"total_tokens": 7}))], 0.0),
        (vec![counted(&json!({"prompt_tokens": null, "completion_tokens": null}))], 0.0),
        (vec![counted(&json!({"prompt_tokens": 7.0, "completion_tokens": 3.0}))], 0.0),
        (vec![busy, said(&json!({"content": "Done."}))], 0.0),
        (vec![loading, said(&json!({"content": "Done."}))], 0.0),
        (calling(&json!({"name": "use_skill", "arguments": pdf})), 1.0),
        (calling(&json!({"name": "use_skill", "arguments": pdf.to_string()})), 1.0),
        (calling(&json!({"name": "use_skill"})), 0.0),
        (calling(&json!({"name": "use_skill", "arguments": ""})), 0.0),
        (calling(&json!({"name": "use_skill", "arguments": null})), 0.0),
        (
            vec![
                said(
                    &json!({"content": null, "function_call": {"name": "use_skill", "arguments": pdf.to_string()}}),
                ),
                said(&json!({"content": "Done."})),
            ],
            1.0,
        ),
    ] {
        let (report, told, _) = one(answers.clone());
        assert_eq!(report["left"], json!(0), "{answers:?}: {told}");
        assert_eq!(report["ways"][0]["right"]["mean"], json!(right), "{answers:?}: {report}");
        // What the model wrote costs something, whoever counts it.
        assert!(
            report["ways"][0]["output"]["mean"].as_f64().unwrap() > 0.0,
            "{answers:?}: {report}"
        );
    }
}

#[test]
fn what_is_no_answer_is_told_in_the_words_of_the_server() {
    let error = json!({"error": {"message": "model is loading"}}).to_string();
    let cut =
        json!({"choices": [{"finish_reason": "length", "message": {"content": ""}}]}).to_string();
    for (answer, reason) in [
        (said(&json!({"content": null})), "answers without a text"),
        (said(&json!({"content": "", "reasoning_content": "Perhaps …"})), "answers without a text"),
        (("200 OK", cut), "finish_reason: length"),
        (("200 OK", error.clone()), "answers with an error: model is loading"),
        (("400 Bad Request", error), "400 Bad Request: model is loading"),
        (("200 OK", "<html>".to_owned()), "no chat completion"),
        (("200 OK", json!({"choices": []}).to_string()), "no choice"),
        (said(&json!({"content": "x".repeat(5 << 20)})), "more than 4 MiB"),
    ] {
        let shown = answer.1.chars().take(80).collect::<String>();
        let (report, told, _) = one(vec![answer]);
        assert_eq!(report["left"], json!(1), "{shown}: {report}");
        assert!(told.contains(reason), "{shown}: {told}");
    }
}

#[test]
fn broken_arguments_come_back_to_the_model_as_it_wrote_them() {
    let broken = "{\"skill\": \"pd";
    let (report, told, requests) = one(calling(&json!({"name": "use_skill", "arguments": broken})));
    assert_eq!(report["left"], json!(0), "{told}");
    let call = requests[1].pointer("/messages/2/tool_calls/0/function/arguments");
    assert_eq!(call, Some(&json!(broken)), "{}", requests[1]);
}
