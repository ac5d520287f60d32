//! The skills that relevance ranked for a message, and what each lacks to be shown in full for that.

use std::fmt;

use serde::{Serialize, Serializer, ser::SerializeStruct};

use super::reason::Reason;
use crate::matcher::Relevant;

/// A skill that relevance ranked for a message, and the decision on it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Considered {
    /// The skill, and its relevance to the message, or to one of its requests.
    pub found: Relevant,
    /// The margin that it must reach; `None` if relevance shows no skill in full.
    pub needed: Option<Needed>,
    /// Everything that it lacks to be shown in full by relevance. Empty if nothing: if it is not in full all
    /// the same, [`Disclosure::omitted`](super::Disclosure::omitted) has the reason.
    pub lacking: Vec<Lack>,
}

/// The margin that a skill must reach, in the units of [`Relevance`](crate::matcher::Relevance).
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Needed {
    /// The minimum weight of the shared words.
    pub worth: f32,
    /// The minimum distance to the next skill.
    pub lead: f32,
    /// The minimum number of shared words in the front matter.
    pub words: usize,
    /// The minimum evidence, if the nearness to the message is known; otherwise 0.
    pub evidence: f32,
}

/// Something that a skill lacks to be shown in full by relevance. In JSON: a `code`, a `text`, and `has`
/// and `needs` if it is a number.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Lack {
    /// The shared words weigh too little.
    Worth {
        /// Their weight.
        has: f32,
        /// The weight that is needed.
        needs: f32,
    },
    /// The next skill is too near.
    Lead {
        /// The distance to it.
        has: f32,
        /// The distance that is needed.
        needs: f32,
    },
    /// Too few words are in the name, the description or another field of the front matter.
    Words {
        /// The number of these words.
        has: usize,
        /// The number that is needed.
        needs: usize,
    },
    /// Words and nearness together are too little evidence.
    Evidence {
        /// The evidence.
        has: f32,
        /// The evidence that is needed.
        needs: f32,
    },
    /// The message denies a word of its name.
    Denied,
    /// Only what is attached to the request has its words.
    Attached,
    /// The message is about the skill, not about its use.
    About,
    /// The message has a phrase by which another skill says when it is wanted, and none of this skill.
    Phrase,
    /// Another skill is more relevant.
    First,
    /// Triggers, a name or a question about the skills decide.
    Undecided,
    /// Relevance shows no skill in full with these options.
    Off,
    /// Nothing of the margin, but there is another reason.
    Other(Reason),
}

impl Lack {
    /// The code, as in JSON: stable, in kebab-case.
    pub fn code(&self) -> &'static str {
        match self {
            Lack::Worth { .. } => "worth",
            Lack::Lead { .. } => "lead",
            Lack::Words { .. } => "words",
            Lack::Evidence { .. } => "evidence",
            Lack::Denied => "denied",
            Lack::Attached => "attached",
            Lack::About => "about",
            Lack::Phrase => "phrase",
            Lack::First => "first",
            Lack::Undecided => "undecided",
            Lack::Off => "off",
            Lack::Other(reason) => reason.code(),
        }
    }

    /// The figure that the skill has, and the figure that it needs, if that is what it lacks.
    #[expect(clippy::cast_precision_loss, reason = "numbers of words")]
    pub fn figures(&self) -> Option<(f32, f32)> {
        match self {
            Lack::Worth { has, needs }
            | Lack::Lead { has, needs }
            | Lack::Evidence { has, needs } => Some((*has, *needs)),
            Lack::Words { has, needs } => Some((*has as f32, *needs as f32)),
            _ => None,
        }
    }
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lack::Worth { has, needs } => {
                write!(f, "a score of {has:.2} where {needs:.2} is needed")
            }
            Lack::Lead { has, needs } => {
                write!(f, "{has:.2} ahead of the next skill where {needs:.2} is needed")
            }
            Lack::Words { has, needs } => {
                write!(f, "{has} of {needs} words of its name and description")
            }
            Lack::Evidence { has, needs } => {
                write!(f, "words and meaning together {has:.2} where {needs:.2} is needed")
            }
            Lack::Denied => f.write_str("the message denies it"),
            Lack::Attached => f.write_str("only what is attached has its words"),
            Lack::About => f.write_str("the message is about the skill, not about its use"),
            Lack::Phrase => f.write_str("the message has a phrase of another skill"),
            Lack::First => f.write_str("another skill is more relevant"),
            Lack::Undecided => f.write_str("triggers, a name or a question about skills decide"),
            Lack::Off => f.write_str("relevance shows no skill in full here"),
            Lack::Other(reason) => reason.fmt(f),
        }
    }
}

impl Serialize for Lack {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let n_fields = if self.figures().is_some() { 4 } else { 2 };
        let mut lack = serializer.serialize_struct("Lack", n_fields)?;
        lack.serialize_field("code", self.code())?;
        lack.serialize_field("text", &self.to_string())?;
        if let Some((has, needs)) = self.figures() {
            lack.serialize_field("has", &has)?;
            lack.serialize_field("needs", &needs)?;
        }
        lack.end()
    }
}
