//! Messages with something attached: what counts there, and several requests in one message.

use repertoire::{Disclosure, Engine, EngineBuilder, Skill, SkillId};

fn engine() -> Engine {
    let skill = |name: &str, description: &str, triggers: &str, body: &str| -> Skill {
        let text = format!(
            "---\nname: {name}\ndescription: {description}\ntriggers: {triggers}\n---\n{body}"
        );
        text.parse().unwrap()
    };
    let skills = [
        skill("ship-it", "Does the shipping of parcels.", "{keywords: [ship, release train]}", "B"),
        skill("err-codes", "Explains codes.", "{patterns: ['ERR-\\d+']}", "B"),
        skill("vetoed", "Does it.", "{keywords: [polish], exclude: [legacy]}", "B"),
        skill("query-tuning", "Tunes slow database queries with indexes.", "[]", "B"),
        skill("changelog", "Writes changelog entries for a new version.", "[]", "B"),
        skill("translate-page", "Translates web pages into French.", "[]", "B"),
    ];
    skills.into_iter().fold(Engine::builder(), EngineBuilder::skill).build().unwrap()
}

fn shown(disclosure: &Disclosure) -> [Vec<&str>; 2] {
    [&disclosure.full, &disclosure.registry].map(|ids| ids.iter().map(SkillId::as_str).collect())
}

/// Ways to attach a line of text.
const WAYS: [&str; 6] = [
    "```\n{}\n```",
    "> {}\n",
    "2026-03-12 12:30:07 INFO {}\n",
    "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-{}\n+other\n",
    "<document>\n{}\n</document>",
    "| a | {} |\n|---|---|\n| b | c |",
];

#[test]
fn in_attachments_only_what_is_specific_shows_a_skill_in_full() {
    let engine = engine();
    for way in WAYS {
        for (attached, full, line) in [
            ("ship", None, Some("ship-it")),
            ("the release train", Some("ship-it"), None),
            ("failed with ERR-42", Some("err-codes"), None),
            ("the ship-it skill", None, Some("ship-it")),
            ("slow database queries need indexes", None, None),
        ] {
            let message = format!("what is that?\n\n{}", way.replace("{}", attached));
            let disclosure = engine.disclose(message.as_str());
            let [in_full, lines] = shown(&disclosure);
            assert_eq!(in_full, Vec::from_iter(full), "{message}");
            assert!(line.is_none_or(|id| lines.contains(&id)), "{message}: {lines:?}");
            let outdone = disclosure.omitted.iter().find(|of| Some(of.id.as_str()) == line);
            assert!(
                line.is_none() || outdone.is_some_and(|of| of.reason.code() == "quoted"),
                "{message}"
            );
        }
        let message = format!("please polish it\n\n{}", way.replace("{}", "legacy"));
        assert_eq!(shown(&engine.disclose(message.as_str()))[0], ["vetoed"], "{message}");
        let asked = "tune this slow database query with indexes";
        for message in [
            format!("{asked}\n\n{}", way.replace("{}", "web pages in French")),
            format!("{}\n\n{asked}", way.replace("{}", "changelog entries")),
        ] {
            assert_eq!(shown(&engine.disclose(message.as_str()))[0], ["query-tuning"], "{message}");
        }
    }
}

#[test]
fn triggers_in_attachments_give_lines_if_the_request_calls_for_a_skill_or_they_are_long() {
    let engine = engine();
    let decided = "tune this slow database query with indexes";
    let each_apart =
        "tune the slow database queries with indexes. Then translate the web page into French.";
    for way in WAYS {
        for attached in ["the release train", "failed with ERR-42"] {
            let attached = way.replace("{}", attached);
            for (message, full) in [
                (format!("{decided}\n\n{attached}"), vec!["query-tuning"]),
                (format!("{attached}\n\n{decided}"), vec!["query-tuning"]),
                (format!("please polish it\n\n{attached}"), vec!["vetoed"]),
                (format!("use the changelog skill\n\n{attached}"), vec!["changelog"]),
                (format!("{each_apart}\n\n{attached}"), vec!["query-tuning", "translate-page"]),
            ] {
                let disclosure = engine.disclose(message.as_str());
                let [mut in_full, lines] = shown(&disclosure);
                in_full.sort_unstable();
                assert_eq!(in_full, full, "{message}");
                assert!(lines.contains(&"ship-it") || lines.contains(&"err-codes"), "{message}");
            }
        }
        let said = format!("what is ERR-7?\n\n{}", way.replace("{}", "failed with ERR-42"));
        assert_eq!(shown(&engine.disclose(said.as_str()))[0], ["err-codes"], "{said}");
        let long = way.replace("{}", &format!("the release train ERR-42 {}", "lorem ".repeat(800)));
        let [full, lines] = [0, 1]
            .map(|tier| shown(&engine.disclose(&*format!("what is that?\n\n{long}")))[tier].len());
        assert_eq!((full, lines), (0, 2), "{way}");
    }
}

#[test]
fn the_words_that_are_told_are_those_that_decide() {
    let engine = engine();
    let terms = |message: &str| -> Vec<String> {
        let shared = engine.shared_terms(message, &"query-tuning".into());
        shared.into_iter().filter(|shared| !shared.is_common).map(|shared| shared.term).collect()
    };
    for way in WAYS {
        let attached = way.replace("{}", "slow indexes");
        let said = terms(&format!("tune this database query\n\n{attached}"));
        assert!(said.iter().any(|term| term == "database"), "{said:?}");
        assert!(!said.iter().any(|term| term == "slow" || term == "indexes"), "{said:?}");
        let told = terms(&format!("what is that?\n\n{attached}"));
        assert!(told.iter().any(|term| term == "indexes"), "{told:?}");
    }
}

#[test]
fn what_a_harness_wrote_is_nothing_said() {
    let engine = engine();
    for tag in ["system-reminder", "task-notification", "local-command-stdout", "hook_context"] {
        let block = format!(
            "<{tag}>\nERR-42: the release train, /ship-it, tune slow database queries\n</{tag}>"
        );
        let [full, lines] = [&block, &format!("thanks\n{block}")].map(|message| {
            let disclosure = engine.disclose(message.as_str());
            (disclosure.full.len(), disclosure.registry.len())
        });
        assert_eq!([full, lines], [(0, 0), (0, 0)], "{block}");
    }
}

#[test]
fn each_of_two_requests_is_answered() {
    let engine = engine();
    let (a, b) =
        ("tune the slow database queries with indexes", "translate the web page into French");
    for message in [
        format!("{a}. Then {b}."),
        format!("{b}! Also, {a}"),
        format!("1. {a}\n2. {b}"),
        format!("- {b}\n- {a}"),
        format!("{a}, and then {b}"),
        format!("{b}\n{a}\n\n```\nthe release notes\n```"),
    ] {
        let disclosure = engine.disclose(message.as_str());
        let mut full = shown(&disclosure)[0].clone();
        full.sort_unstable();
        assert_eq!(full, ["query-tuning", "translate-page"], "{message}");
    }
    // A trigger decides one of them.
    let message = format!("board the release train. Then {b}.");
    assert_eq!(shown(&engine.disclose(message.as_str()))[0].len(), 2, "{message}");
}
