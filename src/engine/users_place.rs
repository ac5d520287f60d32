//! The place of the user's own skills among those of a project, however many of them match.

use repertoire_text::request::Parts;

use super::snapshot::Snapshot;
use crate::catalog::{Entry, PlaceSet};
use crate::matcher::{Answer, Query, Selection};
use crate::session::SessionState;

impl Snapshot {
    /// Gives the last of the `n_places` best matches to the best of the user's own skills, if skills of a project have
    /// all of them: a project adds skills, and takes none away. The first place stays with the best.
    pub(super) fn with_users_place(
        &self,
        mut answer: Answer,
        query: &Query<'_>,
        parts: &Parts<'_>,
        state: &SessionState,
        n_places: usize,
    ) -> Answer {
        let is_full = self.listing.is_mixed() && n_places > 1 && answer.beyond.len() > n_places;
        let of_project = |id| self.listing.get(id).is_some_and(Entry::is_of_project);
        if !is_full || !answer.beyond[..n_places].iter().all(of_project) {
            return answer;
        }
        let selection = Selection { limit: 1, ..Selection::default() };
        let own = self.among_own();
        let best = self.select_among(query, parts, state, selection, Some(&own));
        let is_weak = |id| best.weak.binary_search(id).is_ok();
        let Some(id) = best.beyond.iter().find(|id| !is_weak(id)) else { return answer };
        if !answer.beyond.contains(id) {
            answer.words.extend(best.words.iter().filter(|word| *word == id).cloned());
            answer.attached.extend(best.attached.iter().filter(|(of, _)| of == id).cloned());
            answer.attached.sort_unstable();
        }
        answer.beyond.retain(|known| known != id);
        answer.beyond.insert(n_places - 1, id.clone());
        answer
    }

    /// The skills that are searched, without those of a project.
    fn among_own(&self) -> PlaceSet {
        let n_skills = self.whole.visible().len();
        let is_among = |place| self.among().is_none_or(|among| among.has(place));
        PlaceSet::of(n_skills, |place| is_among(place) && !self.whole.at(place).is_of_project())
    }
}
