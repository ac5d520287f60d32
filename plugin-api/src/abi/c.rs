//! The host's side of the border for plugins in C or C++, as `include/repertoire.h` declares it.

use std::borrow::Cow;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::host::Callbacks;
use crate::context::Host;
use crate::{ErrorCode, ToolError, ToolOutput, ToolResult};

/// `repertoire_text` of the header.
#[repr(C)]
#[derive(Clone, Copy)]
struct CText {
    at: *const u8,
    len: usize,
}

impl CText {
    fn of(text: &str) -> Self {
        Self { at: text.as_ptr(), len: text.len() }
    }

    /// # Safety
    ///
    /// The bytes are readable and do not change during `'a`.
    unsafe fn bytes<'a>(self) -> &'a [u8] {
        if self.at.is_null() || self.len == 0 {
            return &[];
        }
        // SAFETY: the caller guarantees this.
        unsafe { std::slice::from_raw_parts(self.at, self.len) }
    }
}

/// `repertoire_host` of the header.
#[repr(C)]
struct CHost {
    size: u32,
    context: *const c_void,
    write: unsafe extern "C" fn(*const CHost, CText),
    is_cancelled: unsafe extern "C" fn(*const CHost) -> i32,
    progress: unsafe extern "C" fn(*const CHost, f64, CText),
    log: unsafe extern "C" fn(*const CHost, u32, CText),
    request: unsafe extern "C" fn(*const CHost, CText, CText, *mut u32) -> CText,
}

type Create = unsafe extern "C" fn(*const CHost, CText, CText, *mut *mut c_void) -> u32;
type Describe = unsafe extern "C" fn(*const CHost, *mut c_void) -> u32;
type Call = unsafe extern "C" fn(*const CHost, *mut c_void, CText, CText) -> u32;
type Destroy = unsafe extern "C" fn(*mut c_void);

/// `repertoire_plugin` of the header, as it lies in the library: functions may be null.
#[repr(C)]
#[derive(Clone, Copy)]
struct CPlugin {
    size: u32,
    create: Option<Create>,
    describe: Option<Describe>,
    call: Option<Call>,
    destroy: Option<Destroy>,
}

/// The functions of a plugin, none of which is null.
#[derive(Clone, Copy)]
pub(super) struct Plugin {
    create: Create,
    describe: Describe,
    call: Call,
    destroy: Destroy,
}

/// A toolset that these functions created.
pub(crate) struct Toolset {
    plugin: Plugin,
    this: *mut c_void,
}

// SAFETY: the header requires that toolsets can be called from several threads at once.
unsafe impl Send for Toolset {}
// SAFETY: as above.
unsafe impl Sync for Toolset {}

/// The result of a call.
#[derive(Deserialize)]
struct Answer {
    output: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    metadata: Map<String, Value>,
}

impl Plugin {
    /// Reads the functions at a root symbol, or returns the reason why the structure there is unusable.
    ///
    /// # Safety
    ///
    /// The symbol is a `repertoire_plugin` of our major version, and stays valid for ever.
    pub(super) unsafe fn read(root: *const u8) -> Result<Self, &'static str> {
        // SAFETY: in every version, the structure begins with its size.
        let size = unsafe { root.cast::<u32>().read_unaligned() };
        if (size as usize) < size_of::<CPlugin>() {
            return Err("the structure of its functions is too short");
        }
        // SAFETY: by its own size, the structure has all the fields that we know.
        let CPlugin { create, describe, call, destroy, .. } =
            unsafe { root.cast::<CPlugin>().read_unaligned() };
        match (create, describe, call, destroy) {
            (Some(create), Some(describe), Some(call), Some(destroy)) => {
                Ok(Self { create, describe, call, destroy })
            }
            _ => Err("one of its functions is missing"),
        }
    }

    /// Creates a toolset from a configuration in JSON.
    pub(super) fn create(self, class: &str, config: &str) -> ToolResult<Toolset> {
        let mut this = ptr::null_mut();
        run(Callbacks { host: &NoHost }, |host| {
            // SAFETY: the texts and the output parameter outlive the call.
            unsafe { (self.create)(host, CText::of(class), CText::of(config), &raw mut this) }
        })?;
        Ok(Toolset { plugin: self, this })
    }
}

impl Toolset {
    /// Returns the description, in JSON.
    pub(super) fn describe(&self) -> ToolResult<Vec<u8>> {
        run(Callbacks { host: &NoHost }, |host| {
            // SAFETY: `create` made the toolset, and it is not destroyed yet.
            unsafe { (self.plugin.describe)(host, self.this) }
        })
    }

    pub(super) fn call(&self, tool: &str, arguments: &str, host: Callbacks<'_>) -> ToolResult {
        let answer = run(host, |host| {
            // SAFETY: as for `describe`; the texts outlive the call.
            unsafe { (self.plugin.call)(host, self.this, CText::of(tool), CText::of(arguments)) }
        })?;
        let broken = |why: String| {
            ToolError::with_code(ErrorCode::Border, format!("the tool's answer is broken: {why}"))
        };
        let text = str::from_utf8(&answer);
        let text = text.map_err(|error| broken(format!("it is not UTF-8: {error}")))?;
        let answer = serde_json::from_str(text).map_err(|error| broken(error.to_string()))?;
        let Answer { output, title, metadata } = answer;
        Ok(ToolOutput { title, metadata, output })
    }
}

impl Drop for Toolset {
    fn drop(&mut self) {
        // SAFETY: `create` made the toolset, and nobody uses it any more.
        unsafe { (self.plugin.destroy)(self.this) }
    }
}

/// The host while a toolset is created or described: it supports no requests.
struct NoHost;

impl Host for NoHost {}

/// The context of one call: its host, and the bytes that the plugin has written.
struct Context<'h> {
    callbacks: Callbacks<'h>,
    written: Mutex<Vec<u8>>,
    /// The answers to the plugin's requests; the plugin may read them until the call ends.
    answers: Mutex<Vec<Box<str>>>,
}

/// Runs a function of a plugin. Returns the bytes that it wrote, or the error that it reports.
fn run(
    callbacks: Callbacks<'_>,
    function: impl FnOnce(*const CHost) -> u32,
) -> ToolResult<Vec<u8>> {
    let context = Context { callbacks, written: Mutex::default(), answers: Mutex::default() };
    let host = CHost {
        size: size_of::<CHost>() as u32,
        context: (&raw const context).cast(),
        write,
        is_cancelled,
        progress,
        log,
        request,
    };
    let result = function(&raw const host);
    let written = context.written.into_inner().unwrap_or_else(PoisonError::into_inner);
    if result == 0 {
        return Ok(written);
    }
    let message = match String::from_utf8_lossy(&written) {
        text if text.is_empty() => format!("it failed with the number {result}"),
        text => text.into_owned(),
    };
    Err(ToolError::with_code(ErrorCode::from_number(result), message))
}

/// Returns the context of the host that a plugin passes back.
///
/// # Safety
///
/// `host` is the one that the plugin was given, and the function that received it has not returned yet.
unsafe fn context<'a>(host: *const CHost) -> &'a Context<'a> {
    // SAFETY: `run` made both and keeps them alive while the function runs.
    unsafe { &*(*host).context.cast::<Context<'a>>() }
}

/// # Safety
///
/// As for [`CText::bytes`].
unsafe fn lossy<'a>(text: CText) -> Cow<'a, str> {
    // SAFETY: the caller guarantees this.
    String::from_utf8_lossy(unsafe { text.bytes() })
}

unsafe extern "C" fn write(host: *const CHost, text: CText) {
    // SAFETY: the header requires both of the plugin.
    let (context, bytes) = unsafe { (context(host), text.bytes()) };
    context.written.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
}

unsafe extern "C" fn is_cancelled(host: *const CHost) -> i32 {
    // SAFETY: the header requires it of the plugin.
    i32::from(unsafe { context(host) }.callbacks.asks_to_stop())
}

unsafe extern "C" fn progress(host: *const CHost, fraction: f64, message: CText) {
    // SAFETY: the header requires both of the plugin.
    let (context, message) = unsafe { (context(host), lossy(message)) };
    context.callbacks.report(fraction, &message);
}

unsafe extern "C" fn log(host: *const CHost, level: u32, message: CText) {
    // SAFETY: the header requires both of the plugin.
    let (context, message) = unsafe { (context(host), lossy(message)) };
    context.callbacks.note(u8::try_from(level).unwrap_or(u8::MAX), &message);
}

unsafe extern "C" fn request(
    host: *const CHost,
    method: CText,
    params: CText,
    result: *mut u32,
) -> CText {
    // SAFETY: the header requires all of this of the plugin.
    let (context, method, params) = unsafe { (context(host), lossy(method), lossy(params)) };
    let (code, answer) = match context.callbacks.ask(&method, &params) {
        Ok(value) => (0, value.to_string()),
        Err(error) => (error.code().number(), error.message().to_owned()),
    };
    if !result.is_null() {
        // SAFETY: the plugin passed this pointer to receive the code.
        unsafe { result.write(code) };
    }
    let answer = answer.into_boxed_str();
    let text = CText::of(&answer);
    context.answers.lock().unwrap_or_else(PoisonError::into_inner).push(answer);
    text
}
