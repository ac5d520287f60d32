//! The tools of an MCP server, as the description of a plugin.

use std::collections::HashMap;

use repertoire_plugin::{ErrorCode, ToolSpec, ToolsetDescription};
use rmcp::model::{PaginatedRequestParams, Tool};
use rmcp::service::{Peer, RoleClient, ServiceError};
use serde_json::Value;

use super::protocol::Failure;
use super::sizes::{MAX_TOOLS, Room};

/// The longest tool name.
const MAX_NAME: usize = 64;

/// Returns the tools of a server, up to the first page with which they are more, or larger, than those of a
/// class can be.
pub(super) async fn list_tools(server: &Peer<RoleClient>) -> Result<Vec<Tool>, ServiceError> {
    let mut tools = Vec::new();
    let mut room = Room::default();
    let mut page = PaginatedRequestParams::default();
    // A page may have no tools, but a list that goes on for ever must end.
    for _ in 0..=MAX_TOOLS {
        let listed = server.list_tools(Some(page.clone())).await?;
        let mut fit = listed.tools.iter().map(|tool| {
            room.take(tool.name.len() + tool.description.as_ref().map_or(0, |text| text.len()))?;
            room.take_members(&tool.input_schema, 1)
        });
        let is_within = fit.all(|fits| fits.is_ok());
        tools.extend(listed.tools);
        page.cursor = listed.next_cursor;
        if page.cursor.is_none() || tools.len() > MAX_TOOLS || !is_within {
            break;
        }
    }
    Ok(tools)
}

/// Converts the tools to a plugin's description. Also returns the server's own name for each tool.
pub(super) fn describe(
    class: &str,
    tools: Vec<Tool>,
) -> Result<(ToolsetDescription, HashMap<String, String>), Failure> {
    let mut description = ToolsetDescription::default();
    class.clone_into(&mut description.class);
    let mut names = HashMap::new();
    for tool in tools {
        let mut spec = ToolSpec::default();
        spec.name = fit(&tool.name);
        if spec.name.is_empty() {
            return Err(Failure::new(ErrorCode::Failed, "one of its tools has an empty name"));
        }
        if let Some(other) = names.insert(spec.name.clone(), tool.name.clone().into_owned()) {
            let message =
                format!("its tools `{other}` and `{}` have the same name once adapted", tool.name);
            return Err(Failure::new(ErrorCode::Failed, message));
        }
        spec.description =
            tool.description.or(tool.title.map(Into::into)).unwrap_or_default().into();
        spec.parameters = Value::Object(tool.input_schema.as_ref().clone());
        if let Ok(Value::Object(annotations)) = serde_json::to_value(&tool.annotations) {
            spec.annotations = annotations;
        }
        description.tools.push(spec);
    }
    Ok((description, names))
}

/// Adapts a name to at most 64 letters, digits, `_` and `-`.
fn fit(name: &str) -> String {
    let fit = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    name.chars().take(MAX_NAME).map(fit).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn names_are_made_fit_and_must_stay_distinct() {
        let tool =
            |name: &'static str| Tool::new(name, "It does.", Arc::new(serde_json::Map::new()));
        let (description, names) = describe("mcp", vec![tool("fs.read"), tool("add")]).unwrap();
        assert_eq!(description.tools[0].name, "fs_read");
        assert_eq!(names["fs_read"], "fs.read");
        let failure = describe("mcp", vec![tool("a.b"), tool("a/b")]).unwrap_err();
        assert!(failure.message.contains("`a.b` and `a/b`"), "{}", failure.message);
        let failure = describe("mcp", vec![tool("add"), tool("")]).unwrap_err();
        assert!(failure.message.contains("an empty name"), "{}", failure.message);
    }
}
