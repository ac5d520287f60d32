//! Skills with the name of a command that an agent has by itself.

use std::path::Path;

use repertoire::Diagnostic;
use repertoire::catalog::{Audience, Catalog, Entry};
use repertoire::diagnostic::Code;
use repertoire_agents::HookAgent;

/// Returns a finding for each skill whose slash command one of `agents` has taken.
pub(crate) fn taken(catalog: &Catalog, agents: &[HookAgent]) -> Vec<Diagnostic> {
    let finding = |entry: &Entry| {
        let has_command =
            |agent: &&HookAgent| agent.own_commands().any(|name| name == entry.id.as_str());
        let titles: Vec<&str> =
            agents.iter().filter(has_command).map(|agent| agent.title()).collect();
        (!titles.is_empty()).then(|| {
            let (id, titles) = (&entry.id, titles.join(", "));
            let message = format!("`/{id}` is a command of its own in {titles}");
            let help = "choose another name, or call the skill by its name without a slash";
            let path = entry.skill.path().unwrap_or(Path::new(""));
            Diagnostic::new(Code::TakenCommand, path, message, help)
        })
    };
    let callable = catalog.entries().filter(|entry| entry.is_loadable(Audience::User));
    callable.filter_map(finding).collect()
}
