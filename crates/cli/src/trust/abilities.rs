//! The abilities that code has once it is trusted: its interpreter, the network, and the places where
//! it may write.

use std::collections::BTreeMap;
use std::path::PathBuf;

use repertoire::catalog::Scope;
use repertoire::script::{Script, Scripts};
use repertoire::skill::ToolsetRights;
use serde::Serialize;
use serde_json::json;

use super::{Code, is_library, toolsets};
use crate::args::Common;
use crate::output::{DIM, NAME, Output, Page, WARNING, styled};
use crate::{sanitize, setup};

const AS_ASKED: &str = "as its skill asks for it";

/// The abilities of a file, worded for the user.
#[derive(Serialize)]
struct Ability {
    /// The path of the file in its skill.
    name: String,
    /// The way in which the file runs, such as its interpreter, as a phrase.
    runs: String,
    /// True if the file gets access to the network.
    network: bool,
    /// The reason why it gets that, as a phrase.
    #[serde(skip)]
    why_network: String,
    /// The places where the file may write.
    writes: Vec<String>,
    /// The rights that classes of a library ask for, and get when the library is trusted.
    rights: BTreeMap<String, ToolsetRights>,
}

/// Returns the abilities of each file of `code`, in the same order.
fn of(code: &[Code], common: &Common) -> anyhow::Result<Vec<Ability>> {
    let options = setup::script_options(common)?;
    let (is_network_allowed, opened) = (options.network, options.write.clone());
    let is_scope_needed = is_network_allowed && code.iter().any(|code| !code.has_tools());
    let scopes = if is_scope_needed { scopes(common)? } else { BTreeMap::new() };
    let scripts = Scripts::new(options, std::sync::Arc::default());
    let mut known: BTreeMap<PathBuf, Vec<Script>> = BTreeMap::new();
    let abilities = code.iter().map(|code| {
        let name = code.name();
        let listed = code.owner.as_ref().map(|owner| {
            &*known
                .entry(owner.dir.clone())
                .or_insert_with(|| scripts.list(owner).unwrap_or_default())
        });
        let script = listed.into_iter().flatten().find(|script| script.path == name);
        let writes = if code.has_tools() {
            Vec::new()
        } else {
            opened.iter().map(|path| path.display().to_string()).collect()
        };
        let rights = toolsets::asked(code);
        let why_network = if code.has_tools() {
            let is_asked = rights.values().any(|rights| rights.network);
            is_asked.then(|| AS_ASKED.to_owned())
        } else if is_network_allowed {
            let scope = code.skill_dir().and_then(|dir| scopes.get(&dir).copied());
            why_network(code, scope)
        } else {
            None
        };
        let network = why_network.is_some();
        let why_network = why_network.unwrap_or_default();
        Ability { runs: runs(code, script), name, network, why_network, writes, rights }
    });
    Ok(abilities.collect())
}

/// Returns the scopes of skills by their directories, with links followed.
fn scopes(common: &Common) -> anyhow::Result<BTreeMap<PathBuf, Scope>> {
    let engine = setup::engine(common, |builder| builder)?;
    let catalog = engine.catalog();
    let used = catalog.entries().filter(|entry| !entry.is_shadowed());
    let scopes = used.filter_map(|entry| {
        let dir = entry.skill.dir()?.canonicalize().ok()?;
        Some((dir, entry.scope))
    });
    Ok(scopes.collect())
}

/// Returns the reason why the network is open to a script once it is trusted; `None` if it stays
/// closed. A skill that is in no source has no scope, and is treated like one of a project.
fn why_network(code: &Code, scope: Option<Scope>) -> Option<String> {
    match scope.filter(|scope| scope.is_trusted()) {
        Some(scope) => Some(format!("as for every {scope} skill")),
        None => code.asks_for_network().then(|| AS_ASKED.to_owned()),
    }
}

fn runs(code: &Code, script: Option<&Script>) -> String {
    match script {
        _ if is_library(&code.file) => "a library, in a process of its own".to_owned(),
        _ if code.has_tools() => "an MCP server, in a process of its own".to_owned(),
        None => "read by the scripts beside it".to_owned(),
        Some(Script { problem: Some(problem), .. }) => format!("a script, but {problem}"),
        Some(Script { interpreter: Some(interpreter), .. }) => format!("run by {interpreter}"),
        Some(_) => "a program of its own".to_owned(),
    }
}

/// Shows what `code` may do.
pub(super) fn show(code: &[Code], common: &Common, out: Output) -> anyhow::Result<()> {
    let abilities = of(code, common)?;
    if out.json {
        Output::json(&json!({"code": abilities}))?;
        return Ok(());
    }
    let mut text = Page::default();
    for ability in &abilities {
        let network = if ability.network {
            styled(WARNING, format!("network: open, {}", ability.why_network))
        } else {
            styled(DIM, "network: closed".to_owned())
        };
        let writes = match ability.writes.len() {
            0 => "a directory for the run".to_owned(),
            _ => format!("a directory for the run, {}", ability.writes.join(", ")),
        };
        text.line(format_args!(
            "{}: {}\n  {network}\n  writes: {}",
            styled(NAME, sanitize::line(&ability.name)),
            sanitize::line(&ability.runs),
            sanitize::line(&writes)
        ));
        for (class, rights) in &ability.rights {
            let asks = format!("`{class}` asks {rights}");
            text.line(format_args!("  {}", styled(WARNING, sanitize::line(&asks))));
        }
    }
    out.human(text.as_str())?;
    Ok(())
}
