//! The processes in which toolsets run: each is a second Python process that does nothing else.

use std::path::PathBuf;

use pyo3::prelude::*;
use repertoire_bindings::ToolsetSettings;
use repertoire_bindings::repertoire::toolset::{HostProgram, worker_main};

/// Returns the program that runs toolsets, if they run in a process of their own.
pub(crate) fn worker_for(
    toolsets: Option<&ToolsetSettings>,
    py: Python<'_>,
) -> PyResult<Option<HostProgram>> {
    if toolsets.is_some_and(|toolsets| !toolsets.in_process) { worker(py) } else { Ok(None) }
}

/// Returns this interpreter, with the package imported from the same place as in this process.
fn worker(py: Python<'_>) -> PyResult<Option<HostProgram>> {
    let program: Option<PathBuf> = py.import("sys")?.getattr("executable")?.extract()?;
    let package = py.import("repertoire")?.getattr("__path__")?.get_item(0)?;
    let root: PathBuf = py
        .import("os.path")?
        .call_method1("dirname", (py.import("os.path")?.call_method1("abspath", (package,))?,))?
        .extract()?;
    // `-I` prevents imports from the working directory.
    let start = "import sys; sys.path.insert(0, sys.argv[1]); \
                 from repertoire._native import run_worker; run_worker()";
    let args = vec!["-I".into(), "-c".into(), start.into(), root.into_os_string()];
    Ok(program
        .filter(|program| !program.as_os_str().is_empty())
        .map(|program| HostProgram { program, args }))
}

/// Runs the child process of a toolset; never returns.
#[pyfunction]
pub(crate) fn run_worker() {
    worker_main();
}
