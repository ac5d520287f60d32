//! The checksum of a row, which detects changes that `SQLite` does not notice.
//!
//! `SQLite` has no checksums of its own: a flipped bit in a number or a key leaves a database that
//! passes all its checks. The order of the skills is not covered, as the database assigns it.

use repertoire::session::SkillState;
use repertoire::skill::SkillId;

/// The checksum of the row that holds `state` in `session`.
pub(super) fn of(session: &str, state: &SkillState) -> i64 {
    let mut hasher = crc32fast::Hasher::new();
    let mut text = |text: Option<&str>| {
        // The length separates adjacent texts.
        hasher.update(&text.map_or(u64::MAX, |text| text.len() as u64).to_le_bytes());
        hasher.update(text.unwrap_or_default().as_bytes());
    };
    text(Some(session));
    text(Some(state.skill.as_str()));
    text(state.activated_by.as_ref().map(SkillId::as_str));
    let SkillState { uses, activations, body, joined, .. } = *state;
    for number in [Some(uses), Some(activations), body, joined] {
        hasher.update(&[u8::from(number.is_some())]);
        hasher.update(&number.unwrap_or_default().to_le_bytes());
    }
    let SkillState { in_context, lost, consented, listed, .. } = *state;
    hasher.update(&[in_context, lost, consented, listed].map(u8::from));
    hasher.finalize().into()
}
