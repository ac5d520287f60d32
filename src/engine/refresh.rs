//! Refresh: reads the sources again while queries go on.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tracing::Span;

use super::Engine;
use super::view::View;
use crate::catalog::Refreshed;
use crate::catalog::reload::{self, Memory};
use crate::error::Error;
use crate::spans;

impl Engine {
    /// Takes up the changes in the sources since they were last read: skills that were added, changed,
    /// or removed. Unchanged files are not read again; if nothing changed, no file is read. The result
    /// is the same as that of a first load, except that a skill whose file no longer loads stays as it
    /// was, with a diagnostic (`kept-before`).
    ///
    /// Other threads can query this engine and its clones during a refresh: each call sees the skills
    /// either as they were before it, or as they are after it. Tools of removed skills can no longer be
    /// called.
    ///
    /// A refresh of a [view](Engine::view), or of its engine, is one of all views. Each tells only the changes
    /// of skills that exist in it.
    ///
    /// Fails as [`EngineBuilder::build`](super::EngineBuilder::build) does, and then leaves everything
    /// as it was.
    ///
    /// ```
    /// use repertoire::{Engine, Source};
    ///
    /// let dir = tempfile::tempdir()?;
    /// let engine = Engine::builder().source(Source::user(dir.path())).build()?;
    /// std::fs::create_dir(dir.path().join("ship"))?;
    /// std::fs::write(dir.path().join("ship/SKILL.md"), "---\ndescription: Ships.\n---\n")?;
    ///
    /// let refreshed = engine.refresh()?;
    /// assert_eq!(refreshed.added, ["ship"]);
    /// assert!(engine.refresh()?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn refresh(&self) -> Result<Refreshed, Error> {
        let inner = &*self.0;
        let seen = {
            let mut memory = inner.memory.lock().unwrap_or_else(PoisonError::into_inner);
            if memory.is_current(&inner.sources.environment) && !self.has_new_findings() {
                return Ok(Refreshed::default());
            }
            let span = spans::reload();
            let seen = spans::within(&span, || self.reload(&mut memory))?;
            if let Some((_, refreshed)) = seen.first() {
                note(refreshed, &span);
            }
            seen
        };
        if let Some((_, refreshed)) = seen.first() {
            log(refreshed);
        }
        for (view, refreshed) in seen.iter().filter(|(_, refreshed)| !refreshed.is_empty()) {
            view.listeners.tell(refreshed);
        }
        let own = seen.into_iter().find(|(view, _)| Arc::ptr_eq(view, &self.1));
        Ok(own.map(|(_, refreshed)| refreshed).unwrap_or_default())
    }

    /// Reads what changed since `memory` was made, and replaces the snapshots and `memory`. Returns the changes
    /// that each view sees; that of all skills comes first.
    fn reload(&self, memory: &mut Memory) -> Result<Vec<(Arc<View>, Refreshed)>, Error> {
        let (inner, whole) = (&*self.0, self.whole());
        let (catalog, now) = reload::load_again(&self.options_now(), memory);
        let next = if catalog.is_the_same_as(&whole.catalog()) {
            None
        } else {
            let next = whole.snapshot().next(catalog, &inner.index)?;
            if let Some(Err(error)) = inner.retriever.as_ref().map(|of| next.retrieval(&**of)) {
                tracing::warn!(%error, "skills are ranked without the host's retriever");
            }
            Some(next)
        };
        #[cfg(feature = "toolsets")]
        let is_new = next.is_some();
        let seen = inner.views.update(next, &now);
        #[cfg(feature = "toolsets")]
        if is_new {
            whole.retire_toolsets();
        }
        *memory = now;
        Ok(seen)
    }

    /// Calls `listener` after each [`Engine::refresh`] of this engine, a clone or a view that found changes
    /// among the skills that exist here, on the thread that refreshed, until the subscription is dropped.
    pub fn subscribe(&self, listener: impl Fn(&Refreshed) + Send + Sync + 'static) -> Subscription {
        let listener: Arc<Listener> = Arc::new(listener);
        self.1.listeners.add(&listener);
        Subscription(listener)
    }
}

/// Records the changes of a refresh in its span.
fn note(refreshed: &Refreshed, span: &Span) {
    let Refreshed { added, changed, removed, kept } = refreshed;
    for (field, skills) in
        [("added", added), ("changed", changed), ("removed", removed), ("kept", kept)]
    {
        span.record(field, spans::int(skills.len()));
    }
}

fn log(refreshed: &Refreshed) {
    let Refreshed { added, changed, removed, kept } = refreshed;
    for skill in kept {
        tracing::warn!(%skill, "a skill no longer loads and stays as it was");
    }
    if !refreshed.is_empty() {
        tracing::info!(?added, ?changed, ?removed, ?kept, "skills were refreshed");
    }
}

type Listener = dyn Fn(&Refreshed) + Send + Sync;

/// A guard that keeps a listener of [`Engine::subscribe`] until it is dropped.
#[must_use = "a listener hears nothing more when its subscription is dropped"]
pub struct Subscription(#[expect(dead_code, reason = "it is kept alive")] Arc<Listener>);

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Subscription")
    }
}

/// The listeners to changes.
#[derive(Default)]
pub(super) struct Listeners(Mutex<Vec<Weak<Listener>>>);

impl Listeners {
    fn add(&self, listener: &Arc<Listener>) {
        let mut listeners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|known| known.strong_count() > 0);
        listeners.push(Arc::downgrade(listener));
    }

    fn tell(&self, refreshed: &Refreshed) {
        // Listeners are called without the lock, as a listener may subscribe another one.
        let listeners: Vec<Arc<Listener>> = {
            let listeners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            listeners.iter().filter_map(Weak::upgrade).collect()
        };
        for listener in listeners {
            if catch_unwind(AssertUnwindSafe(|| listener(refreshed))).is_err() {
                tracing::warn!("a listener for changes of skills panicked");
            }
        }
    }
}
