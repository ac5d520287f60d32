//! Restores the skills whose instructions were lost when the context of a session was shortened.

use super::budget::Meter;
use super::case::{Case, Vetoes};
use super::matched::Matched;
use super::reason::{Reason, Rejection};
use crate::catalog::Entry;
use crate::skill::SkillId;

/// The skills that the session lost and that no trigger of the message shows again.
#[derive(Debug, Default)]
pub(super) struct Lost<'a> {
    /// The skills to show again in full, the last used first.
    pub(super) full: Vec<&'a Entry>,
    /// The skills to show in a line, as their full text does not fit.
    pub(super) lines: Vec<&'a Entry>,
    /// The skills of `full` that only the user may know of.
    pub(super) unlisted: Vec<SkillId>,
    /// The reasons why some skills are not in full.
    pub(super) rejections: Vec<Rejection>,
    /// The skills that wait for the next message, as this one vetoes or denies them or ranks them below the
    /// limit.
    pub(super) postponed: Vec<SkillId>,
}

/// Restores the skills that the session lost, as far as there is `room` for their full texts.
pub(super) fn lost<'a>(
    case: &Case<'a, '_>,
    matched: &Matched<'_>,
    vetoes: &mut Vetoes,
    room: &Meter<'_>,
) -> Lost<'a> {
    let is_shown = |id: &SkillId| matched.full.iter().any(|entry| entry.id == *id);
    let known = case.state.skills.iter().filter(|known| known.lost && !is_shown(&known.skill));
    let mut lost = Lost::default();
    let mut left = room.limit;
    for entry in known.filter_map(|known| case.listing.get_for_anyone(&known.skill)) {
        if !entry.skill.manifest().is_restored() {
            lost.rejections.push(Rejection::new(&entry.id, Reason::NotRestored));
            continue;
        }
        if let Some(reason @ Reason::LineOnly { .. }) = (case.evidence.withheld)(entry) {
            lost.rejections.push(Rejection::new(&entry.id, reason));
            lost.lines.push(entry);
            continue;
        }
        let is_beyond = matched.beyond.contains(&entry.id);
        if is_beyond || case.denies(&entry.id) || vetoes.veto_lost(entry, case) {
            lost.postponed.push(entry.id.clone());
            continue;
        }
        // A skill that cannot be read costs nothing here; the error is reported when its text is
        // rendered.
        let format = case.options.format;
        let text = entry.skill.body().map(|body| format.full(entry, body)).unwrap_or_default();
        let cost = room.cost(&text);
        if cost <= left {
            left -= cost;
            lost.full.push(entry);
            if !case.listing.has(&entry.id) {
                lost.unlisted.push(entry.id.clone());
            }
        } else {
            lost.rejections.push(Rejection::new(&entry.id, Reason::OverRestoreBudget));
            if case.listing.has(&entry.id) {
                lost.lines.push(entry);
            }
        }
    }
    lost
}
