//! An agent with four tools for its skills. A scripted model stands in for a remote one:
//!
//! ```console
//! $ cargo run --example agent_loop
//! ```
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use repertoire::integration::HostTools;
use repertoire::{Engine, Source, ToolFormat};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let builder = Engine::builder().source(Source::bundled("skills"));
    #[cfg(feature = "scripts")]
    let builder = builder.scripts(repertoire::script::ScriptOptions::default());
    let engine = builder.build()?;
    let session = engine.session("chat-1");

    // All that an agent needs: the definitions go to the model, its calls come back here.
    let tools = HostTools::new(&engine, &session);
    let mut model = ScriptedModel::new(&tools.definitions(ToolFormat::Anthropic));
    let message = "does `a+b` match aab?";
    let mut answer = model.next(&engine.disclose_in(message, &session)?.text);
    while let Some((tool, arguments)) = answer {
        let result = tools.call(&tool, &arguments);
        println!("{tool} {arguments}");
        answer = model.next(&serde_json::to_string(&result)?);
    }
    session.end()?;
    Ok(())
}

/// Plays the calls that a model would make, and checks that it was offered the tools for them.
struct ScriptedModel {
    calls: std::vec::IntoIter<(&'static str, Value)>,
    offered: Vec<String>,
}

impl ScriptedModel {
    fn new(definitions: &Value) -> ScriptedModel {
        let names = definitions.as_array().into_iter().flatten();
        let names = names.filter_map(|tool| Some(tool["name"].as_str()?.to_owned()));
        let calls = vec![
            ("find_skills", json!({"query": "a regular expression does not match"})),
            ("use_skill", json!({"skill": "regex-helper"})),
            (
                "run_skill_script",
                json!({"skill": "regex-helper", "script": "try_regex.py", "args": ["a+b", "--yes", "aab"]}),
            ),
        ];
        ScriptedModel { calls: calls.into_iter(), offered: names.collect() }
    }

    /// Reads what it is told, and calls the next tool it was offered.
    fn next(&mut self, told: &str) -> Option<(String, Value)> {
        println!("  → {}\n", told.chars().take(120).collect::<String>().replace('\n', " "));
        let offered = &self.offered;
        let call = self.calls.find(|(name, _)| offered.iter().any(|offered| offered == name));
        call.map(|(name, arguments)| (name.to_owned(), arguments))
    }
}
