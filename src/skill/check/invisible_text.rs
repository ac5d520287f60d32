//! Finds invisible characters in the texts of a skill that are shown to a model or compared with messages.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::Range;

use repertoire_text::invisible::{as_ascii, runs};

use crate::diagnostic::Code;
use crate::skill::fields::excerpt;
use crate::skill::finding::Finding;
use crate::skill::load::Loaded;
use crate::skill::manifest::Manifest;
use crate::skill::spanned::Spanned;

/// The most runs of invisible characters reported in one text; the others are counted.
const MAX_REPORTED: usize = 10;

/// The most characters of a run that a message shows; it counts all of them.
const MAX_SHOWN: usize = 8;

/// Finds the invisible characters in the texts of a skill.
pub(super) fn find(loaded: &Loaded, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (field, entry) in texts(&loaded.manifest) {
        findings.extend(in_field(&format!("`{field}`"), entry, text));
    }
    if let Some(parts) = &loaded.parts {
        findings.extend(in_text("the body", text, parts.body..text.len()));
    }
    // The parts of one text may all have the span of the whole text.
    let mut seen = HashSet::new();
    findings.retain(|finding| seen.insert(finding.span.clone()));
    findings
}

/// The texts of a manifest that people or models read, or that are compared with messages, each with its field.
pub(super) fn texts(manifest: &Manifest) -> Vec<(&'static str, &Spanned<String>)> {
    let single = [
        ("name", &manifest.name),
        ("description", &manifest.description),
        ("brief_description", &manifest.brief_description),
        ("when_to_use", &manifest.when_to_use),
    ];
    let lists = [
        ("trigger_phrases", &*manifest.trigger_phrases),
        ("examples", &*manifest.examples.should),
        ("examples", &*manifest.examples.should_not),
    ];
    let lists = manifest.triggers.kinds().into_iter().chain(lists);
    let single = single.into_iter().filter_map(|(field, text)| Some((field, text.as_ref()?)));
    let listed = lists.flat_map(|(field, list)| list.iter().map(move |entry| (field, entry)));
    single.chain(listed).collect()
}

/// Finds the invisible characters in a value. A finding has their position in the file, or that of the
/// whole value if they are written as escapes.
fn in_field(field: &str, entry: &Spanned<String>, text: &str) -> Vec<Finding> {
    let Some(run) = runs(&entry.value).next() else { return Vec::new() };
    let written = in_text(field, text, entry.span.clone());
    if written.is_empty() {
        return vec![finding(field, &entry.value[run], entry.span.clone())];
    }
    written
}

pub(super) fn in_text(field: &str, text: &str, range: Range<usize>) -> Vec<Finding> {
    let Some(part) = text.get(range.clone()) else { return Vec::new() };
    let mut runs = runs(part);
    let reported = runs.by_ref().take(MAX_REPORTED);
    let found = reported.map(|run| {
        finding(field, &part[run.clone()], range.start + run.start..range.start + run.end)
    });
    let mut found: Vec<Finding> = found.collect();
    let n_more = runs.count();
    if let Some(last) = found.last_mut().filter(|_| n_more > 0) {
        let _ = write!(last.message, ", and such in {n_more} more places");
    }
    found
}

fn finding(field: &str, run: &str, span: Range<usize>) -> Finding {
    let n_chars = run.chars().count();
    let mut shown: String = run.chars().take(MAX_SHOWN).flat_map(char::escape_unicode).collect();
    if n_chars > MAX_SHOWN {
        shown.push('…');
    }
    let what = match n_chars {
        1 => format!("the invisible character `{shown}`"),
        n => format!("{n} invisible characters, `{shown}`"),
    };
    let spelt: String = run.chars().filter_map(as_ascii).collect();
    let help = if field == "patterns" && run.contains('\u{8}') {
        "write the pattern in single quotes: in double quotes YAML takes `\\b` for a backspace"
            .to_owned()
    } else if spelt.is_empty() {
        "remove what is not seen, or type the text anew; a model reads it".to_owned()
    } else {
        format!("remove it: a model may read it as `{}`", excerpt(&spelt))
    };
    Finding::new(Code::InvisibleText, span, format!("{field} holds {what}"), help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::load;

    /// The texts that the findings for a file quote.
    fn quoted(text: &str) -> Vec<String> {
        let found = find(&load::load(text, "repertoire"), text);
        found.iter().map(|finding| text[finding.span.clone().unwrap()].to_owned()).collect()
    }

    #[test]
    fn what_is_not_seen_is_found_where_it_stands() {
        let skill = |yaml: &str, body: &str| format!("---\nname: n\n{yaml}\n---\n{body}");
        for (text, expected) in [
            (skill("description: De\u{200b}ploys", ""), &["\u{200b}"][..]),
            (skill("description: |\n  De\u{2060}ploys\n  it", ""), &["\u{2060}"]),
            (skill("description: \"De\\u200bploys\"", ""), &["\"De\\u200bploys\""]),
            (skill("description: d\nwhen_to_use: a\u{202e}b", ""), &["\u{202e}"]),
            (skill("description: d\ntriggers: [a, b\u{feff}c]", ""), &["\u{feff}"]),
            (skill("description: d\ntriggers: {patterns: ['a\u{200d}b']}", ""), &["\u{200d}"]),
            (skill("description: d\ntriggers: 'it''s, b\u{200c}c'", ""), &["\u{200c}"]),
            (skill("description: d", "a\u{2066}b\u{2069}\n"), &["\u{2066}", "\u{2069}"]),
            (skill("description: d", "Hi\u{e0048}\u{e0069}"), &["\u{e0048}\u{e0069}"]),
            (skill("description: d", "`a\u{200b}b`"), &["\u{200b}"]),
            (skill("description: d", "a\0b \u{1b}[2J\r\n\u{9b}"), &["\0", "\u{1b}", "\u{9b}"]),
            (skill("description: \"a\\u001bb\"", ""), &["\"a\\u001bb\""]),
            (
                skill("description: d", "\u{1f3f4}\u{e0068}\u{e0069}\u{e007f}"),
                &["\u{e0068}\u{e0069}\u{e007f}"],
            ),
            (skill("description: d\nlicense: a\u{200b}b", ""), &[]),
        ] {
            assert_eq!(quoted(&text), expected, "{text:?}");
        }
        assert_eq!(quoted("\u{feff}# T\n\nText."), [""; 0]);
    }

    #[test]
    fn findings_show_the_characters_and_stay_few() {
        let text = format!("---\nname: n\ndescription: d\n---\n{}", "a\u{200b}".repeat(5_000));
        let found = find(&load::load(&text, "repertoire"), &text);
        assert_eq!(found.len(), MAX_REPORTED);
        assert_eq!(found[0].message, "the body holds the invisible character `\\u{200b}`");
        assert!(found[9].message.ends_with("and such in 4990 more places"), "{:?}", found[9]);
        let tags = "obey".chars().map(|c| char::from_u32(0xe_0000 + u32::from(c)).unwrap());
        let text = format!("---\nname: n\ndescription: d{}\n---\n", tags.collect::<String>());
        let found = find(&load::load(&text, "repertoire"), &text);
        assert!(found[0].message.contains("4 invisible characters, `\\u{e006f}"), "{found:?}");
        assert!(found[0].help.contains("`obey`"), "{found:?}");
        let selectors =
            "obey".bytes().map(|b| char::from_u32(0xe_0100 + u32::from(b) - 16).unwrap());
        let text = format!("---\nname: n\ndescription: d{}\n---\n", selectors.collect::<String>());
        let found = find(&load::load(&text, "repertoire"), &text);
        assert!(found[0].help.contains("`obey`"), "{found:?}");
    }
}
