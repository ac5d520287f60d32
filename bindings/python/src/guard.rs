//! Guards for work beside an engine, such as watching, that lasts until the guard is closed.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use repertoire_bindings::repertoire as engine;

/// Defines a Python class that holds a guard until it is closed, explicitly or by `with`.
macro_rules! guard {
    ($(#[$meta:meta])* $name:ident($guard:ty)) => {
        $(#[$meta])*
        #[pyclass(frozen, module = "repertoire")]
        pub(crate) struct $name(pub(crate) Mutex<Option<$guard>>);

        #[pymethods]
        impl $name {
            /// Ends the subscription or the watch.
            fn close(&self, py: Python<'_>) {
                let guard = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
                // Dropping the guard may wait for a thread that needs the interpreter.
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
    /// A subscription made by `Engine.subscribe`.
    Subscription(engine::engine::Subscription)
}

guard! {
    /// A watch that keeps an engine up to date; see `Engine.watch`.
    Watch(engine::Watch)
}
