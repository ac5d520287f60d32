//! Measuring how often the right skill is disclosed: forms of prompts, figures by hand, limits,
//! comparisons, and the page.
#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "support/binary.rs"]
mod binary;

use std::time::{Duration, Instant};

use binary::{Place, Run};
use repertoire::eval::{Baseline, Case, Report, compare, evaluate, read};
use repertoire::{Engine, EngineBuilder, Skill};
use serde_json::{Value, json};

fn skill(name: &str, triggers: &str) -> Skill {
    format!("---\nname: {name}\ndescription: Does {name}.\ntriggers: [{triggers}]\n---\nBody\n")
        .parse()
        .unwrap()
}

/// Three skills: `deploy`, `review`, and `notes`, which fires on `review`, too.
fn engine() -> Engine {
    let skills =
        [skill("deploy", "deploy"), skill("review", "review"), skill("notes", "notes, review it")];
    skills.into_iter().fold(Engine::builder(), EngineBuilder::skill).build().unwrap()
}

/// What a case expects, forbids and accepts.
fn wants(case: &Case) -> String {
    let Case { query, expected, forbidden, acceptable, line, .. } = case;
    let list = |names: &[String]| names.join(",");
    format!("{line} {query} +{} -{} ~{}", list(expected), list(forbidden), list(acceptable))
}

#[test]
fn every_form_is_read_with_its_lines() {
    let cases: &[(&str, &str, &[&str])] = &[
        (
            "a.json",
            "[\n  {\"query\": \"q1\", \"should_trigger\": true, \"expected_skill\": \"x\"},\n  \
             {\"query\": \"q2\", \"should_trigger\": false, \"expected_skill\": \"x\"},\n\n  \
             {\"query\": \"q3\", \"should_trigger\": false}]",
            &["2 q1 +x - ~", "3 q2 + -x ~", "5 q3 + - ~"],
        ),
        (
            "a.jsonl",
            "{\"query\": \"q1\", \"should_trigger\": true, \"skill\": \"x\"}\r\n\r\n\
             {\"prompt\": \"p\", \"expected_skill\": \"y\"}\r\n\
             {\"prompt\": \"none\", \"expected_skill\": null}",
            &["1 q1 +x - ~", "3 p +y - ~", "4 none + - ~"],
        ),
        (
            "corpus.jsonl",
            "{\"kind\":\"route\",\"query\":\"q\",\"expected\":[\"x\",\"y\"],\"forbidden\":[\"z\"]}\n\
             {\"kind\":\"binary\",\"query\":\"q\",\"skill\":\"x\",\"label\":true}\n\
             {\"kind\":\"binary\",\"query\":\"q\",\"skill\":\"x\",\"label\":false}\n\
             {\"query\":\"q\",\"expected\":[],\"acceptable\":[\"w\"]}\n",
            &["1 q +x,y -z ~", "2 q +x - ~", "3 q + -x ~", "4 q + - ~w"],
        ),
        (
            "trigger_tests.yaml",
            "# by hand\nskill: x\nshould_trigger_prompts:\n  - prompt: one\n    reason: r\n  - two\n\
             should_not_trigger_prompts:\n  - prompt: three\n",
            &["4 one +x - ~", "6 two +x - ~", "8 three + -x ~"],
        ),
        (
            "evals.json",
            "\u{feff}{\"skill_name\": \"x\",\n\"evals\": [\n{\"prompt\": \"a\", \"should_trigger\": true},\n\
             {\"prompt\": \"b\", \"should_trigger\": false, \"expected_skill\": \"y\"}]}",
            &["3 a +x - ~", "4 b +y -x ~"],
        ),
        ("list.yml", "- query: a\n  expected: x\n", &["1 a +x - ~"]),
        ("no-extension", "{\"query\":\"a\",\"expected\":\"x\"}", &["1 a +x - ~"]),
        (
            "lines",
            "{\"query\":\"a\",\"expected\":\"x\"}\n{\"query\":\"b\",\"expected\":\"y\"}",
            &["1 a +x - ~", "2 b +y - ~"],
        ),
    ];
    for (file, text, expected) in cases {
        let (cases, problems) = read(file, text, None);
        assert_eq!(problems, [], "{file}");
        assert_eq!(cases.iter().map(wants).collect::<Vec<_>>(), *expected, "{file}");
        assert!(cases.iter().all(|case| case.file == *file));
    }
}

#[test]
fn prompts_that_name_no_skill_belong_to_the_one_that_is_named() {
    let text = "[{\"query\": \"a\", \"should_trigger\": true}, {\"query\": \"b\", \"should_trigger\": false}]";
    let (cases, _) = read("t.json", text, Some("x"));
    assert_eq!(cases.iter().map(wants).collect::<Vec<_>>(), ["1 a +x - ~", "1 b + -x ~"]);
}

/// The lines that are named, and what is said of each.
type Named = &'static [(usize, &'static str)];

#[test]
fn what_is_bad_is_named_with_its_line_and_nothing_else_is_lost() {
    let cases: &[(&str, &str, usize, Named)] = &[
        (
            "a.jsonl",
            "{\"query\":\"a\",\"expected\":\"x\"}\n{broken\n{\"expected\":\"x\"}\n{\"query\":\" \",\"expected\":\"x\"}\n\
             [1]\n{\"query\":\"b\"}\n{\"query\":\"c\",\"should_trigger\":true}\n{\"query\":\"d\",\"label\":\"yes\"}\n\
             {\"query\":\"e\",\"expected\":[1]}\n{\"query\":\"f\",\"expected\":\"x\"}",
            2,
            &[
                (2, "not valid JSON"),
                (3, "no `query`, `prompt` or `input`"),
                (4, "blank"),
                (5, "a list, not a map"),
                (6, "does not say what is expected"),
                (7, "does not say which skill should fire"),
                (8, "`label` is text, not true or false"),
                (9, "`expected` is a number, not the name of a skill"),
            ],
        ),
        (
            "a.json",
            "[{\"query\":\"a\",\"expected\":\"x\"},\n7,\n{\"query\":\"b\",\"expected\":\"x\"},\n{\"query\" oh no}]",
            2,
            &[(2, "a number"), (4, "the rest of the file is left out")],
        ),
        (
            "open.json",
            "[{\"query\":\"a\",\"expected\":\"x\"}",
            1,
            &[(1, "EOF while parsing a list")],
        ),
        (
            "two.json",
            "[{\"query\":\"a\",\"expected\":\"x\"}]\n[{\"query\":\"b\",\"expected\":\"x\"}]",
            1,
            &[(2, "trailing characters at column 1; the rest of the file is left out")],
        ),
        (
            "closed.json",
            "[{\"query\":\"a\",\"expected\":\"x\"}}, garbage",
            1,
            &[(1, "not valid JSON: expected `,` or `]` at column 30")],
        ),
        (
            "comma.json",
            "[{\"query\":\"a\",\"expected\":\"x\"}\n{\"query\":\"b\",\"expected\":\"x\"}]",
            1,
            &[(2, "not valid JSON: expected `,` or `]` at column 1")],
        ),
        (
            "end.json",
            "[{\"query\":\"a\",\"expected\":\"x\"},]",
            1,
            &[(1, "not valid JSON: trailing comma at column 31")],
        ),
        ("map.json", "{\n\"query\": }", 0, &[(2, "not valid JSON: expected value at column 10")]),
        (
            "both.jsonl",
            "{\"query\":\"a\",\"expected\":[\"y\",\"x\"],\"forbidden\":\"x\"}",
            0,
            &[(1, "`x` is both expected and forbidden")],
        ),
        ("p.yaml", "should_trigger_prompts:\n  - a\n", 0, &[(2, "which skill these prompts")]),
        (
            "b.yaml",
            "skill: x\nshould_trigger_prompts:\n  - a\n  - [b]\n",
            1,
            &[(4, "a list, not a prompt")],
        ),
        ("bad.yaml", "a: [\n", 0, &[(1, "not valid YAML")]),
        ("empty.yaml", "", 0, &[(1, "no prompts")]),
        ("empty.json", "", 0, &[(1, "no prompts")]),
        ("blank.jsonl", "\n\n", 0, &[(1, "no prompts")]),
        ("none.json", "[]", 0, &[(1, "no prompts")]),
        ("none.json", "{\"cases\":[]}", 0, &[(1, "no prompts")]),
        ("none.yaml", "cases: []\n", 0, &[(1, "no prompts")]),
        ("none.yaml", "[]\n", 0, &[(1, "no prompts")]),
    ];
    for (file, text, n_cases, expected) in cases {
        let (cases, problems) = read(file, text, None);
        assert_eq!(cases.len(), *n_cases, "{file}");
        assert_eq!(problems.len(), expected.len(), "{file}: {problems:?}");
        for (problem, (line, part)) in problems.iter().zip(*expected) {
            assert_eq!(problem.line, *line, "{file}: {problem:?}");
            assert!(problem.message.contains(part), "{file}: {problem:?}");
        }
    }
}

#[test]
fn many_bad_lines_are_named_in_time_that_grows_with_their_number() {
    let text = "{\"query\": 7, \"padding\": \"some more text, so that lines are long\"}\n";
    let n_lines = 100_000;
    let start = Instant::now();
    let (_, problems) = read("bad.jsonl", &text.repeat(n_lines), None);
    // To count the lines before each took minutes.
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    assert!(problems.iter().map(|problem| problem.line).eq(1..=n_lines));
}

/// Cases in the form of the corpus.
fn cases(rows: &[Value]) -> Vec<Case> {
    let text: String = rows.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let (cases, problems) = read("cases.jsonl", &text, None);
    assert_eq!(problems, []);
    cases
}

fn report(rows: &[Value]) -> Report {
    let mut n_told = 0;
    let (outcomes, problems) = evaluate(&engine(), &cases(rows), || n_told += 1);
    assert_eq!(n_told, rows.len());
    Report::new(outcomes, problems)
}

/// Seven prompts that decide every figure.
fn rows() -> Vec<Value> {
    vec![
        json!({"query": "deploy this", "expected": "deploy"}),
        json!({"query": "please review it", "expected": "review"}),
        json!({"query": "put it online", "expected": "deploy"}),
        json!({"query": "deploy and review", "expected": ["deploy", "review"]}),
        json!({"query": "what is deploy?", "expected": []}),
        json!({"query": "review", "skill": "deploy", "label": false}),
        json!({"query": "hello", "skill": "notes", "label": false}),
    ]
}

#[test]
fn every_figure_is_what_is_counted_by_hand() {
    let report = report(&rows());
    // Right: deploy; review; deploy and review. Wrong: notes for `review it`; deploy for none.
    // That `review` fires where only `deploy` is forbidden is not counted.
    let close = |figure: Option<f64>, expected: f64| (figure.unwrap() - expected).abs() < 1e-9;
    let scores = report.scores;
    assert!(close(scores.precision, 4.0 / 6.0), "{scores:?}");
    assert!(close(scores.recall, 4.0 / 5.0), "{scores:?}");
    assert!(close(scores.f1, 8.0 / 11.0), "{scores:?}");
    // `notes` has the longer phrase, so `review` is second for `review it`; `online` finds nothing.
    assert!(close(scores.top1, 2.0 / 4.0), "{scores:?}");
    assert!(close(scores.top3, 3.0 / 4.0), "{scores:?}");
    assert!(close(scores.false_fire, 1.0 / 3.0), "{scores:?}");
    assert_eq!(report.cases, 7);
    let tokens: Vec<usize> = report.results.iter().map(|outcome| outcome.tokens).collect();
    assert!(tokens.iter().all(|n| *n > 0), "{tokens:?}");
    assert_eq!(report.tokens.total, tokens.iter().sum::<usize>());
    assert_eq!(report.tokens.max, *tokens.iter().max().unwrap());

    let right: Vec<bool> = report.results.iter().map(|outcome| outcome.is_right).collect();
    assert_eq!(right, [true, false, false, true, false, true, true]);

    let per_skill: Vec<_> = report
        .per_skill
        .iter()
        .map(|skill| (skill.id.as_str(), skill.expected, skill.right, skill.wrong))
        .collect();
    assert_eq!(per_skill, [("deploy", 3, 2, 1), ("notes", 0, 0, 1), ("review", 2, 2, 0)]);
    let deploy = &report.per_skill[0].scores;
    assert!(close(deploy.precision, 2.0 / 3.0) && close(deploy.recall, 2.0 / 3.0), "{deploy:?}");
    assert!(close(deploy.false_fire, 1.0 / 2.0), "{deploy:?}");
    let notes = &report.per_skill[1].scores;
    assert_eq!((notes.recall, notes.top1, notes.false_fire), (None, None, Some(0.0)));
}

#[test]
fn confusions_name_what_made_a_skill_fire() {
    let told = serde_json::to_value(report(&rows()).confusions).unwrap();
    let expected = json!([
        {"expected": null, "got": "deploy", "cases": 1,
            "triggers": [{"kind": "keyword", "trigger": "deploy", "cases": 1},
                {"kind": "name", "trigger": "deploy", "cases": 1}]},
        {"expected": "deploy", "got": null, "cases": 1, "triggers": []},
        {"expected": "review", "got": "notes", "cases": 1,
            "triggers": [{"kind": "keyword", "trigger": "review it", "cases": 1}]},
    ]);
    assert_eq!(told, expected);
}

#[test]
fn a_share_of_nothing_is_none() {
    let report = report(&[json!({"query": "nothing at all", "expected": "deploy"})]);
    let scores = report.scores;
    assert_eq!((scores.precision, scores.f1, scores.false_fire), (None, None, None));
    assert_eq!((scores.recall, scores.top3), (Some(0.0), Some(0.0)));
    assert_eq!(Report::new(Vec::new(), Vec::new()).scores.recall, None);
}

#[test]
fn a_comparison_tells_case_by_case_what_changed() {
    let before = report(&rows());
    let mut json = serde_json::to_value(&before).unwrap();
    // As if `deploy this` had fired nothing, and one more prompt had been there.
    json["results"][0]["fired"] = json!([]);
    json["results"][0]["is_right"] = json!(false);
    let mut gone = json["results"][4].clone();
    gone["query"] = json!("gone");
    json["results"].as_array_mut().unwrap().push(gone);
    let baseline = Baseline::parse("b.json", &json.to_string()).unwrap();

    let mut rows = rows();
    rows.push(json!({"query": "notes", "expected": "notes"}));
    let compared = compare(&baseline, &report(&rows));
    let numbers = (compared.mended, compared.broken, compared.added, compared.removed);
    assert_eq!(numbers, (1, 0, 1, 1));
    assert_eq!(compared.changes.len(), 1, "{compared:?}");
    let change = &compared.changes[0];
    assert_eq!((change.query.as_str(), change.line), ("deploy this", 1));
    assert!(change.before.is_empty() && change.after == ["deploy"]);
    assert_eq!(compared.before.recall, before.scores.recall);

    let error = Baseline::parse("b.json", "{}").unwrap_err();
    assert!(error.message().starts_with("b.json is no report"), "{error}");
}

/// A place with the skills of [`engine`] and the prompts of [`rows`].
fn place() -> Place {
    let place = Place::new();
    for (name, triggers) in
        [("deploy", "deploy"), ("review", "review"), ("notes", "notes, review it")]
    {
        let text = format!("name: {name}\ndescription: Does {name}.\ntriggers: [{triggers}]");
        place.write(&format!("skills/{name}/SKILL.md"), format!("---\n{text}\n---\nBody\n"));
    }
    let text: String = rows().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    place.write("cases.jsonl", text);
    place
}

fn eval(place: &Place, args: &[&str]) -> Run {
    let common = ["eval", "cases.jsonl", "--source", "skills"];
    place.run(common.iter().chain(args).copied())
}

#[test]
fn limits_set_the_exit_code() {
    let place = place();
    for (args, code, said) in [
        (&["--min-precision", "0.6", "--min-recall", "0.8", "--min-f1", "0.7"][..], 0, ""),
        (&["--min-top1", "0.5", "--min-top3", "0.75", "--max-false-fire", "0.34"], 0, ""),
        (&["--min-precision", "0.7"], 1, "precision is 66.7 %, the limit is 70.0 %"),
        (&["--min-recall", "0.9"], 1, "recall"),
        (&["--min-f1", "0.9"], 1, "f1"),
        (&["--min-top1", "0.6"], 1, "top1"),
        (&["--min-top3", "0.8"], 1, "top3"),
        (&["--max-false-fire", "0.3"], 1, "false_fire is 33.3 %, the limit is 30.0 %"),
        (&["--min-top1", "50"], 2, "a share from 0 to 1"),
    ] {
        let run = eval(&place, args).exits(code);
        assert!(run.stderr.contains(said), "{args:?}: {run:?}");
    }
    place.write("cases.jsonl", "{\"query\": \"deploy\", \"expected\": \"deploy\"}\n");
    let run = eval(&place, &["--max-false-fire", "0.5"]).exits(1);
    assert!(run.stderr.contains("false_fire is undefined"), "{run:?}");
}

#[test]
fn what_is_left_out_is_told_and_is_a_finding() {
    let place = place();
    place.write(
        "cases.jsonl",
        "{\"query\": \"deploy\", \"expected\": \"deploy\"}\nnonsense\n{\"query\": \"a\", \"expected\": \"reviwe\"}\n",
    );
    let run = eval(&place, &["--json"]).exits(1);
    let report = run.json();
    assert_eq!((&report["cases"], &report["recall"]), (&json!(1), &json!(1.0)));
    let problems = report["problems"].as_array().unwrap();
    assert_eq!((&problems[0]["line"], &problems[1]["line"]), (&json!(2), &json!(3)));
    assert!(run.stderr.contains("cases.jsonl:2: left out: not valid JSON"), "{run:?}");
    assert!(problems[1]["message"].as_str().unwrap().contains("review"), "{problems:?}");
    for (args, help) in [
        (&["eval", "no.json"][..], "name a file of prompts"),
        (&["eval", "cases.jsonl", "--baseline", "no.json"], "name a report that"),
    ] {
        let run = place.run(args).exits(1);
        assert!(run.stderr.contains("cannot read no.json") && run.stderr.contains(help), "{run:?}");
    }
}

#[test]
fn a_page_is_not_written_over_what_is_read() {
    let place = place();
    let report = eval(&place, &["--json"]).exits(0).stdout;
    place.write("before.json", &report);
    let read = |name: &str| std::fs::read_to_string(place.path().join(name)).unwrap();
    let prompts = read("cases.jsonl");
    for page in ["cases.jsonl", "skills/../cases.jsonl", "before.json"] {
        let run = eval(&place, &["--baseline", "before.json", "--html", page]).exits(2);
        assert!(run.stderr.contains("`--html` would overwrite"), "{run:?}");
    }
    assert_eq!((read("cases.jsonl"), read("before.json")), (prompts, report));
    for _ in 0..2 {
        eval(&place, &["--html", "page.html"]).exits(0);
    }
}

#[test]
fn the_json_has_the_fixed_names_and_a_baseline_is_an_earlier_one() {
    let place = place();
    let first = eval(&place, &["--json"]).exits(0);
    let report = first.json();
    for name in ["cases", "precision", "recall", "f1", "top1", "top3", "per_skill", "confusions"] {
        assert!(!report[name].is_null(), "{name}: {report}");
    }
    place.write("before.json", &first.stdout);
    place.write(
        "skills/deploy/SKILL.md",
        "---\nname: deploy\ndescription: d\ntriggers: [deploy, online]\n---\nBody\n",
    );
    let run = eval(&place, &["--baseline", "before.json", "--json"]).exits(0).json();
    assert_eq!(
        (&run["comparison"]["mended"], &run["comparison"]["broken"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(run["comparison"]["changes"][0]["query"], "put it online");
    let told = eval(&place, &["--baseline", "before.json"]).exits(0).stdout;
    for part in ["1 mended, 0 broken", "recall: 80.0 % → 100.0 %", "nothing → deploy"] {
        assert!(told.contains(part), "`{part}` is not in:\n{told}");
    }
}

#[test]
fn the_page_shows_hostile_text_as_text() {
    let hostile = "<img onerror=alert(1)>\u{202e}\"'&";
    let place = Place::new();
    place.write(
        "skills/bad/SKILL.md",
        "---\nname: bad\ndescription: d\ntriggers: ['<script>alert(2)</script>']\n---\nBody\n",
    );
    let query = format!("{hostile} <script>alert(2)</script> </style></script><!--");
    let row = json!({"query": query, "expected": []});
    place.write("cases.jsonl", format!("{row}\n"));
    eval(&place, &["--html", "page.html"]).exits(0);
    let page = std::fs::read_to_string(place.path().join("page.html")).unwrap();
    assert!(page.contains(
        "<mark title=\"keyword `&lt;script&gt;alert(2)&lt;/script&gt;`\">&lt;script&gt;"
    ));
    for raw in ["<img", "<script>alert", "\u{202e}", "</style></script>", "<!-- "] {
        assert!(!page.contains(raw), "{raw:?} is in the page");
    }
    for asset in ["http://", "https://", "src=", "@import", "url("] {
        assert!(!page.contains(asset), "the page needs `{asset}`");
    }
    assert!(page.starts_with("<!doctype html>") && page.contains("prefers-color-scheme: dark"));
}

/// The options of the engine that decide what is shown in full.
mod options {
    use repertoire::eval::{Report, evaluate, read};
    use repertoire::{
        DisclosureOptions, Engine, EngineBuilder, Rejection, RelevanceMargin, Skill, SkillId,
    };

    fn with(skills: &[Skill], mask: bool, options: DisclosureOptions) -> Engine {
        let builder = Engine::builder().mask_quoted(mask).disclosure(options);
        skills.iter().cloned().fold(builder, EngineBuilder::skill).build().unwrap()
    }

    fn ids(ids: &[SkillId]) -> Vec<&str> {
        ids.iter().map(SkillId::as_str).collect()
    }

    fn told(rejections: &[Rejection]) -> Vec<String> {
        rejections.iter().map(|r| format!("{}: {}", r.id, r.reason)).collect()
    }

    #[test]
    fn quoted_text_holds_no_literals_but_patterns_and_named_skills() {
        let skills = [
            super::skill("deploy", "deploy, pull request"),
            super::skill("logs", "'timeout'"),
            "---\nname: trace\ndescription: d\ntriggers: {patterns: ['panicked at \\S+']}\n---\n"
                .parse()
                .unwrap(),
            "---\nname: calm\ndescription: d\ntriggers: {keywords: [ship], exclude: [deploy]}\n---\n"
                .parse()
                .unwrap(),
        ];
        let engine = with(&skills, true, DisclosureOptions::default());
        let all = with(&skills, false, DisclosureOptions::default());
        for (query, expected, unmasked) in [
            ("deploy it", &["deploy"][..], &["deploy"][..]),
            ("why is `deploy` red?", &[], &["deploy"]),
            ("use the `deploy` skill", &["deploy"], &["deploy"]),
            ("`/deploy` now", &[], &["deploy"]),
            ("> deploy\nship it", &["calm"], &["deploy"]),
            ("```\ntimeout\n```\nthread panicked at x.rs", &["trace"], &["logs", "trace"]),
            ("```\nthread panicked at x.rs\n```", &["trace"], &["trace"]),
            ("see http://x.org/deploy", &[], &["deploy"]),
            ("deploy `x` and deploy", &["deploy"], &["deploy"]),
            ("pull `x` request", &[], &[]),
            ("ＤＥＰＬＯＹ `ﬁ` timeout", &["deploy", "logs"], &["deploy", "logs"]),
            ("`ﬁ ﬁ` then  DEPLOY", &["deploy"], &["deploy"]),
        ] {
            assert_eq!(ids(&all.disclose(query).full), unmasked, "{query}");
            let disclosure = engine.disclose(query);
            assert_eq!(ids(&disclosure.full), expected, "{query}");
            for found in engine.matches(query) {
                let said: Vec<&str> =
                    found.hits.iter().map(|hit| &query[hit.span.clone()]).collect();
                assert!(said.iter().all(|said| !said.is_empty()), "{query}: {said:?}");
            }
            let gone = unmasked.iter().filter(|id| !expected.contains(id));
            for id in gone {
                let reason = format!("{id}: its trigger `");
                let explained = engine.explain(query, 9).rejected;
                for told in [told(&disclosure.omitted), told(&explained)] {
                    let is_told = |told: &String| {
                        told.starts_with(&reason) && told.ends_with("stands in quoted text only")
                    };
                    assert!(told.iter().any(is_told), "{query}: {told:?}");
                }
            }
        }
        let spans = |engine: &Engine, query: &str| engine.matches(query)[0].hits[0].span.clone();
        let query = "`é deploy` ﬁ  DEPLOY";
        assert_eq!(&query[spans(&engine, query)], "DEPLOY");
    }

    #[test]
    fn a_generic_word_alone_is_a_hint() {
        let skills = [
            super::skill("tester", "test, unit test, pytest"),
            super::skill("review", "review"),
            "---\nname: pattern\ndescription: d\ntriggers: {patterns: ['tests?']}\n---\n"
                .parse()
                .unwrap(),
        ];
        let options =
            DisclosureOptions { hint_generic_words: true, ..DisclosureOptions::default() };
        let engine = with(&skills[..2], false, options.clone());
        for (query, full, registry) in [
            ("this is a test", &[][..], &["tester"][..]),
            ("run the unit test", &["tester"], &[]),
            ("test with pytest", &["tester"], &[]),
            ("review and test", &[], &["review", "tester"]),
            ("/review this", &["review"], &[]),
            ("use the review skill", &["review"], &[]),
            ("review the unit test", &["tester"], &["review"]),
        ] {
            let disclosure = engine.disclose(query);
            assert_eq!(ids(&disclosure.full), full, "{query}");
            assert_eq!(ids(&disclosure.registry), registry, "{query}");
            for id in registry {
                let told = told(&disclosure.omitted);
                let start = format!("{id}: only its generic word `");
                assert!(told.iter().any(|told| told.starts_with(&start)), "{query}: {told:?}");
            }
        }
        let with_pattern = with(&skills, false, options);
        assert_eq!(ids(&with_pattern.disclose("this is a test").full), ["pattern"]);
        let off = with(&skills[..2], false, DisclosureOptions::default());
        assert_eq!(ids(&off.disclose("this is a test").full), ["tester"]);
    }

    #[test]
    fn what_many_skills_say_of_themselves_is_generic_too() {
        let skill = |i: usize| -> Skill {
            format!(
                "---\nname: k{i}\ndescription: Tunes quasar number {i}.\ntriggers: [quasar]\n---\n"
            )
            .parse()
            .unwrap()
        };
        let options =
            DisclosureOptions { hint_generic_words: true, ..DisclosureOptions::default() };
        let few: Vec<Skill> = (0..3).map(skill).collect();
        let many: Vec<Skill> = (0..4).map(skill).collect();
        assert_eq!(with(&few, false, options.clone()).disclose("a quasar").full.len(), 3);
        assert_eq!(with(&many, false, options).disclose("a quasar").full.len(), 0);
    }

    /// Skills without triggers.
    fn plain() -> Vec<Skill> {
        [
            ("invoice-writer", "Writes invoices for freelance clients in euros."),
            ("release-notes", "Summarises merged changes for a changelog."),
            ("tax-report", "Prepares yearly reports of income for clients."),
        ]
        .map(|(name, description)| {
            format!("---\nname: {name}\ndescription: {description}\n---\nBody\n").parse().unwrap()
        })
        .to_vec()
    }

    #[test]
    fn what_is_past_the_margin_is_shown_in_full_and_says_why() {
        let margin = RelevanceMargin { worth: 1.0, lead: 0.5, words: 2 };
        let options = |relevance| DisclosureOptions { relevance, ..DisclosureOptions::default() };
        let mut skills = plain();
        let engine = with(&skills, false, options(Some(margin)));
        let sure = engine.disclose("write an invoice for my freelance client");
        assert_eq!(ids(&sure.full), ["invoice-writer"]);
        let why = sure.relevant.unwrap();
        assert!(why.worth >= 1.0 && why.lead >= 0.5 && why.words >= 2, "{why:?}");
        assert!(why.terms.iter().any(|term| term.term == "invoice"), "{why:?}");
        assert_eq!(sure.hidden, 2);

        for query in ["for clients", "hello", "what can you do?", ""] {
            let unsure = engine.disclose(query);
            assert!(unsure.full.is_empty() && unsure.relevant.is_none(), "{query}");
        }
        let query = "write an invoice for my freelance client";
        let off = with(&skills, false, options(None));
        assert!(off.disclose(query).full.is_empty());
        for stricter in [
            RelevanceMargin { worth: 90.0, ..margin },
            RelevanceMargin { lead: 90.0, ..margin },
            RelevanceMargin { words: 90, ..margin },
        ] {
            assert!(with(&skills, false, options(Some(stricter))).disclose(query).full.is_empty());
        }

        // Triggers decide where there are any: those that are hit, and those that are not.
        skills.push(super::skill("client", "freelance"));
        let declared = with(&skills, false, options(Some(margin))).disclose(query);
        assert_eq!((ids(&declared.full), declared.relevant), (vec!["client"], None));
        skills[0] = "---\nname: invoice-writer\ndescription: Writes invoices for freelance clients in euros.\n\
                     triggers: [bill]\n---\n"
            .parse()
            .unwrap();
        skills.pop();
        let unhit = with(&skills, false, options(Some(margin))).disclose(query);
        assert!(unhit.full.is_empty(), "{unhit:?}");
    }

    #[test]
    fn what_stands_in_the_context_is_not_shown_by_relevance_again() {
        let margin = Some(RelevanceMargin { worth: 1.0, lead: 0.5, words: 2 });
        let options = DisclosureOptions { relevance: margin, ..DisclosureOptions::default() };
        let engine = with(&plain(), false, options);
        let session = engine.session("s");
        let query = "write an invoice for my freelance client";
        assert_eq!(ids(&engine.disclose_in(query, &session).unwrap().full), ["invoice-writer"]);
        assert_eq!(ids(&engine.disclose_in(query, &session).unwrap().full), [""; 0]);
    }

    #[test]
    fn a_report_tells_the_words_by_which_a_skill_fired() {
        let margin = Some(RelevanceMargin { worth: 1.0, lead: 0.5, words: 2 });
        let options = DisclosureOptions { relevance: margin, ..DisclosureOptions::default() };
        let engine = with(&plain(), false, options);
        let row = "{\"query\": \"write an invoice for my freelance client\", \"expected\": []}";
        let (cases, _) = read("c.jsonl", row, None);
        let (outcomes, problems) = evaluate(&engine, &cases, || {});
        let report = Report::new(outcomes, problems);
        let triggers_hit = &report.confusions[0].triggers;
        assert!(triggers_hit.iter().all(|cause| cause.kind == "relevance"), "{triggers_hit:?}");
        assert!(triggers_hit.iter().any(|cause| cause.trigger == "invoice"), "{triggers_hit:?}");
    }
}
