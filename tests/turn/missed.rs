//! Messages that were routed wrongly, as a conversation shows afterwards.

use repertoire::engine::{Misrouting, MissedMessage, MissedMessages};
use repertoire::session::{Day, Event, MemoryStore};
use repertoire::{Engine, Skill, Tier};

fn engine(keep: bool) -> Engine {
    let skill = |text: &str| text.parse::<Skill>().unwrap();
    Engine::builder()
        .skill(skill("---\nname: deploy\ndescription: d\ntriggers: [ship it]\n---\nShip."))
        .skill(skill("---\nname: minutes\ndescription: Writes minutes.\ntriggers: [write minutes]\n---\nBe brief."))
        .skill(skill("---\nname: sketch\ndescription: Draws sketches.\ntriggers: [draw it]\n---\nDraw."))
        .session_store(MemoryStore::default())
        .keep_messages(keep)
        // What these messages miss, their meaning would find.
        .meaning(None)
        .build()
        .unwrap()
}

fn found(engine: &Engine) -> Vec<(String, Misrouting, String, usize)> {
    let found = engine.missed(Day::today()).unwrap();
    let row = |of: MissedMessage| (of.skill.to_string(), of.kind, of.message, of.times);
    found.messages.into_iter().map(row).collect()
}

const CALL: &str = "summarize the call with the bank";

#[test]
fn a_skill_that_was_loaded_unseen_is_missed() {
    let engine = engine(true);
    for session in ["a", "b"] {
        let session = engine.session(session);
        engine.turn(CALL, &session).run().unwrap();
        engine.activate("minutes", "", &session).unwrap();
    }
    let wanted = ("minutes".to_owned(), Misrouting::NotInView, CALL.to_owned(), 2);
    assert_eq!(found(&engine), [wanted]);
    assert_eq!(engine.missed(Day::today()).unwrap().kept, 2);
    let tomorrow = Day::of_number(Day::today().number() + 1);
    assert_eq!(engine.missed(tomorrow).unwrap(), MissedMessages::default());
    engine.session("a").end().unwrap();
    engine.session("b").end().unwrap();
    assert_eq!(engine.kept_messages(Day::default()).unwrap(), []);
}

#[test]
fn nothing_is_kept_unless_the_host_asks_for_it() {
    let engine = engine(false);
    let session = engine.session("a");
    engine.turn(CALL, &session).run().unwrap();
    engine.activate("minutes", "", &session).unwrap();
    assert_eq!(engine.kept_messages(Day::default()).unwrap(), []);
}

#[test]
fn what_was_in_view_or_follows_another_message_is_not_missed() {
    let engine = engine(true);
    let session = engine.session("a");
    // In view: a line, then nothing since the context has the line.
    for message in ["write the minutes please", "write the minutes again please"] {
        engine.turn(message, &session).run().unwrap();
        engine.activate("minutes", "", &session).unwrap();
    }
    // Not kept: a command, an idle message, a question about skills, a secret.
    let key = format!("log in with AKIA{}", "QWERTZUIOP123456");
    for message in ["/deploy now", "thanks, go on", "what can you do?", &key] {
        engine.turn(CALL, &session).run().unwrap();
        engine.turn(message, &session).run().unwrap();
        engine.activate("sketch", "", &session).unwrap();
    }
    engine.turn(CALL, &session).run().unwrap();
    session.other_message();
    engine.activate("sketch", "", &session).unwrap();
    assert_eq!(found(&engine), []);
    let kept = engine.kept_messages(Day::default()).unwrap();
    assert!(kept.iter().all(|message| !message.text.contains("AKIA")), "{kept:?}");
}

#[test]
fn a_skill_in_full_for_which_another_was_loaded_is_unused() {
    let engine = engine(true);
    let session = engine.session("a");
    let turn = engine.turn("ship it to the printer", &session).run().unwrap();
    assert_eq!((turn.disclosure.tier, &turn.disclosure.full[0]), (Tier::Full, &"deploy".into()));
    engine.activate("sketch", "", &session).unwrap();
    let all = engine.missed(Day::today()).unwrap().messages;
    let unused = all.iter().find(|of| of.kind == Misrouting::NotUsed).unwrap();
    assert_eq!((&unused.skill, &unused.instead[..]), (&"deploy".into(), &["sketch".into()][..]));
    // The same message, and the skill is used: that it was unused once proves nothing.
    let session = engine.session("b");
    engine.turn("ship it to the printer", &session).run().unwrap();
    session.record(&Event::Used(&"deploy".into())).unwrap();
    assert!(found(&engine).iter().all(|(_, kind, ..)| *kind != Misrouting::NotUsed));
}

#[test]
fn a_long_message_is_kept_without_attachments_and_cut() {
    let engine = engine(true);
    let session = engine.session("a");
    let pasted =
        format!("why does the printer fail?\n\n```\n{}```\n", "let secret_plan = 1;\n".repeat(99));
    engine.turn(pasted, &session).run().unwrap();
    engine.turn("ä".repeat(700), &session).run().unwrap();
    let kept = engine.kept_messages(Day::default()).unwrap();
    assert_eq!(kept[0].text, "why does the printer fail?");
    assert_eq!(kept[1].text, "ä".repeat(500));
}

#[test]
fn a_query_of_a_model_stands_for_the_message_that_mcp_does_not_send() {
    let engine = engine(true);
    let session = engine.session("a");
    let tools = engine.tools(&session);
    let _ = tools.call("find_skills", &serde_json::json!({"query": CALL}));
    let _ = tools.call("use_skill", &serde_json::json!({"skill": "minutes"}));
    assert_eq!(found(&engine).len(), 1);
    let _ = tools.call("find_skills", &serde_json::json!({"query": "write minutes"}));
    let _ = tools.call("use_skill", &serde_json::json!({"skill": "minutes"}));
    assert_eq!(found(&engine).len(), 1);
}
