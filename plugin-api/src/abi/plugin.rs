//! The plugin's side of the border.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use abi_stable::library::{
    __call_root_module_loader, CheckTypeLayout, LibHeader, RootModuleResult,
};
use abi_stable::prefix_type::PrefixTypeTrait;
use abi_stable::sabi_trait::TD_Opaque;
use abi_stable::sabi_types::RRef;
use abi_stable::std_types::{RResult, RStr, RString, RVec};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::types::{
    BoxedToolset, PluginModule, PluginModuleRef, RError, RHost_TO, ROutput, RToolset, RToolset_TO,
    RToolsetClass,
};
use crate::tools::{Tools, tools_of};
use crate::{
    ErrorCode, Host, LogLevel, ToolContext, ToolError, ToolOutput, ToolResult, Toolset, panics,
};

/// A library's exports; `export_toolsets!` writes the implementation.
pub trait Plugin: 'static {
    /// True if panics can be caught in this build of the library.
    const UNWINDS: bool;

    /// Returns the classes, in the order of the export.
    fn classes() -> Vec<Class>;
}

/// One exported class.
pub struct Class(RToolsetClass);

impl Class {
    /// Returns the class of a type, under the name it is exported by.
    pub fn of<T: Toolset>(name: &'static str) -> Self {
        Self(RToolsetClass { name: RStr::from_str(name), create: create::<T> })
    }
}

/// The content of the root symbol.
pub type Header = LibHeader;

/// Builds the root symbol of a plugin.
pub const fn header<P: Plugin>() -> Header {
    // SAFETY: `erased` returns a `PluginModuleRef`, which is the module named here.
    unsafe { LibHeader::from_constructor::<PluginModuleRef>(erased::<P>, CheckTypeLayout::Yes) }
}

extern "C" fn erased<P: Plugin>() -> RootModuleResult {
    __call_root_module_loader(root::<P>)
}

fn root<P: Plugin>() -> PluginModuleRef {
    PluginModule { classes: classes::<P> }.leak_into_prefix()
}

extern "C" fn classes<P: Plugin>() -> RVec<RToolsetClass> {
    if !P::UNWINDS {
        panics::announce_aborts();
    }
    P::classes().into_iter().map(|class| class.0).collect()
}

/// Creates a toolset that can be called through the border.
pub(crate) extern "C" fn create<T: Toolset>(config: RStr<'_>) -> RResult<BoxedToolset, RError> {
    let made = panics::caught(|| {
        let config = serde_json::from_str(config.as_str())?;
        Instance::<T>::new(config)
    });
    match made {
        Ok(instance) => RResult::ROk(RToolset_TO::from_value(instance, TD_Opaque)),
        Err(error) => RResult::RErr(crossing(&error)),
    }
}

/// A toolset with the list of its tools.
struct Instance<T> {
    /// `None` only while the instance is dropped.
    inner: Option<(T, Tools<T>)>,
    description: String,
}

impl<T: Toolset> Instance<T> {
    fn new(config: Value) -> ToolResult<Self> {
        let this = T::create(crate::arguments::parse_config(config)?)?;
        let tools = tools_of::<T>();
        let description = serde_json::to_string(&tools.description()?)?;
        Ok(Self { inner: Some((this, tools)), description })
    }
}

/// Catches panics in the author's `Drop`.
impl<T> Drop for Instance<T> {
    fn drop(&mut self) {
        let inner = self.inner.take();
        let _ = panics::caught(|| {
            drop(inner);
            Ok(())
        });
    }
}

impl<T: Toolset> RToolset for Instance<T> {
    fn describe(&self) -> RString {
        self.description.as_str().into()
    }

    fn call(
        &self,
        tool: RStr<'_>,
        arguments: RStr<'_>,
        host: RHost_TO<'_, RRef<'_, ()>>,
    ) -> RResult<ROutput, RError> {
        let host = BorderHost { host, info: OnceLock::new() };
        let answer = panics::caught(|| {
            let (this, tools) = self.inner.as_ref().ok_or("the toolset is closed")?;
            tools.call(this, tool.as_str(), arguments.as_str(), &ToolContext::new(&host))
        });
        match answer {
            Ok(ToolOutput { title, metadata, output }) => {
                let metadata = if metadata.is_empty() {
                    String::new()
                } else {
                    serde_json::to_string(&metadata).unwrap_or_default()
                };
                RResult::ROk(ROutput {
                    title: title.into(),
                    metadata: metadata.into(),
                    output: output.into(),
                })
            }
            Err(error) => RResult::RErr(crossing(&error)),
        }
    }
}

fn crossing(error: &ToolError) -> RError {
    RError { code: error.code().number(), message: error.message().into() }
}

/// The host's facts about a call, sent in answer to [`CALL_INFO`].
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct CallInfo {
    /// Microseconds until the deadline.
    #[serde(default)]
    pub(crate) time_left: Option<u64>,
    #[serde(default)]
    pub(crate) skill_dir: Option<PathBuf>,
}

/// The request for the facts about a call; sent when a tool first needs one of them.
pub(crate) const CALL_INFO: &str = "repertoire/call-info";

/// The host, as seen from the plugin.
struct BorderHost<'a, 'b> {
    host: RHost_TO<'a, RRef<'b, ()>>,
    info: OnceLock<(Option<Instant>, Option<PathBuf>)>,
}

impl BorderHost<'_, '_> {
    fn info(&self) -> &(Option<Instant>, Option<PathBuf>) {
        self.info.get_or_init(|| {
            let now = Instant::now();
            let info = self.request(CALL_INFO, Value::Null);
            let info: CallInfo =
                info.ok().and_then(|info| serde_json::from_value(info).ok()).unwrap_or_default();
            let deadline =
                info.time_left.and_then(|time| now.checked_add(Duration::from_micros(time)));
            (deadline, info.skill_dir)
        })
    }
}

impl Host for BorderHost<'_, '_> {
    fn is_cancelled(&self) -> bool {
        self.host.is_cancelled()
    }

    fn progress(&self, fraction: f64, message: &str) {
        self.host.progress(fraction, message.into());
    }

    fn log(&self, level: LogLevel, message: &str) {
        self.host.log(level as u8, message.into());
    }

    fn deadline(&self) -> Option<Instant> {
        self.info().0
    }

    fn skill_dir(&self) -> Option<&Path> {
        self.info().1.as_deref()
    }

    fn request(&self, method: &str, params: Value) -> ToolResult<Value> {
        match self.host.request(method.into(), params.to_string().as_str().into()) {
            RResult::ROk(answer) => serde_json::from_str(&answer).map_err(|error| {
                ToolError::with_code(
                    ErrorCode::Border,
                    format!("the host's answer to `{method}` is not JSON: {error}"),
                )
            }),
            RResult::RErr(message) => Err(ToolError::new(message.into_string())),
        }
    }
}
