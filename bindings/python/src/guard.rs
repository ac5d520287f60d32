//! What runs beside an engine until it is closed.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use repertoire_bindings::repertoire as engine;

/// Keeps a guard until it is closed, with or without `with`.
macro_rules! guard {
    ($(#[$meta:meta])* $name:ident($guard:ty)) => {
        $(#[$meta])*
        #[pyclass(frozen, module = "repertoire")]
        pub(crate) struct $name(pub(crate) Mutex<Option<$guard>>);

        #[pymethods]
        impl $name {
            /// Ends it.
            fn close(&self, py: Python<'_>) {
                let guard = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
                // Its end may wait for a thread that wants the interpreter.
                py.detach(|| drop(guard));
            }

            fn __enter__(slf: Py<Self>) -> Py<Self> {
                slf
            }

            #[pyo3(signature = (*_args))]
            fn __exit__(&self, py: Python<'_>, _args: &Bound<'_, PyTuple>) {
                self.close(py);
            }
        }
    };
}

guard! {
    /// Keeps a listener of `Engine.subscribe`.
    Subscription(engine::engine::Subscription)
}

guard! {
    /// Keeps an engine up to date; see `Engine.watch`.
    Watch(engine::Watch)
}
