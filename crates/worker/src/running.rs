//! A child process that runs, and the toolsets made in it.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};

use repertoire_plugin::ToolsetDescription;
use repertoire_system::sandbox::SandboxLevel;
use serde_json::Value;

use super::process::Process;
use crate::locked;

/// A child process, and the toolsets made in it.
pub(super) struct Running {
    pub(super) process: Arc<Process>,
    pub(super) sandbox: OnceLock<SandboxLevel>,
    toolsets: Mutex<Vec<Arc<Instance>>>,
    /// True once a tool was called in it.
    pub(super) is_called: AtomicBool,
}

/// A toolset in a child.
pub(super) struct Instance {
    pub(super) number: u32,
    class: String,
    config: Value,
    /// The description; empty until the toolset is made.
    pub(super) description: OnceLock<ToolsetDescription>,
}

/// A toolset that was made, and its process.
#[derive(Clone)]
pub(super) struct Ready {
    pub(super) running: Arc<Running>,
    pub(super) instance: Arc<Instance>,
}

impl Running {
    pub(super) fn new(process: Arc<Process>) -> Running {
        let (sandbox, is_called) = (OnceLock::new(), AtomicBool::new(false));
        Running { process, sandbox, toolsets: Mutex::default(), is_called }
    }

    /// The toolset of a class and a configuration. It may not be made yet.
    pub(super) fn instance(&self, class: &str, config: &Value) -> Arc<Instance> {
        let mut toolsets = locked(&self.toolsets);
        let known = toolsets.iter().find(|known| known.class == class && known.config == *config);
        if let Some(known) = known {
            return Arc::clone(known);
        }
        let instance = Arc::new(Instance {
            number: toolsets.len() as u32,
            class: class.to_owned(),
            config: config.clone(),
            description: OnceLock::new(),
        });
        toolsets.push(Arc::clone(&instance));
        instance
    }
}
