//! `eval --benchmark`: what is not measured as the files of a benchmark have it is counted and told.

use serde_json::json;

use crate::benchmark::{
    REQUESTS, SKILLS, benchmark, lines, meta_tool, notes, r3_skill, skill_ret, skill_router,
    tool_ret,
};
use crate::binary::Place;

/// A change to the files of a benchmark.
type Change<'c> = &'c dyn Fn(&Place);

#[test]
fn what_is_in_the_files_again_counts_once_and_is_told() {
    let plain = Place::new();
    skill_ret(&plain);
    let expected = benchmark(&plain, "skillret", &["--json"]).exits(0).json();
    let doubled = |name: &'static str| {
        move |place: &Place| {
            let path = format!("b/{name}");
            let text = std::fs::read_to_string(place.path().join(&path)).unwrap();
            place.write(&path, text.repeat(2));
        }
    };
    let (skills, queries, qrels) =
        (doubled("skills_test.jsonl"), doubled("queries_test.jsonl"), doubled("qrels_test.jsonl"));
    let other = |place: &Place| {
        let text = std::fs::read_to_string(place.path().join("b/skills_test.jsonl")).unwrap();
        let other = text.lines().nth(1).unwrap().replace("surf", "tides") + "\n";
        place.write("b/skills_test.jsonl", text + &other);
    };
    let cases: [(Change<'_>, &[&str], &str); 4] = [
        (
            &skills,
            &["repeated-skill 4"],
            "4 repeated skills counted once; the first: `k-1` (b/skills_test.jsonl:5)",
        ),
        (&queries, &["repeated-request 4"], "the first: b/queries_test.jsonl:5"),
        (&qrels, &[], ""),
        (
            &other,
            &["ambiguous-skill 1"],
            "the first content counts; the first: `k-2` (b/skills_test.jsonl:5)",
        ),
    ];
    for (change, kinds, told) in cases {
        let place = Place::new();
        skill_ret(&place);
        change(&place);
        let run = benchmark(&place, "skillret", &["--json"]).exits(0);
        let report = run.json();
        assert_eq!(notes(&report), kinds);
        assert!(run.stderr.contains(told), "{run:?}");
        for figure in ["skills", "requests", "ndcg_10", "recall_10", "completeness_10", "mrr_10"] {
            assert_eq!(report[figure], expected[figure], "{kinds:?}: {figure}");
        }
    }
}

#[test]
fn of_a_file_and_its_compressed_copy_one_is_read() {
    let place = Place::new();
    skill_router(&place);
    let skill =
        json!({"skill_id": "k-1", "name": "pdf-merger", "description": SKILLS[0].2, "body": "B"});
    // The copy is not read: it is not even one.
    place.write("b/easy/part-00002.jsonl", lines([skill]));
    place.write("b/easy/part-00002.jsonl.gz", "nonsense");
    let report = benchmark(&place, "skillrouter", &["--json"]).exits(0).json();
    assert_eq!(
        (&report["skills"], notes(&report)),
        (&json!(4), vec!["repeated-skill 1".to_owned()])
    );
}

#[test]
fn a_right_skill_that_is_named_twice_counts_once() {
    for (name, write) in [("metatool", meta_tool as fn(&Place)), ("skillrouter", skill_router)] {
        let place = Place::new();
        write(&place);
        let right = ["k-2", "k-4", "k-4"];
        let many = json!([{"query": REQUESTS[3].0, "tool": right}]);
        place.write("b/dataset/data/multi_tool_query_golden.json", many.to_string());
        place.write("b/dataset/data/all_clean_data.csv", "Query,Tool\n");
        place.write("b/relevance.json", json!({"t3": {"gt_skill_ids": right}}).to_string());
        let report = benchmark(&place, name, &["--json"]).exits(0).json();
        let figure = |name: &str| report[name].as_f64().unwrap();
        assert_eq!((figure("recall_10"), figure("completeness_10")), (0.5, 0.0), "{name}");
        assert!((figure("ndcg_10") - 1.0 / (1.0 + 1.0 / 3f64.log2())).abs() < 1e-4, "{report}");
    }
}

#[test]
fn requests_that_cannot_be_scored_are_left_out_and_told() {
    let place = Place::new();
    r3_skill(&place);
    let request = |ids: &[&str]| json!({"query": REQUESTS[0].0, "skill_ids": ids});
    place.write(
        "b/data/test.jsonl",
        lines([
            request(&["k-1"]),
            request(&["k-9"]),
            // The missing one counts as not found.
            request(&["k-1", "k-8"]),
            request(&[]),
        ]),
    );
    let run = benchmark(&place, "r3-skill", &["--json"]).exits(0);
    let report = run.json();
    assert_eq!((&report["requests"], &report["recall_10"]), (&json!(2), &json!(0.75)));
    assert_eq!((&report["completeness_10"], &report["hit_1"]), (&json!(0.5), &json!(1.0)));
    assert_eq!(notes(&report), ["unscored-request 1", "partial-request 1", "unjudged-request 1"]);
    for told in [
        "1 request left out: the right skills are not among the skills; the first: `k-9` (b/data/test.jsonl:2)",
        "counted as not found; the first: `k-8` (b/data/test.jsonl:3)",
        "1 request left out: no skill is right for it; the first: b/data/test.jsonl:4",
    ] {
        assert!(run.stderr.contains(told), "{told}: {run:?}");
    }
    // A task without an entry in `relevance.json`; those of `generic_only` are not even told.
    let place = Place::new();
    skill_router(&place);
    let text = std::fs::read_to_string(place.path().join("b/relevance.json")).unwrap();
    place.write("b/relevance.json", text.replace("\"t3\"", "\"t9\""));
    let report = benchmark(&place, "skillrouter", &["--json"]).exits(0).json();
    assert_eq!(
        (&report["requests"], notes(&report)),
        (&json!(3), vec!["unjudged-request 1".to_owned()])
    );
}

#[test]
fn a_byte_order_mark_is_not_a_part_of_a_file() {
    let mark = |place: &Place, names: &[&str]| {
        for name in names {
            let text = std::fs::read(place.path().join("b").join(name)).unwrap();
            place.write(&format!("b/{name}"), [b"\xEF\xBB\xBF", &text[..]].concat());
        }
    };
    let place = Place::new();
    meta_tool(&place);
    mark(
        &place,
        &[
            "dataset/plugin_des.json",
            "dataset/data/all_clean_data.csv",
            "dataset/data/multi_tool_query_golden.json",
        ],
    );
    assert_eq!(benchmark(&place, "metatool", &["--json"]).exits(0).json()["requests"], 4);
    let place = Place::new();
    skill_ret(&place);
    mark(&place, &["skills_test.jsonl", "queries_test.jsonl", "qrels_test.jsonl"]);
    assert_eq!(benchmark(&place, "skillret", &["--json"]).exits(0).json()["requests"], 4);
}

#[test]
fn files_in_directories_are_read_and_others_are_told() {
    let place = Place::new();
    tool_ret(&place);
    std::fs::create_dir(place.path().join("b/queries/web")).unwrap();
    let (one, web) = (place.path().join("b/queries/one.jsonl"), "b/queries/web/q.jsonl");
    std::fs::rename(&one, place.path().join(web)).unwrap();
    let report = benchmark(&place, "toolret", &["--json"]).exits(0).json();
    assert_eq!(report["requests"], 4);
    std::fs::rename(place.path().join(web), place.path().join("b/queries/q.json")).unwrap();
    let run = benchmark(&place, "toolret", &[]).exits(1);
    assert!(
        run.stderr.contains("there is no `*.jsonl` or `*.jsonl.gz` below b/queries"),
        "{run:?}"
    );
}

#[test]
fn skills_that_are_rejected_and_a_retriever_that_fails_are_told() {
    let place = Place::new();
    skill_ret(&place);
    let text = std::fs::read_to_string(place.path().join("b/skills_test.jsonl")).unwrap();
    let long = |id: &str, n_description: usize, n_body: usize| {
        let (description, body) = ("Very long. ".repeat(n_description), "x ".repeat(n_body));
        json!({"id": id, "name": id, "description": description, "skill_md": body}).to_string()
            + "\n"
    };
    let (description, body) = (long("long", 30_000, 1), long("big", 1, 10_000_000));
    place.write("b/skills_test.jsonl", text + &description + &body);
    place.write("home/.repertoire/config.toml", "[routing]\nretriever = \"nonexistent\"\n");
    let run = benchmark(&place, "skillret", &["--json"]).exits(0);
    let report = run.json();
    assert_eq!(notes(&report), ["rejected-skill 2", "failed-retriever 4"]);
    for told in [
        "2 skills not accepted by the engine, and never found; the first: `long`: ",
        "4 requests ranked by words alone; the first: ",
        "the retriever `nonexistent` cannot be started",
    ] {
        assert!(run.stderr.contains(told), "{told}: {run:?}");
    }
}
