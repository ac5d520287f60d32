//! Kept messages that were routed wrongly: what was shown for them is compared with what the model used.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Engine;
use crate::catalog::Entry;
use crate::error::Error;
use crate::session::{Day, KeptMessage, SessionStore as _, messages};
use crate::skill::{Examples, SkillId};

/// The way in which a message was routed wrongly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Misrouting {
    /// The model loaded the skill after the message, which did not show it.
    NotInView,
    /// The message showed the skill in full, and the model did not use it.
    NotUsed,
}

/// A kept message that was routed wrongly for a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MissedMessage {
    /// The skill.
    pub skill: SkillId,
    /// The fault.
    pub kind: Misrouting,
    /// The request in the message, on one line.
    pub message: String,
    /// The number of times that it was sent with this result.
    pub times: usize,
    /// The last day on which it was.
    pub last: Day,
    /// The other skills that the model loaded or used after the message. If there are none, nothing
    /// shows that the skill was wrong: instructions alone leave no trace of their use.
    pub instead: Vec<SkillId>,
}

/// The messages that were routed wrongly in a period.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct MissedMessages {
    /// The number of messages that were kept.
    pub kept: usize,
    /// Those that were routed wrongly, by skill and kind: first those after which other skills were used,
    /// then the most frequent.
    pub messages: Vec<MissedMessage>,
    /// The number of further ones that the catalog as it is now routes rightly, or whose skill has them
    /// among its examples.
    pub settled: usize,
}

impl Engine {
    /// The messages of all conversations, since the beginning of `since`, that were
    /// [kept](super::EngineBuilder::keep_messages).
    ///
    /// Fails with `EXECUTION_ERROR` if the store of sessions cannot be read.
    pub fn kept_messages(&self, since: Day) -> Result<Vec<KeptMessage>, Error> {
        let trails = self.0.sessions.trails()?;
        let kept = trails.iter().flat_map(|trail| messages(trail));
        Ok(kept.filter(|message| message.day >= since).collect())
    }

    /// The kept messages after which the model loaded a skill that was not in view, and those that
    /// showed a skill in full that the model did not use. They are candidates for the `examples` of that
    /// skill. Messages that name the skill, or that are routed rightly by now, are left out.
    ///
    /// Fails with `EXECUTION_ERROR` if the store of sessions cannot be read.
    ///
    /// ```
    /// use repertoire::{Engine, Skill, engine::Misrouting, session::Day};
    ///
    /// let skill: Skill = "---\nname: notes\ndescription: Writes.\ntriggers: [minutes]\n---\n".parse()?;
    /// let engine = Engine::builder().skill(skill).keep_messages(true).build()?;
    /// let session = engine.session("chat-7");
    /// engine.turn("summarize yesterday's call", &session).run()?;
    /// engine.activate("notes", "", &session)?;
    /// let missed = &engine.missed(Day::today().before(29))?.messages[0];
    /// assert_eq!((missed.kind, missed.skill.as_str()), (Misrouting::NotInView, "notes"));
    /// assert_eq!(missed.message, "summarize yesterday's call");
    /// # Ok::<(), repertoire::Error>(())
    /// ```
    pub fn missed(&self, since: Day) -> Result<MissedMessages, Error> {
        let kept = self.kept_messages(since)?;
        let catalog = self.catalog();
        let mut found = MissedMessages { kept: kept.len(), ..MissedMessages::default() };
        for ((skill, kind, message), Seen { times, last, instead }) in misrouted(&kept) {
            let Some(entry) = catalog.get(skill.as_str()).filter(|entry| entry.is_available())
            else {
                continue;
            };
            if kind == Misrouting::NotUsed && self.asks_for(message, &entry.id) {
                continue;
            }
            if self.is_settled(entry, kind, message) {
                found.settled += 1;
                continue;
            }
            let (skill, message) = (skill.clone(), message.to_owned());
            found.messages.push(MissedMessage { skill, kind, message, times, last, instead });
        }
        found.messages.sort_by(|a, b| {
            let order = |of: &MissedMessage| (of.skill.clone(), of.kind, of.instead.is_empty());
            order(a).cmp(&order(b)).then(b.times.cmp(&a.times))
        });
        Ok(found)
    }

    /// Tells whether the user asked for the skill by its name: it was not shown wrongly then.
    fn asks_for(&self, message: &str, skill: &SkillId) -> bool {
        self.matches(message).iter().any(|found| found.explicit && found.id == *skill)
    }

    /// Tells whether the catalog as it is now routes the message rightly, or the skill has it among its
    /// examples.
    fn is_settled(&self, entry: &Entry, kind: Misrouting, message: &str) -> bool {
        let Examples { should, should_not } = &entry.skill.manifest().examples;
        let disclosure = self.disclose(message);
        let in_full = disclosure.full.contains(&entry.id);
        let is_right = match kind {
            Misrouting::NotInView => in_full || disclosure.registry.contains(&entry.id),
            Misrouting::NotUsed => !in_full,
        };
        is_right || should.iter().chain(should_not).any(|example| example.value == message)
    }
}

/// The circumstances in which a message was routed wrongly.
struct Seen {
    times: usize,
    last: Day,
    instead: Vec<SkillId>,
}

type Misrouted<'k> = BTreeMap<(&'k SkillId, Misrouting, &'k str), Seen>;

/// Returns the messages that were routed wrongly. A message whose skill was used once counts as right.
fn misrouted(kept: &[KeptMessage]) -> Misrouted<'_> {
    let mut found = Misrouted::new();
    for message in kept {
        let used = || message.loaded.iter().chain(&message.used);
        let mut add =
            |skill, kind| {
                let seen = found.entry((skill, kind, message.text.as_str())).or_insert_with(|| {
                    Seen { times: 0, last: Day::default(), instead: Vec::new() }
                });
                seen.times += 1;
                seen.last = seen.last.max(message.day);
                for other in used().filter(|other| *other != skill) {
                    if !seen.instead.contains(other) {
                        seen.instead.push(other.clone());
                    }
                }
            };
        for skill in message.loaded.iter().filter(|skill| !message.has_in_view(skill)) {
            add(skill, Misrouting::NotInView);
        }
        for skill in message.full.iter().filter(|skill| !message.led_to(skill)) {
            add(skill, Misrouting::NotUsed);
        }
    }
    let was_used = |skill: &SkillId, text: &str| {
        kept.iter().any(|message| message.text == text && message.led_to(skill))
    };
    found.retain(|(skill, kind, text), _| *kind == Misrouting::NotInView || !was_used(skill, text));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Event, MemoryStore};
    use crate::{Skill, Tier};

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
        assert_eq!(
            (turn.disclosure.tier, &turn.disclosure.full[0]),
            (Tier::Full, &"deploy".into())
        );
        engine.activate("sketch", "", &session).unwrap();
        let all = engine.missed(Day::today()).unwrap().messages;
        let unused = all.iter().find(|of| of.kind == Misrouting::NotUsed).unwrap();
        assert_eq!(
            (&unused.skill, &unused.instead[..]),
            (&"deploy".into(), &["sketch".into()][..])
        );
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
        let pasted = format!(
            "why does the printer fail?\n\n```\n{}```\n",
            "let secret_plan = 1;\n".repeat(99)
        );
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
}
