//! The quirks of front matter that was repaired, by what agents repair as well.

use super::quirk::Quirk;
use super::repair::Repaired;
use super::tabs::without_tabs;

/// Returns the faults of `written` that were repaired.
pub(super) fn repair_quirks(repaired: &Repaired, written: &str) -> Vec<Quirk> {
    let mut quirks = Vec::new();
    if *without_tabs(written) != *written {
        quirks.push(Quirk::Tabs);
    }
    for range in repaired.repaired() {
        let scalar = written.get(range.clone()).unwrap_or_default();
        if scalar.is_empty() {
            continue;
        }
        let line_start = written[..range.start].rfind('\n').map_or(0, |end| end + 1);
        if written[line_start..].starts_with([' ', '\t', '-']) {
            quirks.push(Quirk::InvalidNested);
        }
        quirks.push(fault_of(scalar));
    }
    quirks
}

/// Returns the reason why a scalar is not valid YAML.
fn fault_of(scalar: &str) -> Quirk {
    match scalar.chars().next() {
        Some('"' | '\'' | '%' | '*' | '|' | '>' | ',') => Quirk::InvalidYaml,
        _ if scalar.contains(": ") => Quirk::UnquotedColon,
        Some('[' | '{' | '@' | '`') => Quirk::UnquotedBracket,
        _ => Quirk::InvalidYaml,
    }
}
