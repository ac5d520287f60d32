//! An executor of the plugin's own.

use std::future::Future;
use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};

use crate::{ToolError, ToolResult};

/// Runs a future to completion on a small tokio runtime that the plugin owns.
///
/// A plugin has its own copy of tokio, which does not see the host's runtime; that is why tools are not
/// `async`. Timers work inside `block_on`, and so do the other features of tokio that the plugin
/// enables.
///
/// ```
/// # #[cfg(feature = "block-on")] {
/// use repertoire_plugin::{ToolResult, block_on};
///
/// fn answer() -> ToolResult<u32> {
///     block_on(async { Ok("42".parse()?) })
/// }
/// assert_eq!(answer().unwrap(), 42);
/// # }
/// ```
pub fn block_on<T>(future: impl Future<Output = ToolResult<T>>) -> ToolResult<T> {
    static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();
    let build = || Builder::new_current_thread().enable_all().build();
    let runtime = RUNTIME.get_or_init(|| build().map_err(|error| error.to_string()));
    match runtime {
        Ok(runtime) => runtime.block_on(future),
        Err(error) => Err(ToolError::new(format!("cannot start the plugin's runtime: {error}"))),
    }
}
