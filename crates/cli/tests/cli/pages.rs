//! The page of `repertoire play`, over HTTP and in a real browser.

use std::io::{BufRead as _, BufReader};

use serde_json::json;

use crate::binary::Place;
use crate::browser;
use crate::play::Play;

/// Starts a page with one skill, `review`.
fn play() -> Play {
    let place = Place::new();
    let skill = "---\nname: review\ndescription: Reviews a pull request.\ntriggers: [pull request]\n\
                 ---\nLook <b>twice</b>.\n";
    place.write("skills/review/SKILL.md", skill);
    Play::start(place, &[])
}

#[test]
fn only_who_knows_the_address_is_answered() {
    let play = play();
    let ask = format!("{}ask", play.root);
    let huge = "x".repeat(5 * 1024 * 1024);
    for (method, path, body, wanted) in [
        ("GET", play.root.as_str(), "", 200),
        ("GET", &format!("{}page.js", play.root), "", 200),
        ("GET", &format!("{}page.css", play.root), "", 200),
        ("POST", &ask, r#"{"query": "hello"}"#, 200),
        ("GET", &ask, "", 404),
        ("POST", "/ask", "{}", 404),
        ("GET", "/", "", 404),
        ("GET", "/00000000000000000000000000000000/", "", 404),
        ("GET", &format!("{}../page.js", play.root), "", 404),
        ("POST", &ask, "{", 400),
        ("POST", &ask, r#"{"query": "a", "bugdet": "1"}"#, 400),
        ("POST", &ask, r#"{"query": "a", "budget": "much"}"#, 400),
        ("POST", &ask, &huge, 413),
    ] {
        let (status, head, answer) = play.request(method, path, body);
        assert_eq!(status, wanted, "{method} {path}: {answer}");
        assert!(head.contains("content-security-policy: default-src 'none'"), "{head}");
    }
}

#[test]
fn a_page_of_another_site_is_not_answered() {
    let play = play();
    let (host, port) = (play.host.as_str(), play.host.split(':').nth(1).unwrap());
    let ask = format!("{}ask", play.root);
    for (lines, wanted) in [
        (format!("Host: {host}\r\n"), 200),
        (format!("Host: LOCALHOST:{port}\r\nOrigin: http://{host}\r\n"), 200),
        (String::new(), 403),
        ("Host: evil.example\r\n".to_owned(), 403),
        (format!("Host: evil.example:{port}\r\n"), 403),
        ("Host: 127.0.0.1:1\r\n".to_owned(), 403),
        (format!("Host: {host}\r\nHost: {host}\r\n"), 403),
        (format!("Host: {host}\r\nOrigin: http://evil.example\r\n"), 403),
        (format!("Host: {host}\r\nOrigin: null\r\n"), 403),
        (format!("Host: {host}\r\nOrigin: https://{host}\r\n"), 403),
    ] {
        let (status, _, answer) = play.request_with("POST", &ask, &lines, r#"{"query": "a"}"#);
        assert_eq!(status, wanted, "{lines:?}: {answer}");
    }
    let line = format!("http://evil.example{ask}");
    assert_eq!(play.request("POST", &line, r#"{"query": "a"}"#).0, 403);
}

#[test]
fn findings_have_no_control_character() {
    let play = play();
    play.place.write("skills/a\u{1b}[31mb/SKILL.md", "---\nname: x\n---\n");
    std::thread::sleep(std::time::Duration::from_secs(2));
    let answer = play.ask(&json!({"query": "a"}));
    let findings = answer["findings"].as_array().unwrap();
    assert!(!findings.is_empty(), "{answer}");
    for finding in findings {
        let finding = finding.as_str().unwrap();
        assert!(!finding.contains(char::is_control), "{finding:?}");
    }
}

#[test]
fn an_answer_has_hits_ranking_tier_text_and_cost() {
    let play = play();
    let answer = play.ask(&json!({"query": "a pull request", "skill": "review"}));
    assert_eq!(
        answer["parts"][1],
        json!({
            "text": "pull request",
            "hits": [{"match": 0, "hit": 0}],
            "words_of": [0],
            "is_attached": false,
        })
    );
    assert_eq!(answer["matches"][0]["id"], "review");
    assert_eq!(answer["matches"][0]["why"], "trigger of 2 words");
    assert_eq!(answer["disclosure"]["tier"], 3);
    let text = answer["disclosure"]["text"].as_str().unwrap();
    assert!(text.contains("Look <b>twice</b>."), "{text}");
    assert_eq!(answer["tokens"], text.len().div_ceil(4));
    assert_eq!(answer["relevant"][0]["id"], "review");
    assert_eq!(answer["verdict"]["Ok"]["fires"], true);

    // The explanation of a skill uses the limits that are set on the page.
    let limited = json!({"query": "a pull request", "skill": "review", "max_skills": 0});
    let verdict = &play.ask(&limited)["verdict"]["Ok"];
    assert_eq!(verdict["fires"], false);
    assert!(verdict["reason"].as_str().unwrap().contains("limit"), "{verdict}");
}

#[test]
fn a_skill_that_no_longer_loads_is_told_of_and_stays() {
    let mut play = play();
    let mut lines = BufReader::new(play.child.stderr.take().unwrap()).lines();
    play.place.write("skills/review/SKILL.md", "");
    // Each finding comes with a line of help.
    let told = lines.by_ref().take(4).map(Result::unwrap).collect::<Vec<_>>().join("\n");
    assert!(told.contains("skills/review/SKILL.md: warning[kept-before]"), "{told}");
    assert!(told.contains("error[empty-file]"), "{told}");
    let answer = play.ask(&json!({"query": "a pull request"}));
    assert_eq!(answer["matches"][0]["id"], "review");
}

#[test]
fn an_address_that_others_reach_is_refused() {
    let run = Place::new().run(["play", "--http", "0.0.0.0:0"]).exits(2);
    assert!(run.stderr.contains("of this machine only"), "{run:?}");
}

#[test]
fn an_author_uses_the_page_in_a_browser() {
    let play = play();
    let url = format!("http://{}{}", play.host, play.root);
    let skills = play.place.path().join("skills");
    browser::run("play.mjs", &[url.as_ref(), skills.as_os_str()]);
}
