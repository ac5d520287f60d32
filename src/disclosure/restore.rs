//! Restoring of skills whose instructions were lost when the context of a session was made shorter.

use super::budget::Meter;
use super::reason::{Reason, Rejection};
use super::render::Format;
use crate::catalog::Entry;

/// The skills shown again, and those for which there was no room.
#[derive(Debug, Default)]
pub(super) struct Restored<'a> {
    pub(super) full: Vec<&'a Entry>,
    pub(super) too_long: Vec<&'a Entry>,
}

/// Takes of `lost`, the last used first, those whose full text there is room for together.
pub(super) fn restore<'a>(
    lost: impl Iterator<Item = &'a Entry>,
    format: Format,
    meter: &Meter<'_>,
) -> Restored<'a> {
    let mut restored = Restored::default();
    let mut room = meter.limit;
    for entry in lost {
        // One that cannot be read costs nothing; making the text says so.
        let text = entry.skill.body().map(|body| format.full(entry, body)).unwrap_or_default();
        let cost = meter.cost(&text);
        if cost <= room {
            room -= cost;
            restored.full.push(entry);
        } else {
            restored.too_long.push(entry);
        }
    }
    restored
}

impl Restored<'_> {
    /// The reasons why some are not shown again in full.
    pub(super) fn rejections(&self) -> impl Iterator<Item = Rejection> {
        self.too_long.iter().map(|entry| Rejection::new(&entry.id, Reason::OverRestoreBudget))
    }
}
