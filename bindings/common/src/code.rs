//! The settings for code in skills: toolsets and scripts.

use std::path::PathBuf;
use std::time::Duration;

use repertoire::script::ScriptOptions;
use repertoire::skill::Network;
use repertoire::toolset::{Approval, HostProgram, Isolation, ToolsetOptions};
use repertoire::{Error, ErrorCode};
use serde_json::{Map, Value};

use crate::names;

/// Options for loading toolsets.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolsetSettings {
    /// True if plugins run in this process instead of a process of their own.
    pub in_process: bool,
    /// The tools that are offered: `disclosed` or `all`.
    pub policy: Option<String>,
    /// The directory for private copies of libraries.
    pub cache: Option<PathBuf>,
    /// The configuration of toolset classes, by `skill:Class` or `Class`.
    pub config: Map<String, Value>,
    /// The time limit of one call, in seconds.
    pub call_timeout: Option<f64>,
    /// The part of the network that plugins may use.
    pub network: Option<Network>,
    /// Files and directories that plugins may write.
    pub write: Vec<PathBuf>,
}

/// Options for running scripts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ScriptSettings {
    /// The time limit of one run, in seconds.
    pub timeout: Option<f64>,
    /// The number of bytes of output to keep.
    pub output_bytes: Option<usize>,
    /// The names of additional environment variables that scripts receive.
    pub env: Vec<String>,
    /// Files and directories that scripts may write.
    pub write: Vec<PathBuf>,
    /// Files and directories that scripts cannot read, besides the trust store and the sessions.
    pub hidden: Vec<PathBuf>,
    /// False if scripts may not use the network.
    pub network: Option<bool>,
}

impl ToolsetSettings {
    pub(crate) fn to_engine(
        &self,
        worker: Option<HostProgram>,
        approve: Option<Approval>,
    ) -> Result<ToolsetOptions, Error> {
        let mut options = match (self.in_process, worker) {
            (false, Some(worker)) => ToolsetOptions::in_processes_of(worker),
            (true, _) => ToolsetOptions::in_process(),
            (false, None) => {
                let message = "this program cannot start the processes of toolsets";
                let help = "let toolsets run in this process, if they deserve it";
                return Err(Error::new(ErrorCode::InvalidParam, message, help));
            }
        };
        if let Isolation::Process { limits, .. } = &mut options.isolation {
            if let Some(timeout) = self.call_timeout {
                limits.call_timeout = seconds("call_timeout", timeout)?;
            }
            limits.network = self.network.clone().unwrap_or_default();
            limits.write.extend(self.write.iter().cloned());
        }
        if let Some(policy) = &self.policy {
            options.policy = names::tool_policy(policy)?;
        }
        options.cache.clone_from(&self.cache);
        options.config.clone_from(&self.config);
        options.approve = approve;
        Ok(options)
    }
}

impl ScriptSettings {
    pub(crate) fn to_engine(&self, approve: Option<Approval>) -> Result<ScriptOptions, Error> {
        let mut options = ScriptOptions::default();
        if let Some(timeout) = self.timeout {
            options.limits.timeout = seconds("timeout", timeout)?;
        }
        options.limits.output_bytes = self.output_bytes.unwrap_or(options.limits.output_bytes);
        options.env.extend(self.env.iter().cloned());
        options.write.extend(self.write.iter().cloned());
        options.hidden.extend(self.hidden.iter().cloned());
        options.network = self.network.unwrap_or(options.network);
        options.approve = approve;
        Ok(options)
    }
}

/// Converts a number of seconds; an error names the option `name`.
pub(crate) fn seconds(name: &str, value: f64) -> Result<Duration, Error> {
    Duration::try_from_secs_f64(value).map_err(|_| {
        let message = format!("`{name}` of {value} seconds is not a time");
        Error::new(ErrorCode::InvalidParam, message, "write a number of seconds from 0 on")
    })
}
