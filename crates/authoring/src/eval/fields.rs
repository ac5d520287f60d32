//! The fields of an entry, in any spelling of their keys.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Fields by key: `shouldTrigger`, `should-trigger` and `should_trigger` are the same key.
///
/// Look-ups take keys in the form of [`normal`]. If a map has a key in two spellings, the first counts.
pub(super) struct Fields<'v>(HashMap<String, (&'v str, &'v Value)>);

impl<'v> Fields<'v> {
    pub(super) fn of(map: &'v Map<String, Value>) -> Fields<'v> {
        let mut fields = HashMap::new();
        for (key, value) in map {
            fields.entry(normal(key)).or_insert((key.as_str(), value));
        }
        Fields(fields)
    }

    /// The value of the first of `keys` whose value is not null, with the key as the map spells it.
    pub(super) fn first(&self, keys: &[&str]) -> Option<(&'v str, &'v Value)> {
        self.all(keys).find(|(_, value)| !value.is_null())
    }

    /// The values of all `keys` that the map has, in the order of `keys`, with the keys as the map
    /// spells them.
    pub(super) fn all(&self, keys: &[&str]) -> impl Iterator<Item = (&'v str, &'v Value)> {
        keys.iter().filter_map(|key| self.0.get(*key).copied())
    }
}

/// Normalises a key: lower case, without `_`, `-` and blanks between its words.
pub(super) fn normal(key: &str) -> String {
    let letters = key.trim().chars().filter(|c| !matches!(c, '_' | '-' | ' '));
    letters.flat_map(char::to_lowercase).collect()
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
            match Fields::of(map).first(&["skill", "skillname", "skills", "route"]) {
                Some((key, value)) => return names(key, value),
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
    fn keys_are_equal_in_every_case() {
        for key in [
            "shouldTrigger",
            "should_trigger",
            "should-trigger",
            "Should Trigger",
            " SHOULD_TRIGGER",
        ] {
            assert_eq!(normal(key), "shouldtrigger");
        }
        let map = json!({"expectedSkill": null, "expect": "x"});
        let fields = Fields::of(map.as_object().unwrap());
        assert_eq!(fields.first(&["expectedskill", "expect"]), Some(("expect", &json!("x"))));
        assert_eq!(fields.all(&["expectedskill", "expected"]).count(), 1);
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
