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
