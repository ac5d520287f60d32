//! The bridge from the engine's log events to Python's `logging`.

use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicU8, Ordering};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// The level of warnings, in Python's numbering.
const WARNING: u8 = 30;

/// The lowest level that is passed on, in Python's numbering.
static LEAST: AtomicU8 = AtomicU8::new(u8::MAX);

/// Passes the engine's log events of this level or above (10 debug, 20 info, 30 warning, 40 error) to
/// `logging`, to loggers below `repertoire`. A later call changes the level.
#[pyfunction]
#[pyo3(signature = (level = 30))]
pub(crate) fn enable_logging(level: Option<u8>) {
    LEAST.store(level.unwrap_or(WARNING), Ordering::Relaxed);
    // Only the first call sets the subscriber; one that the host has set stays.
    let _ = tracing::subscriber::set_global_default(Bridge);
}

struct Bridge;

fn number(level: Level) -> u8 {
    match level {
        Level::ERROR => 40,
        Level::WARN => WARNING,
        Level::INFO => 20,
        Level::DEBUG => 10,
        Level::TRACE => 5,
    }
}

impl Subscriber for Bridge {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && number(*metadata.level()) >= LEAST.load(Ordering::Relaxed)
    }

    fn register_callsite(
        &self,
        metadata: &'static Metadata<'static>,
    ) -> tracing::subscriber::Interest {
        // The level may change later, so tracing must not cache the answer.
        if metadata.is_event() {
            tracing::subscriber::Interest::sometimes()
        } else {
            tracing::subscriber::Interest::never()
        }
    }

    fn event(&self, event: &Event<'_>) {
        let mut text = Text::default();
        event.record(&mut text);
        let Text { message, fields } = text;
        let level = number(*event.metadata().level());
        let logger = event.metadata().target().replace("::", ".");
        // An exception in a logger must not fail the engine; `logging` reports it.
        Python::try_attach(|py| log(py, &logger, level, &(message + &fields)).ok());
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn log(py: Python<'_>, logger: &str, level: u8, text: &str) -> PyResult<()> {
    let logger = py.import("logging")?.call_method1("getLogger", (logger,))?;
    let kwargs = PyDict::new(py);
    kwargs.set_item("stacklevel", 1)?;
    logger.call_method("log", (level, "%s", text), Some(&kwargs)).map(drop)
}

/// The message of an event, followed by its other fields.
#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}
