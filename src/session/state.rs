//! The state of a conversation, and how each event changes it.

use std::collections::HashSet;

use crate::skill::{Skill, SkillId};

/// Something that happened in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A skill was used.
    Used(&'a SkillId),
    /// The instructions of a skill were put into the context. That is also a use of it.
    Shown {
        /// The skill.
        skill: &'a SkillId,
        /// The hash of the instructions: [`Skill::body_hash`].
        body: u64,
    },
    /// A skill was activated. That is also a use of it.
    Activated {
        /// The skill.
        skill: &'a SkillId,
        /// The skill whose instructions asked for the activation, if any.
        by: Option<&'a SkillId>,
        /// The hash of the skill's instructions that are in the context now ([`Skill::body_hash`]);
        /// `None` if they are not there: they went to a task, or were too long for the host.
        shown: Option<u64>,
    },
    /// The user agreed to the activation of a skill.
    Consented(&'a SkillId),
    /// An activation used up the user's consent, which was given for one activation only.
    ConsentSpent(&'a SkillId),
    /// A line for a skill was put into the context.
    Listed(&'a SkillId),
    /// The context was shortened: the instructions and lines in it are lost.
    Compacted,
    /// Lost instructions were shown again as far as there was room. Those that did not fit no longer
    /// count as lost.
    Restored,
    /// The message vetoed this skill, so its lost instructions were not shown again: they count as lost
    /// until the next message.
    Postponed(&'a SkillId),
    /// The user ended the use of the skill: its instructions no longer count as standing in the context,
    /// and are not shown again after the context was shortened.
    Stopped(&'a SkillId),
}

impl<'a> Event<'a> {
    /// The skill that the event is about; `None` if it is about all skills.
    pub fn skill(&self) -> Option<&'a SkillId> {
        match *self {
            Event::Used(skill)
            | Event::Shown { skill, .. }
            | Event::Activated { skill, .. }
            | Event::Consented(skill)
            | Event::ConsentSpent(skill)
            | Event::Listed(skill)
            | Event::Postponed(skill)
            | Event::Stopped(skill) => Some(skill),
            Event::Compacted | Event::Restored => None,
        }
    }

    /// Tells whether the event is a use of the skill.
    pub fn is_use(&self) -> bool {
        matches!(self, Event::Used(_) | Event::Shown { .. } | Event::Activated { .. })
    }
}

/// The state of one skill in a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
pub struct SkillState {
    /// The skill.
    pub skill: SkillId,
    /// The number of times that the skill was used.
    pub uses: u64,
    /// The number of times that the skill was activated.
    pub activations: u64,
    /// The skill whose instructions asked for the last activation, if any.
    pub activated_by: Option<SkillId>,
    /// True if the skill's instructions are in the context.
    pub in_context: bool,
    /// The hash of the instructions that were last put into the context ([`Skill::body_hash`]);
    /// `None` if it is not known.
    pub body: Option<u64>,
    /// True if the skill's instructions were lost when the context was shortened, and have not been
    /// shown since.
    pub lost: bool,
    /// True if the user agreed to the activation of the skill.
    pub consented: bool,
    /// True if a line for the skill is in the context.
    pub listed: bool,
    /// The skill's position, from 1, in the order in which the instructions of skills first came into
    /// the context of the session; `None` if its instructions never did. It does not change when the
    /// context is shortened.
    pub joined: Option<u64>,
}

impl SkillState {
    /// Creates the state of a skill before its first event.
    pub fn new(skill: SkillId) -> SkillState {
        SkillState {
            skill,
            uses: 0,
            activations: 0,
            activated_by: None,
            in_context: false,
            body: None,
            lost: false,
            consented: false,
            listed: false,
            joined: None,
        }
    }

    /// Tells whether the skill's instructions came into the context for the first time. A store then
    /// sets [`SkillState::joined`] to the next position.
    pub fn joins(&self) -> bool {
        self.in_context && self.joined.is_none()
    }

    /// Applies `event`, which must be about this skill or about all skills.
    pub fn apply(&mut self, event: &Event<'_>) {
        self.uses = self.uses.saturating_add(event.is_use().into());
        match *event {
            Event::Used(_) => {}
            Event::Shown { body, .. } => self.show(body),
            Event::Activated { by, shown, .. } => {
                self.activations = self.activations.saturating_add(1);
                self.activated_by = by.cloned();
                if let Some(body) = shown {
                    self.show(body);
                }
            }
            Event::Consented(_) => self.consented = true,
            Event::ConsentSpent(_) => self.consented = false,
            Event::Listed(_) => self.listed = true,
            Event::Compacted => {
                self.listed = false;
                self.lost |= self.in_context;
                self.in_context = false;
                // The skill that asked for it is no longer in the context either.
                self.activated_by = None;
            }
            Event::Restored => self.lost = false,
            Event::Postponed(_) => self.lost = !self.in_context,
            Event::Stopped(_) => (self.in_context, self.lost) = (false, false),
        }
    }

    fn show(&mut self, body: u64) {
        self.in_context = true;
        self.body = Some(body);
        self.lost = false;
    }
}

/// The state of one conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionState {
    /// The skills of the conversation, the last used first.
    pub skills: Vec<SkillState>,
}

impl SessionState {
    /// Applies `event` to the skills that it is about. If it is about one skill, returns the earlier
    /// state of that skill.
    pub fn apply(&mut self, event: &Event<'_>) -> Option<SkillState> {
        let Some(skill) = event.skill() else {
            for state in &mut self.skills {
                state.apply(event);
            }
            return None;
        };
        let known = self.skills.iter().position(|state| state.skill == *skill);
        let before = known.map(|place| self.skills[place].clone());
        let place = known.unwrap_or_else(|| {
            self.skills.insert(0, SkillState::new(skill.clone()));
            0
        });
        self.skills[place].apply(event);
        if self.skills[place].joins() {
            let last = self.skills.iter().filter_map(|state| state.joined).max();
            self.skills[place].joined = Some(last.unwrap_or_default().saturating_add(1));
        }
        if event.is_use() {
            self.skills[..=place].rotate_right(1);
        }
        before
    }

    /// Returns the state in which no skill is in the context, lost, or has joined twice: that of a store which says
    /// so is one of the host's, and the texts and tools of the skill would be given twice.
    pub(super) fn without_doubles(mut self) -> SessionState {
        let mut seen = HashSet::new();
        self.skills.retain(|state| {
            let counts = state.in_context || state.lost || state.joined.is_some();
            !counts || seen.insert(state.skill.clone())
        });
        self
    }

    /// Returns the state of `skill`.
    pub fn of(&self, skill: &SkillId) -> Option<&SkillState> {
        self.skills.iter().find(|state| state.skill == *skill)
    }

    /// Tells whether the context contains the current instructions of `skill`, whose id is `id`. A body
    /// that cannot be read, or whose earlier hash is unknown, counts as unchanged.
    pub fn shows(&self, id: &SkillId, skill: &Skill) -> bool {
        self.of(id).is_some_and(|state| {
            let is_same = |shown| skill.body_hash().is_ok_and(|body| body == shown);
            state.in_context && state.body.is_none_or(is_same)
        })
    }

    /// Tells whether a line for `skill` is in the context.
    pub fn was_listed(&self, skill: &SkillId) -> bool {
        self.of(skill).is_some_and(|state| state.listed)
    }

    /// Iterates over the used skills, the last used first.
    pub fn recent(&self) -> impl Iterator<Item = &SkillId> {
        self.skills.iter().filter(|state| state.uses > 0).map(|state| &state.skill)
    }

    /// Returns the skills that led to the last activation of `skill`, each activated at the request of
    /// the one before it. The last one is `skill`.
    pub fn chain<'a>(&'a self, skill: &'a SkillId) -> Vec<&'a SkillId> {
        let mut chain = vec![skill];
        let by = |skill: &SkillId| self.of(skill)?.activated_by.as_ref();
        let mut above = by(skill);
        while let Some(skill) = above.filter(|skill| !chain.contains(skill)) {
            chain.push(skill);
            above = by(skill);
        }
        chain.reverse();
        chain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stood_in_the_context_is_lost_until_it_is_shown_again() {
        let id = SkillId::new("git");
        let mut state = SkillState::new(id.clone());
        let flags = |state: &SkillState| (state.in_context, state.lost);
        for (event, wanted) in [
            (Event::Used(&id), (false, false)),
            (Event::Compacted, (false, false)),
            (Event::Activated { skill: &id, by: None, shown: None }, (false, false)),
            (Event::Shown { skill: &id, body: 1 }, (true, false)),
            (Event::Compacted, (false, true)),
            (Event::Compacted, (false, true)),
            (Event::Activated { skill: &id, by: None, shown: Some(2) }, (true, false)),
            (Event::Compacted, (false, true)),
            (Event::Restored, (false, false)),
        ] {
            state.apply(&event);
            assert_eq!(flags(&state), wanted, "{event:?}");
        }
        assert_eq!((state.uses, state.activations, state.body), (4, 2, Some(2)));
    }

    #[test]
    fn a_chain_ends_also_where_the_store_has_a_cycle() {
        let [a, b, c] = ["a", "b", "c"].map(SkillId::new);
        let by = |skill: &SkillId, by: &SkillId| SkillState {
            activated_by: Some(by.clone()),
            ..SkillState::new(skill.clone())
        };
        let state = SessionState { skills: vec![by(&b, &a), by(&c, &b)] };
        assert_eq!(state.chain(&c), [&a, &b, &c]);
        let state = SessionState { skills: vec![by(&a, &b), by(&b, &a)] };
        assert_eq!(state.chain(&a), [&b, &a]);
    }
}
