//! The record of a session on a server: JSON, one object for each skill, the last used first.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use repertoire::session::{SessionState, SkillState};
use repertoire::skill::SkillId;

/// The longest key, in bytes; longer ids are hashed. An index of `PostgreSQL` holds at most 2,704 bytes.
const LONGEST_KEY: usize = 1024;

/// A skill of a session. Fields with their default value are left out.
#[derive(Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "as in `SkillState`")]
struct Record<'a> {
    skill: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "is_default")]
    uses: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    activations: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    activated_by: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "is_default")]
    in_context: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    body: Option<u64>,
    #[serde(default, skip_serializing_if = "is_default")]
    lost: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    consented: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    listed: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    joined: Option<u64>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Returns the record of a session.
pub(crate) fn encode(state: &SessionState) -> serde_json::Result<String> {
    serde_json::to_string(&state.skills.iter().map(record).collect::<Vec<_>>())
}

/// Returns the record of a skill.
fn record(state: &SkillState) -> Record<'_> {
    let SkillState {
        skill,
        uses,
        activations,
        activated_by,
        in_context,
        body,
        lost,
        consented,
        listed,
        joined,
    } = state;
    Record {
        skill: Cow::Borrowed(skill.as_str()),
        activated_by: activated_by.as_ref().map(|by| Cow::Borrowed(by.as_str())),
        uses: *uses,
        activations: *activations,
        in_context: *in_context,
        body: *body,
        lost: *lost,
        consented: *consented,
        listed: *listed,
        joined: *joined,
    }
}

/// Parses the record of a session.
pub(crate) fn decode(text: &str) -> serde_json::Result<SessionState> {
    let state = |record: Record<'_>| SkillState {
        skill: SkillId::new(&record.skill),
        uses: record.uses,
        activations: record.activations,
        activated_by: record.activated_by.map(|by| SkillId::new(&by)),
        in_context: record.in_context,
        body: record.body,
        lost: record.lost,
        consented: record.consented,
        listed: record.listed,
        joined: record.joined,
    };
    let records: Vec<Record<'_>> = serde_json::from_str(text)?;
    Ok(SessionState { skills: records.into_iter().map(state).collect() })
}

/// Returns `id` as the key of a row: a text without NUL, which `PostgreSQL` cannot hold, and not too
/// long for an index. Different ids have different keys.
pub(crate) fn key(id: &str) -> Cow<'_, str> {
    if id.len() <= LONGEST_KEY && !id.contains(['\0', '\\']) {
        return Cow::Borrowed(id);
    }
    let key = id.replace('\\', "\\\\").replace('\0', "\\0");
    if key.len() <= LONGEST_KEY {
        return Cow::Owned(key);
    }
    // No other key begins with `\s`: an id that has a `\` is escaped.
    let mut hash = "\\sha256:".to_owned();
    for byte in Sha256::digest(id) {
        let _ = write!(hash, "{byte:02x}");
    }
    Cow::Owned(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let full = SkillState {
            skill: "使\0用".into(),
            uses: u64::MAX,
            activations: 2,
            activated_by: Some("a\"b".into()),
            in_context: true,
            body: Some(u64::MAX),
            lost: true,
            consented: true,
            listed: true,
            joined: Some(1),
        };
        let state = SessionState { skills: vec![full, SkillState::new("git".into())] };
        let text = encode(&state).unwrap();
        assert!(!text.contains('\0'));
        assert_eq!(decode(&text).unwrap(), state);
        assert!(text.ends_with(r#"{"skill":"git"}]"#), "{text}");
        assert!(decode(r#"{"skill":"git"}"#).is_err());
    }

    #[test]
    fn different_ids_have_different_keys_that_a_row_can_hold() {
        let long = "x".repeat(5000);
        let ids = ["", "a", "a\0", "a\\0", "a\\", "a\\\\", &long[1..], &long, &long[..LONGEST_KEY]];
        let keys: Vec<_> = ids.iter().map(|id| key(id)).collect();
        for (n, key) in keys.iter().enumerate() {
            assert!(key.len() <= LONGEST_KEY && !key.contains('\0'), "{key}");
            assert!(!keys[..n].contains(key), "{key}");
        }
        assert_eq!(keys[8], ids[8]);
    }
}
