//! A server of 100 chats with three roles: one catalog, one index and one watch, and a view for each role.
//! Run it with `cargo run -p repertoire --example roles`.
#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use std::error::Error;
use std::thread;

use repertoire::{Allowlist, Engine, Source};

const N_CHATS: usize = 100;

/// The roles of this server, and the skills that each has.
const ROLES: [(&str, &[&str]); 3] =
    [("everybody", &["*"]), ("reviewer", &["code-review", "regex-*"]), ("guest", &[])];

const MESSAGES: [&str; 2] = ["review this pull request", "write a commit message"];

/// Answers the messages of one chat; returns the skills that were shown in full.
fn chat(role: &Engine, name: &str) -> Result<Vec<String>, repertoire::Error> {
    let session = role.session(name);
    let system = role.session_prompt(&session).text;
    let mut shown = Vec::new();
    for message in MESSAGES {
        let turn = role.turn(message, &session).run()?;
        // A host sends `system`, `turn.text`, the message and `turn.tools` to its model here.
        println!("{name}: {} characters of prompt", system.len() + turn.text.len());
        shown.extend(turn.disclosure.full.iter().map(ToString::to_string));
    }
    Ok(shown)
}

fn main() -> Result<(), Box<dyn Error>> {
    let skills = concat!(env!("CARGO_MANIFEST_DIR"), "/skills");
    let engine = Engine::builder().source(Source::bundled(skills)).build()?;
    let roles: Vec<(&str, Engine)> = ROLES
        .iter()
        .map(|(name, skills)| (*name, engine.view(Allowlist::from_entries(Some(skills)))))
        .collect();
    // Once in a while, or whenever files change with `engine.watch`: one refresh is that of all roles.
    engine.refresh()?;

    thread::scope(|scope| {
        let chats: Vec<_> = (0..N_CHATS)
            .map(|nth| {
                let (name, role) = &roles[nth % roles.len()];
                scope.spawn(move || chat(role, &format!("{name}-{nth}")))
            })
            .collect();
        for chat in chats {
            chat.join().map_err(|_| "a chat panicked")??;
        }
        Ok::<(), Box<dyn Error>>(())
    })?;
    for (name, role) in &roles {
        let (counts, n_skills) = (role.counts(), role.catalog().entries().count());
        println!("{name}: {n_skills} skills, {} messages, {} in full", counts.queries, counts.full);
    }
    Ok(())
}
