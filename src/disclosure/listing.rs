//! The listing: the skills that may be disclosed to the model.

use std::collections::HashMap;
use std::sync::Arc;

use crate::catalog::{Audience, Catalog, Entry};
use crate::skill::SkillId;

/// The skills that may be disclosed to the model. Made once, so that the cost of a disclosure grows
/// with the skills shown, not with all.
#[derive(Debug)]
pub(crate) struct Listing {
    catalog: Arc<Catalog>,
    /// Their places in the catalog, in the order of ids.
    visible: Vec<usize>,
    /// The place of each among these: a search by order would wait for memory at each step.
    places: HashMap<SkillId, usize>,
    /// The places among these of those without triggers.
    untriggered: Vec<usize>,
}

impl Listing {
    /// Lists what `catalog` has for the model.
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
        Listing { catalog, visible, places, untriggered }
    }

    /// Number of skills.
    pub(super) fn len(&self) -> usize {
        self.visible.len()
    }

    /// The skills, in the order of ids.
    pub(crate) fn visible(&self) -> impl ExactSizeIterator<Item = &Entry> {
        self.visible.iter().map(|place| self.catalog.at(*place))
    }

    /// The skill at this place in the order of ids.
    pub(crate) fn at(&self, place: usize) -> &Entry {
        self.catalog.at(self.visible[place])
    }

    /// The skill with this id.
    pub(crate) fn get(&self, id: &SkillId) -> Option<&Entry> {
        self.place(id).map(|place| self.at(place))
    }

    /// The same, also for a skill that only the user can activate: once shown for the user, it may
    /// be shown again.
    pub(crate) fn get_for_anyone(&self, id: &SkillId) -> Option<&Entry> {
        let is_for_user = |of: &&Entry| of.is_available() && of.is_loadable(Audience::User);
        self.get(id).or_else(|| self.catalog.get(id.as_str()).filter(is_for_user))
    }

    pub(super) fn has(&self, id: &SkillId) -> bool {
        self.place(id).is_some()
    }

    fn place(&self, id: &SkillId) -> Option<usize> {
        self.places.get(id).copied()
    }

    /// Those that declare no triggers, in the order of ids.
    pub(super) fn untriggered(&self) -> impl ExactSizeIterator<Item = &Entry> {
        self.untriggered.iter().map(|place| self.at(*place))
    }
}
