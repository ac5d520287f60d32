//! The keys of front matter.

/// The keys that are read.
pub const KEYS: [&str; 34] = [
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
    "requires_skills",
    "requires",
    "depends",
    "dependencies",
    "restore",
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
