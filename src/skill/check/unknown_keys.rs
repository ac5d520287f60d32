//! Suggestions for unknown keys.
//!
//! A field is suggested only if it accepts the value, and either the two keys differ by a typing mistake
//! or [`SYNONYMS`] lists the key. So `trigger: explicit`, which sets a mode, is not taken for `triggers`.

use serde_json::Value as Json;
use strsim::osa_distance;

use crate::diagnostic::{Code, Diagnostic};
use crate::skill::fields::Reader;
use crate::skill::keys::{BLOCK_FIELDS, KEYS, normalized};
use crate::skill::manifest::Manifest;
use crate::skill::yaml::{self, Node, Tree, Value};

/// Names that other programs use for a field, each with that field. Of 2,809 unknown keys in published
/// files, 13 are `tools`.
const SYNONYMS: &[(&str, &str)] = &[
    ("tools", "allowed-tools"),
    ("globs", "paths"),
    ("applyto", "paths"),
    ("alwaysapply", "always"),
];

/// The advice on a key that no field is like.
const OF_OTHERS: &str =
    "keep it if another program reads it; `metadata` is the place for such keys";

/// Tells whether a finding is about a key that no field is like: its author means it for another program.
pub fn is_key_of_others(found: &Diagnostic) -> bool {
    found.code == Code::UnknownKey && found.help == OF_OTHERS
}

/// Returns the advice about `key`, which is one of the unknown keys of `manifest`.
pub(super) fn advice(key: &str, manifest: &Manifest) -> String {
    let is_free =
        |field: &str| !manifest.keys.iter().any(|key| normalized(&key.value) == normalized(field));
    let in_block = |(block, key): (&str, &str)| {
        let value = manifest.extra.get(block)?.get(key)?;
        suggest_field(key, value, |field| BLOCK_FIELDS.contains(&field))
    };
    let field = match manifest.extra.get(key) {
        Some(value) => suggest_field(key, value, is_free),
        None => key.split_once('.').and_then(in_block),
    };
    field.map_or_else(|| OF_OTHERS.to_owned(), |field| format!("did you mean `{field}`?"))
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
    let near = KEYS.iter().filter_map(|field| Some((distance(field)?, *field)));
    let fitting = near.filter(|(_, field)| is_open(field) && accepts(field, value));
    fitting.min_by_key(|(distance, _)| *distance).map(|(_, field)| field)
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

/// Tells whether the field can be read from `value` without a finding.
fn accepts(field: &str, value: &Json) -> bool {
    /// A part of a text with more words is taken for a sentence, not for a trigger.
    const MAX_WORDS: usize = 4;
    // A single word is a mode, such as `explicit` or `manual`.
    let lists_words = |text: &str| {
        let parts = || text.split([',', '\n']).map(|part| part.split_whitespace().count());
        parts().count() > 1 && parts().all(|n_words| n_words <= MAX_WORDS)
    };
    if field == "triggers" && value.as_str().is_some_and(|text| !lists_words(text)) {
        return false;
    }
    // JSON is YAML, too.
    let file = format!("{field}: {value}");
    let Ok(Tree { root: Some(Node { value: Value::Mapping(entries), .. }), .. }) =
        yaml::parse(&file, &|at| at)
    else {
        return false;
    };
    let mut reader = Reader { file: &file, findings: Vec::new() };
    let manifest = Manifest::read(&entries, [&[], &[]], "", &mut reader);
    let has_value = manifest.to_json().as_object().is_some_and(|fields| !fields.is_empty());
    has_value && manifest.extra.is_empty() && reader.findings.is_empty()
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
            ("allowedTool: [Read]", "allowed-tools"),
            ("Alowed Tools: Read", "allowed-tools"),
            ("trigger: [deploy]", "triggers"),
            ("trigger: deploy, ship it", "triggers"),
            ("trigger: {keywords: [deploy]}", "triggers"),
            ("toolset: ['toolsets/hello:Hello']", "toolsets"),
            ("descripton: Says hello", "description"),
            ("naem: hello", "name"),
            ("when_to_us: In the morning", "when_to_use"),
            ("user_invokable: false", "user-invocable"),
            ("globs: '**/*.ts'", "paths"),
            ("alwaysApply: true", "always"),
            ("contxt: fork", "context"),
            ("example: {should-not: [ship it]}", "examples"),
            ("repertoire: {alway: true}", "always"),
        ] {
            let more = if field == "description" { "" } else { "description: d\n" };
            assert_eq!(advice(&format!("{more}{yaml}")), format!("did you mean `{field}`?"));
        }
    }

    #[test]
    fn no_field_is_suggested_that_does_not_take_the_value_or_is_there_already() {
        for yaml in [
            "tools: [{name: Read}]",
            "tools:",
            "tools: [Read]\nallowed_tools: [Read]",
            "requires: {roles: [plan]}",
            "requires: [git]",
            "trigger: explicit",
            "trigger: {type: schedule}",
            "trigger: When the user asks to ship it, or to deploy",
            "toolset: hello",
            "descripton: Says hello",
            "mode: fast",
            "agents: [one, two]",
            "path: ./skills/n",
            "env: production",
            "licenses: {code: MIT}",
            "alway: sometimes",
            "examples: [ship it]",
            "examples: Say `ship it`",
            "examples: {basic: ship it}",
            "example: [ship it]",
        ] {
            let told = advice(&format!("description: d\n{yaml}"));
            assert!(told.starts_with("keep it if"), "{yaml}: {told}");
        }
    }
}
