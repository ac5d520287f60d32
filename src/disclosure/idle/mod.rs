//! Idle messages, which carry a conversation on and name no subject: "thanks", "go ahead", "undo
//! that".
//!
//! No skill has to do with them, whatever words it shares with them.

mod words;

use repertoire_text::token::{Plain, next_token};
use repertoire_text::words::{STOP_WORDS, is_paired};
use words::{ENGLISH, OTHER_LANGUAGES, UNSPACED};

/// Tells whether a message consists of stop words and chatter only. Numbers, punctuation and emoji
/// say nothing either, so neither does a blank message.
///
/// The message is read as it was typed, up to its first telling word.
pub(crate) fn is_idle(text: &str) -> bool {
    let mut rest = text;
    let mut previous = "";
    while let Some((token, after)) = next_token(rest) {
        let start = rest.len() - after.len() - token.len();
        if token.starts_with(is_paired) {
            match after_chatter(&rest[start..]) {
                Some(after) => rest = after,
                None => return false,
            }
        } else {
            // `#42` is a ticket, `C++` a language.
            let is_name =
                rest[..start].ends_with('#') || token.len() == 1 && after.starts_with(['+', '#']);
            if is_name || is_language(previous, token) || !is_chatter(token) {
                return false;
            }
            previous = token;
            rest = after;
        }
    }
    true
}

/// Tells whether a letter is the name of a language, as in "use R" or "in C". Elsewhere it may be one of
/// several options.
fn is_language(previous: &str, token: &str) -> bool {
    let is_before = |word: &&str| previous.eq_ignore_ascii_case(word);
    matches!(token, "C" | "R") && ["in", "use", "using"].iter().any(is_before)
}

/// Returns what follows a run of characters of scripts without reliable spaces, if all of it is
/// chatter, each time the longest that is known.
fn after_chatter(text: &str) -> Option<&str> {
    let (mut run, after) = text.split_at(text.find(|c| !is_paired(c)).unwrap_or(text.len()));
    while !run.is_empty() {
        run = &run[longest_chatter(run)?.len()..];
    }
    Some(after)
}

/// Returns the longest entry that `run` starts with.
fn longest_chatter(run: &str) -> Option<&'static str> {
    let mut known = UNSPACED;
    let mut start = run;
    loop {
        // The entry before the place of `start` shares more of it than any other before it.
        known = &known[..known.partition_point(|entry| *entry <= start)];
        let entry = *known.last()?;
        if run.starts_with(entry) {
            return Some(entry);
        }
        let shared = start.chars().zip(entry.chars()).take_while(|(a, b)| a == b);
        start = &run[..shared.map(|(c, _)| c.len_utf8()).sum()];
    }
}

/// Tells whether a word says nothing about a subject.
fn is_chatter(token: &str) -> bool {
    if token.chars().all(char::is_numeric) {
        return true;
    }
    let Some(plain) = Plain::of(token) else { return false };
    let word = plain.as_str();
    is_listed(word) || word.len() <= 1 || is_ordinal(word) || is_drawn_out(word)
}

fn is_listed(word: &str) -> bool {
    [STOP_WORDS, ENGLISH, OTHER_LANGUAGES].iter().any(|list| list.binary_search(&word).is_ok())
}

/// Tells whether a word is a number with an ending: `1st`, `2x`.
fn is_ordinal(word: &str) -> bool {
    let ending = word.trim_start_matches(|c: char| c.is_ascii_digit());
    ending.len() < word.len() && matches!(ending, "st" | "nd" | "rd" | "th" | "x")
}

/// Tells whether a word is laughter, or one that is listed with letters repeated: "yesss", "nooo".
fn is_drawn_out(word: &str) -> bool {
    let is_laughter = |letters: &str| word.len() > 3 && word.chars().all(|c| letters.contains(c));
    if ["ha", "he", "hi", "ja", "lo", "x"].into_iter().any(is_laughter) {
        return true;
    }
    let bytes = word.as_bytes();
    let has_run = bytes.windows(3).any(|bytes| bytes[0] == bytes[1] && bytes[1] == bytes[2]);
    has_run && [1, 2].into_iter().any(|most| is_listed_squeezed(bytes, most))
}

/// Tells whether a word is listed once no letter stands there more than `most` times in a row.
fn is_listed_squeezed(word: &[u8], most: usize) -> bool {
    let mut squeezed = [0; 16];
    let mut len = 0;
    for &byte in word {
        let is_repeated = len >= most && squeezed[len - most..len].iter().all(|&b| b == byte);
        if !is_repeated {
            let Some(place) = squeezed.get_mut(len) else { return false };
            *place = byte;
            len += 1;
        }
    }
    str::from_utf8(&squeezed[..len]).is_ok_and(is_listed)
}

#[cfg(test)]
mod tests;
