//! Counts the skill files that a thread reads, from the library's log.

use std::cell::RefCell;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::Once;

use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, Subscriber, span};

thread_local! {
    static READ: RefCell<Option<Vec<PathBuf>>> = const { RefCell::new(None) };
}

/// The files read on this thread since the last query. A thread may have only one `Reads` at a time.
pub(crate) struct Reads(PhantomData<*const ()>);

impl Reads {
    #[expect(clippy::unused_self, reason = "it counts as long as this is there")]
    pub(crate) fn take(&self) -> Vec<PathBuf> {
        READ.with_borrow_mut(|read| read.as_mut().map(std::mem::take)).unwrap_or_default()
    }
}

impl Drop for Reads {
    fn drop(&mut self) {
        READ.set(None);
    }
}

/// Starts to count. One subscriber listens to all threads: if subscribers of single threads came and
/// went, `tracing` could conclude on another thread that nobody listens.
pub(crate) fn count() -> Reads {
    static LISTENING: Once = Once::new();
    LISTENING.call_once(|| tracing::subscriber::set_global_default(Counter).unwrap());
    READ.set(Some(Vec::new()));
    Reads(PhantomData)
}

struct Counter;

impl Subscriber for Counter {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && metadata.target().starts_with("repertoire")
    }

    fn event(&self, event: &Event<'_>) {
        let mut told = Told::default();
        event.record(&mut told);
        if told.message == "a skill file is read" {
            READ.with_borrow_mut(|read| {
                if let Some(read) = read {
                    read.push(told.path.into());
                }
            });
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
