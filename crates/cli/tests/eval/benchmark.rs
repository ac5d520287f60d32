//! `eval --benchmark`: small benchmarks in each published layout have the measures that are known for them.

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::io::Write as _;

use crate::binary::{Place, Run};

/// Skills and requests: each request has the words of the skills in its place, so that they are found first. The last
/// one is for two skills, and shares words with one of them.
pub(super) const SKILLS: [(&str, &str, &str); 4] = [
    ("k-1", "pdf-merger", "Merges portable documents."),
    ("k-2", "ocean-waves", "Forecasts surf at beaches."),
    // The same name as the first: names of benchmarks are not unique.
    ("k-3", "pdf-merger", "Knits woollen scarves."),
    ("k-4", "garden-planner", "Plants vegetables by season."),
];
pub(super) const REQUESTS: [(&str, &[&str]); 4] = [
    ("merge two portable documents", &["k-1"]),
    ("forecast the surf for these beaches", &["k-2"]),
    ("knit a woollen scarf", &["k-3"]),
    ("plant vegetables this season", &["k-4", "k-2"]),
];

pub(super) fn lines(rows: impl IntoIterator<Item = Value>) -> String {
    rows.into_iter().map(|row| row.to_string() + "\n").collect::<Vec<_>>().concat()
}

fn gz(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

pub(super) fn skill_ret(place: &Place) {
    place.write("b/skills_test.jsonl", lines(SKILLS.map(|(id, name, description)| {
        json!({"id": id, "name": name, "description": description, "skill_md": "# Steps\n"})
    })));
    place.write(
        "b/queries_test.jsonl",
        lines((0..4).map(|i| json!({"id": i, "query": REQUESTS[i].0}))),
    );
    let qrels = (0..4).flat_map(|i| {
        REQUESTS[i].1.iter().map(move |id| json!({"query_id": i, "skill_id": id, "relevance": 1}))
    });
    place.write("b/qrels_test.jsonl", lines(qrels));
}

pub(super) fn r3_skill(place: &Place) {
    place.write("b/data/skills_test.jsonl", lines(SKILLS.map(|(id, name, description)| {
        json!({"id": id, "text": format!("{name} | {description} | # Steps | more")})
    })));
    place.write(
        "b/data/test.jsonl",
        lines(REQUESTS.map(|(text, ids)| json!({"query": text, "skill_ids": ids}))),
    );
}

pub(super) fn skill_router(place: &Place) {
    let skill = |i: usize| json!({"skill_id": SKILLS[i].0, "name": SKILLS[i].1, "description": SKILLS[i].2, "body": "B"});
    place.write("b/easy/part-00000.jsonl.gz", gz(&lines([skill(0), skill(1)])));
    place.write("b/easy/part-00001.jsonl.gz", gz(&lines([skill(2), skill(3)])));
    let task = |i: usize| json!({"task_id": format!("t{i}"), "instruction_text": REQUESTS[i].0, "domain": "x"});
    let generic = json!({"task_id": "g", "instruction_text": "write csv"});
    place.write("b/tasks.jsonl", lines((0..4).map(task).chain([generic])));
    let mut truths: serde_json::Map<String, Value> = (0..4)
        .map(|i| {
            (
                format!("t{i}"),
                json!({"gt_skill_ids": REQUESTS[i].1, "relevance": {}, "task_type": "clean"}),
            )
        })
        .collect();
    truths.insert("g".into(), json!({"gt_skill_ids": ["k-1"], "task_type": "generic_only"}));
    place.write("b/relevance.json", Value::Object(truths).to_string());
}

pub(super) fn tool_ret(place: &Place) {
    place.write("b/tools/web.jsonl", lines(SKILLS.map(|(id, name, description)| {
        json!({"id": id, "documentation": json!({"name": name, "description": description}).to_string()})
    })));
    place.write("b/queries/one.jsonl", lines(REQUESTS.map(|(text, ids)| {
        let labels: Vec<Value> = ids.iter().map(|id| json!({"id": id, "doc": {}, "relevance": 1})).collect();
        json!({"id": text, "query": text, "instruction": "Find it.", "labels": Value::from(labels).to_string()})
    })));
}

pub(super) fn meta_tool(place: &Place) {
    let described: serde_json::Map<String, Value> =
        SKILLS.iter().map(|(id, _, description)| ((*id).to_owned(), json!(description))).collect();
    place.write("b/dataset/plugin_des.json", Value::Object(described).to_string());
    let rows = "Query,Tool\nmerge two portable documents,k-1\n\"forecast the surf for \"\"these\"\", beaches\",k-2\n\
                knit a woollen scarf,k-3\nnobody has this,k-9\n";
    place.write("b/dataset/data/all_clean_data.csv", rows);
    let many = json!([{"query": REQUESTS[3].0, "tool": REQUESTS[3].1}]);
    place.write("b/dataset/data/multi_tool_query_golden.json", many.to_string());
}

/// A benchmark by its name, and a function that writes it.
type Layout = (&'static str, fn(&Place));

pub(super) fn benchmark(place: &Place, name: &str, args: &[&str]) -> Run {
    place.run(["eval", "b", "--benchmark", name].iter().chain(args).copied())
}

#[test]
fn each_layout_is_read_and_has_the_measures_of_its_ranking() {
    let layouts: [Layout; 5] = [
        ("skillret", skill_ret),
        ("r3-skill", r3_skill),
        ("skillrouter", skill_router),
        ("toolret", tool_ret),
        ("metatool", meta_tool),
    ];
    for (name, write) in layouts {
        let place = Place::new();
        write(&place);
        let report = benchmark(&place, name, &["--json"]).exits(0).json();
        assert_eq!((&report["skills"], &report["requests"]), (&json!(4), &json!(4)), "{name}");
        // Of the last request, one of two right skills is found: 1 / (1 + 1/log2(3)) = 0.6131.
        for (measure, expected) in [
            ("ndcg_5", 0.9033),
            ("ndcg_10", 0.9033),
            ("recall_10", 0.875),
            ("completeness_10", 0.75),
            ("hit_1", 1.0),
            ("mrr_10", 1.0),
        ] {
            let value = report[measure].as_f64().unwrap();
            assert!((value - expected).abs() < 1e-4, "{name}: {measure} is {value}");
        }
        let page = benchmark(&place, name, &[]).exits(0).stdout;
        assert!(page.contains(&format!("{name}: 4 requests, 4 skills")), "{page}");
        assert!(page.contains("Completeness@10") && page.contains("75.00"), "{page}");
    }
}

#[test]
fn grades_count_in_the_gain_alone() {
    let place = Place::new();
    skill_router(&place);
    // A lesser skill is found first, and the right one not at all.
    let truth =
        json!({"t0": {"gt_skill_ids": ["k-4"], "relevance": {"k-4": 3, "k-1": 1, "k-2": 0}}});
    place.write("b/relevance.json", truth.to_string());
    let report = benchmark(&place, "skillrouter", &["--json"]).exits(0).json();
    assert_eq!(
        (&report["requests"], &report["hit_1"], &report["recall_10"]),
        (&json!(1), &json!(0.0), &json!(0.0))
    );
    let gain = report["ndcg_10"].as_f64().unwrap();
    assert!((gain - 1.0 / (3.0 + 1.0 / 3f64.log2())).abs() < 1e-4, "{gain}");
}

/// The kind and the number of each note of a report.
pub(super) fn notes(report: &Value) -> Vec<String> {
    let notes = report["notes"].as_array().unwrap().iter();
    notes.map(|note| format!("{} {}", note["kind"].as_str().unwrap(), note["count"])).collect()
}

#[test]
fn lists_and_names_of_skills_do_not_decide_what_is_found() {
    let place = Place::new();
    skill_ret(&place);
    let expected = benchmark(&place, "skillret", &["--json"]).exits(0).json();
    // Every id that the engine has could be one of these.
    let lists =
        "[skills]\ndisabled = [\"*\", \"k-1\", \"benchmark/*\"]\n[skills.show]\n\"*\" = \"off\"\n";
    place.write("home/.repertoire/config.toml", lists);
    place.write(".repertoire/config.toml", lists);
    place.write(
        ".agents/skills/surf/SKILL.md",
        "---\nname: surf\ndescription: Forecasts surf.\n---\n",
    );
    let report = benchmark(&place, "skillret", &["--json"]).exits(0).json();
    for figure in ["skills", "requests", "ndcg_10", "recall_10", "hit_1", "notes"] {
        assert_eq!(report[figure], expected[figure], "{figure}");
    }
    // Names that could be ids, and requests with words that could be parts of ids.
    let place = Place::new();
    let skills =
        [("a", "123", "Paints fences."), ("b", "7", "Bakes bread."), ("c", "42", "Tunes pianos.")];
    place.write(
        "b/skills_test.jsonl",
        lines(skills.map(
            |(id, name, description)| json!({"id": id, "name": name, "description": description}),
        )),
    );
    let requests = [
        ("paint the fence of candidate no 1", "a"),
        ("bake bread with s0", "b"),
        ("tune the pianos in a benchmark of s1", "c"),
    ];
    place.write(
        "b/queries_test.jsonl",
        lines(requests.map(|(text, id)| json!({"query": text, "skill_ids": [id]}))),
    );
    let report = benchmark(&place, "skillret", &["--json"]).exits(0).json();
    assert_eq!((&report["hit_1"], notes(&report)), (&json!(1.0), vec![]), "{report}");
}

#[test]
fn options_without_a_meaning_are_refused() {
    let place = Place::new();
    skill_ret(&place);
    for args in [
        &["--min-top1", "0.99"][..],
        &["--max-false-fire", "0.1"],
        &["--by-relevance=off"],
        &["--skill", "k-1"],
        &["--baseline", "b"],
        &["--paste", "b"],
        &["--ask", "true"],
        &["--jobs", "2"],
        &["--reply-timeout", "9"],
        &["--sample", "3"],
        &["--source", "/nonexistent"],
        &["--allow", "k-1"],
        &["--enable", "k-1"],
        &["--bundled=off"],
        &["b"],
    ] {
        let run = benchmark(&place, "skillret", args).exits(2);
        assert!(run.stdout.is_empty() && run.stderr.contains("--benchmark"), "{args:?}: {run:?}");
        let first = args[0].split('=').next().unwrap();
        let is_named = run.stderr.contains(if first == "b" { "a second directory" } else { first });
        assert!(is_named, "{args:?}: {run:?}");
    }
    let before = ["--source", "/nonexistent", "eval", "b", "--benchmark", "skillret"];
    place.run(before).exits(2);
    for args in [&["--inflect"][..], &["--no-cache"], &["--project", "."], &["--brand", "acme"]] {
        benchmark(&place, "skillret", args).exits(0);
    }
}

#[test]
fn the_skills_of_a_benchmark_are_never_written() {
    let place = Place::new();
    skill_ret(&place);
    let mut command = place.command(["eval", "b", "--benchmark", "skillret", "--json"]);
    command.env("TMPDIR", "/no/such/directory");
    crate::binary::finish(command, b"").exits(0);
}

#[test]
fn what_is_missing_or_of_another_form_is_told_with_the_layout() {
    let place = Place::new();
    let run = benchmark(&place, "skillret", &[]).exits(1);
    assert!(
        run.stderr.contains("skills_test.jsonl") && run.stderr.contains("SkillRet has"),
        "{run:?}"
    );
    r3_skill(&place);
    place.write("b/data/test.jsonl", "{\"query\": \"a\", \"skill_ids\": [\"k-1\"]}\nnonsense\n");
    let run = benchmark(&place, "r3-skill", &[]).exits(1);
    assert!(run.stderr.contains("test.jsonl:2 is not in the form"), "{run:?}");
    place.write("b/data/test.jsonl", "{\"query\": \"a\", \"skill_ids\": [\"other\"]}\n");
    let run = benchmark(&place, "r3-skill", &[]).exits(1);
    assert!(
        run.stderr.contains(
            "no request of b names a skill that is there; requests read: 1, skills read: 4"
        ),
        "{run:?}"
    );
    let run = benchmark(&place, "beir", &[]).exits(2);
    assert!(run.stderr.contains("`r3-skill`"), "{run:?}");
}
