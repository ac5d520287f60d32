//! Files of prompts: every format, and every kind of bad entry.

use std::time::{Duration, Instant};

use repertoire_authoring::eval::{Case, read};

/// Formats the skills that a case expects, forbids and accepts.
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

/// Lines with findings, each with a part of the finding's message.
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
        (
            "text.json",
            "{\"skill\":\"x\",\n\"should_trigger_prompts\":\"write it\",\n\"negatives\":[\"a\"]}",
            1,
            &[(2, "`should_trigger_prompts` is text, not a list")],
        ),
        (
            "map.yaml",
            "skill: x\npositives:\n  - a\nnear_miss:\n  one: b\ncases: {c: {query: d}}\n",
            1,
            &[(5, "`near_miss` is a map, not a list"), (6, "`cases` is a map, not a list")],
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
    // An implementation that counts the lines before each entry would take minutes.
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    assert!(problems.iter().map(|problem| problem.line).eq(1..=n_lines));
}
