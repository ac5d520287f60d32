//! Skills found and ordered by the words they share with a message.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use repertoire::matcher::{Field, RelevanceIndex};
use repertoire::{
    Allowlist, DisclosureOptions, Engine, EngineBuilder, RelevanceMargin, Skill, SkillId, Source,
    Tier,
};

fn skill(text: &str) -> Skill {
    text.parse().unwrap()
}

/// A skill without triggers.
fn plain(name: &str, description: &str, body: &str) -> Skill {
    skill(&format!("---\nname: {name}\ndescription: {description:?}\n---\n{body}\n"))
}

fn office() -> Vec<Skill> {
    vec![
        plain("alpha-notes", "Keeps notes of meetings.", "# Agenda\n\nAsk who was there."),
        plain("deploy-staging", "Deploys the application to a server.", "# Rollback\n\nUse ssh."),
        plain("invoice-writer", "Writes invoices for clients. Do not use for contracts.", "PDF."),
        plain("parseCsvFiles", "Reads tables.", "Columns and rows."),
        plain("request-review", "コードレビューを依頼する", "使用git提交变更"),
    ]
}

fn engine(skills: Vec<Skill>) -> Engine {
    skills.into_iter().fold(Engine::builder(), EngineBuilder::skill).build().unwrap()
}

fn found(engine: &Engine, query: &str, limit: usize) -> Vec<String> {
    engine.find_skills(query, limit).into_iter().map(|found| found.id.to_string()).collect()
}

#[test]
fn the_skill_that_is_meant_comes_first() {
    let engine = engine(office());
    for (query, expected) in [
        ("we are deploying to the server", "deploy-staging"),
        ("please write an INVOICE", "invoice-writer"),
        ("parse a csv file", "parseCsvFiles"),
        ("who takes the agenda?", "alpha-notes"),
        ("how does a rollback go?", "deploy-staging"),
        ("レビューをお願いします", "request-review"),
        ("提交", "request-review"),
        ("ＩＮＶＯＩＣＥＳ", "invoice-writer"),
    ] {
        let found = found(&engine, query, 3);
        assert_eq!(found.first().map(String::as_str), Some(expected), "{query}: {found:?}");
    }
}

#[test]
fn what_shares_no_telling_word_is_not_found() {
    let engine = engine(office());
    for query in ["", " \n", "what should I do for the user?", "zyzzyva", "draft contracts"] {
        assert_eq!(found(&engine, query, 9), [""; 0], "{query}");
    }
    assert_eq!(found(&engine, "invoice", 0), [""; 0]);
}

#[test]
fn declared_matches_come_first_and_every_skill_says_why() {
    let mut skills = office();
    skills.push(skill("---\nname: ship\ndescription: Ships it.\ntriggers: [the server]\n---\n"));
    skills.push(skill(
        "---\nname: never\ndescription: Deploys to a server.\ntriggers: {keywords: [deploy], exclude: [server]}\n---\n",
    ));
    let found = engine(skills).find_skills("deploy it to the server", 5);
    let told: Vec<(&str, &str)> =
        found.iter().map(|found| (found.id.as_str(), found.why.as_str())).collect();
    assert_eq!(told[0], ("ship", "keyword `the server`"));
    assert_eq!(told[1].0, "deploy-staging");
    assert!(told[1].1.contains("`deploy` in its name and description"), "{told:?}");
    assert!(!told.iter().any(|(id, _)| *id == "never"), "a veto holds: {told:?}");
    let json = serde_json::to_value(&found[0]).unwrap();
    let expected =
        serde_json::json!({"id": "ship", "brief": "Ships it.", "why": "keyword `the server`"});
    assert_eq!(json, expected);
}

#[test]
fn an_exclude_holds_back_what_relevance_would_show() {
    let text = "---\nname: deploy\ndescription: Brings a release to the staging server.\n\
                triggers: {exclude: [production]}\n---\nDo it.\n";
    let mut skills = office();
    skills.push(skill(text));
    let engine = engine(skills);
    let margin = RelevanceMargin { worth: 0.5, lead: 0.0, words: 1 };
    let options =
        DisclosureOptions { relevance: Some(margin), ..engine.disclosure_options().clone() };
    for (query, expected) in [
        ("bring the release to staging", ["deploy"].as_slice()),
        ("deploy: bring the release to staging", &["deploy"]),
        ("deploy: bring the release to production, not staging", &[]),
        ("bring the release to production, not staging", &[]),
    ] {
        let disclosure = engine.disclose_with(query, &options);
        assert_eq!(disclosure.full, expected, "{query}");
        let is_told = disclosure.omitted.iter().any(|of| of.reason.contains("`production`"));
        assert_eq!(is_told, expected.is_empty(), "{query}: {:?}", disclosure.omitted);
    }
}

#[test]
fn what_the_model_may_not_see_is_not_found() {
    let user_only =
        "---\nname: secret\ndescription: Deploys.\ndisable-model-invocation: true\n---\n";
    let skills =
        [skill(user_only), plain("other", "Deploys.", ""), plain("left-out", "Deploys.", "")];
    let engine = skills.into_iter().fold(Engine::builder(), EngineBuilder::skill);
    let allowlist = Allowlist::from_entries(Some(&["secret", "other"]));
    let engine = engine.allow(allowlist).build().unwrap();
    assert_eq!(found(&engine, "deploy", 9), ["other"]);
}

#[test]
fn the_registry_is_in_the_order_of_relevance_then_of_ids() {
    let engine = engine(office());
    let disclosure = engine.disclose("parse invoice, csv file");
    let order: Vec<&str> = disclosure.registry.iter().map(SkillId::as_str).collect();
    let rest = ["alpha-notes", "deploy-staging", "request-review"];
    assert_eq!(order, [&["parseCsvFiles", "invoice-writer"][..], &rest].concat());

    let options = DisclosureOptions { max_lines: 2, ..DisclosureOptions::default() };
    let short = engine.disclose_with("parse invoice, csv file", &options);
    assert_eq!(
        (short.tier, &short.registry[..], short.hidden),
        (Tier::Registry, &disclosure.registry[..2], 3)
    );
    assert!(short.text.ends_with("[3 more skills available]"), "{}", short.text);
    let all = engine.disclose_with("list skills", &options);
    assert_eq!((all.registry.len(), all.hidden), (2, 3));
}

#[test]
fn a_huge_catalog_is_listed_in_a_bounded_text() {
    let skills =
        (0..1_000).map(|i| plain(&format!("skill-{i:04}"), &format!("Does thing{i}."), ""));
    let disclosure = engine(skills.collect()).disclose("do thing977 for me");
    assert_eq!(disclosure.registry[0], "skill-0977");
    assert_eq!(disclosure.registry.len() + disclosure.hidden, 1_000);
    assert!(disclosure.text.len() < 20_000, "{} bytes", disclosure.text.len());
}

#[test]
fn a_body_that_cannot_be_read_counts_as_empty() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("notes/SKILL.md");
    std::fs::create_dir(root.path().join("notes")).unwrap();
    std::fs::write(&file, "---\nname: notes\ndescription: Keeps minutes.\n---\nagenda\n").unwrap();
    let engine = || Engine::builder().source(Source::project(root.path())).build().unwrap();
    assert_eq!(found(&engine(), "agenda", 3), ["notes"]);
    let before = engine();
    std::fs::remove_file(&file).unwrap();
    assert_eq!(found(&before, "agenda", 3), [""; 0]);
    assert_eq!(found(&before, "minutes", 3), ["notes"]);
}

#[test]
fn the_answer_depends_on_the_skills_not_on_how_they_came() {
    let named: Vec<(SkillId, Skill)> =
        office().into_iter().map(|skill| (SkillId::new(skill.name()), skill)).collect();
    let pairs = || named.iter().map(|(id, skill)| (id, skill));
    let once = RelevanceIndex::new(pairs());
    let mut changed = RelevanceIndex::new(pairs().rev());
    let extra = plain("extra", "Deploys the csv invoice to a server.", "agenda");
    changed.add(&"extra".into(), &extra);
    assert_ne!(once.order("deploy"), changed.order("deploy"));
    assert!(changed.remove(&"extra".into()));
    assert!(!changed.remove(&"extra".into()));
    let (id, skill) = &named[1];
    changed.add(id, &extra);
    changed.add(id, skill);

    assert_eq!((once.len(), once.memory_usage() > 0), (changed.len(), true));
    for query in ["deploy the server", "parse csv files of invoices", "agenda", "使用 review"] {
        assert_eq!(once.rank(query, 9), changed.rank(query, 9), "{query}");
        let ranked = once.rank(query, 9).into_iter().map(|found| found.id);
        assert_eq!(once.order(query), ranked.collect::<Vec<_>>());
    }
}

#[test]
fn equals_are_in_the_order_of_ids_without_a_margin() {
    let twins = ["b", "c", "a"].map(|name| (SkillId::new(name), plain("same", "Deploys.", "")));
    let index = RelevanceIndex::new(twins.iter().map(|(id, skill)| (id, skill)));
    let ranked = index.rank("deployment", 2);
    let told: Vec<_> = ranked.iter().map(|found| (found.id.as_str(), found.margin)).collect();
    assert_eq!(told, [("a", 0.0), ("b", 0.0)]);
    assert_eq!(ranked[0].terms[0].fields, [Field::Description]);
    assert!(ranked[0].score > 0.0);
}
