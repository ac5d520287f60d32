//! Which skill files this thread reads, as the library logs it.

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Metadata, Subscriber, span};

/// The files that were read since this was last asked.
pub(crate) struct Reads {
    files: Arc<Mutex<Vec<PathBuf>>>,
    _counting: DefaultGuard,
}

impl Reads {
    pub(crate) fn take(&self) -> Vec<PathBuf> {
        std::mem::take(&mut self.files.lock().unwrap())
    }
}

/// Counts from now on.
pub(crate) fn count() -> Reads {
    let files: Arc<Mutex<Vec<PathBuf>>> = Arc::default();
    let counting = tracing::subscriber::set_default(Counter(Arc::clone(&files)));
    Reads { files, _counting: counting }
}

struct Counter(Arc<Mutex<Vec<PathBuf>>>);

impl Subscriber for Counter {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && metadata.target().starts_with("repertoire")
    }

    fn event(&self, event: &Event<'_>) {
        let mut told = Told::default();
        event.record(&mut told);
        if told.message == "a skill file is read" {
            self.0.lock().unwrap().push(PathBuf::from(told.path));
        }
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

#[derive(Default)]
struct Told {
    message: String,
    path: String,
}

impl Visit for Told {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        match field.name() {
            "message" => self.message = format!("{value:?}"),
            "path" => self.path = format!("{value:?}"),
            _ => {}
        }
    }
}
