//! Toolsets from an empty directory to a call: `tool new`, `tool build` and `tool dev`, with the real
//! binary.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use repertoire::toolset::TARGET;
use serde_json::{Value, json};

use crate::binary::{self, Place, Run};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
/// A time longer than any build here takes.
const LONG: Duration = Duration::from_secs(120);

fn command(place: &Place, args: &[&str]) -> Command {
    let mut command = place.command(args);
    command.args(["--source", "skills"]);
    // State and copies stay in the place, below its `HOME`, but cargo's files do not.
    command.env_remove("XDG_STATE_HOME").env_remove("XDG_CACHE_HOME");
    let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
    for (name, dir) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        command.env(name, std::env::var_os(name).unwrap_or_else(|| home.join(dir).into()));
    }
    // This workspace's target directory contains most of the dependencies already.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    command.env("CARGO_TARGET_DIR", target).env("CARGO_NET_OFFLINE", "true");
    for name in ["CC", "CXX"] {
        command.env_remove(name);
    }
    command
}

fn run(place: &Place, args: &[&str]) -> Run {
    binary::finish(command(place, args), b"")
}

fn call(place: &Place, tool: &str, arguments: &Value) -> Value {
    run(place, &["tool", "call", tool, &arguments.to_string(), "--json"]).json()
}

#[track_caller]
fn assert_error(run: Run, code: &str, parts: &[&str]) {
    let error = run.exits(1).json()["error"].clone();
    assert_eq!(error["code"], code, "{error}");
    for part in parts {
        assert!(error.to_string().contains(part), "`{part}` is not in {error}");
    }
}

/// Creates a place with the new skill `my-c`, whose code is in C.
fn in_c() -> Place {
    let place = Place::new();
    let args = ["tool", "new", "my-c", "--lang", "c", "--dir", "skills", "--json"];
    let written = run(&place, &args).exits(0).json();
    assert_eq!(written["class"], "MyCToolset");
    let next = json!([
        "repertoire tool build skills/my-c",
        "repertoire tool call my-c.greet '{\"name\": \"Ada\"}' --source skills"
    ]);
    assert_eq!(written["next"], next);
    place
}

#[test]
fn a_new_crate_is_a_tool_after_the_printed_commands() {
    let place = Place::new();
    let plugin = Path::new(ROOT).join("plugin-api");
    let plugin = plugin.to_str().unwrap();
    let args = ["tool", "new", "my-first", "--dir", "skills", "--plugin-path", plugin, "--json"];
    let written = run(&place, &args).exits(0).json();
    assert_eq!(written["class"], "MyFirstToolset");
    assert_eq!(written["next"][0], "repertoire tool build skills/my-first");
    assert_eq!(written["next"].as_array().unwrap().len(), 2);
    assert_error(run(&place, &args), "EXECUTION_ERROR", &["Cargo.toml", "is there already"]);
    run(&place, &["check", "skills/my-first", "--json"]).exits(0);

    // Use the dependencies of the workspace, at their locked versions, and the same profile.
    let krate = place.path().join("skills/my-first-toolset");
    fs::copy(Path::new(ROOT).join("Cargo.lock"), krate.join("Cargo.lock")).unwrap();
    let built = run(&place, &["tool", "build", "skills/my-first", "--debug", "--json"]).exits(0);
    assert_eq!(built.json()["trusted"][0]["tools"][0]["name"], "greet", "{built:?}");
    let greeted = call(&place, "my-first.greet", &json!({"name": "Ada"}));
    assert_eq!(greeted["text"], "Hello, Ada!", "{greeted}");

    let elsewhere =
        ["tool", "build", "skills/my-first", "--target", "sparcv9-sun-solaris", "--json"];
    let help = "`rustup target add sparcv9-sun-solaris`";
    assert_error(run(&place, &elsewhere), "EXECUTION_ERROR", &["cannot build ", help]);

    fs::write(krate.join("src/lib.rs"), "compile_error!(\"not today\");").unwrap();
    let broken = run(&place, &["tool", "build", "skills/my-first", "--debug", "--json"]);
    assert!(broken.stderr.contains("not today"), "{broken:?}");
    assert_error(broken, "EXECUTION_ERROR", &["cannot build ", "skills/my-first-toolset", "above"]);
    assert_eq!(call(&place, "my-first.greet", &json!({"name": "Ada"}))["text"], "Hello, Ada!");

    for name in ["My First", "3d", ""] {
        run(&place, &["tool", "new", name]).exits(2);
    }
    // In a checkout of Repertoire, the new crate depends on the plugin API of the checkout.
    place.write("plugin-api/Cargo.toml", "[package]\nname = \"repertoire-plugin\"\n");
    run(&place, &["tool", "new", "here", "--dir", "skills"]).exits(0);
    let manifest = fs::read_to_string(place.path().join("skills/here-toolset/Cargo.toml")).unwrap();
    assert!(manifest.contains("plugin-api\" }"), "{manifest}");
    // A checkout may be named instead of the crate in it.
    run(&place, &["tool", "new", "there", "--dir", "skills", "--plugin-path", "."]).exits(0);
    let manifest = fs::read_to_string(place.path().join("skills/there-toolset/Cargo.toml"));
    assert!(manifest.unwrap().contains("plugin-api\" }"));
    run(&place, &["tool", "new", "no", "--plugin-path", "skills/there-toolset"]).exits(1);
    let args = ["tool", "new", "other", "--plugin-path", "/nowhere", "--json"];
    assert_error(run(&place, &args), "NOT_FOUND", &["/nowhere", "plugin-api"]);
    assert!(!place.path().join("other").exists());
}

/// Outside of a checkout, while the registry does not have the crate of the plugin API.
#[test]
fn a_crate_without_the_plugin_api_is_told_where_to_get_it() {
    let place = Place::new();
    let written = run(&place, &["tool", "new", "far", "--dir", "skills"]).exits(0);
    assert!(written.stderr.contains("`--plugin-path CHECKOUT`"), "{written:?}");
    // A registry that is empty.
    let mut build = command(&place, &["tool", "build", "skills/far", "--json"]);
    build.env("CARGO_HOME", place.path().join("cargo"));
    let parts = ["skills/far-toolset/Cargo.toml", "plugin-api", "git = ", "--plugin-path CHECKOUT"];
    assert_error(binary::finish(build, b""), "EXECUTION_ERROR", &parts);
}

#[test]
fn code_in_c_is_a_tool_after_the_printed_commands() {
    let place = in_c();
    run(&place, &["check", "skills/my-c"]).exits(0);
    let built = run(&place, &["tool", "build", "skills/my-c"]).exits(0);
    for part in ["libmy_c_toolset.so", "greet", "Greets somebody by name."] {
        assert!(built.stdout.contains(part), "{part}: {built:?}");
    }
    let greeted = call(&place, "my-c.greet", &json!({"name": "Ada", "times": 2}));
    assert_eq!(greeted["text"], "Hello, Ada!\nHello, Ada!", "{greeted}");
    let note = ["tool", "inspect", "skills/my-c/toolsets/libmy_c_toolset.so", "--json"];
    assert_eq!(run(&place, &note).exits(0).json()["name"], "my-c-toolset");

    // The code may be elsewhere, and then it needs no header of its own.
    let code = place.path().join("skills/my-c-toolset");
    let text = fs::read_to_string(code.join("toolset.c")).unwrap();
    place.write("code/src/greet.c", text.replace("\"Hello\"", "\"Ahoy\""));
    run(&place, &["toolset", "build", "skills/my-c", "--code", "code"]).exits(0);
    assert_eq!(call(&place, "my-c.greet", &json!({"name": "Ada"}))["text"], "Ahoy, Ada!");
    run(&place, &["tool", "new", "x", "--lang", "c", "--plugin-path", "."]).exits(2);
}

#[test]
fn libraries_for_other_systems_have_directories_of_their_own() {
    let place = in_c();
    let other = "aarch64-unknown-linux-gnu";
    let build = |targets: &[&str]| {
        let mut args = vec!["tool", "build", "skills/my-c", "--json"];
        args.extend(targets.iter().flat_map(|target| ["--target", target]));
        command(&place, &args)
    };
    let variable = "CC_aarch64_unknown_linux_gnu";
    let unnamed = binary::finish(build(&[other]), b"");
    assert_error(unnamed, "NOT_FOUND", &[other, variable]);
    let mut both = build(&[TARGET, other]);
    // This command stands in for a cross compiler.
    both.env(variable, "cc -DELSEWHERE");
    let trusted = binary::finish(both, b"").exits(0).json()["trusted"].clone();
    let library = |target: &str| {
        place.path().join("skills/my-c/toolsets").join(target).join("libmy_c_toolset.so")
    };
    assert_eq!(trusted.as_array().unwrap().len(), 1, "only that of this system runs: {trusted}");
    assert!(trusted[0]["path"].as_str().unwrap().contains(TARGET));
    assert!(library(TARGET).is_file() && library(other).is_file() && !library("").exists());
    // A later build replaces the library that is found.
    let source = place.path().join("skills/my-c-toolset/toolset.c");
    let text = fs::read_to_string(&source).unwrap().replace("\"Hello\"", "\"Later\"");
    fs::write(source, text).unwrap();
    binary::finish(build(&[]), b"").exits(0);
    assert!(!library("").exists());
    assert_eq!(call(&place, "my-c.greet", &json!({"name": "Ada"}))["text"], "Later, Ada!");
}

#[test]
fn what_cannot_be_built_is_an_error_that_says_what_to_do() {
    let place = in_c();
    let build = |skill: &str| run(&place, &["tool", "build", skill, "--json"]);
    assert_error(build("skills"), "NOT_FOUND", &["not the directory of a skill", "SKILL.md"]);
    place.write("skills/plain/SKILL.md", "---\nname: plain\ndescription: d\n---\nBody\n");
    assert_error(build("skills/plain"), "NOT_FOUND", &["has no toolsets", "toolsets: ["]);
    let code = place.path().join("skills/my-c-toolset");
    fs::write(code.join("toolset.c"), "int x = nothing;").unwrap();
    assert_error(build("skills/my-c"), "EXECUTION_ERROR", &["`cc` cannot build", "my-c-toolset"]);
    fs::remove_file(code.join("toolset.c")).unwrap();
    assert_error(
        build("skills/my-c"),
        "NOT_FOUND",
        &["neither a crate nor code in C", "Cargo.toml"],
    );
    fs::remove_dir_all(code).unwrap();
    assert_error(build("skills/my-c"), "NOT_FOUND", &["skills/my-c-toolset", "--code DIR"]);
    let head = json!({"name": "two", "description": "d", "toolsets": ["a:A", "b:B"]});
    place.write("skills/two/SKILL.md", format!("---\n{head}\n---\nBody\n"));
    let args = ["tool", "build", "skills/two", "--code", "skills", "--json"];
    assert_error(run(&place, &args), "INVALID_PARAM", &["has 2 libraries", "beside the skill"]);
}

/// Returns the lines that a process writes to its standard error.
pub(crate) fn lines(child: &mut std::process::Child) -> Receiver<String> {
    let (sender, receiver) = channel();
    let read = BufReader::new(child.stderr.take().unwrap()).lines();
    thread::spawn(move || {
        for line in read.map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

pub(crate) fn wait_for(lines: &Receiver<String>, part: &str) {
    let mut seen = Vec::new();
    while !seen.last().is_some_and(|line: &String| line.contains(part)) {
        seen.push(lines.recv_timeout(LONG).unwrap_or_else(|_| panic!("no `{part}` in {seen:?}")));
    }
}

#[test]
fn dev_builds_again_when_the_code_changes() {
    let place = in_c();
    let mut dev = command(&place, &["tool", "dev", "skills/my-c"]);
    let mut dev = dev.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let told = lines(&mut dev);
    let source = place.path().join("skills/my-c-toolset/toolset.c");
    let text = fs::read_to_string(&source).unwrap();
    let greeting = || call(&place, "my-c.greet", &json!({"name": "Ada"}))["text"].clone();
    wait_for(&told, "waiting for changes");
    assert_eq!(greeting(), "Hello, Ada!");
    fs::write(&source, text.replace("\"Hello\"", "\"Good day\"")).unwrap();
    wait_for(&told, "waiting for changes");
    assert_eq!(greeting(), "Good day, Ada!");
    fs::write(&source, "int x = nothing;").unwrap();
    wait_for(&told, "cannot build");
    assert_eq!(greeting(), "Good day, Ada!", "what is broken replaces nothing");
    fs::write(&source, &text).unwrap();
    wait_for(&told, "waiting for changes");
    assert_eq!(greeting(), "Hello, Ada!");
    dev.kill().unwrap();
    dev.wait().unwrap();
}
