//! The editor that turns skills on and off in the text of a file. It keeps comments and order.

use toml_edit::{Array, DocumentMut, Item, RawString, Table, TableLike, Value};

use crate::diagnostic::position;
use crate::error::{Error, ErrorCode};

/// Returns `text` with the skills `ids` enabled: they are removed from `skills.disabled`, and added to
/// `skills.enabled`.
///
/// Fails with `INVALID_PARAM` if `text` is not TOML, or if `skills` or its lists have the wrong type.
pub fn enable(text: &str, ids: &[&str]) -> Result<String, Error> {
    moved(text, ids, "disabled", "enabled")
}

/// Returns `text` with the skills `ids` disabled: they are removed from `skills.enabled`, and added to
/// `skills.disabled`.
///
/// Fails as [`enable`] does.
pub fn disable(text: &str, ids: &[&str]) -> Result<String, Error> {
    moved(text, ids, "enabled", "disabled")
}

fn moved(text: &str, ids: &[&str], from: &str, to: &str) -> Result<String, Error> {
    let mut document = parse(text)?;
    let skills = document.entry("skills").or_insert_with(|| Item::Table(Table::new()));
    let skills =
        skills.as_table_like_mut().ok_or_else(|| wrong("`skills` is not a section".to_owned()))?;
    if let Some(list) = list(skills, from)? {
        for id in ids {
            take_out(list, id);
        }
    }
    if list(skills, to)?.is_none() {
        skills.insert(to, Item::Value(Value::Array(Array::new())));
    }
    if let Some(list) = list(skills, to)? {
        for id in ids {
            put_in(list, id);
        }
    }
    Ok(document.to_string())
}

/// Parses the text of a file that will be changed.
pub(super) fn parse(text: &str) -> Result<DocumentMut, Error> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        let (line, column) = position(text, error.span().unwrap_or_default().start);
        let message = error.message().lines().collect::<Vec<_>>().join("; ");
        wrong(format!("line {line}, column {column}: {message}"))
    })
}

fn list<'t>(skills: &'t mut dyn TableLike, key: &str) -> Result<Option<&'t mut Array>, Error> {
    let Some(item) = skills.get_mut(key) else { return Ok(None) };
    let not_a_list = || wrong(format!("`skills.{key}` is not a list of ids"));
    item.as_array_mut().map(Some).ok_or_else(not_a_list)
}

pub(super) fn wrong(what: String) -> Error {
    Error::new(ErrorCode::InvalidParam, what, "fix the file first; nothing was changed")
}

fn put_in(list: &mut Array, id: &str) {
    if list.iter().any(|known| known.as_str() == Some(id)) {
        return;
    }
    // Format the new element like the last one: on the same line, or on a line of its own.
    let prefix = list.iter().last().map(|last| text(last.decor().prefix()));
    let mut value = Value::from(id);
    if let Some(at) = prefix.as_deref().and_then(|prefix| prefix.rfind('\n')) {
        let indent = prefix.unwrap_or_default()[at..].to_owned();
        // Text after the last element, such as its comment, goes before the new one.
        let trailing = text(Some(list.trailing()));
        let comment = trailing.trim_end().to_owned();
        value.decor_mut().set_prefix(format!("{comment}{indent}"));
        list.set_trailing("\n");
        list.set_trailing_comma(true);
        list.push_formatted(value);
    } else {
        list.push(value);
    }
}

/// Removes an element and its comments: those on the lines above it, and the one after it on its line. A
/// comment before the first line break belongs to the previous element.
fn take_out(list: &mut Array, id: &str) {
    let place = |list: &Array| list.iter().position(|known| known.as_str() == Some(id));
    while let Some(at) = place(list) {
        let removed = list.remove(at);
        let before = text(removed.decor().prefix());
        if at < list.len() {
            if let Some(next) = list.get_mut(at) {
                let joined = joined(&before, &text(next.decor().prefix()));
                next.decor_mut().set_prefix(joined);
            }
        } else if before.contains('\n') {
            let joined = joined(&before, &text(Some(list.trailing())));
            list.set_trailing(joined);
        }
    }
}

/// Joins the comments that remain: those of the previous element in `before`, and those of the next
/// element in `behind`.
fn joined(before: &str, behind: &str) -> String {
    match (before.find('\n'), behind.find('\n')) {
        (None, None) => before.to_owned(),
        (at, rest) => format!("{}{}", &before[..at.unwrap_or(0)], &behind[rest.unwrap_or(0)..]),
    }
}

fn text(raw: Option<&RawString>) -> String {
    raw.and_then(RawString::as_str).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_change_and_all_else_stays() {
        type Edit = fn(&str, &[&str]) -> Result<String, Error>;
        let cases: [(&str, Edit, &[&str], &str); 9] = [
            ("", disable, &["a"], "[skills]\ndisabled = [\"a\"]\n"),
            (
                "# mine\n[limits] # few\nmax_skills = 1\n",
                disable,
                &["a", "b"],
                "# mine\n[limits] # few\nmax_skills = 1\n\n[skills]\ndisabled = [\"a\", \"b\"]\n",
            ),
            (
                "[skills]\ndisabled = [ \"a\" ] # why\n",
                disable,
                &["a"],
                "[skills]\ndisabled = [ \"a\" ] # why\n",
            ),
            (
                "[skills]\ndisabled = [\"a\", \"b\", \"c\"] # why\n",
                enable,
                &["b"],
                "[skills]\ndisabled = [\"a\", \"c\"] # why\nenabled = [\"b\"]\n",
            ),
            (
                "[skills]\ndisabled = [\n  \"a\", # loud\n  # old\n  \"b\", # slow\n  \"c\", # odd\n]\n",
                enable,
                &["b"],
                "[skills]\ndisabled = [\n  \"a\", # loud\n  \"c\", # odd\n]\nenabled = [\"b\"]\n",
            ),
            (
                "[skills]\ndisabled = [\n  \"a\", # loud\n  \"b\", # slow\n]\n",
                enable,
                &["b"],
                "[skills]\ndisabled = [\n  \"a\", # loud\n]\nenabled = [\"b\"]\n",
            ),
            (
                "[skills]\ndisabled = [\n  \"a\", # loud\n]\n",
                disable,
                &["b"],
                "[skills]\ndisabled = [\n  \"a\", # loud\n  \"b\",\n]\n",
            ),
            (
                "skills = { disabled = [\"a\"] }\n",
                enable,
                &["a"],
                "skills = { disabled = [] , enabled = [\"a\"] }\n",
            ),
            ("skills.disabled = [\"a\"]\n", disable, &["b"], "skills.disabled = [\"a\", \"b\"]\n"),
        ];
        for (text, edit, ids, wanted) in cases {
            assert_eq!(edit(text, ids).unwrap(), wanted);
        }
    }

    #[test]
    fn what_is_wrong_is_left_alone() {
        for (text, wanted) in [
            ("a = 1\n[skills\n", "line 2"),
            ("skills = 3\n", "`skills`"),
            ("[skills]\ndisabled = \"a\"\n", "`skills.disabled`"),
        ] {
            let error = disable(text, &["a"]).unwrap_err();
            assert!(error.message().contains(wanted), "{error:?}");
            assert!(error.help().contains("nothing was changed"), "{error:?}");
        }
    }
}
