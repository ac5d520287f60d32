//! Amounts in a body: numbers after `$` that are not placeholders for arguments.

use std::ops::Range;

/// The words by which a number is an amount: after a blank, and after `/`, `per` or `a`.
const SCALES: [&str; 9] =
    ["million", "billion", "trillion", "thousand", "bn", "USD", "EUR", "dollars", "cents"];
const UNITS: [&str; 14] = [
    "month", "mo", "year", "yr", "week", "day", "hour", "hr", "minute", "user", "seat", "request",
    "call", "token",
];

/// Tells whether the `$N` at `range` is an amount, a size or an end of a range. `$0-$1` is a range unless
/// arguments are declared: then it may join two of them.
pub(super) fn is_amount(body: &str, range: Range<usize>, is_declared: bool) -> bool {
    let (before, after) = (&body[..range.start], &body[range.end..]);
    // Letters of writing systems without spaces have no cases.
    let is_joined = |c: char| c.is_lowercase() || c.is_uppercase() || c.is_ascii_digit();
    let begins_number = |text: &str| {
        let text = text.trim_start_matches('$');
        text.starts_with(|c: char| c.is_ascii_digit())
    };
    if before.ends_with(is_joined) || after.starts_with(is_joined) || after.starts_with('%') {
        return true;
    }
    if after
        .strip_prefix(['.', ',', '\'', '_', '’'])
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    {
        return true;
    }
    let dashes: &[char] =
        if is_declared { &['–', '—', '~'] } else { &['-', '–', '—', '~'] };
    let is_range_start = |dash: char| {
        let rest = if dash == '-' { after } else { after.trim_start_matches(' ') };
        rest.strip_prefix(dash).is_some_and(|rest| begins_number(rest.trim_start_matches(' ')))
    };
    let is_range_end = |dash: char| {
        let rest = if dash == '-' { before } else { before.trim_end_matches(' ') };
        let first = rest.strip_suffix(dash).map(|rest| rest.trim_end_matches(' '));
        first.is_some_and(is_end_of_amount)
    };
    dashes.iter().any(|dash| is_range_start(*dash) || is_range_end(*dash)) || has_unit(after)
}

/// Tells whether `text` ends with an amount: `$` and a number, perhaps with a scale such as `M`.
fn is_end_of_amount(text: &str) -> bool {
    let number = text.trim_end_matches(['k', 'K', 'm', 'M', 'b', 'B']);
    let start = number.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ',');
    start.len() < number.len() && start.ends_with('$')
}

/// Tells whether `after`, the text after a number, begins with a scale or a unit of amounts.
fn has_unit(after: &str) -> bool {
    let begins_with = |text: &str, words: &[&str]| {
        words.iter().any(|word| {
            let head = text.get(..word.len());
            let rest = text.get(word.len()..).unwrap_or_default();
            head.is_some_and(|head| head.eq_ignore_ascii_case(word))
                && !rest.trim_start_matches('s').starts_with(char::is_alphanumeric)
        })
    };
    let spaced = after.strip_prefix(' ').unwrap_or_default();
    let rate = after
        .strip_prefix('/')
        .or_else(|| ["per ", "a ", "an ", "/ "].iter().find_map(|word| spaced.strip_prefix(*word)));
    begins_with(spaced, &SCALES) || rate.is_some_and(|rate| begins_with(rate, &UNITS))
}
