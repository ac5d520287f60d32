//! Events and states of sessions as records, for stores that a host implements.

use pyo3::prelude::*;
use repertoire_bindings::EventRecord;
use repertoire_bindings::repertoire as engine;

use crate::record::record;

record! {
    /// An event of a session, for stores that a host implements.
    Event {
        /// `used`, `shown`, `activated`, `consented`, `consent-spent`, `listed`, `compacted`,
        /// `restored`, `postponed` or `stopped`.
        kind: String,
        /// The skill that the event is about; `None` if it is about all skills.
        skill: Option<String>,
        /// A hash of the instructions that entered the context, if any did.
        body: Option<u64>,
        /// The skill whose instructions asked for an activation, if any.
        by: Option<String>,
    }
    {
        /// True if the event counts as a use of the skill, which then becomes the last used one.
        #[getter]
        fn is_use(&self) -> bool {
            matches!(self.kind.as_str(), "used" | "shown" | "activated")
        }
    }
}

impl From<EventRecord> for Event {
    fn from(event: EventRecord) -> Event {
        let EventRecord { kind, skill, body, by } = event;
        Event { kind, skill, body, by }
    }
}

record! {
    /// The history of one skill in a session.
    SkillState {
        /// The skill's id.
        skill: String,
        /// The number of times the skill was used.
        uses: u64,
        /// The number of times the skill was activated.
        activations: u64,
        /// The skill whose instructions asked for the last activation, if any.
        activated_by: Option<String>,
        /// True if the skill's instructions are in the context.
        in_context: bool,
        /// A hash of the instructions that were last put into the context.
        body: Option<u64>,
        /// True if the skill's instructions were lost when the context was compacted.
        lost: bool,
        /// True if the user agreed to activate the skill.
        consented: bool,
        /// True if a line for the skill is in the context.
        listed: bool,
        /// The skill's position, from 1, in the order in which skills first entered the context.
        joined: Option<u64>,
    }
    {
        /// Returns the state of a skill about which nothing is known.
        #[staticmethod]
        fn of_new(skill: &str) -> SkillState {
            SkillState::from(&engine::session::SkillState::new(skill.into()))
        }

        /// Returns the state after an event that is about this skill or about all skills. If `joins` is
        /// true for the result, the store must set `joined` to its next number.
        fn apply(&self, py: Python<'_>, event: &Event) -> PyResult<SkillState> {
            let mut state = self.to_engine();
            let Event { kind, skill, body, by } = event.clone();
            let applied = EventRecord { kind, skill, body, by }
                .with_event(|event| state.apply(event));
            applied.map_err(|error| crate::error::exception(py, &error))?;
            Ok(SkillState::from(&state))
        }

        /// True if the skill's instructions have just entered the context for the first time.
        #[getter]
        fn joins(&self) -> bool {
            self.to_engine().joins()
        }

        /// Returns a copy of the state with `joined` set to this number.
        fn with_joined(&self, joined: u64) -> SkillState {
            SkillState { joined: Some(joined), ..self.clone() }
        }
    }
}

impl SkillState {
    pub(crate) fn to_engine(&self) -> engine::session::SkillState {
        engine::session::SkillState {
            skill: self.skill.as_str().into(),
            uses: self.uses,
            activations: self.activations,
            activated_by: self.activated_by.as_deref().map(Into::into),
            in_context: self.in_context,
            body: self.body,
            lost: self.lost,
            consented: self.consented,
            listed: self.listed,
            joined: self.joined,
        }
    }
}

impl From<&engine::session::SkillState> for SkillState {
    fn from(state: &engine::session::SkillState) -> SkillState {
        SkillState {
            skill: state.skill.to_string(),
            uses: state.uses,
            activations: state.activations,
            activated_by: state.activated_by.as_ref().map(ToString::to_string),
            in_context: state.in_context,
            body: state.body,
            lost: state.lost,
            consented: state.consented,
            listed: state.listed,
            joined: state.joined,
        }
    }
}
