//! The reach of a denial: the triggers inside of a denied name, and the text of the skill.

use repertoire::matcher::IndexOptions;
use repertoire::{Engine, SkillId};

use crate::search;

#[test]
fn a_denied_name_takes_the_triggers_inside_it_along() {
    let skills = [
        ("git-bisect", "git-bisect", "triggers: {keywords: [bisect]}"),
        ("hunt", "hunt", "triggers: {keywords: [bisect, regression]}"),
    ];
    for (text, expected) in [
        ("don't use git-bisect", &[][..]),
        ("find the regression, but don't use git-bisect", &["hunt"]),
        ("ohne git-bisect", &[]),
        ("don't use git-bisect, bisect by hand", &["git-bisect", "hunt"]),
        ("bisect it without git-bisect", &["git-bisect", "hunt"]),
        ("use git-bisect", &["git-bisect", "hunt"]),
    ] {
        let answer = search(&skills, &IndexOptions::default(), text);
        let mut found: Vec<&str> = answer.matches.iter().map(|found| found.id.as_str()).collect();
        found.sort_unstable();
        assert_eq!(found, expected, "{text}");
        if let Some(found) = answer.matches.iter().find(|found| found.id == "hunt") {
            let span = found.hits[0].span.clone();
            assert!(
                !text[..span.start].ends_with("git-") || expected.len() == 2,
                "{text}: {span:?}"
            );
        }
    }
}

#[test]
fn what_is_denied_or_talked_about_is_not_in_full() {
    let mut engine = Engine::builder();
    for (name, description) in [
        ("postgres-tuning", "Tunes Postgres indexes and queries."),
        ("tax", "Prepares VAT returns. Excludes payroll and income tax."),
        ("regex-helper", "Explains regular expressions."),
        (
            "rebase-helper",
            "Untangles git rebases. This skill should not be invoked for plain commits.",
        ),
        ("akten", "Ordnet Akten. Nicht für Rechnungen verwenden."),
        ("non-functional", "Writes non-functional requirements."),
    ] {
        let text = format!("---\nname: {name}\ndescription: {description}\n---\nNon-empty.\n");
        engine = engine.skill(text.parse().unwrap());
    }
    let engine = engine.build().unwrap();
    for (message, in_full) in [
        ("prepare the VAT returns", Some("tax")),
        ("do the payroll and income tax for March", None),
        ("use the regex-helper skill", Some("regex-helper")),
        ("please solve it without regex-helper", None),
        ("the regex-helper skill is broken, ignore it", None),
        ("is the regex-helper skill installed?", None),
        ("why was regex-helper shown?", None),
        ("delete the regex-helper skill", None),
        ("cd skills/regex-helper && ls", None),
        ("nicht den regex-helper skill nehmen", None),
        ("不要用 regex-helper 技能", None),
        ("regex-helper を使わないで", None),
        ("write plain commits", None),
        ("this request is unrelated to regular expressions", None),
        ("this is not related to regular expressions", None),
        ("it has nothing to do with complicated regular expressions", None),
        ("these are not rebases", None),
        ("these are non-regular expressions", None),
        ("tune the Postgres indexes and queries", Some("postgres-tuning")),
        ("tune the indexes and queries of this non-Postgres database", None),
        ("something the regex-helper says is not its job: why is it not regex-helper?", None),
        (
            "regex-helper told me to ask you: explain these regular expressions without regex-helper",
            None,
        ),
        ("write the non-functional requirements", Some("non-functional")),
        ("explain these regular expressions", Some("regex-helper")),
        ("die Rechnungen schreiben", None),
        ("die Akten ordnen", Some("akten")),
    ] {
        let disclosure = engine.disclose(message);
        let full: Vec<&str> = disclosure.full.iter().map(SkillId::as_str).collect();
        assert_eq!(full, Vec::from_iter(in_full), "{message}");
    }
}
