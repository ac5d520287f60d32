//! The arguments of a skill, as hosts write them.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use repertoire_bindings::repertoire::activation::text_of_arguments;

use crate::json::from_python;

/// The arguments of a skill: a `str`, a number, or a list of them, as a model may give them.
#[derive(Debug)]
pub(crate) struct Arguments(pub(crate) String);

impl<'py> FromPyObject<'_, 'py> for Arguments {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Arguments> {
        let json = from_python(&value.to_owned()).ok();
        json.as_ref().and_then(text_of_arguments).map(Arguments).ok_or_else(|| {
            let kind = value.get_type().name().map(|name| name.to_string()).unwrap_or_default();
            PyTypeError::new_err(format!(
                "`args` is a str, a number, or a list of them, not {kind}"
            ))
        })
    }
}
