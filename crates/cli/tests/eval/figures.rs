//! Figures checked against counts by hand, confusions, and changes since a baseline.

use repertoire::{Engine, EngineBuilder};
use repertoire_authoring::eval::{Baseline, Case, Evaluation, Report, compare, evaluate, read};
use serde_json::{Value, json};

use super::{engine, rows};

/// Parses cases in the form of the corpus.
fn cases(rows: &[Value]) -> Vec<Case> {
    let text: String = rows.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let (cases, problems) = read("cases.jsonl", &text, None);
    assert_eq!(problems, []);
    cases
}

fn report(rows: &[Value]) -> Report {
    let mut n_told = 0;
    let evaluation = evaluate(&engine(), &cases(rows), || n_told += 1);
    assert_eq!(n_told, rows.len());
    Report::new(evaluation)
}

#[test]
fn every_figure_is_what_is_counted_by_hand() {
    let report = report(&rows());
    // Right are deploy; review; deploy and review. Wrong are `notes` for `review it`, and `deploy`
    // where none was expected. A `review` that fires where only `deploy` is forbidden does not count.
    let close = |figure: Option<f64>, expected: f64| (figure.unwrap() - expected).abs() < 1e-9;
    let scores = report.scores;
    assert!(close(scores.precision, 4.0 / 6.0), "{scores:?}");
    assert!(close(scores.recall, 4.0 / 5.0), "{scores:?}");
    assert!(close(scores.f1, 8.0 / 11.0), "{scores:?}");
    // `notes` has the longer phrase, so `review` is second for `review it`. `online` matches nothing.
    assert!(close(scores.top1, 2.0 / 4.0), "{scores:?}");
    assert!(close(scores.top3, 3.0 / 4.0), "{scores:?}");
    assert!(close(scores.false_fire, 1.0 / 3.0), "{scores:?}");
    // All but `put it online`.
    assert!(close(scores.in_view, 3.0 / 4.0), "{scores:?}");
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
fn a_line_is_in_view_and_is_no_fire() {
    let skill = |name: &str, description: &str| -> repertoire::Skill {
        format!("---\nname: {name}\ndescription: {description}\n---\nB\n").parse().unwrap()
    };
    let fillers =
        (0..12).map(|n| skill(&format!("filler{n}"), &format!("Grows herbs of kind {n}")));
    let skills = [skill("ledger", "Audits a ledger"), skill("audit", "Audits a building")]
        .into_iter()
        .chain(fillers);
    let engine = skills.fold(Engine::builder(), EngineBuilder::skill).build().unwrap();
    let rows = [
        json!({"query": "audits", "expected": "ledger"}),
        json!({"query": "unheard-of", "expected": "ledger"}),
        json!({"query": "the building audits", "skill": "ledger", "label": false}),
        json!({"query": "unheard-of", "expected": []}),
    ];
    let report = Report::new(evaluate(&engine, &cases(&rows), || {}));
    let listed: Vec<usize> = report.results.iter().map(|outcome| outcome.listed.len()).collect();
    assert!(listed[0] > 0 && listed[1] == 0 && listed[2] > 0 && listed[3] == 0, "{listed:?}");
    assert_eq!((report.scores.in_view, report.scores.recall), (Some(0.5), Some(0.0)));
    assert_eq!(report.per_skill[1].scores.in_view, Some(0.5), "{:?}", report.per_skill);
    assert_eq!(
        report.lines_for_none.map(|mean| mean * 2.0),
        u32::try_from(listed[2]).ok().map(f64::from)
    );
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
    assert_eq!(Report::new(Evaluation::default()).scores.recall, None);
}

#[test]
fn a_comparison_tells_case_by_case_what_changed() {
    let before = report(&rows());
    let mut json = serde_json::to_value(&before).unwrap();
    // Pretend that `deploy this` fired nothing in the baseline, and that there was one more prompt.
    json["results"][0]["fired"] = json!([]);
    json["results"][0]["is_right"] = json!(false);
    let mut gone = json["results"][4].clone();
    gone["query"] = json!("gone");
    json["results"].as_array_mut().unwrap().push(gone);
    let baseline = Baseline::parse("b.json", &json.to_string()).unwrap();

    let mut rows = rows();
    rows.push(json!({"query": "notes", "expected": "notes"}));
    let compared = compare(&baseline, &report(&rows));
    let numbers = (compared.fixed, compared.broken, compared.added, compared.removed);
    assert_eq!(numbers, (1, 0, 1, 1));
    assert_eq!(compared.changes.len(), 1, "{compared:?}");
    let change = &compared.changes[0];
    assert_eq!((change.query.as_str(), change.line), ("deploy this", 1));
    assert!(change.before.is_empty() && change.after == ["deploy"]);
    assert_eq!(compared.before.recall, before.scores.recall);

    let error = Baseline::parse("b.json", "{}").unwrap_err();
    assert!(error.message().starts_with("b.json is not a report"), "{error}");
}
