//! Meaning: skills are found by people who do not know their words, or their language.

use repertoire::{Engine, EngineBuilder, Skill};

/// A team's skills, each given by its name and its description.
const TEAM: [(&str, &str); 12] = [
    ("expense-claims", "Submits travel expenses with receipts for reimbursement."),
    ("database-indexes", "Tunes slow SQL queries with indexes and execution plans."),
    ("incident-review", "Writes the blameless postmortem of an outage."),
    ("onboarding-plan", "Plans the first weeks of a new employee."),
    ("release-notes", "Summarises merged changes for users."),
    ("contract-check", "Finds risky clauses in supplier agreements."),
    ("slide-design", "Lays out slides with charts and one message each."),
    ("password-rotation", "Rotates credentials and secrets of services."),
    ("survey-analysis", "Evaluates answers of questionnaires with statistics."),
    ("video-subtitles", "Transcribes recordings and times subtitles."),
    ("warehouse-stock", "Counts inventory and orders missing parts."),
    ("travel-booking", "Books trains, flights and hotels within the policy."),
];

fn builder() -> EngineBuilder {
    TEAM.iter().map(skill).fold(Engine::builder(), EngineBuilder::skill)
}

fn skill((name, description): &(&str, &str)) -> Skill {
    format!("---\nname: {name}\ndescription: {description}\n---\n").parse().unwrap()
}

#[test]
fn skills_are_found_without_a_shared_word() {
    let (engine, words) = (builder().build().unwrap(), builder().meaning(None).build().unwrap());
    for (message, wanted) in [
        ("how do I get my money back for the taxi and the meals?", "expense-claims"),
        ("fetching the customers takes forever, make the db faster", "database-indexes"),
        ("the site was down yesterday, explain what happened", "incident-review"),
        ("请帮我预订去上海的火车票和酒店", "travel-booking"),
        ("ajoute des sous-titres à cette vidéo", "video-subtitles"),
    ] {
        let [found, by_words] = [&engine, &words].map(|engine| engine.find_skills(message, 3));
        assert!(found.first().is_some_and(|found| found.id == wanted), "{message}: {found:?}");
        assert!(by_words.first().is_none_or(|found| found.id != wanted), "{message}");
        let near = engine.nearness(message, &wanted.into()).unwrap();
        assert!(near.cosine > 0.1 && !near.words.is_empty(), "{near}");
        assert!(near.words.iter().all(|word| message.contains(word)), "{near}");
        let says_little = |word: &String| ["the", "was", "my", "à", "cette"].contains(&&**word);
        assert!(!near.words.iter().any(says_little), "{near}");
        let why = &found[0].why;
        assert!(why.contains("near in meaning to “"), "{why}");
    }
    for message in
        ["thanks, that works", "what's the capital of Australia?", "tell me a joke", "是的，继续"]
    {
        assert!(engine.disclose(message).full.is_empty(), "{message}");
    }
    assert!(words.nearness("my money back", &"expense-claims".into()).is_none());
}

#[test]
fn a_name_of_one_word_among_others_is_not_enough_for_its_skill() {
    let names = [
        "demo", "pdf", "docx", "invoices", "travel", "garden", "chess", "music", "weather",
        "cooking", "sewing", "boats",
    ];
    let skills = names.map(|name| {
        let description = match name {
            "demo" => "Builds a demo with staged data that shows a product to a customer.",
            _ => &format!("Helps with {name}."),
        };
        format!("---\nname: {name}\ndescription: {description}\n---\nSteps.\n").parse().unwrap()
    });
    let engine = skills.into_iter().fold(builder(), EngineBuilder::skill).build().unwrap();
    for (message, in_full) in [
        ("Open our current localhost demo in a browser and test the checkout button", false),
        ("Make captions for the video of the demo", false),
        ("Build a demo with staged data for the customer", true),
        ("use the demo skill here", true),
        ("/demo the new checkout", true),
    ] {
        let shown = engine.disclose(message);
        assert_eq!(shown.full.contains(&"demo".into()), in_full, "{message}");
        assert!(in_full || shown.registry.contains(&"demo".into()), "{message}: {shown:?}");
    }
}

#[test]
fn what_a_message_denies_or_attaches_is_not_called_for_by_its_meaning() {
    let engine = builder().build().unwrap();
    for message in [
        "not database-indexes: fetching the customers takes forever, make the db faster",
        "thanks!\n\n```\nSELECT slow FROM queries -- tune the SQL indexes of the execution plan\n```",
    ] {
        let shown = engine.disclose(message);
        assert!(shown.full.is_empty(), "{message}: {shown:?}");
    }
}

#[test]
fn among_few_skills_meaning_brings_lines_and_nothing_in_full() {
    for n_skills in [6, 8, 11] {
        let build =
            |builder| TEAM[..n_skills].iter().map(skill).fold(builder, EngineBuilder::skill);
        let engine = build(Engine::builder()).build().unwrap();
        let words = build(Engine::builder().meaning(None)).build().unwrap();
        for message in [
            "wie bekomme ich meine Reisekosten mit den Belegen erstattet?",
            "请帮我报销出差的差旅费和餐费发票",
            "comment me faire rembourser mes frais de voyage avec les reçus ?",
        ] {
            let shown = engine.disclose(message);
            assert!(shown.full.is_empty(), "{n_skills}: {message}");
            let first = shown.registry.first();
            assert!(first.is_some_and(|id| *id == "expense-claims"), "{n_skills}: {message}");
            let found = engine.find_skills(message, 1);
            assert!(found[0].why.contains("near in meaning to “"), "{found:?}");
            assert!(words.disclose(message).registry.is_empty(), "{n_skills}: {message}");
        }
        for message in
            ["what's the capital of Australia?", "tell me a joke", "spiel Musik von Bach"]
        {
            let shown = engine.disclose(message);
            assert!(shown.full.is_empty() && shown.registry.is_empty(), "{n_skills}: {shown:?}");
        }
    }
}
