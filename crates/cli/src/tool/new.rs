//! `repertoire tool new`: writes a skill with tools, from a library or an MCP server.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use repertoire::skill::is_identifier;
use repertoire::toolset::{C_EXAMPLE, C_HEADER};
use repertoire::{Error, ErrorCode};
use serde_json::json;

use super::cargo_help::PLUGIN;
use crate::args::{Common, Lang, ToolNewArgs};
use crate::exit_code::ExitCode;
use crate::failure::UsageError;
use crate::new::{keyword, not_an_identifier, not_written};
use crate::output::{NAME, Output, Page, styled};
use crate::sanitize;
use crate::shell::quoted;

/// The MCP server of a new skill.
const SERVER: &str = include_str!("server.py");

pub(crate) fn run(args: &ToolNewArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let name = &*args.name;
    if !is_identifier(name) {
        return Err(UsageError(not_an_identifier(name)).into());
    }
    let New { files, class, first, note } = match args.lang {
        Lang::Rust => rust(args)?,
        Lang::C => c(args)?,
        Lang::Python => python(args)?,
    };
    write(&files)?;
    let (skill, brand) = (args.dir.join(name), brand(common));
    let next = [
        format!("repertoire {first} {}{brand}", quoted(&skill.to_string_lossy())),
        format!(
            r#"repertoire tool call {name}.greet '{{"name": "Ada"}}' --source {}{brand}"#,
            quoted(&args.dir.to_string_lossy())
        ),
    ];
    if out.json {
        let paths: Vec<_> = files.iter().map(|(path, _)| path.to_string_lossy()).collect();
        Output::json(&json!({"id": name, "class": class, "paths": paths, "next": next}))?;
    } else {
        let mut text = Page::default();
        for (path, _) in &files {
            let path = path.to_string_lossy();
            text.line(format_args!("{}", styled(NAME, sanitize::line(&path))));
        }
        text.line(format_args!("\nEdit them, then:"));
        for command in next {
            text.line(format_args!("  {}", sanitize::line(&command)));
        }
        out.human(text.as_str())?;
    }
    if let Some(note) = note {
        out.note(&note);
    }
    Ok(ExitCode::Done)
}

/// A new toolset: its files, its class, and the command that prepares its skill for use.
struct New {
    files: Vec<(PathBuf, String)>,
    class: String,
    first: &'static str,
    /// A note that the author should read before building it.
    note: Option<String>,
}

/// Returns a crate in Rust, and the skill that uses its library.
fn rust(args: &ToolNewArgs) -> anyhow::Result<New> {
    let name = &*args.name;
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        let message = format!("`{name}` is not a name for a crate: it begins with a digit");
        let help = "write a name that begins with a letter";
        return Err(UsageError(Error::new(ErrorCode::InvalidParam, message, help)).into());
    }
    let here =
        args.plugin_path.clone().or_else(|| plugin_crate_above(&std::env::current_dir().ok()?));
    let dependency = here.as_deref().map_or(Ok(r#""1""#.to_owned()), path_dependency)?;
    let (krate, skill) = (args.dir.join(format!("{name}-toolset")), args.dir.join(name));
    let files = vec![
        (krate.join("Cargo.toml"), manifest(name, &dependency)),
        (krate.join("src").join("lib.rs"), library(name)),
        (skill.join("SKILL.md"), document(name)),
    ];
    let note = here.is_none().then(|| {
        format!(
            "the crate takes `{PLUGIN}` from the registry; `--plugin-path CHECKOUT` takes it from a checkout \
             of Repertoire"
        )
    });
    Ok(New { files, class: class(name), first: "tool build", note })
}

/// Returns code in C with its header, and the skill that uses its library.
fn c(args: &ToolNewArgs) -> anyhow::Result<New> {
    no_plugin_path(args)?;
    let (name, skill) = (&*args.name, args.dir.join(&args.name));
    let code = args.dir.join(format!("{name}-toolset"));
    // The code of the example, in which the names are replaced.
    let library = C_EXAMPLE
        .replace("HelloToolset", &class(name))
        .replace("hello_toolset", &format!("{}_toolset", name.replace('-', "_")))
        .replace("hello-toolset", &format!("{name}-toolset"));
    let files = vec![
        (code.join("toolset.c"), library),
        (code.join("repertoire.h"), C_HEADER.to_owned()),
        (skill.join("SKILL.md"), document(name)),
    ];
    Ok(New { files, class: class(name), first: "tool build", note: None })
}

/// Returns a skill with an MCP server in Python.
fn python(args: &ToolNewArgs) -> anyhow::Result<New> {
    no_plugin_path(args)?;
    let (name, skill) = (&*args.name, args.dir.join(&args.name));
    let files = vec![
        (skill.join("SKILL.md"), server_document(name)),
        (skill.join("tools").join("server.py"), SERVER.replace("SKILL_NAME", name)),
    ];
    Ok(New { files, class: "mcp".to_owned(), first: "trust add", note: None })
}

fn no_plugin_path(args: &ToolNewArgs) -> Result<(), UsageError> {
    if args.plugin_path.is_none() {
        return Ok(());
    }
    let message = "`--plugin-path` is for the crate of a Rust toolset";
    Err(UsageError(Error::new(ErrorCode::InvalidParam, message, "leave it out")))
}

/// Returns the class of the toolset: that of `my-hello` is `MyHelloToolset`.
fn class(name: &str) -> String {
    let mut class = String::new();
    for word in name.split('-') {
        let (first, rest) = word.split_at(word.len().min(1));
        class += &first.to_ascii_uppercase();
        class += rest;
    }
    class + "Toolset"
}

/// Returns the crate `repertoire-plugin` in the checkout of Repertoire that contains `dir`, if there
/// is one.
fn plugin_crate_above(dir: &Path) -> Option<PathBuf> {
    dir.ancestors().map(|above| above.join("plugin-api")).find(|dir| is_plugin_crate(dir))
}

fn is_plugin_crate(dir: &Path) -> bool {
    fs::read_to_string(dir.join("Cargo.toml"))
        .is_ok_and(|text| text.lines().any(|line| line == r#"name = "repertoire-plugin""#))
}

/// Returns a dependency on the crate in `dir`, in TOML.
fn path_dependency(dir: &Path) -> anyhow::Result<String> {
    // A checkout is as good as the crate in it.
    let places = [dir.join("plugin-api"), dir.to_owned()];
    let real =
        places.iter().find(|dir| is_plugin_crate(dir)).and_then(|dir| dir.canonicalize().ok());
    let real = real.ok_or_else(|| {
        let message = format!("{} has no crate `{PLUGIN}`", dir.display());
        let help = "name a checkout of Repertoire, or the directory `plugin-api` in it";
        Error::new(ErrorCode::NotFound, message, help)
    })?;
    // A string in JSON is also valid in TOML.
    Ok(format!("{{ path = {} }}", json!(real.to_string_lossy())))
}

/// Returns the option for a brand that is not the default.
fn brand(common: &Common) -> String {
    match &*common.brand {
        "repertoire" => String::new(),
        brand => format!(" --brand {}", quoted(brand)),
    }
}

/// Writes the files. Fails if one of them exists already.
fn write(files: &[(PathBuf, String)]) -> Result<(), Error> {
    if let Some((path, _)) = files.iter().find(|(path, _)| path.symlink_metadata().is_ok()) {
        return Err(Error::new(
            ErrorCode::ExecutionError,
            format!("{} is there already", path.display()),
            "choose another name or directory, or remove the file first",
        ));
    }
    for (path, content) in files {
        let dir = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(dir).map_err(|error| not_written(dir, &error))?;
        let mut file = File::create_new(path).map_err(|error| not_written(path, &error))?;
        file.write_all(content.as_bytes()).map_err(|error| not_written(path, &error))?;
    }
    Ok(())
}

fn manifest(name: &str, dependency: &str) -> String {
    format!(
        r#"[package]
name = "{name}-toolset"
version = "0.1.0"
edition = "2024"
publish = false

[lib]
crate-type = ["cdylib", "rlib"] # `rlib` only for tests

[dependencies]
repertoire-plugin = {dependency}

[profile.release]
strip = true # keep panics unwinding: with `panic = "abort"` one would end the process

[workspace]
"#
    )
}

fn library(name: &str) -> String {
    let class = class(name);
    format!(
        r#"use repertoire_plugin::prelude::*;

#[derive(Default)]
pub struct {class};

/// Friendly greetings.
#[toolset]
impl {class} {{
    /// Greets somebody by name.
    pub fn greet(&self, /** Who to greet */ name: String) -> ToolResult {{
        Ok(format!("Hello, {{name}}!").into())
    }}
}}

export_toolsets!({class});

#[test]
fn somebody_is_greeted() {{
    let output = FakeHost::new().call(&{class}, "greet", json!({{"name": "Ada"}})).unwrap();
    assert_eq!(output.output, "Hello, Ada!");
}}
"#
    )
}

fn document(name: &str) -> String {
    let words = keyword(name, GREETING);
    format!(
        "{front_matter}
# The library `toolsets/{library}`, without what the system adds, and the class in it.
toolsets: [\"toolsets/{name}-toolset:{class}\"]
---

# {words}

Call the tool `greet` with the name of whoever is to be greeted, and pass its answer on.
",
        library = format_args!(
            "{}{}_toolset{}",
            std::env::consts::DLL_PREFIX,
            name.replace('-', "_"),
            std::env::consts::DLL_SUFFIX
        ),
        class = class(name),
        front_matter = front_matter(name)
    )
}

/// The word that makes the keyword of a skill with an everyday name, such as `hello`, its own.
const GREETING: &str = "greeting";

/// Returns the front matter of a new skill up to its toolset, without a line feed at the end.
fn front_matter(name: &str) -> String {
    let words = keyword(name, GREETING);
    format!(
        "---
name: \"{name}\"
# What the skill does, then when to use it. An agent reads this to decide; be exact.
description: Greets people by name. Use when the user asks for {words}.
metadata:
  # Messages that must get the skill, and messages that must not; `check` tries them.
  examples:
    should: [\"Use {words} for Ada, please\"]
    should_not: [\"hello there\", \"Which day is it today?\"]
triggers:
  keywords: [\"{words}\"]"
    )
}

fn server_document(name: &str) -> String {
    let words = keyword(name, GREETING);
    format!(
        "{front_matter}
# A program that speaks the Model Context Protocol.
toolsets: [\"tools/server.py:mcp\"]
---

# {words}

Call the tool `greet` with the name of the person to greet, and pass on its answer.
",
        front_matter = front_matter(name)
    )
}

#[cfg(test)]
mod tests {
    use super::class;

    #[test]
    fn classes_are_identifiers() {
        for (name, wanted) in [("hello", "HelloToolset"), ("my-2nd-try", "My2ndTryToolset")] {
            assert_eq!(class(name), wanted);
        }
    }
}
