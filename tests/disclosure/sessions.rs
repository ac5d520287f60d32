//! Disclosures in a session, which depend on its context and on the skills it has used.

use repertoire::session::Event;
use repertoire::{Budget, DisclosureOptions, Engine, Session, Source, Tier};

use crate::{body_hash, ids, reasons, skill};

/// Builds skills with bodies of these lengths. Each has the trigger `word`, and its own name as a
/// trigger.
pub(crate) fn in_session(sizes: &[usize], options: DisclosureOptions) -> Engine {
    let text = |(i, size): (usize, &usize)| {
        let body = "x".repeat(*size);
        let head = format!("name: s{i}\ndescription: Skill {i}.\ntriggers: [word, only{i}]");
        format!("---\n{head}\n---\n{body}\n")
    };
    let skills = sizes.iter().enumerate().map(text).map(|text| skill(&text));
    let builder = skills.fold(Engine::builder(), repertoire::EngineBuilder::skill);
    builder.disclosure(options).meaning(None).build().unwrap()
}

const IN_CONTEXT: &str = "its instructions are in the context already";

#[test]
fn what_stands_in_the_context_of_a_session_is_a_line_there() {
    let engine = in_session(&[20, 20, 20], DisclosureOptions::default());
    let (session, other) = (engine.session("a"), engine.session("b"));
    let first = engine.turn("only0", &session).run().unwrap().disclosure;
    assert_eq!((ids(&first.full), first.omitted.len()), (vec!["s0"], 0));

    let second = engine.turn("only0", &session).run().unwrap().disclosure;
    assert_eq!((second.tier, second.hidden), (Tier::Registry, 2));
    assert_eq!(reasons(&second), [("s0", IN_CONTEXT)]);
    assert_eq!(
        second.text,
        "## Available skills\n\n- s0: its instructions, given above, apply; Skill 0.\n\n\
         [2 more skills available]"
    );
    // A skill that is in the context takes no budget from the others.
    let third = engine.turn("word", &session).run().unwrap().disclosure;
    assert_eq!((ids(&third.full), ids(&third.registry)), (vec!["s1", "s2"], vec!["s0"]));

    let elsewhere = engine.turn("only0", &other).run().unwrap().disclosure;
    assert_eq!(elsewhere, first);
    assert_eq!(engine.disclose("only0"), first);
    // A preview changes nothing in the session.
    assert_eq!(engine.turn("only0", &engine.session("c")).preview(), first);
    assert_eq!(engine.turn("only0", &engine.session("c")).preview(), first);
    session.end().unwrap();
    assert_eq!(engine.turn("only0", &session).run().unwrap().disclosure, first);
}

#[test]
fn instructions_that_changed_since_they_were_shown_are_shown_again() {
    let dir = tempfile::tempdir().unwrap();
    let write = |head: &str, body: &str| {
        let text =
            format!("---\nname: ship\ndescription: {head}\ntriggers: [release]\n---\n{body}\n");
        std::fs::write(dir.path().join("SKILL.md"), text).unwrap();
    };
    write("Ships.", "Tag it.");
    let engine = Engine::builder().source(Source::user(dir.path())).build().unwrap();
    let (session, activated) = (engine.session("a"), engine.session("b"));
    engine.activate("ship", "", &activated).unwrap();
    let is_shown = |session: &Session| {
        let shown = engine.turn("a release", session).run().unwrap().disclosure;
        assert_ne!(ids(&shown.full), ids(&shown.registry));
        shown.full.len() == 1
    };
    assert!(is_shown(&session) && !is_shown(&session) && !is_shown(&activated));
    for (head, body, is_new) in [
        ("Ships.", "Tag it, and push.", true),
        ("Ships releases.", "Tag it, and push.", false),
        ("Ships.", "Tag it.", true),
    ] {
        write(head, body);
        engine.refresh().unwrap();
        for session in [&session, &activated] {
            assert_eq!(is_shown(session), is_new, "{head} {body}");
            assert!(!is_shown(session), "{head} {body}, again");
        }
    }
}

#[test]
fn a_session_of_another_store_is_read_and_written_there() {
    let engine = in_session(&[20], DisclosureOptions::default());
    let session = Session::in_memory("a");
    assert_eq!(ids(&engine.turn("word", &session).run().unwrap().disclosure.full), ["s0"]);
    assert_eq!(
        reasons(&engine.turn("word", &session).run().unwrap().disclosure),
        [("s0", IN_CONTEXT)]
    );
    assert!(engine.session("a").state().unwrap().skills.is_empty());
}

#[test]
fn all_skills_are_shown_in_full_on_demand_whatever_the_session_has() {
    let mut options = DisclosureOptions::default();
    options.max_all_skills = 2;
    let engine = in_session(&[9, 9, 9], options);
    let session = engine.session("a");
    for query in ["only0", "only2"] {
        engine.turn(query, &session).run().unwrap();
    }
    for _ in 0..2 {
        let all = engine.turn("show all skills", &session).run().unwrap().disclosure;
        assert_eq!((ids(&all.full), ids(&all.registry)), (vec!["s0", "s1"], vec![]));
        assert_eq!(all.omitted[0].to_string(), "below the limit of 2 skills");
    }
    // Lost texts that this message does not show must still be restored later.
    session.compacted().unwrap();
    engine.turn("show all skills", &session).run().unwrap();
    assert_eq!(ids(&engine.turn("hello", &session).run().unwrap().disclosure.full), ["s2"]);
}

#[test]
fn skills_below_the_limit_are_counted_and_the_next_three_are_named() {
    let mut no_lines = DisclosureOptions::default();
    no_lines.max_lines = 0;
    let engine = in_session(&[9; 12], no_lines);
    let below = "below the limit of 3 skills";
    let first = engine.disclose("word");
    assert_eq!(ids(&first.full), ["s0", "s1", "s10"]);
    assert_eq!(reasons(&first), [("s11", below), ("s2", below), ("s3", below)]);
    assert_eq!(first.below_limit, 9);
    let explained = engine.explain("word", 3);
    assert_eq!((explained.rejected.len(), explained.n_beyond), (9, 9), "these name all");
    let few = engine.disclose("only4");
    assert_eq!((ids(&few.full), few.below_limit), (vec!["s4"], 0));

    // A skill in the session's context is reported whatever its rank, and does not count towards the
    // limit.
    let session = engine.session("a");
    session.record(&Event::Shown { skill: &"s9".into(), body: body_hash(&engine, "s9") }).unwrap();
    for used in ["s5", "s6", "s7", "s8"] {
        session.record(&Event::Used(&used.into())).unwrap();
    }
    let again = engine.turn("word", &session).run().unwrap().disclosure;
    assert_eq!((ids(&again.full), ids(&again.registry)), (vec!["s8", "s7", "s6"], vec!["s9"]));
    assert_eq!(again.below_limit, 8);
    let expected = [("s5", below), ("s0", below), ("s1", below), ("s9", IN_CONTEXT)];
    assert_eq!(reasons(&again), expected);
}

#[test]
fn a_skill_left_out_for_two_reasons_is_named_once() {
    let mut options = DisclosureOptions::default();
    options.budget = Some(Budget::Characters(30));
    let engine = in_session(&[9, 9], options);
    let session = engine.session("a");
    session.record(&Event::Shown { skill: &"s0".into(), body: body_hash(&engine, "s0") }).unwrap();
    let tight = engine.turn("only0", &session).run().unwrap().disclosure;
    assert_eq!(tight.tier, Tier::Breadcrumb);
    assert_eq!(reasons(&tight), [("s0", &*format!("{IN_CONTEXT}; over budget, counted only"))]);
}

#[test]
fn matches_follow_what_was_used_last() {
    let engine = in_session(&[9, 9, 9], DisclosureOptions::default());
    let session = engine.session("a");
    let order = || {
        let found = engine.turn("word", &engine.session("a")).matches();
        found.iter().map(|found| found.id.to_string()).collect::<Vec<_>>()
    };
    for (used, wanted) in [
        ("s1", ["s1", "s0", "s2"]),
        ("s2", ["s2", "s1", "s0"]),
        ("s1", ["s1", "s2", "s0"]),
        ("s0", ["s0", "s1", "s2"]),
    ] {
        session.record_use(&used.into()).unwrap();
        assert_eq!(order(), wanted, "after {used}");
    }
    // A consent does not count as a use.
    session.end().unwrap();
    session.consent(&"s2".into()).unwrap();
    assert_eq!(order(), ["s0", "s1", "s2"]);
    // The best of the shown skills counts as the last used one.
    engine.turn("word", &session).run().unwrap();
    assert_eq!(order(), ["s0", "s1", "s2"]);
}

#[test]
fn what_relevance_calls_for_is_left_out_with_a_reason_if_it_stands_in_the_context() {
    let others = ["git", "pods", "essays", "music", "flights", "taxes", "gardens", "chess"];
    let mut skills = others
        .map(|of| skill(&format!("---\nname: {of}\ndescription: About {of}.\n---\nB\n")))
        .to_vec();
    skills.push(skill(
        "---\nname: invoice-extraction\ndescription: Extracts line items and totals from scanned invoices \
         into a spreadsheet.\n---\nB\n",
    ));
    let engine = skills.into_iter().fold(Engine::builder(), repertoire::EngineBuilder::skill);
    let engine = engine.build().unwrap();
    let session = engine.session("a");
    let turn = || {
        let message = "extract the line items and totals of these scanned invoices";
        engine.turn(message, &session).run().unwrap().disclosure
    };
    let first = turn();
    assert_eq!((ids(&first.full), first.omitted.len()), (vec!["invoice-extraction"], 0));
    assert_eq!(first.relevant.unwrap().id.as_str(), "invoice-extraction");
    let second = turn();
    assert_eq!((second.full.len(), second.relevant.clone()), (0, None));
    assert_eq!(second.text, "[9 skills available]");
    assert_eq!(reasons(&second), [("invoice-extraction", IN_CONTEXT)]);
    assert_eq!(turn(), second);
}
