//! The host's side of the border.

use std::borrow::Cow;
use std::mem::ManuallyDrop;
use std::path::Path;
use std::time::Instant;

use abi_stable::StableAbi;
use abi_stable::library::{AbiHeaderRef, LibraryError};
use abi_stable::sabi_trait::TD_Opaque;
use abi_stable::sabi_types::RRef;
use abi_stable::std_types::{RResult, RStr, RString, RVec};
use serde_json::{Map, Value};

use super::c;
use super::layout;
use super::note::{MAGIC, Marker};
use super::plugin::{CALL_INFO, CallInfo, create};
use super::types::{BoxedToolset, PluginModuleRef, RError, RHost, RHost_TO, RToolsetClass};
use super::{C_ROOT_SYMBOL, MARKER_SYMBOL, ROOT_SYMBOL};
use crate::host::OpenError;
use crate::panics::guarded;
use crate::{
    ABI_VERSION, ErrorCode, Host, LogLevel, ToolError, ToolOutput, ToolResult, Toolset,
    ToolsetDescription,
};

#[cfg(unix)]
use libloading::os::unix as system;
#[cfg(windows)]
use libloading::os::windows as system;

/// The classes of a library that stays open for ever.
pub(crate) struct Classes {
    names: Vec<String>,
    root: Root,
    _library: ManuallyDrop<system::Library>,
}

/// The root of a library, by the language the plugin is written in.
enum Root {
    /// The classes, in the same order as `Classes::names`.
    Rust(RVec<RToolsetClass>),
    C(c::Plugin),
}

impl Classes {
    /// Opens the library at an absolute path. The caller has checked the file and read `noted`, the
    /// classes in its note. Errors name the file `shown`.
    pub(crate) fn load(
        path: &Path,
        shown: &Path,
        noted: &[String],
        allow_panic_abort: bool,
    ) -> Result<Self, OpenError> {
        if cfg!(all(target_env = "musl", target_feature = "crt-static")) {
            let why = "this host is linked statically, and such programs cannot load libraries";
            return Err(OpenError::Unsupported { path: shown.to_owned(), why });
        }
        let library = ManuallyDrop::new(dlopen(path, shown)?);
        check_marker(&library, shown, allow_panic_abort)?;
        // SAFETY: the symbol is looked up as an address and not read here.
        if let Ok(root) = unsafe { library.get::<*const u8>(C_ROOT_SYMBOL) } {
            // SAFETY: the marker of our major version says that the symbol is the structure of the
            // header, and the library is never unloaded.
            let plugin = unsafe { c::Plugin::read(*root) };
            let plugin = plugin.map_err(|why| OpenError::BadNote {
                path: shown.to_owned(),
                why: why.to_owned(),
            })?;
            return Ok(Self { names: noted.to_vec(), root: Root::C(plugin), _library: library });
        }
        let classes = module(&library, shown)?.classes()();
        let name = |class: &RToolsetClass| String::from_utf8(class.name.as_bytes().to_vec());
        let names = classes.iter().map(name).collect::<Result<_, _>>().map_err(|_| {
            let why = "the name of a class is not UTF-8".to_owned();
            OpenError::BadNote { path: shown.to_owned(), why }
        })?;
        Ok(Self { names, root: Root::Rust(classes), _library: library })
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Creates a toolset of a class; returns `None` if there is no such class.
    pub(crate) fn create(&self, class: &str, config: &Value) -> Option<ToolResult<Instance>> {
        let idx = self.names.iter().position(|name| name == class)?;
        let config = config.to_string();
        Some(match &self.root {
            Root::Rust(classes) => made((classes[idx].create)(config.as_str().into())),
            Root::C(plugin) => plugin.create(class, &config).map(Instance::C),
        })
    }
}

fn dlopen(path: &Path, shown: &Path) -> Result<system::Library, OpenError> {
    #[cfg(unix)]
    let flags = system::RTLD_NOW | system::RTLD_LOCAL;
    #[cfg(windows)]
    let flags = system::LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | system::LOAD_LIBRARY_SEARCH_SYSTEM32;
    // SAFETY: initializers of the library run here. The caller trusts the file, which is complete and
    // has a plugin's note.
    #[cfg(unix)]
    let library = unsafe { system::Library::open(Some(path), flags) };
    // SAFETY: as above.
    #[cfg(windows)]
    let library = unsafe { system::Library::load_with_flags(path, flags) };
    library.map_err(|error| {
        // The loader's message names the path it was given, so replace it.
        let why = reason(&error).replace(&*path.to_string_lossy(), &shown.to_string_lossy());
        OpenError::Load { path: shown.to_owned(), why }
    })
}

/// Returns the loader's own message, which libloading keeps as the source of the error.
fn reason(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

fn check_marker(
    library: &system::Library,
    path: &Path,
    allow_panic_abort: bool,
) -> Result<(), OpenError> {
    let missing = |_| OpenError::NotAPlugin {
        path: path.to_owned(),
        missing: "symbol `repertoire_plugin_marker`",
    };
    // SAFETY: the symbol is looked up as an address and not read here.
    let symbol = unsafe { library.get::<*const Marker>(MARKER_SYMBOL) }.map_err(missing)?;
    let marker: *const Marker = *symbol;
    // SAFETY: in every version of the ABI, a static of this name begins with magic and version. The
    // fields are read one by one, without assuming that all of `Marker` is there, nor that the symbol
    // of a foreign library is aligned.
    let (magic, found) = unsafe {
        let magic = (&raw const (*marker).magic).read_unaligned();
        let major = (&raw const (*marker).abi_major).read_unaligned();
        (magic, (major, (&raw const (*marker).abi_minor).read_unaligned()))
    };
    if magic != MAGIC {
        let why = "the marker is not one".to_owned();
        return Err(OpenError::BadNote { path: path.to_owned(), why });
    }
    if found.0 != ABI_VERSION.0 {
        return Err(OpenError::AbiVersion { path: path.to_owned(), found });
    }
    // SAFETY: in this major version all of these fields exist.
    let unwinds = unsafe { (&raw const (*marker).panic_unwind).read_unaligned() } == 1;
    if !unwinds && !allow_panic_abort {
        return Err(OpenError::PanicAbort { path: path.to_owned() });
    }
    Ok(())
}

fn module(library: &system::Library, path: &Path) -> Result<PluginModuleRef, OpenError> {
    let missing = |_| OpenError::NotAPlugin {
        path: path.to_owned(),
        missing: "symbol `repertoire_plugin_root`",
    };
    // SAFETY: the marker of our major version says that the symbol is a `LibHeader`, whose first
    // field `AbiHeaderRef` refers to; the library is never unloaded.
    let header = unsafe { library.get::<AbiHeaderRef>(ROOT_SYMBOL) }.map_err(missing)?;
    let broken = |error: LibraryError| OpenError::Layout {
        path: path.to_owned(),
        summary: first_line(&error.to_string()),
        full: error.to_string(),
    };
    let header = (*header).upgrade().map_err(broken)?;
    let theirs = header.layout().ok_or_else(|| OpenError::Layout {
        path: path.to_owned(),
        summary: "the plugin does not say what types it has".to_owned(),
        full: String::new(),
    })?;
    layout::compare(<PluginModuleRef as StableAbi>::LAYOUT, theirs).map_err(|errors| {
        OpenError::Layout {
            path: path.to_owned(),
            summary: layout::summary(&errors),
            full: errors.to_string(),
        }
    })?;
    // SAFETY: the layouts were compared just above. If the plugin's is the earlier one, the items that
    // it lacks come after its `last_prefix_field`s, and are checked for before they are used.
    unsafe { header.init_root_module_with_unchecked_layout::<PluginModuleRef>() }.map_err(broken)
}

fn first_line(text: &str) -> String {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("unknown").to_owned()
}

/// A toolset on the other side of the border.
pub(crate) enum Instance {
    Rust(BoxedToolset),
    C(c::Toolset),
}

impl Instance {
    /// Creates a toolset that is part of this program, behind the same border.
    pub(crate) fn of<T: Toolset>(config: &Value) -> ToolResult<Self> {
        made(create::<T>(config.to_string().as_str().into()))
    }

    pub(crate) fn description(&self) -> ToolResult<ToolsetDescription> {
        let read = |json: &[u8]| {
            serde_json::from_slice::<ToolsetDescription>(json).map_err(|error| {
                let message = format!("the description is broken: {error}");
                ToolError::with_code(ErrorCode::Border, message)
            })
        };
        match self {
            Self::Rust(toolset) => read(toolset.describe().as_bytes()),
            Self::C(toolset) => {
                let description = read(&toolset.describe()?)?;
                // A plugin in C or C++ does not check its description itself.
                description.check()?;
                Ok(description)
            }
        }
    }

    pub(crate) fn call(&self, tool: &str, arguments: &str, host: &dyn Host) -> ToolResult {
        let callbacks = Callbacks { host };
        let toolset = match self {
            Self::Rust(toolset) => toolset,
            Self::C(toolset) => return toolset.call(tool, arguments, callbacks),
        };
        let border = RHost_TO::from_ptr(RRef::new(&callbacks), TD_Opaque);
        match toolset.call(tool.into(), arguments.into(), border) {
            RResult::ROk(answer) => Ok(ToolOutput {
                metadata: metadata(answer.metadata.as_bytes())?,
                title: text(answer.title, "title")?,
                output: text(answer.output, "output")?,
            }),
            RResult::RErr(error) => Err(crossed(&error)),
        }
    }
}

fn made(made: RResult<BoxedToolset, RError>) -> ToolResult<Instance> {
    made.into_result().map(Instance::Rust).map_err(|error| crossed(&error))
}

/// Checks a text from the plugin, which may hold bytes that are not UTF-8 despite its type.
fn text(text: RString, what: &str) -> ToolResult<String> {
    String::from_utf8(text.into_bytes().into_vec()).map_err(|error| {
        let error = error.utf8_error();
        ToolError::with_code(ErrorCode::Border, format!("the tool's {what} is not UTF-8: {error}"))
    })
}

fn metadata(json: &[u8]) -> ToolResult<Map<String, Value>> {
    if json.is_empty() {
        return Ok(Map::new());
    }
    serde_json::from_slice(json).map_err(|error| {
        ToolError::with_code(ErrorCode::Border, format!("the tool's metadata is broken: {error}"))
    })
}

fn crossed(error: &RError) -> ToolError {
    let message = String::from_utf8_lossy(error.message.as_bytes()).into_owned();
    ToolError::with_code(ErrorCode::from_number(error.code), message)
}

/// The host's callbacks. They catch the host's panics: one that crossed the border would end the
/// process.
pub(super) struct Callbacks<'h> {
    pub(super) host: &'h dyn Host,
}

impl RHost for Callbacks<'_> {
    fn is_cancelled(&self) -> bool {
        self.asks_to_stop()
    }

    fn progress(&self, fraction: f64, message: RStr<'_>) {
        self.report(fraction, &lossy(message));
    }

    fn log(&self, level: u8, message: RStr<'_>) {
        self.note(level, &lossy(message));
    }

    fn request(&self, method: RStr<'_>, params: RStr<'_>) -> RResult<RString, RString> {
        match self.ask(&lossy(method), &lossy(params)) {
            Ok(value) => RResult::ROk(value.to_string().into()),
            Err(error) => RResult::RErr(error.message().into()),
        }
    }
}

/// Returns a text from the plugin, with bytes that are not UTF-8 replaced.
fn lossy(text: RStr<'_>) -> Cow<'_, str> {
    String::from_utf8_lossy(text.as_rslice().as_slice())
}

impl Callbacks<'_> {
    pub(super) fn asks_to_stop(&self) -> bool {
        guarded(|| true, || self.host.is_cancelled())
    }

    pub(super) fn report(&self, fraction: f64, message: &str) {
        let fraction = if fraction.is_nan() { 0.0 } else { fraction.clamp(0.0, 1.0) };
        guarded(|| (), || self.host.progress(fraction, message));
    }

    pub(super) fn note(&self, level: u8, message: &str) {
        guarded(|| (), || self.host.log(LogLevel::from_number(level), message));
    }

    pub(super) fn ask(&self, method: &str, params: &str) -> ToolResult<Value> {
        guarded(
            || Err(ToolError::new(format!("the host panicked in `{method}`"))),
            || self.answer(method, params),
        )
    }

    fn answer(&self, method: &str, params: &str) -> ToolResult<Value> {
        if method == CALL_INFO {
            let left = |at: Instant| at.saturating_duration_since(Instant::now());
            let info = CallInfo {
                time_left: self.host.deadline().map(|at| left(at).as_micros() as u64),
                skill_dir: self
                    .host
                    .skill_dir()
                    .filter(|dir| dir.to_str().is_some())
                    .map(Into::into),
            };
            return Ok(serde_json::to_value(info)?);
        }
        self.host.request(method, serde_json::from_str(params)?)
    }
}
