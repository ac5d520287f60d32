//! The processes in which toolsets run: a second Python, which does nothing else.

use std::path::PathBuf;

use pyo3::prelude::*;
use repertoire_bindings::repertoire::toolset::{HostProgram, worker_main};

/// The program of the processes in which toolsets run: this interpreter, which finds the package
/// where this process found it.
pub(crate) fn worker(py: Python<'_>) -> PyResult<Option<HostProgram>> {
    let program: Option<PathBuf> = py.import("sys")?.getattr("executable")?.extract()?;
    let package = py.import("repertoire")?.getattr("__path__")?.get_item(0)?;
    let root: PathBuf = py
        .import("os.path")?
        .call_method1("dirname", (py.import("os.path")?.call_method1("abspath", (package,))?,))?
        .extract()?;
    // `-I` keeps files of the working directory from being imported.
    let start = "import sys; sys.path.insert(0, sys.argv[1]); \
                 from repertoire._native import run_worker; run_worker()";
    let args = vec!["-I".into(), "-c".into(), start.into(), root.into_os_string()];
    Ok(program
        .filter(|program| !program.as_os_str().is_empty())
        .map(|program| HostProgram { program, args }))
}

/// The child process of a toolset; never returns.
#[pyfunction]
pub(crate) fn run_worker() {
    worker_main();
}
