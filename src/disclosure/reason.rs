//! The reasons why a skill is shown less than it might be. Each has a code, and the facts from which its
//! text is made.

use std::fmt;

use serde::{Serialize, Serializer, ser::SerializeStruct};

use crate::catalog::{Entry, Exposure, Status};
use crate::skill::SkillId;

/// A skill that a message concerns but that is shown less than it might be, or not at all, with the
/// reasons.
///
/// In JSON: `id`, the `code` of the first reason, the text of all reasons (`reason`) and, if there are
/// several, the codes of the others (`also`).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rejection {
    /// The skill.
    pub id: SkillId,
    /// The first reason.
    pub reason: Reason,
    /// Further reasons that hold as well.
    pub also: Vec<Reason>,
}

/// A reason why a skill is shown less than it might be. [`Reason::code`] is for programs,
/// `Display` for people, and [`Reason::help`] says what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// Other skills come first, and fill the limit.
    BelowLimit {
        /// The maximum number of skills shown in full.
        limit: usize,
    },
    /// The message contains one of the skill's excludes.
    Vetoed {
        /// The exclude.
        exclude: String,
    },
    /// The skill's triggers are only in what is attached to the request.
    Quoted {
        /// One of these triggers.
        trigger: String,
    },
    /// A pattern of the skill was not tried: it requires no literal, and too many such patterns may
    /// match the message to try them all.
    Untried {
        /// The pattern.
        pattern: String,
    },
    /// The message contains a word that may be the skill's name, and nothing else that calls for it.
    WeakMention,
    /// The message contains single words of its triggers only, and relevance clearly puts another skill first.
    Outdone,
    /// The message names the skill only to deny it or to say that it is done, and nothing else calls for
    /// it.
    Denied,
    /// The skill's instructions are already in the context.
    InContext,
    /// The host's agent lists and loads the skill by itself.
    Native,
    /// The skill runs as a task of its own (`context: fork`), so its instructions go to that task.
    RunsAsTask,
    /// A setting shows the skill as a line at most.
    LineOnly {
        /// The part of the skill that a model sees.
        exposure: Exposure,
    },
    /// The skill needs the user's consent, which the user has not given.
    NeedsConsent,
    /// The skill's body cannot be read.
    Unreadable {
        /// The error message.
        problem: String,
    },
    /// The budget has no room for the skill's text.
    OverBudget {
        /// Length of the skill's full text, if that was too long.
        cost: Option<Cost>,
        /// The tier shown instead.
        shown: Fallback,
    },
    /// The context lost the skill's instructions, and they do not fit the rest of the budget for
    /// restoring.
    OverRestoreBudget,
    /// The context lost the skill's instructions, and the skill asks not to be put back (`restore: false`).
    NotRestored,
    /// The allowlist leaves the skill out.
    Filtered,
    /// A requirement of the skill is missing.
    Unavailable {
        /// The missing requirement.
        missing: String,
    },
    /// The skill is turned off.
    Disabled {
        /// The setting that turned the skill off.
        by: String,
    },
    /// Another skill with the same id takes precedence.
    Shadowed {
        /// A phrase that names the other skill.
        by: String,
    },
    /// The model may not use the skill.
    NotForModel {
        /// The setting that keeps the skill from the model.
        why: String,
    },
}

/// A length in the unit of the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cost {
    /// The number of units.
    pub amount: usize,
    /// `characters` or `tokens`.
    pub unit: &'static str,
}

/// The fallback for a skill for which there was no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fallback {
    /// A line.
    Line,
    /// No text; the skill is only counted.
    Count,
    /// No text, and no count: only the user may know of the skill.
    Nothing,
}

impl Reason {
    /// The reason why the model cannot use a skill; `None` if it can.
    pub fn of(entry: &Entry) -> Option<Reason> {
        match &entry.status {
            Status::Available => entry.reason().map(|why| Reason::NotForModel { why }),
            Status::Unavailable { reason } => Some(Reason::Unavailable { missing: reason.clone() }),
            Status::Disabled { reason } => Some(Reason::Disabled { by: reason.clone() }),
            Status::Shadowed { .. } => {
                Some(Reason::Shadowed { by: entry.reason().unwrap_or_default() })
            }
        }
    }

    /// The code, as in JSON: stable, in kebab-case.
    pub fn code(&self) -> &'static str {
        match self {
            Reason::BelowLimit { .. } => "below-limit",
            Reason::Vetoed { .. } => "vetoed",
            Reason::Quoted { .. } => "quoted",
            Reason::Untried { .. } => "untried",
            Reason::WeakMention => "weak-mention",
            Reason::Outdone => "outdone",
            Reason::Denied => "denied",
            Reason::InContext => "in-context",
            Reason::Native => "native",
            Reason::RunsAsTask => "runs-as-task",
            Reason::LineOnly { .. } => "line-only",
            Reason::NeedsConsent => "needs-consent",
            Reason::Unreadable { .. } => "unreadable",
            Reason::OverBudget { .. } => "over-budget",
            Reason::OverRestoreBudget => "over-restore-budget",
            Reason::NotRestored => "not-restored",
            Reason::Filtered => "filtered",
            Reason::Unavailable { .. } => "unavailable",
            Reason::Disabled { .. } => "disabled",
            Reason::Shadowed { .. } => "shadowed",
            Reason::NotForModel { .. } => "not-for-model",
        }
    }

    /// The remedy for the user, the skill's author or the host.
    pub fn help(&self) -> &'static str {
        match self {
            Reason::BelowLimit { .. } => {
                "write `skill` next to its name, or allow more skills to be shown"
            }
            Reason::Vetoed { .. } => "write `skill` next to its name, or remove that exclude",
            Reason::Quoted { .. } => "say it in the request itself",
            Reason::Untried { .. } => "let the pattern demand a word, or declare a keyword",
            Reason::Outdone => "declare a phrase of two words or more, or name the skill",
            Reason::WeakMention => "write `skill` next to its name, or `/` before it",
            Reason::Denied => {
                "nothing is wrong; if you want it, name it without `not` and the like"
            }
            Reason::InContext => {
                "nothing is wrong: they are added again when the context was made shorter"
            }
            Reason::Native => "nothing is wrong: the agent loads it as it loads its own",
            Reason::RunsAsTask => "nothing is wrong: the task gets its instructions",
            Reason::LineOnly { .. } => "show it in full: change `skills.show` in `config.toml`",
            Reason::NeedsConsent => "nothing is wrong: the user is asked when it is activated",
            Reason::Unreadable { .. } => "make sure that its file can be read",
            Reason::OverBudget { .. } | Reason::OverRestoreBudget => {
                "make its body shorter: move details to files beside it"
            }
            Reason::NotRestored => "nothing is wrong: a message that calls for it shows it again",
            Reason::Filtered => "name it in the allowlist",
            Reason::Unavailable { .. } => "provide what it requires",
            Reason::Disabled { .. } => "turn it on",
            Reason::Shadowed { .. } => "nothing is wrong, unless you want this one instead",
            Reason::NotForModel { .. } => {
                "type its slash command, or remove the field from its front matter"
            }
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::BelowLimit { limit } => {
                let s = if *limit == 1 { "" } else { "s" };
                write!(f, "below the limit of {limit} skill{s}")
            }
            Reason::Vetoed { exclude } => write!(f, "vetoed by its exclude `{exclude}`"),
            Reason::Quoted { trigger } => {
                write!(f, "its trigger `{trigger}` stands in attached text only")
            }
            Reason::Untried { pattern } => write!(
                f,
                "its pattern `{pattern}` was not tried: too many patterns without a literal may \
                 match this"
            ),
            Reason::Outdone => f.write_str(
                "only a single word of its triggers is in the query, and another skill fits better",
            ),
            Reason::WeakMention => f.write_str("only a word that may be its name is in the query"),
            Reason::Denied => {
                f.write_str("the message names it only to deny it or to say that it is done")
            }
            Reason::InContext => f.write_str("its instructions are in the context already"),
            Reason::Native => f.write_str("the agent has it by itself"),
            Reason::RunsAsTask => f.write_str("it runs as a task of its own"),
            Reason::LineOnly { exposure } => {
                write!(f, "the settings show it as `{}`", exposure.as_str())
            }
            Reason::NeedsConsent => f.write_str("it needs the user's consent"),
            Reason::Unreadable { problem } => write!(f, "its body cannot be read: {problem}"),
            Reason::OverBudget { cost: Some(Cost { amount, unit }), shown } => {
                write!(f, "over budget: full text of {amount} {unit}, {shown}")
            }
            Reason::OverBudget { cost: None, shown } => write!(f, "over budget, {shown}"),
            Reason::OverRestoreBudget => f.write_str("over the budget for what the context lost"),
            Reason::NotRestored => {
                f.write_str("the context lost its instructions, and it asks not to be put back")
            }
            Reason::Filtered => f.write_str("filtered: not in the allowlist"),
            Reason::Unavailable { missing } => write!(f, "unavailable: {missing}"),
            Reason::Disabled { by } => write!(f, "disabled: {by}"),
            Reason::Shadowed { by } => f.write_str(by),
            Reason::NotForModel { why } => f.write_str(why),
        }
    }
}

impl fmt::Display for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fallback::Line => "shown as a line",
            Fallback::Count => "counted only",
            Fallback::Nothing => "left out, as only the user can use it",
        })
    }
}

impl Rejection {
    /// A rejection for one reason.
    pub(crate) fn new(id: &SkillId, reason: Reason) -> Rejection {
        Rejection { id: id.clone(), reason, also: Vec::new() }
    }

    /// A skill that one of its excludes keeps out.
    pub(crate) fn vetoed(id: &SkillId, exclude: &str) -> Rejection {
        Rejection::new(id, Reason::Vetoed { exclude: exclude.to_owned() })
    }

    /// A skill whose triggers are in attached text only.
    pub(crate) fn quoted(id: &SkillId, trigger: &str) -> Rejection {
        Rejection::new(id, Reason::Quoted { trigger: trigger.to_owned() })
    }

    /// A skill one of whose patterns was not tried.
    pub(crate) fn untried(id: &SkillId, pattern: &str) -> Rejection {
        Rejection::new(id, Reason::Untried { pattern: pattern.to_owned() })
    }

    /// All reasons, the first one first.
    pub fn reasons(&self) -> impl Iterator<Item = &Reason> {
        std::iter::once(&self.reason).chain(&self.also)
    }
}

/// All reasons in one line.
impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, reason) in self.reasons().enumerate() {
            f.write_str(if place > 0 { "; " } else { "" })?;
            reason.fmt(f)?;
        }
        Ok(())
    }
}

impl Serialize for Rejection {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let also: Vec<&str> = self.also.iter().map(Reason::code).collect();
        let n_fields = 3 + usize::from(!also.is_empty());
        let mut rejection = serializer.serialize_struct("Rejection", n_fields)?;
        rejection.serialize_field("id", &self.id)?;
        rejection.serialize_field("code", self.reason.code())?;
        rejection.serialize_field("reason", &self.to_string())?;
        if !also.is_empty() {
            rejection.serialize_field("also", &also)?;
        }
        rejection.end()
    }
}
