//! The keys of front matter.

use super::fields::normalized;

/// The fields that are read.
const FIELDS: &[&str] = &[
    "name",
    "description",
    "brief_description",
    "when_to_use",
    "version",
    "triggers",
    "trigger_phrases",
    "examples",
    "toolsets",
    "scripts",
    "rights",
    "default_enabled",
    "disable-model-invocation",
    "user-invocable",
    "allowed-tools",
    "context",
    "agent",
    "model",
    "argument-hint",
    "arguments",
    "always",
    "requires_bins",
    "requires_env",
    "user_invocable_only",
    "knowledge",
    "paths",
    "license",
    "compatibility",
    "metadata",
];

/// The fields that are also read in the block that has the host's name.
pub(super) const BLOCK_FIELDS: [&str; 5] =
    ["always", "requires_bins", "requires_env", "user_invocable_only", "knowledge"];

/// Returns the keys that are read.
pub(super) fn keys() -> impl Iterator<Item = &'static str> {
    FIELDS.iter().copied()
}

/// Tells whether `key` is a field that is read, spelt with `-` or with `_`.
pub(super) fn is_known(key: &str) -> bool {
    let key = normalized(key);
    keys().any(|known| normalized(known) == key)
}
