//! Trails: the messages of conversations that are kept, and what the model used after each.
//!
//! Stores keep a trail as lines that they need not understand. [`messages`] reads them.

use serde::{Deserialize, Serialize};

use super::state::Event;
use super::tally::Day;
use crate::skill::SkillId;

/// A message of a conversation that was kept, see
/// [`EngineBuilder::keep_messages`](crate::EngineBuilder::keep_messages), and what followed it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeptMessage {
    /// The request in the message, on one line and without what was attached to it. A text of more than
    /// [`KeptMessage::MAX_BYTES`] is cut.
    pub text: String,
    /// The day of the message.
    pub day: Day,
    /// The skills that the message put into the context in full.
    pub full: Vec<SkillId>,
    /// The other skills in view: those that got a line, or that were not repeated because the context
    /// has them.
    pub lines: Vec<SkillId>,
    /// The skills that the model loaded before the next message.
    pub loaded: Vec<SkillId>,
    /// The skills of which the model used a script, a tool or a file before the next message, or which
    /// it loaded at the request of another skill.
    pub used: Vec<SkillId>,
}

impl KeptMessage {
    /// The maximum length of a kept text, in bytes.
    pub const MAX_BYTES: usize = 1000;
    /// The maximum number of lines that a store keeps of one conversation; the oldest go first.
    pub const MAX_LINES: usize = 100;
    /// The maximum number of conversations of which a store keeps lines; those without a new line for the
    /// longest time go first.
    pub const MAX_SESSIONS: usize = 200;

    /// Tells whether the skill was shown for the message, in full or in a line.
    pub fn has_in_view(&self, skill: &SkillId) -> bool {
        self.full.contains(skill) || self.lines.contains(skill)
    }

    /// Tells whether the model loaded or used the skill before the next message.
    pub fn led_to(&self, skill: &SkillId) -> bool {
        self.loaded.contains(skill) || self.used.contains(skill)
    }
}

/// A line of a trail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Entry {
    /// A message of the user.
    Message(Said),
    /// A query with which the model looked for skills. It stands for a message in conversations whose
    /// messages are not known, as those of MCP.
    Query(Said),
    /// A message whose text is not kept, such as a command. What follows does not belong to the message
    /// before it.
    Other,
    Loaded(SkillId),
    Used(SkillId),
}

/// A text, and the skills that were shown for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) day: i64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) full: Vec<SkillId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) lines: Vec<SkillId>,
}

impl Entry {
    /// Returns the entry for `event`, if it is one of the model's answers to a message.
    pub(crate) fn of(event: &Event<'_>) -> Option<Entry> {
        match *event {
            Event::Activated { skill, by: None, .. } => Some(Entry::Loaded(skill.clone())),
            // A skill that another one asked for does not answer the message.
            Event::Activated { skill, .. } | Event::Used(skill) => Some(Entry::Used(skill.clone())),
            _ => None,
        }
    }

    /// Returns the line for a store.
    pub(crate) fn line(&self) -> Option<String> {
        serde_json::to_string(self).ok()
    }
}

/// Returns the messages in a trail, the oldest first. Leaves out lines that cannot be read: a later version
/// may have written them.
///
/// Queries count as messages unless the trail has messages of the user.
pub(crate) fn messages(trail: &[String]) -> Vec<KeptMessage> {
    let entries = trail.iter().filter_map(|line| serde_json::from_str(line).ok());
    let entries: Vec<Entry> = entries.collect();
    let has_messages = entries.iter().any(|entry| matches!(entry, Entry::Message(_)));
    let mut messages: Vec<KeptMessage> = Vec::new();
    let mut is_open = false;
    for entry in entries {
        match entry {
            Entry::Query(_) if has_messages => {}
            Entry::Message(said) | Entry::Query(said) => {
                messages.push(KeptMessage::new(said));
                is_open = true;
            }
            Entry::Other => is_open = false,
            Entry::Loaded(skill) | Entry::Used(skill) if !is_open => drop(skill),
            Entry::Loaded(skill) => messages.last_mut().into_iter().for_each(|message| {
                add(&mut message.loaded, &skill);
            }),
            Entry::Used(skill) => messages.last_mut().into_iter().for_each(|message| {
                add(&mut message.used, &skill);
            }),
        }
    }
    messages
}

impl KeptMessage {
    fn new(Said { text, day, full, lines }: Said) -> KeptMessage {
        let (day, loaded, used) = (Day::of_number(day), Vec::new(), Vec::new());
        KeptMessage { text, day, full, lines, loaded, used }
    }
}

fn add(skills: &mut Vec<SkillId>, skill: &SkillId) {
    if !skills.contains(skill) {
        skills.push(skill.clone());
    }
}

/// Appends `lines` to a trail, and drops the oldest beyond [`KeptMessage::MAX_LINES`].
pub fn extend_trail(trail: &mut Vec<String>, lines: &[String]) {
    trail.extend_from_slice(lines);
    trail.drain(..trail.len().saturating_sub(KeptMessage::MAX_LINES));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(entries: &[Entry]) -> Vec<String> {
        entries.iter().map(|entry| entry.line().unwrap()).collect()
    }

    fn said(text: &str) -> Said {
        let (full, lines) = (vec!["git".into()], vec!["sql".into()]);
        Said { text: text.to_owned(), day: 20_780, full, lines }
    }

    fn loaded(skill: &str) -> Entry {
        let id = skill.into();
        Entry::of(&Event::Activated { skill: &id, by: None, shown: None }).unwrap()
    }

    #[test]
    fn what_follows_a_message_belongs_to_it_until_the_next_one() {
        let by = SkillId::from("git");
        let asked = Event::Activated { skill: &"sub".into(), by: Some(&by), shown: None };
        let trail = lines(&[
            loaded("too-early"),
            Entry::Message(said("a\n\"b\"")),
            loaded("rust"),
            loaded("rust"),
            Entry::of(&asked).unwrap(),
            Entry::Other,
            loaded("of-the-command"),
            Entry::Message(said("c")),
            Entry::of(&Event::Used(&by)).unwrap(),
        ]);
        let [a, c] = &messages(&trail)[..] else { panic!("{trail:?}") };
        assert_eq!((a.text.as_str(), a.day.to_string().as_str()), ("a\n\"b\"", "2026-11-23"));
        assert_eq!((&a.loaded[..], &a.used[..]), (&["rust".into()][..], &["sub".into()][..]));
        assert!(a.has_in_view(&"git".into()) && a.has_in_view(&"sql".into()));
        assert!(!a.has_in_view(&"rust".into()) && a.led_to(&"rust".into()));
        assert_eq!((&c.loaded[..], &c.used[..]), (&[][..], &[by][..]));
        assert!(trail.iter().all(|line| !line.contains('\n')), "{trail:?}");
    }

    #[test]
    fn a_query_stands_for_a_message_only_where_there_is_none() {
        let query = [Entry::Query(said("find")), loaded("rust")];
        assert_eq!(messages(&lines(&query))[0].loaded, ["rust"]);
        let beside = [&[Entry::Message(said("a"))][..], &query].concat();
        let beside = messages(&lines(&beside));
        assert_eq!((beside.len(), &beside[0].text[..]), (1, "a"));
        assert_eq!(beside[0].loaded, ["rust"]);
    }

    #[test]
    fn lines_that_cannot_be_read_are_left_out() {
        let known = Entry::Message(said("a")).line().unwrap();
        let trail = ["", "{}", r#"{"later":1}"#, &known].map(str::to_owned);
        assert_eq!(messages(&trail).len(), 1);
    }

    #[test]
    fn a_trail_keeps_its_last_lines() {
        let mut trail = Vec::new();
        for n in 0..=KeptMessage::MAX_LINES {
            extend_trail(&mut trail, &[n.to_string()]);
        }
        assert_eq!((trail.len(), &trail[0][..]), (KeptMessage::MAX_LINES, "1"));
    }
}
