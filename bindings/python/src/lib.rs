//! The native part of the Python package `repertoire`: a typed façade of the engine.

mod activation;
mod arguments;
mod callbacks;
mod catalog;
mod collection;
mod disclosure;
mod engine;
mod envelope;
mod error;
mod event;
mod guard;
mod json;
mod logging;
mod matches;
mod message;
mod options;
mod provider;
mod record;
mod retriever;
mod session;
mod several;
mod skill;
mod text;
mod tools;
mod worker;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::activation::{
        Activation, ConsentRequest, KnowledgeDocument, RequiredSkill, SubSkill, Task, TrustRequest,
    };
    #[pymodule_export]
    use crate::catalog::{CatalogPrompt, Command, Diagnostic, Refreshed};
    #[pymodule_export]
    use crate::disclosure::{Disclosure, Turn};
    #[pymodule_export]
    use crate::engine::Engine;
    #[pymodule_export]
    use crate::envelope::{Envelope, Fault};
    #[pymodule_export]
    use crate::event::{Event, SkillState};
    #[pymodule_export]
    use crate::guard::{Subscription, Watch};
    #[pymodule_export]
    use crate::logging::enable_logging;
    #[pymodule_export]
    use crate::matches::{
        Explanation, FoundSkill, Hit, Lack, Match, Needed, Reason, Rejection, Relevant, Weighed,
        WeighedTerm,
    };
    #[pymodule_export]
    use crate::options::{
        Config, DisclosureOptions, PromptOptions, ScriptOptions, Source, ToolsetOptions,
    };
    #[pymodule_export]
    use crate::retriever::Candidate;
    #[pymodule_export]
    use crate::session::Session;
    #[pymodule_export]
    use crate::skill::Skill;
    #[pymodule_export]
    use crate::tools::{Tool, Tools};
    #[pymodule_export]
    use crate::worker::run_worker;
}
