//! Follows the page `docs/toolset-tutorial.md` word for word in an empty directory, and each block of commands of
//! `docs/toolsets.md` in one of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::binary::{self, Place};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A step of the page.
enum Step {
    /// A shell command, and the parts of its output, in order.
    Run { command: String, output: Vec<String> },
    /// A file to write, and its content.
    Write { path: String, content: String },
}

/// Returns the steps of a page: its `console` blocks, and its blocks after "`path`:".
fn steps(page: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut lines = page.lines();
    let mut before = "";
    while let Some(line) = lines.next() {
        if !line.starts_with("```") {
            before = if line.is_empty() { before } else { line };
            continue;
        }
        let block: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
        if line == "```console" {
            for line in block {
                match (line.strip_prefix("$ "), steps.last_mut()) {
                    (Some(command), _) => {
                        let command = command.to_owned();
                        steps.push(Step::Run { command, output: Vec::new() });
                    }
                    (None, Some(Step::Run { output, .. })) => output.push(line.to_owned()),
                    (None, _) => panic!("output of no command: {line}"),
                }
            }
        } else {
            let path = before.strip_suffix("`:").and_then(|text| text.rsplit_once('`'));
            let (_, path) = path.unwrap_or_else(|| panic!("no path is told before {block:?}"));
            let content = block.join("\n") + "\n";
            steps.push(Step::Write { path: path.to_owned(), content });
        }
        before = "";
    }
    steps
}

/// Builds a shell command in the directory `work` of the place, with the binary, cargo, and a home of
/// its own.
fn shell(place: &Place, command: &str) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]).current_dir(place.path().join("work"));
    let binary = place.command([""; 0]);
    for (name, value) in binary.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
    for (name, dir) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        shell.env(name, std::env::var_os(name).unwrap_or_else(|| home.join(dir).into()));
    }
    let bin = Path::new(env!("CARGO_BIN_EXE_repertoire")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(bin.to_owned()).chain(std::env::split_paths(&path));
    shell.env("PATH", std::env::join_paths(paths).unwrap());
    // This workspace's target directory contains most of the dependencies already. No library of a page may have the
    // name of one of its examples, `libhello_toolset.so`: it would take its place there.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    shell.env("CARGO_TARGET_DIR", target).env("CARGO_NET_OFFLINE", "true");
    shell
}

/// Makes crates use the plugin API of this checkout, and its locked dependencies, instead of the
/// registry.
fn patch(place: &Place) {
    // A JSON string is also a TOML string.
    let api = serde_json::json!(Path::new(ROOT).join("plugin-api"));
    let patch = format!("[patch.crates-io]\nrepertoire-plugin = {{ path = {api} }}\n");
    place.write(".cargo/config.toml", patch);
}

fn lock(place: &Place) {
    for name in ["table-toolset", "welcome-toolset"] {
        let krate = place.path().join("work/skills").join(name);
        if krate.is_dir() && !krate.join("Cargo.lock").exists() {
            fs::copy(Path::new(ROOT).join("Cargo.lock"), krate.join("Cargo.lock")).unwrap();
        }
    }
}

fn empty_place() -> Place {
    let place = Place::new();
    for dir in ["work", "home"] {
        fs::create_dir(place.path().join(dir)).unwrap();
    }
    patch(&place);
    place
}

/// Runs a command of a page, and looks for its output.
fn follow(place: &Place, command: &str, output: Vec<String>) {
    println!("$ {command}");
    lock(place);
    let run = binary::finish(shell(place, command), b"");
    let fails = output.first().is_some_and(|line| line.starts_with("error"));
    assert_eq!(run.code != 0, fails, "{command}: {run:?}");
    let all = format!("{}{}", run.stdout, run.stderr);
    let mut rest = &*all;
    for line in output {
        let found = rest.find(&*line);
        let at = found.unwrap_or_else(|| panic!("{command}: `{line}` is not in\n{all}"));
        rest = &rest[at + line.len()..];
    }
}

#[test]
fn the_blocks_of_the_reference_work_in_empty_directories() {
    if !Path::new("/usr/bin/python3").exists() {
        eprintln!("SKIPPED: there is no `/usr/bin/python3`, which the page needs");
        return;
    }
    let page = fs::read_to_string(Path::new(ROOT).join("docs/toolsets.md")).unwrap();
    let blocks: Vec<&str> = page.split("```console\n").skip(1).collect();
    assert!(blocks.len() >= 2, "the page has {} blocks", blocks.len());
    for block in blocks {
        let place = empty_place();
        let block = block.split("```").next().unwrap();
        for step in steps(&format!("```console\n{block}```")) {
            let Step::Run { command, output } = step else { panic!("a file in {block}") };
            // An optimised build takes a minute longer, and calls the same.
            let command =
                command.replace("tool build skills/welcome", "tool build skills/welcome --debug");
            follow(&place, &command, output);
        }
    }
}

#[test]
fn the_tutorial_works_word_for_word() {
    if !Path::new("/usr/bin/python3").exists() {
        eprintln!("SKIPPED: there is no `/usr/bin/python3`, which the page needs");
        return;
    }
    let place = empty_place();
    let page = fs::read_to_string(Path::new(ROOT).join("docs/toolset-tutorial.md")).unwrap();
    let mut n_commands = 0;
    for step in steps(&page) {
        match step {
            Step::Write { path, content } => {
                let path = match path.strip_prefix("~/") {
                    Some(path) => format!("home/{path}"),
                    None => format!("work/{path}"),
                };
                place.write(&path, content);
            }
            Step::Run { command, output } => {
                follow(&place, &command, output);
                n_commands += 1;
            }
        }
    }
    assert!(n_commands > 20, "the page has {n_commands} commands");
}
