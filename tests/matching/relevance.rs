//! Relevance: skills are found and ordered by the words that they share with a message.

use repertoire::disclosure::RelevanceMargin;
use repertoire::matcher::{Field, RelevanceIndex};
use repertoire::session::Session;
use repertoire::{
    Allowlist, DisclosureOptions, Engine, EngineBuilder, Skill, SkillId, Source, Tier,
};

fn skill(text: &str) -> Skill {
    text.parse().unwrap()
}

/// Builds a skill without triggers.
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
    let builder = skills.into_iter().fold(Engine::builder(), EngineBuilder::skill);
    builder.meaning(None).build().unwrap()
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
fn a_skill_is_not_found_for_what_its_description_denies() {
    let is_found = |description: &str, query: &str| {
        let mut skills = office();
        skills.push(plain("migrations", description, ""));
        found(&engine(skills), query, 9).contains(&"migrations".to_owned())
    };
    for denial in [
        "Do not use for query tuning.",
        "Do not use for linting (e.g. eslint) or query tuning.",
        "DO NOT USE FOR: backups (use other),\ncost reports; query tuning.",
        "Do not use for:\n- backups\n- query\n  tuning\n",
        "It cannot forge ropes and is not for query tuning.",
        "Not meant for query tuning (e.g. of joins).",
    ] {
        let description = format!("Plans schema changes. {denial}");
        assert!(!is_found(&description, "optimise the slow query tuning"), "{denial}");
        assert!(is_found(&description, "plan the schema changes"), "{denial}");
    }
    for (description, query) in [
        ("Plans trips (not for flights) by railway.", "a railway trip"),
        ("Fixes code that does not handle unicode input.", "unicode input"),
        ("Makes sure you never use walrus operators.", "remove walrus operators"),
        ("Use it even if users don't use the word schema, as in rollouts.", "two rollouts"),
        ("Plans.\nDo not use for: flights\nUse for: railways", "a railway"),
    ] {
        assert!(is_found(description, query), "{description}");
    }
}

#[test]
fn a_description_says_when_its_skill_is_wanted() {
    let says_phrase = |description: &str| {
        let skills = ["Brews coffee.", description].map(|text| plain("x", text, ""));
        let ids = ["coffee", "dance"].map(SkillId::new);
        let ranked = RelevanceIndex::new(ids.iter().zip(&skills)).rank("a walrus tango for me", 1);
        ranked.first().is_some_and(|found| found.relevance.says_phrase)
    };
    for (description, expected) in [
        ("Use when the user says \"walrus tango\".", true),
        ("Use when the user says 'walrus tango'.", true),
        ("Dances (‘walrus tango’).", true),
        ("USE FOR: waltz,\nfoxtrot, jive,\nwalrus tango, rumba.", true),
        ("Use when\n- walrus tango\n- rumba", true),
        ("Dances the walrus' tango, and others' dances.", false),
        ("Use when dancing; not the walrus tango.", false),
        ("Use when dancing.\n\nHas walrus tango.", false),
    ] {
        assert_eq!(says_phrase(description), expected, "{description}");
    }
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
    let mut options = engine.disclosure_options().clone();
    options.relevance = Some(margin);
    for (query, expected) in [
        ("bring the release to staging", ["deploy"].as_slice()),
        ("deploy: bring the release to staging", &["deploy"]),
        ("deploy: bring the release to production, not staging", &[]),
        ("bring the release to production, not staging", &[]),
    ] {
        let disclosure = engine.turn(query, &Session::in_memory("t")).options(&options).preview();
        assert_eq!(disclosure.full, expected, "{query}");
        let is_told = disclosure.omitted.iter().any(|of| of.to_string().contains("`production`"));
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
fn lines_are_the_relevant_skills_best_first_and_a_question_lists_all() {
    let engine = engine(office());
    let mut options = DisclosureOptions::default();
    options.relevance = None;
    let lines = |query: &str, options: &DisclosureOptions| {
        let disclosure = engine.turn(query, &Session::in_memory("t")).options(options).preview();
        let lines: Vec<String> = disclosure.registry.iter().map(SkillId::to_string).collect();
        assert_eq!(lines.len() + disclosure.hidden, 5, "{query}");
        (lines, disclosure.text)
    };
    let query = "parse invoice, csv file";
    assert_eq!(lines(query, &options).0, ["parseCsvFiles", "invoice-writer"]);
    let (short, text) = lines(query, &{
        let mut options = options.clone();
        options.max_lines = 1;
        options
    });
    assert_eq!(short, ["parseCsvFiles"]);
    assert!(text.ends_with("[4 more skills available]"), "{text}");
    assert_eq!(
        lines("list skills", &{
            let mut options = options;
            options.max_lines = 1;
            options
        })
        .0
        .len(),
        5
    );
}

/// Builds the office's engine with other skills added, each of two words, up to `n_skills`.
fn office_among(n_skills: usize) -> Engine {
    let others = (office().len()..n_skills)
        .map(|i| plain(&format!("skill-{i}"), &format!("Does thing{i} and stunt{i}."), ""));
    engine(office().into_iter().chain(others).collect())
}

#[test]
fn lines_need_more_than_a_word_shared_by_chance() {
    let lines = |engine: &Engine, message: &str| -> Vec<String> {
        let mut options = DisclosureOptions::default();
        options.relevance = None;
        let turn = engine.turn(message, &Session::in_memory("t")).options(&options).preview();
        turn.registry.iter().map(SkillId::to_string).collect()
    };
    let (few, many) = (office_among(12), office_among(64));
    for (message, of_few, of_many) in [
        // One word of the front matter; two words; one word and an everyday word.
        ("where are the invoices?", "invoice-writer", ""),
        ("who writes an invoice for clients?", "invoice-writer", "invoice-writer"),
        ("invoices for clients", "invoice-writer", "invoice-writer"),
        // Words of the body.
        ("how does a rollback go?", "", ""),
        ("a rollback by ssh", "deploy-staging", ""),
        // Everyday words and numbers, whether or not they are rare in the catalog.
        ("it reads well", "", ""),
        ("ask 12 people", "", ""),
        // A language in which pairs of characters serve as words.
        ("レビューをお願いします", "request-review", "request-review"),
    ] {
        for (engine, expected) in [(&few, of_few), (&many, of_many)] {
            let lines = lines(engine, message);
            assert_eq!(lines.first().map_or("", String::as_str), expected, "{message}: {lines:?}");
        }
    }
    // A search for skills finds all of them.
    assert_eq!(found(&many, "how does a rollback go?", 1), ["deploy-staging"]);
}

#[test]
fn a_word_that_may_be_a_name_is_a_line_unless_relevance_puts_its_skill_first() {
    let mut skills = office();
    skills.push(plain("plan", "Breaks a feature into small tasks.", "Goals and risks."));
    let engine = engine(skills);
    for (message, in_full) in [
        ("I plan to write invoices for clients", false),
        ("plan the feature in small tasks", true),
        ("I do not plan any feature", false),
    ] {
        let disclosure = engine.disclose(message);
        assert_eq!(disclosure.full.contains(&"plan".into()), in_full, "{message}");
        let held_back =
            disclosure.omitted.iter().any(|of| of.to_string().contains("may be its name"));
        let is_weak = message.starts_with("I plan");
        assert_eq!(held_back, is_weak, "{message}: {:?}", disclosure.omitted);
        assert!(!is_weak || disclosure.registry.contains(&"plan".into()), "{disclosure:?}");
    }
}

#[test]
fn a_huge_catalog_is_listed_in_a_bounded_text() {
    let skill = |i| plain(&format!("skill-{i:04}"), &format!("Does thing{i} by means{i}."), "");
    let engine = engine((0..1_000).map(skill).collect());
    let disclosure = engine.disclose("do thing977 by means977 for me");
    assert_eq!(disclosure.full, ["skill-0977"]);
    assert_eq!(disclosure.hidden + disclosure.registry.len(), 999);
    for (query, tier) in [("what can you do?", Tier::Registry), ("hm", Tier::Breadcrumb)] {
        let disclosure = engine.disclose(query);
        assert_eq!(disclosure.registry.len() + disclosure.hidden, 1_000);
        assert_eq!(disclosure.tier, tier);
        assert!(disclosure.text.len() <= 40_000, "{} bytes", disclosure.text.len());
    }
}

#[test]
fn a_body_that_cannot_be_read_counts_as_empty() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("notes/SKILL.md");
    std::fs::create_dir(root.path().join("notes")).unwrap();
    std::fs::write(&file, "---\nname: notes\ndescription: Keeps minutes.\n---\nagenda\n").unwrap();
    // If disclosures do not use relevance, texts are indexed on the first search.
    let mut options = DisclosureOptions::default();
    options.max_lines = 0;
    options.relevance = None;
    let builder = || Engine::builder().source(Source::project(root.path()));
    let engine = || builder().disclosure(options.clone()).build().unwrap();
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
    let other = RelevanceIndex::new(pairs().rev());
    assert_eq!(once.len(), other.len());
    for query in ["deploy the server", "parse csv files of invoices", "agenda", "使用 review"] {
        assert_eq!(once.rank(query, 9), other.rank(query, 9), "{query}");
        let ranked = once.rank(query, 9).into_iter().map(|found| found.id);
        assert_eq!(once.order(query), ranked.collect::<Vec<_>>());
    }
}

#[test]
fn an_index_that_followed_changes_answers_as_a_new_one() {
    let root = tempfile::tempdir().unwrap();
    let write = |name: &str, description: &str, body: &str| {
        std::fs::create_dir_all(root.path().join(name)).unwrap();
        let text = format!("---\nname: {name}\ndescription: {description}\n---\n{body}\n");
        std::fs::write(root.path().join(name).join("SKILL.md"), text).unwrap();
    };
    let topics = ["invoice", "server", "agenda", "table", "review", "ledger", "backup", "index"];
    for (at, topic) in topics.iter().enumerate() {
        let body = format!("Read the {topic} twice, then write the {topic} down. ").repeat(at + 3);
        write(&format!("skill-{at}"), &format!("Works on each {topic} with care."), &body);
    }
    let new = || Engine::builder().source(Source::project(root.path())).build().unwrap();
    let engine = new();
    let check = |step: &str| {
        engine.refresh().unwrap();
        for query in ["write the invoice down", "twice the ledger", "a parrot", "review, backup"] {
            assert_eq!(
                engine.relevance().rank(query, 9),
                new().relevance().rank(query, 9),
                "{step}"
            );
            assert_eq!(engine.disclose(query), new().disclose(query), "{step}");
        }
    };
    write("skill-3", "Works on each table with no care.", "Read the table once.");
    check("one is changed");
    write("skill-35", "Feeds a parrot.", "Seeds and a table.");
    check("one comes in between");
    std::fs::remove_dir_all(root.path().join("skill-0")).unwrap();
    check("one goes");
    write("skill-9", "Long.", &"Another long text about everything and more. ".repeat(400));
    check("the usual length changes");
}

#[test]
fn equals_are_in_the_order_of_ids_without_a_lead() {
    let twins = ["b", "c", "a"].map(|name| (SkillId::new(name), plain("same", "Deploys.", "")));
    let index = RelevanceIndex::new(twins.iter().map(|(id, skill)| (id, skill)));
    let ranked = index.rank("deployment", 2);
    let told: Vec<_> =
        ranked.iter().map(|found| (found.id.as_str(), found.relevance.lead)).collect();
    assert_eq!(told, [("a", 0.0), ("b", 0.0)]);
    let (id, skill) = &twins[2];
    assert_eq!(index.shared("deployment", id, skill)[0].fields, [Field::Description]);
    assert!(ranked[0].relevance.worth > 0.0);
}

/// Checks that function words alone are no evidence, in the nine languages with lists and in English: the
/// first skill has them all, the others have none.
#[test]
fn function_words_are_no_evidence_in_any_language() {
    for words in [
        "while it is although they and because of whether or until since either",
        "während und oder aber nicht mit für immer nie oft trotz jener ans",
        "les des une pour dans est avec mais donc sur",
        "el los las una del con nunca vuestro pero para",
        "il della gli nella per che aveva con anche",
        "het een van voor niet zijn heel jij zullen",
        "się nie jest dla oraz lub mieć mogą",
        "não uma dos das ou em nunca são teu",
        "и в не для на с та ко должен",
        "ve bir için ile bu veya altında arasında",
    ] {
        let skill = |n: usize| {
            let words = if n == 0 { words } else { "" };
            format!("---\nname: s{n}\ndescription: Zorble{n} quux {words}.\n---\nBody\n")
        };
        let skills: Vec<Skill> = (0..6).map(|n| skill(n).parse().unwrap()).collect();
        // A message of the same words alone is near in meaning.
        let builder = skills.into_iter().fold(Engine::builder(), EngineBuilder::skill);
        let engine = builder.meaning(None).build().unwrap();
        assert_eq!(engine.relevance().rank(words, 9), [], "{words}");
        let shown = engine.disclose(format!("{words} blarg"));
        assert!(shown.full.is_empty(), "{words}: {shown:?}");
    }
}
