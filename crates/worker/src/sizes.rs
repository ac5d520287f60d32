//! The limits on what a toolset offers: tools, their texts, and the depth of their schemas.

use repertoire_plugin::ToolsetDescription;
use serde_json::{Map, Value};

/// The most tools of a class. Providers accept about as many in one request.
pub const MAX_TOOLS: usize = 128;

/// The most bytes of all texts of a class: names, descriptions, and the texts in schemas and annotations.
const MAX_TEXT_BYTES: usize = 64 << 10;

/// The deepest nesting of a schema. In a list of tools it is four levels deeper, and some clients refuse a
/// list with more than 64 levels, with all its tools.
const MAX_DEPTH: usize = 56;

/// Fails with the reason if a class offers too many tools, too much text, or too deep a schema.
pub fn check_size(description: &ToolsetDescription) -> Result<(), String> {
    let class = &description.class;
    if description.tools.len() > MAX_TOOLS {
        let n = description.tools.len();
        return Err(format!("the toolset `{class}` offers {n} tools, more than {MAX_TOOLS}"));
    }
    let mut room = Room::default();
    for tool in &description.tools {
        let fits = room.take_texts(&tool.parameters, 1).and_then(|()| {
            room.take_members(&tool.annotations, 1)?;
            room.take(tool.name.len() + tool.description.len())
        });
        fits.map_err(|excess| match excess {
            Excess::Bytes => {
                let limit = MAX_TEXT_BYTES >> 10;
                format!("the texts of the toolset `{class}` have more than {limit} KiB")
            }
            Excess::Depth => format!(
                "the tool `{}` of the toolset `{class}` has a schema of more than {MAX_DEPTH} levels",
                tool.name
            ),
        })?;
    }
    Ok(())
}

/// The advice for an author whose toolset is larger than [`check_size`] allows.
pub const TOO_LARGE: &str =
    "let it offer fewer tools with shorter texts, or split it into several toolsets";

/// The limit that a class exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Excess {
    /// Its texts are longer than 64 KiB.
    Bytes,
    /// A schema is nested deeper than 56 levels.
    Depth,
}

/// The room that is left for the texts of a class.
#[derive(Debug)]
pub struct Room(usize);

impl Default for Room {
    fn default() -> Room {
        Room(MAX_TEXT_BYTES)
    }
}

impl Room {
    /// Takes the bytes of all texts in `value`, which is at this depth. A value without a text counts as one
    /// byte, so that lists of nothing have a limit, too.
    fn take_texts(&mut self, value: &Value, depth: usize) -> Result<(), Excess> {
        if depth > MAX_DEPTH && (value.is_array() || value.is_object()) {
            return Err(Excess::Depth);
        }
        match value {
            Value::String(text) => self.take(text.len()),
            Value::Array(items) => {
                self.take(1)?;
                items.iter().try_for_each(|item| self.take_texts(item, depth + 1))
            }
            Value::Object(members) => {
                self.take(1)?;
                self.take_members(members, depth)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => self.take(1),
        }
    }

    /// Takes the bytes of all names and texts in an object at this depth.
    pub fn take_members(
        &mut self,
        members: &Map<String, Value>,
        depth: usize,
    ) -> Result<(), Excess> {
        members.iter().try_for_each(|(name, member)| {
            self.take(name.len())?;
            self.take_texts(member, depth + 1)
        })
    }

    /// Takes this many bytes.
    pub fn take(&mut self, n_bytes: usize) -> Result<(), Excess> {
        self.0 = self.0.checked_sub(n_bytes).ok_or(Excess::Bytes)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use repertoire_plugin::ToolSpec;
    use serde_json::json;

    use super::*;

    fn tool(name: &str, description: &str, parameters: Value) -> ToolSpec {
        let mut tool = ToolSpec::default();
        (tool.name, tool.description) = (name.to_owned(), description.to_owned());
        tool.parameters = parameters;
        tool
    }

    fn toolset(tools: impl IntoIterator<Item = ToolSpec>) -> ToolsetDescription {
        let mut description = ToolsetDescription::default();
        description.tools.extend(tools);
        description
    }

    #[test]
    fn a_class_has_at_most_128_tools_and_64_kib_of_texts() {
        let many = |n| toolset((0..n).map(|i| tool(&format!("t{i}"), "", json!({}))));
        assert_eq!(check_size(&many(128)), Ok(()));
        assert!(check_size(&many(129)).unwrap_err().contains("129 tools, more than 128"));
        let long = |n| "x".repeat(n);
        let one = |tool| toolset([tool]);
        assert_eq!(check_size(&one(tool("t", &long(65_534), json!({})))), Ok(()));
        let mut annotated = tool("t", "", json!({}));
        annotated.annotations.insert("title".to_owned(), long(65_536).into());
        for large in [
            tool("t", &long(65_536), json!({})),
            tool("t", "", json!({"properties": {long(65_536): {}}})),
            tool("t", "", json!({"properties": {"a": {"description": long(65_536)}}})),
            tool("t", "", json!({"enum": vec![long(600); 120]})),
            tool("t", "", json!({"enum": vec![0; 65_536]})),
            tool("t", "", json!({"enum": vec![json!([]); 65_536]})),
            tool("t", "", json!({"enum": vec![json!({}); 65_536]})),
            annotated,
        ] {
            assert!(check_size(&one(large)).unwrap_err().contains("more than 64 KiB"));
        }
        let nested = |n, end: Value| (0..n).fold(end, |inner, _| json!({"items": inner}));
        assert_eq!(check_size(&one(tool("t", "", nested(55, json!({}))))), Ok(()));
        assert_eq!(check_size(&one(tool("t", "", nested(56, "end".into())))), Ok(()));
        let mut annotated = tool("t", "", json!({}));
        annotated.annotations.insert("a".to_owned(), nested(56, json!([])));
        for deep in [tool("t", "", nested(56, json!([]))), annotated] {
            let why = check_size(&one(deep)).unwrap_err();
            assert!(why.contains("`t`") && why.contains("more than 56 levels"), "{why}");
        }
        let halves = toolset(["a", "b"].map(|name| tool(name, &long(40_000), json!({}))));
        assert!(check_size(&halves).is_err());
    }
}
