//! The abilities that code has once it is trusted: its interpreter, and the files and the network that it
//! may use.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use repertoire::catalog::Scope;
use repertoire::script::{FilesystemLevel, NetworkLevel, SandboxLevel, Script, Scripts, sandbox};
use repertoire::skill::{Network, ToolsetRights};
use repertoire::toolset::ToolsetOptions;
use repertoire::trust::{Abilities, Owner};
use serde::Serialize;
use serde_json::json;

use super::{Code, is_library};
use crate::args::Common;
use crate::output::{DIM, NAME, Output, Page, WARNING, styled};
use crate::{sanitize, setup};

/// The abilities of a file, worded for the user.
#[derive(Serialize)]
struct Ability {
    /// The path of the file in its skill.
    name: String,
    /// The way in which the file runs, such as its interpreter, as a phrase.
    runs: String,
    /// All that the file may do, in one line.
    may: String,
    /// The files and directories that it may read besides its skill; null for all files.
    reads: Option<Vec<String>>,
    /// True if it also reads the project in which it runs.
    project: bool,
    /// The part of the network that the file may use.
    network: Network,
    /// The reason for that, as a phrase; null if it gets none.
    why_network: Option<String>,
    /// The places where the file may write; null for all files.
    writes: Option<Vec<String>>,
    /// The rights that classes of a library ask for, and get when the library is trusted.
    rights: BTreeMap<String, ToolsetRights>,
}

/// Returns the abilities of each file of `code`, in the same order.
fn of(code: &[Code], common: &Common) -> anyhow::Result<Vec<Ability>> {
    let scripts = Scripts::new(setup::script_options(common)?, Arc::default());
    let toolsets = setup::cached_toolset_options(common)?;
    let is_scope_needed = code.iter().any(|code| code.is_of_scripts);
    let scopes = if is_scope_needed { scopes(common)? } else { BTreeMap::new() };
    let level = sandbox().ok();
    let mut known: BTreeMap<PathBuf, Vec<Script>> = BTreeMap::new();
    let abilities = code.iter().map(|code| {
        let name = code.name();
        let listed = code.owner.as_ref().map(|owner| {
            &*known
                .entry(owner.dir.clone())
                .or_insert_with(|| scripts.list(owner).unwrap_or_default())
        });
        let script = listed.into_iter().flatten().find(|script| script.path == name);
        let rights = code.asked();
        let scope = code.skill_dir().and_then(|dir| scopes.get(&dir).copied());
        let abilities = match &code.owner {
            // A file without a skill is only read by others.
            None => Abilities {
                read: None,
                project: true,
                network: Network::default(),
                is_network_limited: true,
                write: Some(Vec::new()),
            },
            Some(owner) => {
                let scope = scope.unwrap_or(Scope::Project);
                let of_scripts = code.is_of_scripts.then(|| {
                    scripts.abilities(&Owner { scope, ..owner.clone() }, &code.script_rights)
                });
                // A file may run in several ways.
                let classes = [&code.classes, &code.beside];
                let used = classes.into_iter().filter(|classes| !classes.is_empty());
                let of_tools = used.map(|classes| of_tools(classes, owner, &toolsets));
                let all = of_scripts.into_iter().chain(of_tools);
                all.reduce(Abilities::or).unwrap_or_else(|| toolsets.abilities(owner, &[]))
            }
        };
        let abilities = as_enforced(abilities, level);
        let why_network =
            (!abilities.network.is_none()).then(|| match scope.filter(|it| it.is_trusted()) {
                Some(scope) => format!("as for every {scope} skill"),
                None if asks(code) => "as its skill asks for it".to_owned(),
                None => "as neither settings nor this system close it".to_owned(),
            });
        let (runs, may) = (runs(code, script), abilities.to_string());
        let listed = |paths: Option<Vec<PathBuf>>| {
            paths.map(|paths| paths.iter().map(|path| path.display().to_string()).collect())
        };
        let Abilities { read, project, network, write, .. } = abilities;
        let (reads, writes) = (listed(read), listed(write));
        Ability { name, runs, may, reads, project, network, why_network, writes, rights }
    });
    Ok(abilities.collect())
}

/// Returns the abilities of a library or an MCP server, with the rights that it gets when it is trusted.
fn of_tools(
    classes: &BTreeMap<String, ToolsetRights>,
    owner: &Owner,
    options: &ToolsetOptions,
) -> Abilities {
    let names: Vec<String> = classes.keys().cloned().collect();
    let mut abilities = options.abilities(owner, &names);
    for rights in classes.values() {
        abilities.network = abilities.network.or(&rights.network);
        if let Some(read) = &mut abilities.read {
            read.extend(rights.read.iter().map(PathBuf::from));
        }
    }
    abilities
}

fn asks(code: &Code) -> bool {
    let all = code.classes.values().chain(code.beside.values()).chain([&code.script_rights]);
    all.into_iter().any(|rights| !rights.network.is_none())
}

/// Adds what a system that enforces less cannot forbid.
fn as_enforced(abilities: Abilities, level: Option<SandboxLevel>) -> Abilities {
    let Abilities { read, project, mut network, mut is_network_limited, write } = abilities;
    let is_closed = level.is_some_and(|level| level.filesystem > FilesystemLevel::None);
    if level.is_none_or(|level| level.network < NetworkLevel::All) {
        (network, is_network_limited) = (true.into(), false);
    }
    let (read, write) = (read.filter(|_| is_closed), write.filter(|_| is_closed));
    Abilities { read, project, network, is_network_limited, write }
}

/// Returns the scopes of skills by their directories, with links followed.
pub(super) fn scopes(common: &Common) -> anyhow::Result<BTreeMap<PathBuf, Scope>> {
    let engine = setup::engine(common, |builder| builder)?;
    let catalog = engine.catalog();
    let used = catalog.entries().filter(|entry| !entry.is_shadowed());
    let scopes = used.filter_map(|entry| {
        let dir = entry.skill.dir()?.canonicalize().ok()?;
        Some((dir, entry.scope))
    });
    Ok(scopes.collect())
}

/// Returns all ways in which the file runs, as a phrase.
fn runs(code: &Code, script: Option<&Script>) -> String {
    let of_tools = match () {
        () if is_library(&code.file) => Some("a library, in a process of its own"),
        () if code.has_tools => Some("an MCP server, in a process of its own"),
        () if !code.beside.is_empty() => Some("read by the MCP server beside it"),
        () => None,
    };
    let of_scripts = match script {
        None => "read by the scripts beside it".to_owned(),
        Some(Script { problem: Some(problem), .. }) => format!("a script, but {problem}"),
        Some(Script { interpreter: Some(interpreter), .. }) => format!("run by {interpreter}"),
        Some(_) => "a program of its own".to_owned(),
    };
    let of_scripts = code.is_of_scripts.then_some(of_scripts);
    let ways = of_tools.map(str::to_owned).into_iter().chain(of_scripts);
    let ways: Vec<String> = ways.collect();
    if ways.is_empty() { "read by code beside it".to_owned() } else { ways.join(", and ") }
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
        let reads_little = ability.reads == Some(Vec::new()) && !ability.project;
        let is_harmless = ability.network.is_none() && reads_little;
        let style = if is_harmless { DIM } else { WARNING };
        let why = ability.why_network.as_ref().map(|why| format!(" (network: open, {why})"));
        let may = format!("{}{}", ability.may, why.unwrap_or_default());
        text.line(format_args!(
            "{}: {}\n  {}",
            styled(NAME, sanitize::line(&ability.name)),
            sanitize::line(&ability.runs),
            styled(style, sanitize::line(&may))
        ));
        for (class, rights) in &ability.rights {
            let asks = format!("`{class}` asks {rights}");
            text.line(format_args!("  {}", styled(WARNING, sanitize::line(&asks))));
        }
    }
    out.human(text.as_str())?;
    Ok(())
}
