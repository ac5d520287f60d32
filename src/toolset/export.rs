//! Tool lists in the JSON formats of model providers.

use serde_json::Value;

use super::tool::{Tool, Tools};
use crate::tool_format::ToolFormat;
use crate::trust::ContentHash;

/// The longest tool name that providers take.
const MAX_NAME: usize = 64;

impl Tools {
    /// The tools as a JSON list in the given format. Names are made fit for providers: letters,
    /// digits, `_` and `-`, at most 64; [`Tools::find`] understands them.
    pub fn to_json(&self, format: ToolFormat) -> Value {
        let tools = self.tools.iter().map(|tool| {
            let name = tool.provider_name();
            format.tool(&name, &tool.description, &tool.parameters, &tool.annotations)
        });
        tools.collect()
    }
}

impl Tool {
    /// Its name as providers take it, see [`Tools::to_json`].
    pub fn provider_name(&self) -> String {
        provider_name(&self.name)
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
