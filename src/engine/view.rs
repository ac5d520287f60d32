//! Views: the engines of several roles over one catalog, one index and one watch.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use arc_swap::ArcSwap;

use super::listeners::Listeners;
use super::{Counters, Engine, Snapshot};
use crate::catalog::reload::Memory;
use crate::catalog::{Allowlist, Refreshed};

/// The skills that exist for a role, and whatever is kept for each role.
pub(super) struct View {
    /// The skills of the engine that exist in the view.
    allowlist: Allowlist,
    pub(super) snapshot: ArcSwap<Snapshot>,
    pub(super) listeners: Listeners,
    pub(super) counters: Counters,
}

impl View {
    fn new(allowlist: Allowlist, snapshot: Snapshot) -> View {
        let snapshot = ArcSwap::from_pointee(snapshot);
        View { allowlist, snapshot, listeners: Listeners::default(), counters: Counters::default() }
    }
}

/// The views of an engine.
pub(super) struct Views {
    /// The view of all skills of the engine.
    pub(super) whole: Arc<View>,
    /// The other views. Views are made and updated under this lock, so that none misses a refresh.
    narrow: Mutex<Vec<Weak<View>>>,
}

impl Views {
    pub(super) fn new(snapshot: Snapshot) -> Views {
        let whole = Arc::new(View::new(Allowlist::default(), snapshot));
        Views { whole, narrow: Mutex::default() }
    }

    fn add(&self, allowlist: Allowlist) -> Arc<View> {
        let mut narrow = self.narrow.lock().unwrap_or_else(PoisonError::into_inner);
        let snapshot = self.whole.snapshot.load().narrowed(&allowlist);
        let view = Arc::new(View::new(allowlist, snapshot));
        narrow.retain(|known| known.strong_count() > 0);
        narrow.push(Arc::downgrade(&view));
        view
    }

    /// Replaces the snapshots of all views by `next`, if there is one, and returns the changes that each view
    /// sees; `memory` is that of the load that made `next`.
    pub(super) fn update(
        &self,
        next: Option<&Snapshot>,
        memory: &Memory,
    ) -> Vec<(Arc<View>, Refreshed)> {
        let narrow = self.narrow.lock().unwrap_or_else(PoisonError::into_inner);
        let narrow = narrow.iter().filter_map(Weak::upgrade);
        let update = |view: Arc<View>| {
            let before = view.snapshot.load_full();
            if let Some(next) = next {
                let is_whole = Arc::ptr_eq(&view, &self.whole);
                let next = if is_whole { next.clone() } else { next.narrowed(&view.allowlist) };
                view.snapshot.store(Arc::new(next));
            }
            let now = view.snapshot.load();
            let refreshed = Refreshed::between(&before.catalog, &now.catalog, memory);
            drop(now);
            (view, refreshed)
        };
        [Arc::clone(&self.whole)].into_iter().chain(narrow).map(update).collect()
    }
}

impl Engine {
    /// The engine of a role, for which only the skills of this engine exist that `allowlist` names: others are
    /// not listed, matched or loaded, and their tools cannot be called. Whatever takes an engine takes a view,
    /// so that a role has its own prompt, turns, tools, and tokens of an MCP server.
    ///
    /// A view shares everything but the list of its skills with this engine: catalog, indexes, sessions,
    /// processes of toolsets, and the watch. It follows each [refresh](Engine::refresh), on whichever view that
    /// was called, and counts on its own ([`Engine::counts`]). Making one takes well under a millisecond per
    /// hundred skills. Messages are ranked as by an engine with this allowlist, except that relevance weighs
    /// words by how many of all skills have them.
    ///
    /// ```
    /// use repertoire::{Allowlist, Engine, Source};
    ///
    /// let engine = Engine::builder().source(Source::bundled("skills")).build()?;
    /// let writer = engine.view(Allowlist::from_entries(Some(&["commit-message"])));
    /// assert_eq!(writer.prompt().included, ["commit-message"]);
    /// assert!(writer.activate("code-review", "", &writer.session("chat-7")).is_err());
    /// assert!(engine.activate("code-review", "", &engine.session("chat-8")).is_ok());
    /// # Ok::<(), repertoire::Error>(())
    /// ```
    #[must_use]
    pub fn view(&self, allowlist: Allowlist) -> Engine {
        let allowlist = self.1.allowlist.clone().and(allowlist);
        Engine(Arc::clone(&self.0), self.0.views.add(allowlist))
    }

    /// The engine of which this is a view; or this one, if it is not a view.
    pub(super) fn whole(&self) -> Engine {
        Engine(Arc::clone(&self.0), Arc::clone(&self.0.views.whole))
    }
}
