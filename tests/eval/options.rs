//! The options of the engine that decide what is shown in full.

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
            let said: Vec<&str> = found.hits.iter().map(|hit| &query[hit.span.clone()]).collect();
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
    let options = DisclosureOptions { hint_generic_words: true, ..DisclosureOptions::default() };
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
        format!("---\nname: k{i}\ndescription: Tunes quasar number {i}.\ntriggers: [quasar]\n---\n")
            .parse()
            .unwrap()
    };
    let options = DisclosureOptions { hint_generic_words: true, ..DisclosureOptions::default() };
    let few: Vec<Skill> = (0..3).map(skill).collect();
    let many: Vec<Skill> = (0..4).map(skill).collect();
    assert_eq!(with(&few, false, options.clone()).disclose("a quasar").full.len(), 3);
    assert_eq!(with(&many, false, options.clone()).disclose("a quasar").full.len(), 0);

    // No more lines than others have; the rest is named to the host, and counted.
    let tight = DisclosureOptions { max_lines: 3, ..options };
    let untriggered = "---\nname: z\ndescription: d\n---\n".parse().unwrap();
    let and_one: Vec<Skill> = many.iter().cloned().chain([untriggered]).collect();
    for (max_lines, last) in [(3, "k2"), (4, "k3"), (5, "z")] {
        let options = DisclosureOptions { max_lines, ..tight.clone() };
        let shown = with(&and_one, false, options).disclose("a quasar");
        assert_eq!(
            (shown.registry.len(), shown.registry[max_lines - 1].as_str()),
            (max_lines, last)
        );
    }
    let shown = with(&many, false, tight).disclose("a quasar");
    assert_eq!((ids(&shown.registry), shown.hidden), (vec!["k0", "k1", "k2"], 1));
    let reasons: Vec<&str> = shown.omitted.iter().map(|of| of.reason.as_str()).collect();
    let only = |how| format!("only its generic word `quasar` is in the query: {how}");
    let expected = [only("shown as a line"), only("counted only, as there are many such")];
    assert_eq!(
        (reasons.len(), [reasons[2], reasons[3]]),
        (4, expected.each_ref().map(String::as_str))
    );
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
    skills[0] =
        "---\nname: invoice-writer\ndescription: Writes invoices for freelance clients in euros.\n\
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
    let report = Report::new(evaluate(&engine, &cases, || {}));
    let triggers_hit = &report.confusions[0].triggers;
    assert!(triggers_hit.iter().all(|cause| cause.kind == "relevance"), "{triggers_hit:?}");
    assert!(triggers_hit.iter().any(|cause| cause.trigger == "invoice"), "{triggers_hit:?}");
}
