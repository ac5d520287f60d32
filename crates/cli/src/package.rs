//! `repertoire package AGENT`: writes hooks and MCP server as one package that the agent installs.

use std::fs;
use std::path::{Path, PathBuf};

use repertoire::{Error, ErrorCode};
use repertoire_agents::HookAgent;
use serde_json::{Value, json};

use crate::agent::{common_options, program};
use crate::args::{Common, PackageArgs};
use crate::exit_code::ExitCode;
use crate::output::{NAME, Output, Page, styled};
use crate::replace::{io_error, replace};
use crate::{hook, sanitize};

/// The name of the package, and of the marketplace that offers only this package.
const PACKAGE: &str = "repertoire";

const DESCRIPTION: &str = "Adds the skills that a message calls for to the context.";

/// The files of a package, and the commands that install it.
#[derive(Debug)]
struct Package {
    /// The file that identifies a directory as a package of this program.
    manifest: &'static str,
    files: Vec<(&'static str, Value)>,
    /// The commands that install the package; `DIR` stands for its directory.
    install: &'static [&'static str],
}

pub(crate) fn run(args: &PackageArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let PackageArgs { agent, out: dir, options } = args;
    let hooks = hook::package(*agent, options, common)?;
    // The hook in the package already gives the model the list of skills.
    let mut words = ["mcp", "--no-list", "--agent", agent.as_str()].map(str::to_owned).to_vec();
    words.extend(common_options(common));
    let server = json!({"command": program()?, "args": words});
    let package = package(*agent, &hooks, &server);
    let named = dir.clone().unwrap_or_else(|| PathBuf::from(format!("{PACKAGE}-{agent}")));
    let dir = std::path::absolute(&named).unwrap_or(named);
    check(&dir, &package)?;
    for (name, value) in &package.files {
        let path = dir.join(name);
        replace(&path, &format!("{value:#}\n"), &path)?;
    }
    let install = package.install.iter().map(|line| line.replace("DIR", &dir.to_string_lossy()));
    let install: Vec<String> = install.collect();
    if out.json {
        let files: Vec<&str> = package.files.iter().map(|(name, _)| *name).collect();
        let dir = dir.to_string_lossy();
        let agent = agent.as_str();
        Output::json(&json!({"agent": agent, "dir": dir, "files": files, "install": install}))?;
        return Ok(ExitCode::Done);
    }
    let mut page = Page::default();
    let name = dir.to_string_lossy();
    page.line(format_args!("{} is written; install it with", styled(NAME, sanitize::line(&name))));
    for line in &install {
        page.line(format_args!("  {}", sanitize::line(line)));
    }
    out.human(page.as_str())?;
    Ok(ExitCode::Done)
}

/// Fails unless `dir` is new, empty, or a package that this program wrote.
fn check(dir: &Path, package: &Package) -> Result<(), Error> {
    let is_empty = match fs::read_dir(dir) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => true,
        Err(error) => return Err(io_error("read", dir, &error)),
    };
    let manifest = fs::read_to_string(dir.join(package.manifest)).unwrap_or_default();
    let manifest: Value = serde_json::from_str(&manifest).unwrap_or_default();
    if is_empty || manifest["name"] == PACKAGE {
        return Ok(());
    }
    let message = format!("{} holds something else", dir.display());
    Err(Error::new(ErrorCode::InvalidParam, message, "name a new directory with `--out DIR`"))
}

fn package(agent: HookAgent, hooks: &Value, server: &Value) -> Package {
    let servers = json!({"mcpServers": {PACKAGE: server}});
    let about = json!({
        "name": PACKAGE, "version": env!("CARGO_PKG_VERSION"), "description": DESCRIPTION,
    });
    match agent {
        HookAgent::Gemini => {
            let install = &["gemini extensions install DIR"];
            extension("gemini-extension.json", about, hooks, &servers, install)
        }
        HookAgent::Qwen => {
            let install = &["qwen extensions install DIR"];
            extension("qwen-extension.json", about, hooks, &servers, install)
        }
        HookAgent::Codex => for_codex(about, hooks, servers),
        HookAgent::Copilot => for_copilot(about, hooks, servers),
        _ => for_claude_code(about, hooks, servers),
    }
}

/// Returns an extension, whose `manifest` has this name: Gemini CLI and Qwen Code have the same form.
fn extension(
    manifest: &'static str,
    about: Value,
    hooks: &Value,
    servers: &Value,
    install: &'static [&'static str],
) -> Package {
    let mut value = about;
    value["mcpServers"] = servers["mcpServers"].clone();
    let files = vec![(manifest, value), ("hooks/hooks.json", hooks.clone())];
    Package { manifest, files, install }
}

fn for_codex(about: Value, hooks: &Value, servers: Value) -> Package {
    let mut manifest = about;
    manifest["mcpServers"] = "./.mcp.json".into();
    manifest["hooks"] = "./hooks/hooks.json".into();
    let marketplace = json!({"name": PACKAGE, "plugins": [{
        "name": PACKAGE,
        "source": {"source": "local", "path": "./plugins/repertoire"},
        "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
        "category": "Productivity",
    }]});
    Package {
        manifest: ".agents/plugins/marketplace.json",
        files: vec![
            (".agents/plugins/marketplace.json", marketplace),
            ("plugins/repertoire/.codex-plugin/plugin.json", manifest),
            ("plugins/repertoire/.mcp.json", servers),
            ("plugins/repertoire/hooks/hooks.json", hooks.clone()),
        ],
        install: &["codex plugin marketplace add DIR", "codex plugin add repertoire@repertoire"],
    }
}

fn for_copilot(about: Value, hooks: &Value, servers: Value) -> Package {
    let mut manifest = about.clone();
    manifest["hooks"] = "hooks.json".into();
    manifest["mcpServers"] = ".mcp.json".into();
    Package {
        manifest: "plugin.json",
        files: vec![
            (".github/plugin/marketplace.json", marketplace(about)),
            ("plugin.json", manifest),
            (".mcp.json", servers),
            ("hooks.json", hooks.clone()),
        ],
        install: &[
            "copilot plugin marketplace add DIR",
            "copilot plugin install repertoire@repertoire",
        ],
    }
}

/// Returns the marketplace that offers only the package `about`, in its own directory.
fn marketplace(about: Value) -> Value {
    let mut listed = about;
    listed["source"] = "./".into();
    json!({"name": PACKAGE, "owner": {"name": PACKAGE}, "plugins": [listed]})
}

fn for_claude_code(about: Value, hooks: &Value, servers: Value) -> Package {
    Package {
        manifest: ".claude-plugin/plugin.json",
        files: vec![
            (".claude-plugin/marketplace.json", marketplace(about.clone())),
            (".claude-plugin/plugin.json", about),
            (".mcp.json", servers),
            ("hooks/hooks.json", hooks.clone()),
        ],
        install: &[
            "claude plugin marketplace add DIR",
            "claude plugin install repertoire@repertoire",
        ],
    }
}
