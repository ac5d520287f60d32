//! Tool lists in the shapes that others read.

use std::str::FromStr;

use serde_json::{Value, json};

use super::registry::Tools;
use crate::error::{Error, ErrorCode};
use crate::trust::ContentHash;

/// The longest tool name that providers take.
const MAX_NAME: usize = 64;

/// Whose shape a tool list has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolFormat {
    /// The Model Context Protocol's `tools/list`.
    Mcp,
    /// `OpenAI`'s `tools` of a chat completion.
    OpenAi,
    /// Anthropic's `tools` of a message.
    Anthropic,
}

impl FromStr for ToolFormat {
    type Err = Error;

    fn from_str(text: &str) -> Result<ToolFormat, Error> {
        match text {
            "mcp" => Ok(ToolFormat::Mcp),
            "openai" => Ok(ToolFormat::OpenAi),
            "anthropic" => Ok(ToolFormat::Anthropic),
            _ => Err(Error::new(
                ErrorCode::InvalidParam,
                format!("`{text}` is no format of tool lists"),
                "choose `mcp`, `openai` or `anthropic`",
            )),
        }
    }
}

impl Tools {
    /// The tools as a JSON list in somebody's shape. Names are made fit for providers: letters,
    /// digits, `_` and `-`, at most 64; [`Tools::find`] understands them.
    pub fn to_json(&self, format: ToolFormat) -> Value {
        let tools = self.tools.iter().map(|tool| {
            let name = provider_name(&tool.name);
            let (description, parameters) = (&tool.description, &tool.parameters);
            match format {
                ToolFormat::Mcp => json!({
                    "name": name,
                    "description": description,
                    "inputSchema": parameters,
                    "annotations": tool.annotations,
                }),
                ToolFormat::OpenAi => json!({
                    "type": "function",
                    "function": {"name": name, "description": description, "parameters": parameters},
                }),
                ToolFormat::Anthropic => {
                    json!({"name": name, "description": description, "input_schema": parameters})
                }
            }
        });
        tools.collect()
    }
}

/// `name` as providers take it. One that is too long keeps its end, which says most, behind a part
/// of its hash.
pub(super) fn provider_name(name: &str) -> String {
    let fit = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let plain: String = name.chars().map(fit).collect();
    if plain.len() <= MAX_NAME {
        return plain;
    }
    let hash = ContentHash::of(name.as_bytes());
    let end = &plain[plain.len() - (MAX_NAME - 9)..];
    format!("{}_{end}", &hash.as_str()[..8])
}

#[cfg(test)]
mod tests {
    use super::provider_name;

    #[test]
    fn names_fit_providers_and_stay_distinct() {
        assert_eq!(provider_name("hello-extended.greet"), "hello-extended_greet");
        assert_eq!(provider_name("sven/plan.do it"), "sven_plan_do_it");
        let long = |c: char| provider_name(&format!("{}.greet", c.to_string().repeat(90)));
        assert_eq!((long('a').len(), long('b').len()), (64, 64));
        assert_ne!(long('a'), long('b'));
        assert!(long('é').is_ascii() && long('a').ends_with("a_greet"));
    }
}
