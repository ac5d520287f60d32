//! Conversion between JSON and plain Python values.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::{Map, Number, Value};

use crate::text::whole;

/// The deepest nesting of a value, the same as in `serde_json`.
const MAX_DEPTH: usize = 128;

/// A JSON value as a field of a record.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Json(pub(crate) Value);

impl<'py> IntoPyObject<'py> for Json {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.0)
    }
}

impl<'py> FromPyObject<'_, 'py> for Json {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Json> {
        from_python(&value.to_owned()).map(Json)
    }
}

/// Converts a JSON value to a Python value.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(truth) => PyBool::new(py, *truth).to_owned().into_any(),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => number.into_pyobject(py)?.into_any(),
            (_, Some(number)) => number.into_pyobject(py)?.into_any(),
            _ => PyFloat::new(py, number.as_f64().unwrap_or(f64::NAN)).into_any(),
        },
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(items) => {
            let items: Vec<_> =
                items.iter().map(|item| to_python(py, item)).collect::<PyResult<_>>()?;
            PyList::new(py, items)?.into_any()
        }
        Value::Object(fields) => {
            let dict = PyDict::new(py);
            for (key, value) in fields {
                dict.set_item(key, to_python(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

/// Converts a Python value to JSON. Accepts dictionaries with strings as keys, lists, tuples, strings,
/// numbers, `True`, `False` and `None`.
pub(crate) fn from_python(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    read(value, 0)
}

fn read(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    if depth > MAX_DEPTH {
        return Err(PyValueError::new_err(format!("nested more than {MAX_DEPTH} levels deep")));
    }
    if value.is_none() {
        return Ok(Value::Null);
    }
    // In Python a bool is an int, so check for bool first.
    if let Ok(truth) = value.cast::<PyBool>() {
        return Ok(Value::Bool(truth.is_true()));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return whole(text).map(Value::String);
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(match value.extract::<i64>() {
            Ok(number) => number.into(),
            Err(_) => value.extract::<u64>()?.into(),
        });
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        let number = Number::from_f64(number.value());
        let refused = || PyValueError::new_err("a number that is infinite or not a number");
        return number.map(Value::Number).ok_or_else(refused);
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        let mut fields = Map::new();
        for (key, value) in dict.iter() {
            let key = key.cast::<PyString>().map_err(|_| {
                PyTypeError::new_err(format!("keys must be str, not {}", type_name(&key)))
            })?;
            fields.insert(key.to_str()?.to_owned(), read(&value, depth + 1)?);
        }
        return Ok(Value::Object(fields));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value.try_iter()?.map(|item| read(&item?, depth + 1));
        return items.collect::<PyResult<_>>().map(Value::Array);
    }
    Err(PyTypeError::new_err(format!("{} is not a JSON value", type_name(value))))
}

fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "a value".to_owned(), |name| name.to_string())
}
