//! Refresh: reads the sources again while queries go on.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::Engine;
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
        let refreshed = {
            let mut memory = inner.memory.lock().unwrap_or_else(PoisonError::into_inner);
            if memory.is_current(&inner.sources.environment) && !self.has_new_findings() {
                return Ok(Refreshed::default());
            }
            let span = spans::reload();
            let refreshed = spans::within(&span, || self.reload(&mut memory))?;
            let Refreshed { added, changed, removed, kept } = &refreshed;
            for (field, skills) in
                [("added", added), ("changed", changed), ("removed", removed), ("kept", kept)]
            {
                span.record(field, spans::int(skills.len()));
            }
            refreshed
        };
        if !refreshed.is_empty() {
            let Refreshed { added, changed, removed, kept } = &refreshed;
            for skill in kept {
                tracing::warn!(%skill, "a skill no longer loads and stays as it was");
            }
            tracing::info!(?added, ?changed, ?removed, ?kept, "skills were refreshed");
            inner.listeners.tell(&refreshed);
        }
        Ok(refreshed)
    }

    /// Reads what changed since `memory` was made, and replaces the snapshot and `memory`.
    fn reload(&self, memory: &mut Memory) -> Result<Refreshed, Error> {
        let inner = &*self.0;
        let (catalog, now) = reload::load_again(&self.options_now(), memory);
        let before = self.catalog();
        let refreshed = Refreshed::between(&before, &catalog, &now);
        if !catalog.is_the_same_as(&before) {
            let next = self.snapshot().next(catalog, &inner.index)?;
            if let Some(Err(error)) = inner.retriever.as_ref().map(|of| next.retrieval(&**of)) {
                tracing::warn!(%error, "skills are ranked without the host's retriever");
            }
            inner.snapshot.store(Arc::new(next));
            #[cfg(feature = "toolsets")]
            self.retire_toolsets();
        }
        *memory = now;
        Ok(refreshed)
    }

    /// Calls `listener` after each [`Engine::refresh`] of this engine or a clone that found changes, on
    /// the thread that refreshed, until the subscription is dropped.
    pub fn subscribe(&self, listener: impl Fn(&Refreshed) + Send + Sync + 'static) -> Subscription {
        let listener: Arc<Listener> = Arc::new(listener);
        self.0.listeners.add(&listener);
        Subscription(listener)
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
