//! The editor that turns skills on and off in the text of a file. It keeps comments and order.

use toml_edit::{Array, Document, DocumentMut, Item, RawString, Table, TableLike, Value, value};

use super::document::message;
use super::schema::plain;
use repertoire::diagnostic::position;
use repertoire::{Error, ErrorCode};

/// The character that some editors write at the beginning of a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

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
    edited(text, |document| {
        if !document.contains_key("skills") {
            let section = last_section(document);
            document.insert("skills", Item::Table(section));
        }
        let skills = document.get_mut("skills").and_then(Item::as_table_like_mut);
        let skills = skills.ok_or_else(|| wrong("`skills` is not a section".to_owned()))?;
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
        Ok(())
    })
}

/// Returns `text` with the change that `edit` makes. A byte order mark stays, and all lines end as the
/// first one does.
pub(super) fn edited(
    text: &str,
    edit: impl FnOnce(&mut DocumentMut) -> Result<(), Error>,
) -> Result<String, Error> {
    let rest = text.trim_start_matches(BYTE_ORDER_MARK);
    let mut document = parse(rest)?.into_mut();
    let before = document.to_string();
    edit(&mut document)?;
    let edited = document.to_string();
    if edited == before {
        return Ok(text.to_owned());
    }
    let mut edited = edited.replace("\r\n", "\n");
    if text.lines().next().is_some_and(|line| text[line.len()..].starts_with("\r\n")) {
        edited = edited.replace('\n', "\r\n");
    }
    Ok(format!("{}{edited}", &text[..text.len() - rest.len()]))
}

/// Parses the text of a file that will be changed.
pub(super) fn parse(text: &str) -> Result<Document<&str>, Error> {
    Document::parse(text).map_err(|error| {
        let (line, column) = position(text, error.span().unwrap_or_default().start);
        wrong(format!("line {line}, column {column}: {}", message(&error)))
    })
}

/// Creates a section to be written after all others, and after the comments at the end of the document.
pub(super) fn last_section(document: &mut DocumentMut) -> Table {
    let mut section = Table::new();
    section.set_position(Some(isize::MAX));
    let comments = text(Some(document.trailing()));
    if !comments.trim().is_empty() {
        section.decor_mut().set_prefix(format!("{}\n\n", comments.trim_end()));
        document.set_trailing("");
    }
    section
}

/// Sets a key of a section, or removes it if `new` is `None`.
pub(super) fn put(section: &mut dyn TableLike, key: &str, new: Option<Value>) {
    let in_file = section.iter().map(|(name, _)| name).find(|name| plain(name) == key);
    let key = &in_file.unwrap_or(key).to_owned();
    match (new, section.get_mut(key).and_then(Item::as_value_mut)) {
        (Some(mut new), Some(old)) => {
            // Keep the comment after the old value.
            *new.decor_mut() = old.decor().clone();
            *old = new;
        }
        (Some(new), None) => drop(section.insert(key, value(new))),
        (None, _) => drop(section.remove(key)),
    }
}

fn list<'t>(skills: &'t mut dyn TableLike, key: &str) -> Result<Option<&'t mut Array>, Error> {
    let Some(item) = skills.get_mut(key) else { return Ok(None) };
    // One entry of another type turns the whole list off, which would undo the edit.
    let list = item.as_array_mut().filter(|list| list.iter().all(Value::is_str));
    list.map(Some).ok_or_else(|| wrong(format!("`skills.{key}` is not a list of ids")))
}

pub(super) fn wrong(what: String) -> Error {
    Error::new(ErrorCode::InvalidParam, what, "fix the file first; nothing was changed")
}

fn put_in(list: &mut Array, id: &str) {
    if list.iter().any(|known| known.as_str() == Some(id)) {
        return;
    }
    gather_trailing(list);
    let trailing = text(Some(list.trailing()));
    let comments = trailing.trim_end();
    // Format the new element like the last one: on the same line, or on a line of its own. The first
    // element is formatted like the comments in an empty list.
    let before_last = list.iter().last().map(|element| text(element.decor().prefix()));
    let like = before_last.as_deref().unwrap_or(comments);
    let indented = like.rfind('\n').map(|at| {
        let indent = like[at + 1..].len() - like[at + 1..].trim_start().len();
        &like[at..=at + indent]
    });
    // A comment ends its line, so an element after it needs another one.
    let indented = indented.or(comments.contains('#').then_some("\n  "));
    let mut value = Value::from(id);
    if let Some(indented) = indented {
        // Text after the last element, such as its comment, goes before the new one.
        value.decor_mut().set_prefix(format!("{comments}{indented}"));
        list.set_trailing("\n");
        list.set_trailing_comma(true);
        list.push_formatted(value);
    } else {
        list.push(value);
    }
}

/// Removes an element and the comment after it on its line. Whole lines of comments stay, as they may
/// be about more than this element.
fn take_out(list: &mut Array, id: &str) {
    let place = |list: &Array| list.iter().position(|known| known.as_str() == Some(id));
    if place(list).is_none() {
        return;
    }
    gather_trailing(list);
    while let Some(at) = place(list) {
        let removed = list.remove(at);
        let before = text(removed.decor().prefix());
        if at < list.len() {
            if let Some(next) = list.get_mut(at) {
                let joined = joined(&before, &text(next.decor().prefix()));
                next.decor_mut().set_prefix(joined);
            }
        } else {
            let trailing = text(Some(list.trailing()));
            if before.contains('#') || trailing.contains('\n') {
                list.set_trailing(joined(&before, &trailing));
            }
        }
    }
}

/// Moves the text between the last element and the end of the list, such as a comment, to the list: if
/// no comma follows that element, the text is a part of it.
fn gather_trailing(list: &mut Array) {
    let trailing = text(Some(list.trailing()));
    let element = list.len().checked_sub(1).and_then(|place| list.get_mut(place));
    if let Some(element) = element {
        let suffix = text(element.decor().suffix());
        element.decor_mut().set_suffix("");
        list.set_trailing(suffix + &trailing);
    }
}

/// Joins the text `before` an element that was removed with the text `behind` it. The rest of the line
/// behind it, where its own comment may be, is left out.
fn joined(before: &str, behind: &str) -> String {
    match (before.rfind('\n'), behind.find('\n')) {
        (_, None) => before.to_owned(),
        (end, Some(start)) => format!("{}{}", &before[..end.unwrap_or(0)], &behind[start..]),
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
        let cases: [(&str, Edit, &[&str], &str); 17] = [
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
                "[skills]\ndisabled = [\n  \"a\", # loud\n  # old\n  \"c\", # odd\n]\nenabled = [\"b\"]\n",
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
            // Comments at the end of a file stay above a new section.
            ("# mine\n", disable, &["a"], "# mine\n\n[skills]\ndisabled = [\"a\"]\n"),
            (
                "[limits]\n# max_skills = 2",
                disable,
                &["a"],
                "[limits]\n# max_skills = 2\n\n[skills]\ndisabled = [\"a\"]\n",
            ),
            // So do line ends and a byte order mark.
            (
                "\u{feff}# c\r\n[skills]\r\ndisabled = [\r\n  \"a\", # loud\r\n  \"b\",\r\n]\r\n",
                enable,
                &["b"],
                "\u{feff}# c\r\n[skills]\r\ndisabled = [\r\n  \"a\", # loud\r\n]\r\nenabled = [\"b\"]\r\n",
            ),
            // The last element may have a comment, but no comma.
            (
                "[skills]\ndisabled = [\n  \"a\" # loud\n]\n",
                disable,
                &["b"],
                "[skills]\ndisabled = [\n  \"a\", # loud\n  \"b\",\n]\n",
            ),
            (
                "[skills]\nenabled = []\ndisabled = [\n  \"a\", # loud\n  \"b\" # slow\n]\n",
                enable,
                &["b"],
                "[skills]\nenabled = [\"b\"]\ndisabled = [\n  \"a\" # loud\n]\n",
            ),
            (
                "[skills]\nenabled = []\ndisabled = [\n  # first\n  \"a\", \"b\"]\n",
                enable,
                &["a"],
                "[skills]\nenabled = [\"a\"]\ndisabled = [\n  # first\n  \"b\"]\n",
            ),
            (
                "[skills]\nenabled = []\ndisabled = [\n  \"a\",\n  # last\n  \"b\"]\n",
                enable,
                &["b"],
                "[skills]\nenabled = [\"b\"]\ndisabled = [\n  \"a\"\n  # last\n  ]\n",
            ),
            (
                "[skills]\nenabled = []\ndisabled = [\n  \"a\",\n  \"b\"]\n",
                enable,
                &["b"],
                "[skills]\nenabled = [\"b\"]\ndisabled = [\n  \"a\"]\n",
            ),
        ];
        for (text, edit, ids, wanted) in cases {
            assert_eq!(edit(text, ids).unwrap(), wanted);
        }
    }

    #[test]
    fn comments_stay_when_a_skill_is_turned_off_and_on_again() {
        for list in [
            "\n  \"a\",\n  # b is commented out\n  # \"b\",\n",
            "\n  # nothing yet\n",
            " # nothing yet\n",
            "\"a\", # why\n",
        ] {
            let before = format!("[skills]\nenabled = [\"c\", \"d\"]\ndisabled = [{list}]\n");
            let both = disable(&disable(&before, &["c"]).unwrap(), &["d"]).unwrap();
            assert!(both.contains("\n  \"c\",\n  \"d\",\n]"), "{both}");
            assert_eq!(enable(&both, &["c", "d"]).unwrap(), before);
        }
    }

    #[test]
    fn a_change_that_changes_nothing_leaves_the_text_as_it_is() {
        let text = "# x\n[skills]\r\ndisabled = [\"a\" # y\r\n, # z\r\n]\r\n";
        assert_eq!(disable(text, &["a"]).unwrap(), text);
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
