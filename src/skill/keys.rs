//! The keys of front matter, and the spellings in which each is read.

use repertoire_text::compared;

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

/// The fields that close a skill, spelt with `_`: they restrict who may invoke it, and with which tools. If
/// one were lost, the model would be shown a skill that is meant for the user alone.
pub(super) const CLOSING_KEYS: [&str; 5] = [
    "disable_model_invocation",
    "user_invocable_only",
    "allow_implicit_invocation",
    "user_invocable",
    "allowed_tools",
];

/// The keys that are read inside of other fields, and those that stand for a field of another agent.
const INNER_KEYS: [&str; 27] = [
    "activation",
    "allow_implicit_invocation",
    "bins",
    "class",
    "env",
    "exclude",
    "exclude_keywords",
    "excludes",
    "files",
    "glob",
    "globs",
    "keyword",
    "keywords",
    "network",
    "path",
    "pattern",
    "patterns",
    "phrase",
    "phrases",
    "read",
    "regex",
    "regexes",
    "should",
    "should_not",
    "skills",
    "verb",
    "verbs",
];

/// Returns a key in the spelling that fields are looked up by: with `_` for `-`, and a known key by its own name
/// however it is written, as in `allowedTools`, `Allowed Tools` and `ALLOWED‑TOOLS`.
pub(super) fn normalized(key: &str) -> String {
    let plain = key.replace('-', "_");
    let mut known = KEYS.iter().chain(&INNER_KEYS);
    if known.clone().any(|known| *known == plain) {
        return plain;
    }
    let letters = compared(key).replace('-', "");
    let is_joint = |b: &u8| matches!(b, b'-' | b'_');
    let field = known.find(|known| known.bytes().filter(|b| !is_joint(b)).eq(letters.bytes()));
    field.map_or(plain, |field| field.replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_key_has_one_name_in_all_spellings() {
        for (written, wanted) in [
            ("disable-model-invocation", "disable_model_invocation"),
            ("disableModelInvocation", "disable_model_invocation"),
            ("DisableModelInvocation", "disable_model_invocation"),
            ("Disable-Model-Invocation", "disable_model_invocation"),
            ("DISABLE_MODEL_INVOCATION", "disable_model_invocation"),
            ("disable model invocation", "disable_model_invocation"),
            ("disable\u{2011}model\u{2013}invocation", "disable_model_invocation"),
            ("disable\u{2014}model\u{2212}invocation", "disable_model_invocation"),
            ("dis\u{ad}able-model\u{200b}-invocation", "disable_model_invocation"),
            ("\u{ff4e}ame", "name"),
            ("Name", "name"),
            ("TRIGGERS", "triggers"),
            ("whenToUse", "when_to_use"),
            ("shouldNot", "should_not"),
            // Other keys stay distinct.
            ("names", "names"),
            ("Author", "Author"),
            ("author-Name", "author_Name"),
            ("disable-model-invocations", "disable_model_invocations"),
            ("no-disable-model-invocation", "no_disable_model_invocation"),
            ("-", "_"),
            ("", ""),
        ] {
            assert_eq!(normalized(written), wanted, "{written}");
        }
        for field in KEYS.iter().chain(&INNER_KEYS) {
            assert_eq!(normalized(&field.to_uppercase()), field.replace('-', "_"));
        }
    }
}
