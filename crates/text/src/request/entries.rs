//! Entries that programs write one below the other, and that count as such beside each other.

/// Tells whether a text begins with one of `starts`, none of which is empty. Most texts do not, as their first
/// byte tells.
pub(super) fn begins_with(text: &str, starts: &[&str]) -> bool {
    let first = text.as_bytes().first();
    starts.iter().any(|start| start.as_bytes().first() == first && text.starts_with(start))
}

/// Tells whether two adjacent lines are entries of one list.
pub(super) fn are_entries(above: &str, below: &str) -> bool {
    is_entry(above) && is_entry(below)
}

/// Tells whether a line may be an entry that a program wrote, and counts as one beside another line of a
/// program: `error: the build failed`, `WARN the disk is full`, `83db48f fix the login`.
pub(super) fn is_entry(line: &str) -> bool {
    let text = line.trim();
    let (first, _) = text.split_once(' ').unwrap_or_default();
    LEVELS.contains(&first) || is_hash(first) || begins_with(text, &ENTRIES) || is_place_alone(text)
}

/// Tells whether a line is nothing but a path or the top of a listing, as programs write it above what is there.
pub(super) fn is_place_alone(line: &str) -> bool {
    let text = line.trim();
    is_total(text) || !text.contains(' ') && text.contains('/') && text.contains('.')
}

/// The levels of the entries of a log.
pub(super) const LEVELS: [&str; 10] =
    ["INFO", "WARN", "WARNING", "ERROR", "DEBUG", "TRACE", "FATAL", "CRITICAL", "NOTICE", "SEVERE"];

/// Other beginnings of such entries.
const ENTRIES: [&str; 12] = [
    "warning: ", "error: ", "note: ", "help: ", "hint: ", "remote: ", "FAIL ", "PASS ", "E: ",
    "W: ", "Collecting ", "Downloading ",
];

/// Tells whether a text is the first line of a listing, or the top of a tree: `total 12`, `.`.
fn is_total(text: &str) -> bool {
    let n_blocks = text.strip_prefix("total ");
    text == "." || n_blocks.is_some_and(|n| n.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Tells whether a word is the hash of a commit, perhaps shortened.
pub(super) fn is_hash(word: &str) -> bool {
    let has = |is: fn(&u8) -> bool| word.as_bytes().iter().any(is);
    (7..=40).contains(&word.len())
        && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
}
