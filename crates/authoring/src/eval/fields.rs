//! The fields of an entry, by the roles of their keys.

use serde_json::{Map, Value};

use super::spellings::{NAMES_IN_MAP, Role, is_adjective, normal, role};

/// A field with a role.
#[derive(Debug, Clone, Copy)]
struct Field<'v> {
    role: Role,
    rank: usize,
    key: &'v str,
    value: &'v Value,
}

/// The fields of a map whose keys have a role, and those of the maps in which an entry keeps its
/// expectation.
pub(super) struct Fields<'v>(Vec<Field<'v>>);

impl<'v> Fields<'v> {
    pub(super) fn of(map: &'v Map<String, Value>) -> Fields<'v> {
        let mut fields = own(map);
        let nested: Vec<Field<'v>> = fields.iter().filter_map(nested).flatten().collect();
        // The sort is stable, so fields of nested maps come after those of the entry.
        fields.extend(nested);
        fields.sort_by_key(|field| field.rank);
        Fields(fields)
    }

    /// The values of the fields with `role`, in the order of the table, with the keys as the map spells
    /// them.
    pub(super) fn all(&self, role: Role) -> impl Iterator<Item = (&'v str, &'v Value)> {
        let fields = self.0.iter().filter(move |field| field.role == role);
        fields.map(|field| (field.key, field.value))
    }

    /// The first of [`Fields::all`] that is not null.
    pub(super) fn first(&self, role: Role) -> Option<(&'v str, &'v Value)> {
        self.all(role).find(|(_, value)| !value.is_null())
    }

    /// The fields like `should_trigger`, each with the answer that `true` stands for.
    pub(super) fn polarities(&self) -> impl Iterator<Item = (&'v str, &'v Value, bool)> {
        self.0.iter().filter_map(|field| match field.role {
            Role::Polarity(fires) => Some((field.key, field.value, fires)),
            _ => None,
        })
    }

    /// Tells whether the map says what a prompt should do.
    pub(super) fn say_what_is_expected(&self) -> bool {
        let of_role = |role: Role| self.all(role).next().is_some();
        let of_polarity = self.polarities().any(|(_, value, _)| !value.is_array());
        of_role(Role::Expected)
            || of_role(Role::Flag)
            || of_role(Role::Forbidden)
            || of_polarity
            || self.list_skills()
    }

    /// Tells whether the lists under `should_trigger` and the like are lists of skills: names are single
    /// words, prompts seldom are.
    pub(super) fn list_skills(&self) -> bool {
        let is_name = |value: &Value| {
            value.as_str().is_some_and(|name| !name.trim().contains(char::is_whitespace))
        };
        let mut lists = self.polarities().filter_map(|(_, value, _)| value.as_array()).peekable();
        self.first(Role::Prompt).is_some()
            && lists.peek().is_some()
            && lists.all(|list| list.iter().all(is_name))
    }
}

/// The fields of a map itself.
fn own<'v>(map: &'v Map<String, Value>) -> Vec<Field<'v>> {
    let field = |(key, value): (&'v String, &'v Value)| {
        let normal = normal(key);
        let (role, rank) = role(&normal)?;
        // A text under `near_miss` explains the entry.
        let explains = is_adjective(&normal) && !value.is_boolean() && !value.is_array();
        (!explains).then_some(Field { role, rank, key, value })
    };
    map.iter().filter_map(field).collect()
}

/// The fields in the map that a field holds. A map of what is expected has no prompt, and [`names`] reads
/// the names in it.
fn nested<'v>(field: &Field<'v>) -> Option<impl Iterator<Item = Field<'v>> + use<'v>> {
    let holds_fields = matches!(field.role, Role::Nested | Role::Expected);
    let map = field.value.as_object().filter(|_| holds_fields)?;
    let is_expected = field.role == Role::Expected;
    let is_read_elsewhere = move |field: &Field<'v>| {
        field.role == Role::Prompt || NAMES_IN_MAP.contains(&&*normal(field.key))
    };
    let fields = own(map).into_iter();
    Some(fields.filter(move |field| !is_expected || !is_read_elsewhere(field)))
}

/// The names of skills in a value: a name, a list of names, a map that names skills, or null. Blank text
/// and `none` do not name a skill.
pub(super) fn names(key: &str, value: &Value) -> Result<Vec<String>, String> {
    let name = |value: &Value| match value {
        Value::String(name) => Ok(name.trim().to_owned()),
        other => {
            let kind = kind(other);
            Err(format!(
                "`{key}` is {kind}, not the name of a skill: write a name, or `[]` for none"
            ))
        }
    };
    let named = match value {
        Value::Object(map) => {
            let in_map = |word: &&str| map.iter().find(|(key, _)| normal(key) == **word);
            match NAMES_IN_MAP.iter().find_map(in_map) {
                Some((key, value)) => return names(key, value),
                // A map that says something else of an entry does not name a skill.
                None if !own(map).is_empty() => Vec::new(),
                None => vec![name(value)?],
            }
        }
        Value::Null => Vec::new(),
        Value::Array(entries) => entries.iter().map(name).collect::<Result<_, _>>()?,
        other => vec![name(other)?],
    };
    let is_name = |name: &String| !name.is_empty() && !name.eq_ignore_ascii_case("none");
    Ok(named.into_iter().filter(is_name).collect())
}

/// The kind of a value, for messages.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_key_of_the_table_that_is_not_null_counts() {
        let map = json!({"expect": "x", "expectedSkill": null, "expected": null});
        let fields = Fields::of(map.as_object().unwrap());
        assert_eq!(fields.first(Role::Expected), Some(("expect", &json!("x"))));
        assert_eq!(fields.all(Role::Expected).count(), 3);
    }

    #[test]
    fn what_is_blank_or_none_names_no_skill() {
        for (value, expected) in [
            (json!(null), vec![]),
            (json!(""), vec![]),
            (json!(" "), vec![]),
            (json!("None"), vec![]),
            (json!([]), vec![]),
            (json!(" a "), vec!["a"]),
            (json!(["a", "", "b"]), vec!["a", "b"]),
            (json!({"route": "a"}), vec!["a"]),
            (json!({"skills": ["a", "b"]}), vec!["a", "b"]),
        ] {
            assert_eq!(names("expected", &value).unwrap(), expected, "{value}");
        }
        assert!(names("expected", &json!([1])).unwrap_err().starts_with("`expected` is a number"));
    }
}
