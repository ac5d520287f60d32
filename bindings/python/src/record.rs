//! Records: results that are plain values in Python, with equality, `match`, pickling and `to_dict`.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

/// Defines a Python class with read-only fields, which its constructor takes in this order. Additional
/// methods may follow the fields.
macro_rules! record {
    (
        $(#[$meta:meta])*
        $name:ident { $($(#[$field_meta:meta])* $field:ident: $type:ty),+ $(,)? }
        $({ $($methods:tt)* })?
    ) => {
        $(#[$meta])*
        #[pyo3::pyclass(frozen, eq, get_all, from_py_object, module = "repertoire")]
        #[derive(Debug, Clone, PartialEq)]
        #[allow(clippy::struct_field_names, clippy::allow_attributes)] // the names of the engine
        pub(crate) struct $name {
            $($(#[$field_meta])* pub(crate) $field: $type),+
        }

        #[pyo3::pymethods]
        impl $name {
            #[new]
            #[expect(clippy::too_many_arguments, reason = "one for each field")]
            #[allow(unfulfilled_lint_expectations, clippy::allow_attributes)]
            fn new($($field: $type),+) -> Self {
                Self { $($field),+ }
            }

            #[classattr]
            fn __match_args__(py: pyo3::Python<'_>) -> pyo3::PyResult<pyo3::Py<pyo3::PyAny>> {
                let names = [$(stringify!($field)),+];
                Ok(pyo3::types::PyTuple::new(py, names)?.into_any().unbind())
            }

            fn __reduce__<'py>(
                slf: &pyo3::Bound<'py, Self>,
            ) -> pyo3::PyResult<crate::record::Reduced<'py>> {
                crate::record::reduce(slf.as_any(), &[$(stringify!($field)),+])
            }

            fn __repr__(slf: &pyo3::Bound<'_, Self>) -> pyo3::PyResult<String> {
                crate::record::represent(slf.as_any(), &[$(stringify!($field)),+])
            }

            /// Returns the fields as a dictionary of plain values that can be written as JSON.
            fn to_dict<'py>(
                slf: &pyo3::Bound<'py, Self>,
            ) -> pyo3::PyResult<pyo3::Bound<'py, pyo3::types::PyDict>> {
                crate::record::to_dict(slf.as_any(), &[$(stringify!($field)),+])
            }

            $($($methods)*)?
        }
    };
}

pub(crate) use record;

/// Converts ids, or other values that can be displayed, to strings.
pub(crate) fn texts<T: ToString>(items: impl IntoIterator<Item = T>) -> Vec<String> {
    items.into_iter().map(|item| item.to_string()).collect()
}

/// A class and the arguments that rebuild the same value, as pickle requires them.
pub(crate) type Reduced<'py> = (Bound<'py, PyAny>, Bound<'py, PyTuple>);

pub(crate) fn reduce<'py>(value: &Bound<'py, PyAny>, fields: &[&str]) -> PyResult<Reduced<'py>> {
    let values: Vec<_> =
        fields.iter().map(|field| value.getattr(*field)).collect::<PyResult<_>>()?;
    Ok((value.get_type().into_any(), PyTuple::new(value.py(), values)?))
}

pub(crate) fn represent(value: &Bound<'_, PyAny>, fields: &[&str]) -> PyResult<String> {
    let shown = fields.iter().map(|field| {
        let text = value.getattr(*field)?.repr()?;
        Ok(format!("{field}={}", text.to_str()?))
    });
    let shown: Vec<String> = shown.collect::<PyResult<_>>()?;
    Ok(format!("{}({})", value.get_type().name()?.to_str()?, shown.join(", ")))
}

pub(crate) fn to_dict<'py>(
    value: &Bound<'py, PyAny>,
    fields: &[&str],
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(value.py());
    for field in fields {
        dict.set_item(field, plain(value.getattr(*field)?)?)?;
    }
    Ok(dict)
}

/// Returns the value with its records converted to dictionaries.
fn plain(value: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    if let Ok(list) = value.cast::<PyList>() {
        let items: Vec<_> = list.iter().map(plain).collect::<PyResult<_>>()?;
        return Ok(PyList::new(value.py(), items)?.into_any());
    }
    if value.hasattr("__fspath__")? {
        return value.str().map(Bound::into_any);
    }
    if value.hasattr("to_dict")? { value.call_method0("to_dict") } else { Ok(value) }
}
