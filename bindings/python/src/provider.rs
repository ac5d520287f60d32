//! Providers of the host: objects with `list` and `read`, and dictionaries of files.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};
use repertoire_bindings::repertoire::Error;
use repertoire_bindings::repertoire::catalog::{ProvidedFile, Provider};

use crate::error::reported_callback;

/// The name of a provider in error messages.
const PROVIDER: &str = "the provider";

/// An object with `list()`, which returns pairs of a path and a revision or a mapping, and `read(path)`, which
/// returns `bytes` or `str`.
#[derive(Debug)]
pub(crate) struct PythonProvider(pub(crate) Py<PyAny>);

impl Provider for PythonProvider {
    fn list(&self) -> Result<Vec<ProvidedFile>, Error> {
        reported_callback(PROVIDER, |py| {
            let listed = self.0.bind(py).call_method0("list")?;
            let listed =
                if listed.hasattr("items")? { listed.call_method0("items")? } else { listed };
            listed.try_iter()?.map(|item| file(&item?)).collect()
        })
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, Error> {
        reported_callback(PROVIDER, |py| content(&self.0.bind(py).call_method1("read", (path,))?))
    }
}

fn file(item: &Bound<'_, PyAny>) -> PyResult<ProvidedFile> {
    let (path, revision) = item.extract::<(String, Bound<'_, PyAny>)>().map_err(|_| {
        let wrong =
            "`list` returns pairs of a path and a revision, or a mapping of paths to revisions";
        PyTypeError::new_err(wrong)
    })?;
    Ok(ProvidedFile::new(path, revision.str()?.to_string()))
}

/// A dictionary of files: texts, bytes, or functions that return one of them when the file is read.
#[derive(Debug)]
pub(crate) struct PythonFiles(pub(crate) Py<PyDict>);

impl Provider for PythonFiles {
    fn list(&self) -> Result<Vec<ProvidedFile>, Error> {
        reported_callback(PROVIDER, |py| {
            let files = self.0.bind(py).items().into_iter();
            let file = |item: Bound<'_, PyAny>| {
                let (path, content) = item.extract::<(String, Bound<'_, PyAny>)>()?;
                // A function that was replaced is another object.
                let revision = content.hash()?;
                Ok(ProvidedFile::new(path, revision.to_string()))
            };
            files.map(file).collect()
        })
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, Error> {
        reported_callback(PROVIDER, |py| {
            let value = self.0.bind(py).as_any().get_item(path)?;
            let value = if value.is_callable() { value.call0()? } else { value };
            content(&value)
        })
    }
}

fn content(value: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(text.to_str()?.as_bytes().to_vec());
    }
    let bytes = value.cast::<PyBytes>().map_err(|_| {
        let kind = value.get_type();
        PyTypeError::new_err(format!("the content of a file is `bytes` or `str`, not {kind}"))
    })?;
    Ok(bytes.as_bytes().to_vec())
}
