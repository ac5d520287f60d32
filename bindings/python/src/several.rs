//! Arguments that take one value or several, and texts that may be paths.

use std::path::PathBuf;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// A list of values, or one value, which stands for a list of one: a `str` is also a sequence of `str` for
/// type checkers, so that it must not be an error when it runs. `None` does not count as a value.
#[derive(Debug)]
pub(crate) struct Several<T>(pub(crate) Vec<T>);

impl<T> Default for Several<T> {
    fn default() -> Several<T> {
        Several(Vec::new())
    }
}

impl<'py, T> FromPyObject<'_, 'py> for Several<T>
where
    T: for<'a> FromPyObject<'a, 'py>,
{
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Several<T>> {
        let value = value.to_owned();
        if value.is_none() {
            return Ok(Several::default());
        }
        if let Ok(one) = value.extract::<T>() {
            return Ok(Several(vec![one]));
        }
        let items = value.try_iter().map_err(|_| {
            let kind = value.get_type();
            let wrong = format!("expected one value or a sequence of them, not {kind}");
            PyTypeError::new_err(wrong)
        })?;
        let items = items.map(|item| item?.extract::<T>().map_err(Into::into));
        items.collect::<PyResult<_>>().map(Several)
    }
}

/// A path that the engine compares as text: a `str` or an `os.PathLike`, separated by `/`.
#[derive(Debug)]
pub(crate) struct PathText(pub(crate) String);

impl<'py> FromPyObject<'_, 'py> for PathText {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<PathText> {
        if let Ok(text) = value.extract::<String>() {
            return Ok(PathText(text));
        }
        let path = value.extract::<PathBuf>()?;
        let parts = path.iter().map(|part| part.to_string_lossy());
        let text = parts.collect::<Vec<_>>().join("/");
        // The first part of an absolute path is the separator itself.
        let text = text.strip_prefix('/').filter(|rest| rest.starts_with('/')).unwrap_or(&text);
        Ok(PathText(text.to_owned()))
    }
}

impl Several<PathText> {
    pub(crate) fn texts(self) -> Vec<String> {
        self.0.into_iter().map(|path| path.0).collect()
    }
}
