//! `repertoire tool inspect`: shows the description in a library, and if asked its tools, and what their
//! arguments are not checked against.

use std::fs;
use std::path::Path;

use repertoire::toolset::{PluginNote, Tool, Tools};
use repertoire::trust::ContentHash;
use repertoire::{Engine, Error, ErrorCode, Source};
use serde_json::json;

use super::not_a_library;
use crate::args::{IsolationArgs, ToolInspectArgs};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output::{NAME, Output, Page, WARNING, styled};
use crate::{sanitize, setup};

pub(crate) fn run(args: &ToolInspectArgs, out: Output) -> anyhow::Result<ExitCode> {
    let file = &*args.file;
    let note = read(file)?;
    let bytes = fs::read(file)?;
    let sha256 = ContentHash::of(&bytes);
    let problem = note.check(file).err().map(|error| format!("{error}; {}", error.help()));
    let tools = args.tools.then(|| tools(file, &bytes, &note, &args.isolation)).transpose()?;
    let is_fine = tools.as_ref().is_none_or(|tools| tools.failures.is_empty());

    let abi = format!("{}.{}", note.abi.0, note.abi.1);
    if out.json {
        let mut json = json!({
            "path": file.to_string_lossy(),
            "name": note.name,
            "version": note.version,
            "abi": abi,
            "target": note.target,
            "rustc": note.rustc,
            "panic": note.panic,
            "plugin_api": note.plugin_api,
            "classes": note.classes,
            "sha256": sha256,
            "bytes": bytes.len(),
            "problem": problem,
        });
        if let Some(tools) = &tools {
            json["tools"] = json!(tools.tools);
            json["notes"] = json!(notes(&tools.tools));
        }
        Output::json(&json)?;
    } else {
        let mut text = page(&note, &abi, sha256.as_str());
        if let Some(problem) = &problem {
            text.line(format_args!("{}", styled(WARNING, sanitize::line(problem))));
        }
        if let Some(tools) = tools.as_ref().filter(|tools| !tools.tools.is_empty()) {
            text.push("\n");
            text.push(&super::table(&tools.tools));
            for note in notes(&tools.tools) {
                text.line(format_args!("{}: {}", styled(NAME, "note"), sanitize::line(&note)));
            }
        }
        out.human(text.as_str())?;
    }
    for failure in tools.iter().flat_map(|tools| &tools.failures) {
        out.partial_failure(&Failure::from(&*failure.error));
    }
    Ok(ExitCode::done_if(is_fine))
}

/// Returns a note for each tool whose arguments are not checked against its whole schema.
fn notes(tools: &[Tool]) -> Vec<String> {
    let unchecked = tools.iter().map(|tool| (&tool.name, tool.unchecked()));
    let unchecked = unchecked.filter(|(_, parts)| !parts.is_empty());
    let note = |(name, parts): (&String, Vec<String>)| {
        format!("the arguments of `{name}` are not checked against {}", parts.join(", "))
    };
    unchecked.map(note).collect()
}

/// Formats the description for people.
fn page(note: &PluginNote, abi: &str, sha256: &str) -> Page {
    let mut text = Page::default();
    let classes = note.classes.join(", ");
    let title = format!("{} {}", note.name, note.version);
    text.line(format_args!("{}", styled(NAME, sanitize::line(&title))));
    for (name, value) in [
        ("abi", abi),
        ("target", &note.target),
        ("rustc", &note.rustc),
        ("panic", &note.panic),
        ("classes", &classes),
        ("sha256", sha256),
    ] {
        // A plugin in C names no Rust compiler, so the value may be empty.
        if !value.is_empty() {
            text.line(format_args!("{}: {}", styled(NAME, name), sanitize::line(value)));
        }
    }
    text
}

/// Reads the description in the library, without running the library.
fn read(file: &Path) -> Result<PluginNote, Error> {
    let code = match fs::metadata(file).map_err(|error| error.kind()) {
        Err(std::io::ErrorKind::NotFound) => ErrorCode::NotFound,
        Err(std::io::ErrorKind::PermissionDenied) => ErrorCode::PermissionDenied,
        _ => ErrorCode::ExecutionError,
    };
    PluginNote::read(file).map_err(|error| {
        not_a_library::explained(file)
            .unwrap_or_else(|| Error::new(code, error.to_string(), error.help()))
    })
}

/// Lists the tools of every class. This runs the library, since the user asked for its tools.
fn tools(
    file: &Path,
    bytes: &[u8],
    note: &PluginNote,
    isolation: &IsolationArgs,
) -> anyhow::Result<Tools> {
    let place = tempfile::tempdir()?;
    // The name of the skill is shown before the names of its tools.
    let dir = place.path().join("inspect");
    let library = format!("{}it{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let path = dir.join("toolsets").join(library);
    fs::create_dir_all(dir.join("toolsets"))?;
    fs::write(&path, bytes)?;
    let entries: Vec<String> =
        note.classes.iter().map(|class| format!("toolsets/it:{class}")).collect();
    let head = json!({"name": "inspect", "description": "Holds a library.", "toolsets": entries});
    // The front matter may be JSON, which is valid YAML.
    fs::write(dir.join("SKILL.md"), format!("---\n{head}\n---\nA library.\n"))?;

    let mut options = setup::toolset_options(isolation)?;
    options.cache = Some(place.path().join("cache"));
    let engine = Engine::builder().source(Source::user(place.path())).toolsets(options).build()?;
    let mut tools = engine.all_tools();
    // Messages are about the file that was named, not about its copy.
    let copy = path.to_string_lossy();
    for failure in &mut tools.failures {
        let error = &failure.error;
        let message = error.message().replace(&*copy, &file.to_string_lossy());
        failure.error = error.reworded(message).into();
    }
    Ok(tools)
}
