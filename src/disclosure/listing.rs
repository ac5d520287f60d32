//! The listing: the skills that may be disclosed to the model.

use std::collections::HashMap;
use std::sync::Arc;

use crate::catalog::{Audience, Catalog, Entry};
use crate::skill::SkillId;

/// The skills that may be disclosed to the model. Made once per catalog, so that the cost of a
/// disclosure grows with the number of skills shown, not with the size of the catalog.
#[derive(Debug)]
pub(crate) struct Listing {
    catalog: Arc<Catalog>,
    /// The positions of the skills in the catalog, in the order of ids.
    visible: Vec<usize>,
    /// The index into `visible` of each skill. A hash map, as a binary search would wait for memory at
    /// each step.
    places: HashMap<SkillId, usize>,
    /// The indices into `visible` of the skills that declare no triggers.
    untriggered: Vec<usize>,
    /// True if some skills are those of a project, and some are not.
    is_mixed: bool,
}

impl Listing {
    /// Lists the skills of `catalog` that the model may know of.
    pub(crate) fn new(catalog: Arc<Catalog>) -> Listing {
        let (mut visible, mut untriggered) = (Vec::new(), Vec::new());
        for (place, entry) in catalog.listed_places(Audience::Model) {
            if !entry.skill.declares_triggers() {
                untriggered.push(visible.len());
            }
            visible.push(place);
        }
        let ids = visible.iter().map(|place| catalog.at(*place).id.clone());
        let places = ids.zip(0..).collect();
        let n_of_project =
            visible.iter().filter(|place| catalog.at(**place).is_of_project()).count();
        let is_mixed = (1..visible.len()).contains(&n_of_project);
        Listing { catalog, visible, places, untriggered, is_mixed }
    }

    /// The catalog whose skills are listed.
    pub(crate) fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The index of a skill in the order of ids; `None` if it is not listed.
    pub(crate) fn place(&self, id: &SkillId) -> Option<usize> {
        self.places.get(id).copied()
    }

    /// Number of skills.
    pub(super) fn len(&self) -> usize {
        self.visible.len()
    }

    /// The skills, in the order of ids.
    pub(crate) fn visible(&self) -> impl ExactSizeIterator<Item = &Entry> {
        self.visible.iter().map(|place| self.catalog.at(*place))
    }

    /// Tells whether skills of a project stand beside the user's.
    pub(crate) fn is_mixed(&self) -> bool {
        self.is_mixed
    }

    /// The user's own skills, then those of a project, each in the order of ids: where not all have room, a project
    /// takes none from the user's.
    pub(super) fn own_first(&self) -> impl Iterator<Item = &Entry> {
        let own = self.visible().filter(|entry| !entry.is_of_project());
        own.chain(self.visible().filter(|entry| entry.is_of_project()))
    }

    /// The skill at this place in the order of ids.
    pub(crate) fn at(&self, place: usize) -> &Entry {
        self.catalog.at(self.visible[place])
    }

    /// The skill with this id.
    pub(crate) fn get(&self, id: &SkillId) -> Option<&Entry> {
        self.places.get(id).map(|place| self.at(*place))
    }

    /// Returns the skill with this id, even if only the user can activate it: once shown for the user,
    /// such a skill may be shown again.
    pub(crate) fn get_for_anyone(&self, id: &SkillId) -> Option<&Entry> {
        let is_for_user = |of: &&Entry| of.is_available() && of.is_loadable(Audience::User);
        self.get(id).or_else(|| self.catalog.get(id.as_str()).filter(is_for_user))
    }

    pub(super) fn has(&self, id: &SkillId) -> bool {
        self.places.contains_key(id)
    }

    /// The skills that declare no triggers, in the order of ids.
    pub(super) fn untriggered(&self) -> impl ExactSizeIterator<Item = &Entry> {
        self.untriggered.iter().map(|place| self.at(*place))
    }
}
