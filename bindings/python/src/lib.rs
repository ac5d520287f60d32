//! The native part of the Python package `repertoire`: the façade of the engine, typed.

mod callbacks;
mod disclosure;
mod engine;
mod error;
mod json;
mod logging;
mod options;
mod record;
mod results;
mod session;
mod skill;
mod tools;

use pyo3::prelude::*;

/// The child process of a toolset; never returns.
#[pyfunction]
fn run_worker() {
    repertoire_bindings::repertoire::toolset::worker_main();
}

#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::disclosure::{Disclosure, Turn};
    #[pymodule_export]
    use crate::engine::{Engine, Subscription, Watch};
    #[pymodule_export]
    use crate::logging::enable_logging;
    #[pymodule_export]
    use crate::options::{
        Config, DisclosureOptions, PromptOptions, ScriptOptions, Source, ToolsetOptions,
    };
    #[pymodule_export]
    use crate::results::{
        Activation, CatalogPrompt, Command, ConsentRequest, Diagnostic, Envelope, Event,
        Explanation, Fault, FoundSkill, Hit, Match, Reason, Refreshed, Rejection, Relevant,
        SkillState, SubSkill, Task, TrustRequest,
    };
    #[pymodule_export]
    use crate::run_worker;
    #[pymodule_export]
    use crate::session::Session;
    #[pymodule_export]
    use crate::skill::Skill;
    #[pymodule_export]
    use crate::tools::{Tool, Tools};
}
