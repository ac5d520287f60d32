//! Refresh: reads the sources again while queries go on.

use std::sync::{Arc, PoisonError};

use tracing::Span;

use super::view::View;
use super::{Engine, Subscription};
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
            if memory.is_current(&inner.sources) && !self.has_new_findings() {
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
        let seen = inner.views.update(next.as_ref(), &now);
        #[cfg(feature = "toolsets")]
        if next.is_some() {
            whole.retire_toolsets();
        }
        *memory = now;
        Ok(seen)
    }

    /// Calls `listener` after each [`Engine::refresh`] of this engine, a clone or a view that found changes
    /// among the skills that exist here, on the thread that refreshed, until the subscription is dropped.
    pub fn subscribe(&self, listener: impl Fn(&Refreshed) + Send + Sync + 'static) -> Subscription {
        self.1.listeners.add(listener)
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
