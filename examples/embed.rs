//! A complete turn of an agent: the catalog in the system prompt, the right skills with the message,
//! and a record of what was shown. Run it with `cargo run -p repertoire --example embed -- "your message"`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example talks to its reader")]

use std::error::Error;

use repertoire::{Engine, Source};

/// Stands in for a call to a language model.
fn model(system: &str, message: &str) -> String {
    format!("(a model would answer {} characters of prompt)", system.len() + message.len())
}

fn main() -> Result<(), Box<dyn Error>> {
    let message = std::env::args().nth(1).unwrap_or_else(|| "say hello to Ana".to_owned());
    let skills = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/skills");

    // Once per process: read the skills and compile their triggers.
    let engine = Engine::builder().source(Source::bundled(skills)).build()?;
    for finding in engine.diagnostics().iter() {
        eprintln!("{finding}");
    }

    // Once per session: put the catalog into the system prompt.
    let system = format!("You are a helpful agent.\n\n{}", engine.prompt().text);

    // Once per message: add the skills that matter now.
    let session = engine.session("chat-1");
    let disclosure = engine.turn(&message, &session).run()?.disclosure;
    let answer = model(&system, &format!("{}\n\n{message}", disclosure.text));

    println!("shown in full: {:?}; hidden: {}", disclosure.full, disclosure.hidden);
    for found in engine.matches(&message) {
        for hit in &found.hits {
            println!("{}: {} `{}` at {:?}", found.id, hit.kind.as_str(), hit.trigger, hit.span);
        }
    }
    println!("{answer}");
    Ok(())
}
