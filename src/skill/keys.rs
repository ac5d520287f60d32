//! The keys of front matter, and suggestions for unknown keys.
//!
//! A field is suggested only if it accepts a value of this form, and either the two keys differ by a
//! typing mistake or [`SYNONYMS`] lists the key. So `requires` with a map is not taken for
//! `requires_env`, which it resembles in its letters alone, and `trigger: explicit` sets a mode, not a
//! list of triggers.

use serde_json::{Map, Value as Json};
use strsim::osa_distance;

use super::code::path_and_class;
use super::fields::{normalized, truth_value};
use super::manifest::Manifest;

/// The form of a field's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    Flag,
    /// `inline` or `fork`.
    Context,
    Map,
    /// A list of texts, or a text that is split into several.
    Names,
    /// Like [`Form::Names`], but each must be a single word.
    Words,
    /// Like [`Form::Names`], but each must be spelt like an environment variable.
    Variables,
    /// Like [`Form::Names`], but at least one must contain a wildcard.
    Globs,
    /// Like [`Form::Names`], but each must have the form `path:Class`.
    Toolsets,
    /// Keywords, or a map of triggers by kind.
    Triggers,
    /// A map of messages by kind.
    Examples,
}

/// The fields that are read, and the form of each.
const FIELDS: &[(&str, Form)] = &[
    ("name", Form::Text),
    ("description", Form::Text),
    ("brief_description", Form::Text),
    ("when_to_use", Form::Text),
    ("version", Form::Text),
    ("triggers", Form::Triggers),
    ("trigger_phrases", Form::Names),
    ("examples", Form::Examples),
    ("toolsets", Form::Toolsets),
    ("scripts", Form::Names),
    ("rights", Form::Map),
    ("default_enabled", Form::Flag),
    ("disable-model-invocation", Form::Flag),
    ("user-invocable", Form::Flag),
    ("allowed-tools", Form::Names),
    ("context", Form::Context),
    ("agent", Form::Text),
    ("model", Form::Text),
    ("argument-hint", Form::Names),
    ("arguments", Form::Names),
    ("always", Form::Flag),
    ("requires_bins", Form::Words),
    ("requires_env", Form::Variables),
    ("user_invocable_only", Form::Flag),
    ("knowledge", Form::Names),
    ("paths", Form::Globs),
    ("license", Form::Text),
    ("compatibility", Form::Text),
    ("metadata", Form::Map),
];

/// The fields that are also read in the block that has the host's name.
const BLOCK_FIELDS: [&str; 5] =
    ["always", "requires_bins", "requires_env", "user_invocable_only", "knowledge"];

/// Names that other programs, or people, use for a field, each with that field.
const SYNONYMS: &[(&str, &str)] = &[
    ("tools", "allowed-tools"),
    ("toolsallowed", "allowed-tools"),
    ("permittedtools", "allowed-tools"),
    ("desc", "description"),
    ("shortdescription", "brief_description"),
    ("whenuse", "when_to_use"),
    ("usewhen", "when_to_use"),
    ("triggerwords", "triggers"),
    ("triggerkeywords", "triggers"),
    ("glob", "paths"),
    ("globs", "paths"),
    ("path", "paths"),
    ("filepatterns", "paths"),
    ("applyto", "paths"),
    ("alwaysapply", "always"),
    ("alwayson", "always"),
    ("bins", "requires_bins"),
    ("requiredbins", "requires_bins"),
    ("env", "requires_env"),
    ("requiredenv", "requires_env"),
    ("meta", "metadata"),
];

/// Returns the keys that are read.
pub(super) fn keys() -> impl Iterator<Item = &'static str> {
    FIELDS.iter().map(|(key, _)| *key)
}

/// Tells whether `key` is a field that is read, spelt with `-` or with `_`.
pub(super) fn is_known(key: &str) -> bool {
    let key = normalized(key);
    keys().any(|known| normalized(known) == key)
}

/// Returns the advice about `key`, which is one of the unknown keys of `manifest`.
pub(super) fn advice(key: &str, manifest: &Manifest) -> String {
    let in_block = || {
        let (block, key) = key.split_once('.')?;
        Some((block, key, manifest.extra.get(block)?.get(key)?))
    };
    if let Some(value) = manifest.extra.get(key) {
        let is_free = |field: &str| {
            let declared = |key: &str| normalized(key) == normalized(field);
            !manifest.keys.iter().any(|key| declared(&key.value))
        };
        if let Some(field) = suggest_field(key, value, is_free) {
            return format!("did you mean `{field}`?");
        }
    } else if let Some((block, key, value)) = in_block() {
        if let Some(field) = suggest_field(key, value, |field| BLOCK_FIELDS.contains(&field)) {
            return format!("did you mean `{field}`?");
        }
        if let Some(field) = keys().find(|field| normalise_key(field) == normalise_key(key)) {
            return format!("write `{field}` at the top level, it is not read in `{block}`");
        }
    }
    "keep it if another program reads it; `metadata` is the place for such keys".to_owned()
}

/// Returns the field that the author of `key: value` most likely meant, out of the fields for which
/// `is_open` returns true.
fn suggest_field(key: &str, value: &Json, is_open: impl Fn(&str) -> bool) -> Option<&'static str> {
    let written = normalise_key(key);
    let synonym = SYNONYMS.iter().find(|(synonym, _)| *synonym == written).map(|(_, field)| *field);
    let distance = |field: &str| {
        if synonym == Some(field) {
            Some(0)
        } else {
            typo_distance(&written, &normalise_key(field))
        }
    };
    let fitting = FIELDS.iter().filter(|(field, form)| is_open(field) && form.takes(value));
    fitting
        .filter_map(|(field, _)| Some((distance(field)?, *field)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, field)| field)
}

/// Reduces a key to its letters and digits in lower case, so that `allowedTools` and `Allowed Tools`
/// equal `allowed-tools`.
fn normalise_key(key: &str) -> String {
    key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns the edit distance of the two words, or `None` if it is too large for their length. In a short
/// word, a changed letter makes another word (`mode` is not `model`), so letters may only be swapped.
fn typo_distance(written: &str, field: &str) -> Option<usize> {
    /// A field name has at most 22 letters.
    const MAX_LETTERS: usize = 32;
    if written.len() > MAX_LETTERS {
        return None;
    }
    let sorted = |word: &str| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort_unstable();
        letters
    };
    let distance = osa_distance(written, field);
    let is_near = match written.chars().count().min(field.len()) {
        0..5 => distance == 0 || (distance == 1 && sorted(written) == sorted(field)),
        5..9 => distance <= 1,
        _ => distance <= 2,
    };
    is_near.then_some(distance)
}

impl Form {
    /// Tells whether the field can be read from `value`.
    fn takes(self, value: &Json) -> bool {
        let all_names = |is_name: fn(&str) -> bool| {
            let names = names(value);
            !names.is_empty() && names.iter().all(|name| is_name(name))
        };
        match self {
            Form::Text => value.is_number() || value.as_str().is_some_and(|text| !text.is_empty()),
            Form::Flag => {
                value.is_boolean() || value.as_str().is_some_and(|text| truth_value(text).is_some())
            }
            Form::Context => {
                let text = value.as_str().map(str::to_lowercase);
                matches!(text.as_deref(), Some("inline" | "fork"))
            }
            Form::Map => value.is_object(),
            Form::Names => all_names(|_| true),
            Form::Words => all_names(|name| !name.contains(char::is_whitespace)),
            Form::Variables => all_names(|name| {
                name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
            }),
            Form::Globs => names(value).iter().any(|name| name.contains('*')),
            Form::Toolsets => all_names(|name| path_and_class(name).is_ok()),
            Form::Triggers => are_triggers(value),
            Form::Examples => {
                let is_kind = |key: &String| super::examples::is_kind(key);
                value.as_object().is_some_and(|map| map.keys().any(is_kind))
            }
        }
    }
}

/// Returns the texts of a list, or the parts of a text between commas and line ends; empty if a list
/// holds anything but texts.
fn names(value: &Json) -> Vec<&str> {
    match value {
        Json::String(text) => {
            text.split([',', '\n']).map(str::trim).filter(|name| !name.is_empty()).collect()
        }
        Json::Array(entries) => {
            let names: Option<Vec<&str>> = entries.iter().map(Json::as_str).collect();
            names.unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// Tells whether a value lists words that a message must contain, rather than how or when a skill is
/// started.
fn are_triggers(value: &Json) -> bool {
    /// A part with more words is taken for a sentence.
    const MAX_WORDS: usize = 4;
    let is_phrase = |name: &&str| name.split_whitespace().count() <= MAX_WORDS;
    let is_by_kind = |map: &Map<String, Json>| map.keys().any(|key| super::trigger::is_kind(key));
    match value {
        Json::Object(map) => is_by_kind(map),
        Json::Array(entries) => {
            let is_entry =
                |entry: &Json| entry.is_string() || entry.as_object().is_some_and(is_by_kind);
            !entries.is_empty() && entries.iter().all(is_entry)
        }
        // A single word is a mode, such as `explicit` or `manual`.
        Json::String(_) => names(value).len() > 1 && names(value).iter().all(is_phrase),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::skill::load;

    /// The advice on the only unknown key of this front matter.
    fn advice(yaml: &str) -> String {
        let manifest = load::load(&format!("---\n{yaml}\n---\nBody\n"), "repertoire").manifest;
        let [key] = &manifest.unknown_keys[..] else { panic!("{yaml}: {manifest:?}") };
        super::advice(&key.value, &manifest)
    }

    #[test]
    fn a_field_is_suggested_that_is_written_alike_and_takes_the_value() {
        for (yaml, field) in [
            ("tools: [Read, Grep]", "allowed-tools"),
            ("tools: Read, Grep", "allowed-tools"),
            ("allowedTools: [Read]", "allowed-tools"),
            ("Allowed Tools: Read", "allowed-tools"),
            ("trigger: [deploy]", "triggers"),
            ("trigger: deploy, ship it", "triggers"),
            ("trigger: {keywords: [deploy]}", "triggers"),
            ("toolset: ['toolsets/hello:Hello']", "toolsets"),
            ("descripton: Says hello", "description"),
            ("desc: Says hello", "description"),
            ("naem: hello", "name"),
            ("whenToUse: In the morning", "when_to_use"),
            ("user_invokable: false", "user-invocable"),
            ("globs: '**/*.ts'", "paths"),
            ("alwaysApply: true", "always"),
            ("requires_bin: [git]", "requires_bins"),
            ("env: [API_TOKEN]", "requires_env"),
            ("contxt: fork", "context"),
            ("trigger-phrase: [ship it]", "trigger_phrases"),
            ("example: {should-not: [ship it]}", "examples"),
            ("licence: MIT", "license"),
            ("repertoire: {alway: true}", "always"),
        ] {
            let more = if field == "description" { "" } else { "description: d\n" };
            assert_eq!(advice(&format!("{more}{yaml}")), format!("did you mean `{field}`?"));
        }
        let told = advice("description: d\nrepertoire: {model: small}");
        assert!(told.starts_with("write `model` at the top level"), "{told}");
    }

    #[test]
    fn no_field_is_suggested_that_does_not_take_the_value_or_is_there_already() {
        for yaml in [
            "tools: [{name: Read}]",
            "tools: {read: true}",
            "tools:",
            "tools: [Read]\nallowed_tools: [Read]",
            "requires: {skills: [plan]}",
            "requires: [git]",
            "trigger: explicit",
            "trigger: {type: schedule}",
            "trigger: When the user asks to ship it, or to deploy",
            "toolset: hello",
            "descripton: Says hello",
            "mode: fast",
            "agents: [one, two]",
            "content: text",
            "path: ./skills/n",
            "env: production",
            "licenses: {code: MIT}",
            "alway: sometimes",
            "tags: [a, b]",
            "examples: [ship it]",
            "examples: Say `ship it`",
            "examples: {basic: ship it}",
            "example: [ship it]",
            "inputs: [a]",
        ] {
            let told = advice(&format!("description: d\n{yaml}"));
            assert!(told.starts_with("keep it if"), "{yaml}: {told}");
        }
    }
}
