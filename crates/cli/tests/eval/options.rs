//! Options of the engine that affect which skills are shown in full.

use repertoire::disclosure::RelevanceMargin;
use repertoire::{DisclosureOptions, Engine, EngineBuilder, Skill, SkillId};
use repertoire_authoring::eval::{Report, evaluate, read};

fn with(skills: &[Skill], options: DisclosureOptions) -> Engine {
    let builder = Engine::builder().disclosure(options);
    skills.iter().cloned().fold(builder, EngineBuilder::skill).build().unwrap()
}

fn ids(ids: &[SkillId]) -> Vec<&str> {
    ids.iter().map(SkillId::as_str).collect()
}

/// Returns skills without triggers.
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
    let options = |relevance| {
        let mut options = DisclosureOptions::default();
        options.relevance = relevance;
        options
    };
    let mut skills = plain();
    let engine = with(&skills, options(Some(margin)));
    let query = "write an invoice for my freelance client";
    let sure = engine.disclose(query);
    assert_eq!(ids(&sure.full), ["invoice-writer"]);
    let why = sure.relevant.unwrap();
    let relevance = why.relevance;
    assert!(relevance.worth >= 1.0 && relevance.lead >= 0.5, "{why:?}");
    assert!(relevance.head_words >= 2 && relevance.words >= 2, "{why:?}");
    let shared = engine.shared_terms(query, &why.id);
    assert!(shared.iter().any(|shared| shared.term == "invoice"), "{shared:?}");
    assert_eq!((ids(&sure.registry), sure.hidden), (vec![], 2));

    for query in ["for clients", "hello", "what can you do?", ""] {
        let unsure = engine.disclose(query);
        assert!(unsure.full.is_empty() && unsure.relevant.is_none(), "{query}");
    }
    let off = with(&skills, options(None));
    assert!(off.disclose(query).full.is_empty());
    for stricter in [
        RelevanceMargin { worth: 90.0, ..margin },
        RelevanceMargin { lead: 90.0, ..margin },
        RelevanceMargin { words: 90, ..margin },
    ] {
        assert!(with(&skills, options(Some(stricter))).disclose(query).full.is_empty());
    }

    // If a trigger matches, it decides, unless it is a single word. A trigger that does not match does not
    // hide its skill.
    skills.push(super::skill("client", "freelance"));
    let declared = with(&skills, options(Some(margin))).disclose(query);
    assert_eq!(ids(&declared.full), ["invoice-writer"]);
    assert!(declared.omitted.iter().any(|of| of.reason.code() == "outdone"), "{declared:?}");
    skills.pop();
    skills.push(super::skill("client", "freelance client"));
    let declared = with(&skills, options(Some(margin))).disclose(query);
    assert_eq!((ids(&declared.full), declared.relevant), (vec!["client"], None));
    skills[0] =
        "---\nname: invoice-writer\ndescription: Writes invoices for freelance clients in euros.\n\
                 triggers: [bill]\n---\n"
            .parse()
            .unwrap();
    skills.pop();
    let unhit = with(&skills, options(Some(margin))).disclose(query);
    assert_eq!(ids(&unhit.full), ["invoice-writer"]);
}

#[test]
fn what_stands_in_the_context_is_not_shown_by_relevance_again() {
    let margin = Some(RelevanceMargin { worth: 1.0, lead: 0.5, words: 2 });
    let mut options = DisclosureOptions::default();
    options.relevance = margin;
    let engine = with(&plain(), options);
    let session = engine.session("s");
    let query = "write an invoice for my freelance client";
    assert_eq!(
        ids(&engine.turn(query, &session).run().unwrap().disclosure.full),
        ["invoice-writer"]
    );
    assert_eq!(ids(&engine.turn(query, &session).run().unwrap().disclosure.full), [""; 0]);
}

#[test]
fn a_report_tells_the_words_by_which_a_skill_fired() {
    let margin = Some(RelevanceMargin { worth: 1.0, lead: 0.5, words: 2 });
    let mut options = DisclosureOptions::default();
    options.relevance = margin;
    let engine = with(&plain(), options);
    let row = "{\"query\": \"write an invoice for my freelance client\", \"expected\": []}";
    let (cases, _) = read("c.jsonl", row, None);
    let report = Report::new(evaluate(&engine, &cases, || {}));
    let triggers_hit = &report.confusions[0].triggers;
    assert!(triggers_hit.iter().all(|cause| cause.kind == "relevance"), "{triggers_hit:?}");
    assert!(triggers_hit.iter().any(|cause| cause.trigger == "invoice"), "{triggers_hit:?}");
}
