//! Instructions that were lost when the context of a session was compacted.

use repertoire::{Budget, Disclosure, DisclosureOptions, Engine};

use crate::sessions::in_session;
use crate::{engine, engine_with, ids, reasons};

const TOO_LONG: &str = "over the budget for what the context lost";

/// A skill that is unrelated to all messages here.
const OTHER: &str = "---\nname: other\ndescription: d\ntriggers: [other thing]\n---\nOther.\n";

#[test]
fn what_a_context_lost_is_shown_again_once_the_last_used_first_as_far_as_there_is_room() {
    // In full, each skill takes 14 characters plus its body.
    for (room, full, lines) in [
        (1000, vec!["s2", "s0", "s1"], vec![]),
        (3 * 14 + 65, vec!["s2", "s0", "s1"], vec![]),
        (3 * 14 + 64, vec!["s2", "s0"], vec!["s1"]),
        (2 * 14 + 34, vec!["s2", "s1"], vec!["s0"]),
        (0, vec![], vec!["s2", "s0", "s1"]),
    ] {
        let restore = Budget::Characters(room);
        let mut options = DisclosureOptions::default();
        options.restore = restore;
        options.max_skills = 1;
        let engine = in_session(&[31, 15, 19, 5], options);
        let session = engine.session("a");
        for query in ["only0", "only1", "only2"] {
            engine.turn(query, &session).run().unwrap();
        }
        session.record_use(&"s0".into()).unwrap();
        session.record_use(&"s2".into()).unwrap();
        session.compacted().unwrap();

        let blank = engine.turn(" ", &session).run().unwrap().disclosure;
        assert_eq!(blank, Disclosure::default(), "nothing is shown, so nothing is restored");
        let again = engine.turn("hello", &session).run().unwrap().disclosure;
        assert_eq!((ids(&again.full), ids(&again.registry)), (full.clone(), lines.clone()));
        let too_long: Vec<_> = lines.iter().map(|id| (*id, TOO_LONG)).collect();
        assert_eq!(reasons(&again), too_long, "{room}");
        let once = engine.turn("hello", &session).run().unwrap().disclosure;
        assert_eq!((once.full.len(), once.registry.len(), once.omitted.len()), (0, 0, 0));

        let state = session.state().unwrap();
        let in_context = |id: &&str| state.of(&(*id).into()).unwrap().in_context;
        assert!(full.iter().all(in_context) && !lines.iter().any(in_context), "{room}");
        session.compacted().unwrap();
        let order = engine.turn("hello", &engine.session("a")).preview();
        assert_eq!(ids(&order.full), full, "the order is kept");
    }
}

#[test]
fn what_is_lost_and_matches_counts_as_a_match() {
    let lose = |engine: &Engine| {
        let session = engine.session("a");
        for query in ["only0", "only1", "only2"] {
            engine.turn(query, &session).run().unwrap();
        }
        session.compacted().unwrap();
        session
    };
    let mut options = DisclosureOptions::default();
    options.max_skills = 1;
    let engine = in_session(&[9, 9, 9, 9], options.clone());
    let session = lose(&engine);
    let again = engine.turn("only1", &session).run().unwrap().disclosure;
    assert_eq!((ids(&again.full), again.omitted.len()), (vec!["s1", "s2", "s0"], 0));

    // A lost skill that ranks below the limit for this message is restored with the next one.
    session.end().unwrap();
    let session = lose(&engine);
    let again = engine.turn("word", &session).run().unwrap().disclosure;
    assert_eq!(ids(&again.full), ["s2"]);
    let below = ["s1", "s0", "s3"].map(|id| (id, "below the limit of 1 skill"));
    assert_eq!(reasons(&again), below);
    let next = engine.turn("and what else?", &session).run().unwrap().disclosure;
    assert_eq!(ids(&next.full), ["s1", "s0"]);

    let restore = Budget::Characters(0);
    let engine = in_session(&[9, 9, 9, 9], {
        let mut options = options;
        options.restore = restore;
        options
    });
    let again = engine.turn("only1", &lose(&engine)).run().unwrap().disclosure;
    assert_eq!((ids(&again.full), &ids(&again.registry)[..2]), (vec!["s1"], &["s2", "s0"][..]));
    assert_eq!(reasons(&again), [("s2", TOO_LONG), ("s0", TOO_LONG)]);
}

#[test]
fn a_veto_holds_for_what_was_lost_until_the_next_message() {
    let triggers = "{keywords: [word], exclude: [not this]}";
    let user_only = "disable-model-invocation: true\n";
    for (more, shown, query) in [
        ("", "word", "word, not this"),
        ("", "word", "but not this"),
        (user_only, "/a", "but not this"),
    ] {
        let head = format!("name: a\ndescription: d\n{more}triggers: {triggers}");
        let engine = engine(&[&format!("---\n{head}\n---\n"), OTHER]);
        let session = engine.session("s");
        if engine.user_message(shown, &session).unwrap().is_none() {
            engine.turn(shown, &session).run().unwrap();
        }
        session.compacted().unwrap();
        let vetoed = engine.turn(query, &session).run().unwrap().disclosure;
        assert!(vetoed.full.is_empty(), "{head}: {query}");
        assert_eq!(
            reasons(&vetoed),
            [("a", "vetoed by its exclude `not this`")],
            "{head}: {query}"
        );
        let next = engine.turn("go on", &session).run().unwrap().disclosure;
        assert_eq!((ids(&next.full), next.omitted.len()), (vec!["a"], 0), "{head}: {query}");
        assert_eq!(engine.turn("go on", &session).run().unwrap().disclosure.full.len(), 0, "once");
    }
}

#[test]
fn a_veto_in_what_is_attached_holds_for_no_skill() {
    for (more, shown) in [("", "word"), ("disable-model-invocation: true\n", "/a")] {
        let head = format!(
            "name: a\ndescription: d\n{more}triggers: {{keywords: [word], exclude: [not this]}}"
        );
        let engine = engine(&[&format!("---\n{head}\n---\n"), OTHER]);
        let session = engine.session("s");
        if engine.user_message(shown, &session).unwrap().is_none() {
            engine.turn(shown, &session).run().unwrap();
        }
        session.compacted().unwrap();
        let next = engine.turn("go on\n\n```\nnot this\n```", &session).run().unwrap().disclosure;
        assert_eq!((ids(&next.full), next.omitted.len()), (vec!["a"], 0), "{head}");
    }
}

#[test]
fn what_the_user_activated_is_restored_also_if_the_model_may_not_use_it() {
    let mine = "---\nname: mine\ndescription: d\ndisable-model-invocation: true\n---\nMine.\n";
    for (skills, hidden) in [(&[mine, OTHER][..], 1), (&[mine], 0)] {
        let engine = engine(skills);
        let session = engine.session("s");
        let show = || engine.turn("go on", &session).run().unwrap().disclosure;
        let before = show();
        engine.user_message("/mine", &session).unwrap().unwrap();
        for _ in 0..2 {
            session.compacted().unwrap();
            let again = show();
            assert_eq!((ids(&again.full), again.hidden), (vec!["mine"], hidden));
            assert!(again.text.starts_with("## Skill: mine\n\nMine."), "{}", again.text);
            assert_eq!(show(), before, "once");
        }

        // Without budget, the model is not told about skills that it cannot use, but the host is.
        session.compacted().unwrap();
        let restore = Budget::Characters(0);
        let mut options = DisclosureOptions::default();
        options.restore = restore;
        let tight = engine.turn("go on", &engine.session("s")).options(&options).preview();
        assert_eq!((&tight.text, tight.registry.len()), (&before.text, 0));
        if hidden > 0 {
            assert_eq!(reasons(&tight), [("mine", TOO_LONG)]);
        }
    }
}

#[test]
fn a_veto_of_one_does_not_have_the_others_shown_again_and_again() {
    let head = |name: &str| format!("---\nname: {name}\ndescription: d\ntriggers: ");
    let big = |name: &str| format!("{}[only {name}]\n---\n{}\n", head(name), "x".repeat(300));
    let vetoed = format!("{}{{keywords: [word], exclude: [staging]}}\n---\nV.\n", head("v"));
    let restore = Budget::Characters(400);
    let mut options = DisclosureOptions::default();
    options.restore = restore;
    let engine = engine_with(&[&big("a"), &big("b"), &big("c"), &vetoed], options);
    let session = engine.session("s");
    for query in ["only a", "only b", "only c", "word"] {
        engine.turn(query, &session).run().unwrap();
    }
    session.compacted().unwrap();
    let first = engine.turn("staging", &session).run().unwrap().disclosure;
    assert_eq!((ids(&first.full), ids(&first.registry)), (vec!["c"], vec!["b", "a"]));
    for query in ["staging", "staging again"] {
        let next = engine.turn(query, &session).run().unwrap().disclosure;
        assert_eq!((next.full.len(), next.registry.len()), (0, 0), "{query}");
    }
    assert_eq!(ids(&engine.turn("go on", &session).run().unwrap().disclosure.full), ["v"]);
}

#[test]
fn what_only_the_user_may_know_of_is_never_a_line_nor_counted() {
    let mine = |name: &str| {
        let head = format!("name: {name}\ndescription: d\ndisable-model-invocation: true");
        format!("---\n{head}\n---\n{}\n", "x".repeat(300))
    };
    let skills = [&*mine("m1"), &*mine("m2"), OTHER];
    let budget = Some(Budget::Characters(400));
    let mut options = DisclosureOptions::default();
    options.budget = budget;
    let engine = engine_with(&skills, options);
    let session = engine.session("s");
    for command in ["/m1", "/m2"] {
        engine.user_message(command, &session).unwrap().unwrap();
    }
    session.compacted().unwrap();
    let tight = engine.turn("go on", &session).run().unwrap().disclosure;
    assert_eq!((ids(&tight.full), tight.registry.len(), tight.hidden), (vec!["m2"], 0, 1));
    assert!(tight.text.ends_with("[1 more skill available]"), "{}", tight.text);
    assert!(!tight.text.contains("m1"), "{}", tight.text);
    assert_eq!(tight.omitted.len(), 1);
    assert!(tight.omitted[0].to_string().ends_with("left out, as only the user can use it"));
}

#[test]
fn a_skill_that_the_user_stopped_is_not_shown_again() {
    let skill = "---\nname: quiet-mode\ndescription: Answers in one line.\ntriggers: [few words]\n---\nHush.\n";
    let shows = |messages: &[&str], lost_before: usize| {
        let engine = Engine::builder().skill(skill.parse().unwrap());
        let engine = engine.skill(OTHER.parse().unwrap()).build().unwrap();
        let session = engine.session("a");
        engine.turn("use the quiet-mode skill", &session).run().unwrap();
        for (number, message) in messages.iter().enumerate() {
            if number == lost_before {
                session.compacted().unwrap();
            }
            engine.turn(*message, &session).run().unwrap();
        }
        session.state().unwrap().of(&"quiet-mode".into()).unwrap().in_context
    };
    assert!(shows(&["go on with the parser"], 0), "what is lost comes back");
    for stop in ["stop quiet-mode", "Don't use quiet mode any more.", "ohne quiet-mode, bitte"] {
        assert!(!shows(&[stop, "go on with the parser"], 1), "{stop}");
        // The message that ends its use may be the first after the compaction.
        assert!(!shows(&[stop, "go on with the parser"], 0), "{stop}");
        assert!(shows(&[stop, "few words from now on"], 1), "{stop}: it can be called for again");
    }
    assert!(shows(&["no quiet-mode skill for logs, but few words here"], 1));
}
