//! A complete turn of an agent: the catalog in the system prompt, the right skills in the message,
//! and a record of what was used. Run it with `cargo run --example embed -- "your message"`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example talks to its reader")]

use std::error::Error;

use repertoire::{Engine, Query, Source};

/// Stands in for the call of a language model.
fn model(system: &str, message: &str) -> String {
    format!("(a model would answer {} characters of prompt)", system.len() + message.len())
}

fn main() -> Result<(), Box<dyn Error>> {
    let message = std::env::args().nth(1).unwrap_or_else(|| "say hello to Ana".to_owned());
    let skills = concat!(env!("CARGO_MANIFEST_DIR"), "/skills");

    // Once per process: read the skills, compile their triggers.
    let engine = Engine::builder().source(Source::bundled(skills)).build()?;
    for finding in engine.diagnostics() {
        eprintln!("{finding}");
    }

    // Once per session: what there is.
    let system = format!("You are a helpful agent.\n\n{}", engine.prompt().text);

    // Once per message: what matters now.
    let query = Query::new(&message).session("chat-1");
    let disclosure = engine.disclose(&query);
    let answer = model(&system, &format!("{}\n\n{message}", disclosure.text));

    // Skills that were used rank higher in this session from now on.
    for id in &disclosure.full {
        engine.sessions().record_use("chat-1", id);
    }

    println!("shown in full: {:?}; hidden: {}", disclosure.full, disclosure.hidden);
    for found in engine.matches(&query) {
        for hit in &found.hits {
            println!("{}: {} `{}` at {:?}", found.id, hit.kind.as_str(), hit.trigger, hit.span);
        }
    }
    println!("{answer}");
    Ok(())
}
