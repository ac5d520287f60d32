//! Tabs that indent lines, which YAML forbids.

use std::borrow::Cow;
use std::iter;

use super::keys::{KEYS, normalized};

/// Returns `source` with a blank for each tab that begins a line, unless a field would join the text above it.
pub(super) fn without_tabs(source: &str) -> Cow<'_, str> {
    let above = iter::once("").chain(source.lines());
    let is_swallowed = |(line, above): (&str, &str)| {
        let key = line.trim_start().split_once(':').map(|(key, _)| normalized(key));
        let is_field =
            || key.is_some_and(|key| KEYS.iter().any(|known| known.replace('-', "_") == key));
        let is_text = above.starts_with(char::is_alphabetic) && !above.trim_end().ends_with(':');
        line.starts_with('\t') && is_text && is_field()
    };
    if !source.lines().any(|line| line.starts_with('\t'))
        || source.lines().zip(above).any(is_swallowed)
    {
        return Cow::Borrowed(source);
    }
    let lines = source.split_inclusive('\n').flat_map(|line| {
        let rest = line.trim_start_matches('\t');
        iter::repeat_n(" ", line.len() - rest.len()).chain([rest])
    });
    Cow::Owned(lines.collect())
}
