//! Routes the examples that skills declare against the skills that are checked.

use std::path::Path;

use repertoire::catalog::{Audience, Catalog, Entry};
use repertoire::skill::Spanned;
use repertoire::{Code, Diagnostic, Disclosure, Engine, EngineBuilder, Error, SkillId};

/// The length in characters to which messages are cut in a finding.
const MAX_SHOWN_CHARS: usize = 80;

/// Returns a finding for each example that is routed wrongly, of the skills of `catalog` whose file
/// `is_checked`. The engine that `builder` makes must have the same sources; it uses the default
/// options of disclosures, and is built only if there is an example.
///
/// Skills that no message can disclose to the model here are skipped: a skill without a program that
/// it requires is not routed wrongly.
pub(super) fn misrouted(
    catalog: &Catalog,
    is_checked: impl Fn(&Path) -> bool,
    builder: EngineBuilder,
) -> Result<Vec<Diagnostic>, Error> {
    let is_routed = |entry: &&Entry| {
        !entry.skill.manifest().examples.is_empty()
            && entry.is_available()
            && entry.is_matched(Audience::Model)
            && entry.skill.path().is_some_and(&is_checked)
    };
    let routed: Vec<&Entry> = catalog.entries().filter(is_routed).collect();
    if routed.is_empty() {
        return Ok(Vec::new());
    }
    let engine = builder.build()?;
    Ok(routed.into_iter().flat_map(|entry| of_skill(entry, &engine)).collect())
}

/// Returns a finding for each example of one skill that is routed wrongly.
fn of_skill(entry: &Entry, engine: &Engine) -> Vec<Diagnostic> {
    let Some(path) = entry.skill.path() else { return Vec::new() };
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let examples = &entry.skill.manifest().examples;
    let mut found = Vec::new();
    let mut add = |code: Code, example: &Spanned<String>, message: String, help: String| {
        let diagnostic = Diagnostic::new(code, path, message, help);
        // The file may have changed since it was loaded.
        found.push(match text.get(example.span.clone()) {
            Some(_) => diagnostic.at(&text, example.span.clone()),
            None => diagnostic,
        });
    };
    let id = &entry.id;
    for example in &examples.should {
        let disclosure = engine.disclose(example.value.as_str());
        // The relevance index contains the example, so its skill is at least listed. That is enough
        // unless another skill is shown in full.
        let is_listed = disclosure.full.is_empty() && disclosure.registry.contains(id);
        if disclosure.full.contains(id) || is_listed {
            continue;
        }
        let won = match winner(&disclosure, id) {
            Some((winner, how)) => format!("it discloses `{winner}` {how}"),
            None => "no skill is disclosed".to_owned(),
        };
        add(
            Code::ExampleNotRouted,
            example,
            format!("`{}` does not lead to `{id}`: {won}", shown(&example.value)),
            format!(
                "declare a trigger that the message holds, or name its words in the description; \
                     `repertoire why {id} MESSAGE` says what decided"
            ),
        );
    }
    for example in &examples.should_not {
        let disclosure = engine.disclose(example.value.as_str());
        if !disclosure.full.contains(id) {
            continue;
        }
        let beside = match winner(&disclosure, id) {
            Some((winner, how)) => format!(", and `{winner}` {how}"),
            None => String::new(),
        };
        add(
            Code::ExampleRouted,
            example,
            format!("`{}` discloses `{id}` in full{beside}", shown(&example.value)),
            format!(
                "write longer triggers, or an `exclude` for what the message is about; \
                     `repertoire why {id} MESSAGE` says what decided"
            ),
        );
    }
    found
}

/// Returns the first skill other than `id` that is disclosed, and in which form.
fn winner<'d>(disclosure: &'d Disclosure, id: &SkillId) -> Option<(&'d SkillId, &'static str)> {
    let in_full = disclosure.full.iter().map(|skill| (skill, "in full"));
    let in_a_line = disclosure.registry.iter().map(|skill| (skill, "in a line"));
    in_full.chain(in_a_line).find(|(skill, _)| *skill != id)
}

/// Returns the message, cut to `MAX_SHOWN_CHARS`.
fn shown(message: &str) -> String {
    let mut shown: String = message.chars().take(MAX_SHOWN_CHARS).collect();
    if shown.len() < message.len() {
        shown.push('…');
    }
    shown
}
