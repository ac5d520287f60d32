//! Skills over the Model Context Protocol: a client in this process, raw lines to and from the real
//! binary, HTTP, traces, the official clients for Python and TypeScript, and the MCP Inspector.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../support/binary.rs"]
mod binary;
mod changes;
mod clients;
#[cfg(feature = "otlp")]
mod collector;
mod conformance;
mod figures;
mod http;
mod in_process;
mod inspector;
mod no_trust;
#[path = "../support/npm.rs"]
mod npm;
mod peer;
#[path = "../../../../tests/support/plugin.rs"]
mod plugin;
mod python;
mod rights;
mod shared;
mod shown;
mod skills;
mod streams;
#[path = "../../../../tests/support/mod.rs"]
#[expect(dead_code, reason = "these tests need no shared data")]
mod support;
mod texts;
#[path = "../support/told.rs"]
#[expect(
    dead_code,
    clippy::print_stderr,
    reason = "other tests use the rest; a skipped test says so"
)]
mod told;
#[cfg(feature = "otlp")]
mod traces;
mod typescript;
#[cfg(not(feature = "otlp"))]
mod untraced;
mod wire;

use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use binary::Place;
use serde_json::{Value, json};

/// A time longer than any test takes, even on a slow machine.
const LONG: Duration = Duration::from_secs(60);

/// Creates a directory of skills with every feature: arguments, files, a script, a plugin, a fork, and
/// a skill for users only.
fn skills() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &[u8]| {
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let skill = |id: &str, more: Value, body: &str| {
        let mut head =
            json!({"name": id.rsplit('/').next().unwrap(), "description": format!("Does {id}.")});
        for (key, value) in more.as_object().unwrap() {
            head[key] = value.clone();
        }
        write(&format!("{id}/SKILL.md"), format!("---\n{head}\n---\n{body}\n").as_bytes());
    };
    let keywords = json!({"keywords": ["pull request"]});
    skill("review", json!({"argument-hint": "[pr]", "triggers": keywords}), "Review $ARGUMENTS.");
    write("review/ref/how to.md", b"Look twice.\n");
    write("review/logo.png", b"\x89PNG\0");
    skill("sven", json!({}), "Sven.");
    skill("sven/plan", json!({}), "Plan $ARGUMENTS.");
    write("sven/plan/steps.md", b"one\ntwo\n");
    skill("forked", json!({"context": "fork"}), "Work apart.");
    skill("user-only", json!({"disable-model-invocation": true}), "Only users.");
    skill("slow", json!({}), "Run it.");
    write("slow/scripts/wait.sh", b"#!/bin/sh\nsleep \"$1\"\n");
    write("slow/scripts/until.sh", b"#!/bin/sh\nuntil [ -e \"$1\" ]; do sleep 0.05; done\n");
    write("slow/scripts/echo.sh", b"#!/bin/sh\necho said \"$@\"\n");
    skill("hello", json!({"toolsets": ["toolsets/hello:HelloToolset"]}), "Greet.");
    fs::create_dir_all(dir.path().join("hello/toolsets")).unwrap();
    fs::copy(plugin::of_workspace("calls-toolset"), dir.path().join("hello/toolsets/libhello.so"))
        .unwrap();
    dir
}

/// Creates a place in which the code of `skills` is trusted.
fn trusted(skills: &Path) -> Place {
    let place = Place::new();
    for skill in ["hello", "slow"] {
        let skill = skills.join(skill);
        let run = binary::finish(command(&place, &["trust", "add", "--yes"], &[&skill]), b"");
        assert_eq!(run.code, 0, "{run:?}");
    }
    place
}

/// Builds a command of the binary whose state stays in the place, below its `HOME`.
fn command(place: &Place, args: &[&str], paths: &[&Path]) -> Command {
    let mut command = place.command(args);
    command.args(paths).env_remove("XDG_STATE_HOME").env_remove("XDG_CACHE_HOME");
    command
}

/// Returns the memory use of a process, in KiB.
fn memory(child: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Tells whether a process with this argument is running, such as a `sleep` for an unusual time.
fn is_alive(argument: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let arguments = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        arguments.split(|byte| *byte == 0).any(|part| part == argument.as_bytes())
    })
}
