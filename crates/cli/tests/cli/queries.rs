//! The query text and the paths of a query: where they come from, and which skills they match.

use serde_json::{Value, json};

use super::{assert_contains, ids, place};
use crate::binary::Place;

#[test]
fn a_query_of_a_hyphen_is_read_from_standard_input() {
    let place = place();
    let find = |input: &[u8]| {
        let run = place.run_with(["match", "-", "--json", "--source", "skills"], input).exits(0);
        run.json()["matches"][0]["hits"][0].clone()
    };
    let hit = json!({"kind": "name", "trigger": "beta", "start": 4, "end": 8});
    for input in ["use beta", "use beta\n", "use beta\r\n", "use beta\0", "use beta\n\n\n"] {
        assert_eq!(find(input.as_bytes()), hit, "{input:?}");
    }
    assert_eq!(find(b""), Value::Null);
    let long = format!("{} beta", "x ".repeat(2_000_000));
    assert_eq!(find(long.as_bytes())["start"], 4_000_001);
    for command in ["match", "disclose"] {
        let args = [command, "-", "--source", "skills"];
        let run = place.run_with(args, b"use \xff beta").exits(1);
        assert_contains(&run.stderr, &["not UTF-8 from byte 4", "help: "]);
        assert_eq!(run.stdout, "");
    }
}

#[test]
fn paths_are_taken_from_the_project() {
    let place = Place::new();
    let text = "---\nname: rusty\ndescription: d\npaths: ['src/*.rs']\n---\n";
    place.write("app/.repertoire/skills/rusty/SKILL.md", text);
    let absolute = place.path().join("app/src/a.rs");
    let absolute = absolute.to_str().unwrap();
    for (path, wanted) in [
        ("src/a.rs", "src/a.rs"),
        ("app/src/a.rs", "src/a.rs"),
        ("./app/x/../src/a.rs", "src/a.rs"),
        (absolute, "src/a.rs"),
    ] {
        let args = ["match", "fix it", "--json", "--project", "app", "--path", path];
        let found = place.run(args).exits(0).json();
        assert_eq!(found["matches"][0]["hits"][0]["path"], wanted, "{path}");
    }
    let args = ["match", "fix it", "--json", "--project", "app", "--path", "lib/a.rs"];
    assert_eq!(place.run(args).json()["matches"], json!([]));
}

#[test]
fn a_message_may_begin_with_a_hyphen() {
    let place = Place::new();
    place.write("skills/a/SKILL.md", "---\nname: a\ndescription: d\ntriggers: [alpha]\n---\n");
    let sources = ["--source", "skills"];
    for message in ["- alpha", "-- alpha", "-alpha beta", "->alpha"] {
        let args = [&["match", message, "--json"][..], &sources].concat();
        let found = place.run(args).exits(0).json();
        assert_eq!(found["matches"][0]["id"], "a", "{message}: {found}");
    }
    for mistyped in ["--exlpain", "-x"] {
        let run = place.run([&["match", mistyped][..], &sources].concat()).exits(2);
        assert!(run.stderr.contains("there is no such option"), "{run:?}");
    }
}

#[test]
fn how_many_skills_match_is_told_whatever_the_limit() {
    let place = place();
    for (message, limit, n_shown, told) in [
        ("alpha and beta", "0", 0, "2 skills match; `--explain` shows those that were rejected\n"),
        ("alpha and beta", "1", 1, "1 more skill matches; `--explain` shows those that were"),
        ("alpha and beta", "2", 2, ""),
        ("alpha", "0", 0, "1 skill matches; "),
        ("nothing", "0", 0, "no skill matches\n"),
    ] {
        let run = place.run(["match", message, "--limit", limit, "--source", "skills"]).exits(0);
        assert!(run.stderr.starts_with(told), "{message} {limit}: {run:?}");
        assert_eq!(run.stderr.is_empty(), told.is_empty(), "{message} {limit}: {run:?}");
        let n_lines = run.stdout.lines().filter(|line| line.contains("trigger of")).count();
        assert_eq!(n_lines, n_shown, "{message} {limit}: {run:?}");
    }
    assert_contains(&place.run(["match", "--help"]).exits(0).stdout, &["`0` only counts them"]);
}

#[test]
fn limits_and_vetoes_are_explained() {
    let place = place();
    let text = "---\nname: gamma\ndescription: d\ntriggers:\n  keywords: [beta]\n  exclude: [not gamma]\n---\n";
    place.write("skills/gamma/SKILL.md", text);
    let args = ["match", "alpha and beta, not gamma", "--source", "skills", "--limit", "1"];
    let found = place.run(args.iter().copied().chain(["--json"])).exits(0).json();
    assert_eq!(ids(&found["matches"]), ["alpha"]);
    assert_eq!(ids(&found["rejected"]), ["beta", "gamma"]);
    let plain = place.run(args).exits(0).stdout;
    assert!(!plain.contains("rejected"), "{plain}");
    let explained = place.run(args.iter().copied().chain(["--explain"])).exits(0).stdout;
    assert_contains(
        &explained,
        &[
            "1. alpha  trigger of 1 word\n",
            "| alpha and beta, not gamma\n",
            "| ^^^^^\n | |\n | name `alpha`\n | keyword `alpha`\n",
            "rejected: beta  below the limit of 1 skill\n",
            "rejected: gamma  vetoed by its exclude `not gamma`\n",
        ],
    );
    let none = place.run(["match", "alpha", "--source", "skills", "--limit", "0", "--json"]);
    assert_eq!(none.exits(0).json()["matches"], json!([]));
    let meta = place.run(["match", "list skills", "--explain", "--source", "skills"]).exits(0);
    assert_contains(&meta.stdout, &["asks which skills there are"]);
    assert_contains(&meta.stderr, &["no skill matches"]);
}

#[test]
fn how_much_of_a_long_message_is_searched_is_told() {
    let place = place();
    for (limit, part) in [(100, "50 bytes"), (4096, "2 KiB")] {
        place.write(
            "home/.repertoire/config.toml",
            format!("[limits]\nmax_query_bytes = {limit}\n"),
        );
        let run = place.run(["match", &"x ".repeat(limit), "--source", "skills"]);
        assert_contains(&run.stderr, &[&format!("first and last {part}")]);
    }
}
