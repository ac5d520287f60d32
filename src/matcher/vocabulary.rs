//! The literals of a catalog, including the regular English inflections of verbs: numbers them and
//! compiles them into the automaton.

use std::collections::HashMap;

use super::arena::Lists;
use super::automaton::{Automaton, Needs};
use super::pattern::Sources;
use super::tables::LiteralUse;

/// Compiles the literals that triggers declare, with their `numbers` and their uses, and the literals that
/// `sources` require, which get numbers, too. Returns the automaton and the uses of each literal by
/// triggers; `None` if the automaton takes too many states.
pub(super) fn compile(
    numbers: &mut HashMap<String, u32>,
    uses: Vec<(u32, LiteralUse)>,
    sources: &Sources<'_>,
) -> Option<(Automaton, Lists<LiteralUse>)> {
    let mut required: Vec<&str> = sources.literals().collect();
    // In a fixed order, so that the same skills make the same index.
    required.sort_unstable();
    let required: Vec<u32> =
        required.into_iter().map(|literal| literal_id(numbers, literal)).collect();
    let mut texts = vec![""; numbers.len()];
    for (text, &number) in &*numbers {
        texts[number as usize] = text;
    }
    let mut is_required = vec![false; texts.len()];
    for literal in required {
        is_required[literal as usize] = true;
    }
    let uses = Lists::new(uses, texts.len());
    let needs = |literal: usize| {
        let uses = uses.of(literal as u32);
        Needs {
            start: !is_required[literal],
            each: uses.iter().any(|to| matches!(to, LiteralUse::Name(_))),
        }
    };
    let automaton = Automaton::new(&texts, needs)?;
    Some((automaton, uses))
}

/// Returns the number of a literal; a new literal gets the next number.
pub(super) fn literal_id(literals: &mut HashMap<String, u32>, literal: &str) -> u32 {
    // Most literals are known, and a look-up of these copies nothing.
    if let Some(&id) = literals.get(literal) {
        return id;
    }
    let id = literals.len() as u32;
    literals.insert(literal.to_owned(), id);
    id
}

/// Returns the regular inflections of a folded verb, without the verb itself. In a phrase, the first
/// word is inflected ("set up": "sets up"). Empty for words that are not plain English letters. Where
/// English doubles the last consonant only under stress ("stop": "stopped", "open": "opened"), both
/// spellings are returned: nobody types the wrong one.
pub(super) fn inflections(verb: &str) -> Vec<String> {
    let (word, tail) = verb.find(' ').map_or((verb, ""), |at| verb.split_at(at));
    if word.len() < 2 || !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return Vec::new();
    }
    let add = |stem: &str, endings: &[&str]| -> Vec<String> {
        endings.iter().map(|ending| format!("{stem}{ending}{tail}")).collect()
    };
    let bytes = word.as_bytes();
    let (before_last, last) = (bytes[bytes.len() - 2], bytes[bytes.len() - 1]);
    let vowel = |b: u8| b"aeiou".contains(&b);

    if last == b'y' && !vowel(before_last) {
        let stem = &word[..word.len() - 1];
        return [add(stem, &["ies", "ied"]), add(word, &["ing"])].concat();
    }
    if let Some(stem) = word.strip_suffix("ie") {
        return [add(word, &["s", "d"]), add(stem, &["ying"])].concat();
    }
    if last == b'e' {
        let stem = &word[..word.len() - 1];
        // "see", "free": the second `e` stays.
        let ing = if before_last == b'e' { word } else { stem };
        return [add(word, &["s", "d"]), add(ing, &["ing"])].concat();
    }
    let hisses = b"sxz".contains(&last) || word.ends_with("ch") || word.ends_with("sh");
    let third = if hisses || last == b'o' { "es" } else { "s" };
    let mut forms = add(word, &[third, "ed", "ing"]);
    let start = &word[..word.len() - 2];
    // The `u` of `qu` is a consonant: "quit", "equip".
    let follows_consonant =
        start.ends_with("qu") || start.bytes().next_back().is_some_and(|b| !vowel(b));
    let doubles =
        !vowel(last) && !b"wxyh".contains(&last) && vowel(before_last) && follows_consonant;
    if doubles {
        let stem = format!("{word}{}", char::from(last));
        forms.extend(add(&stem, &["ed", "ing"]));
        // "quizzes".
        forms.extend((last == b'z').then(|| format!("{stem}es{tail}")));
    }
    forms
}
