//! Settings of `config.toml` about the code of skills: scripts and classes of tools.

use std::fs;

use serde_json::{Value, json};

#[cfg(unix)]
use super::binary;
#[cfg(unix)]
use super::config::skill;
use super::config::{PROJECT, USER};
use crate::binary::Place;
use crate::plugin;

#[cfg(unix)]
#[test]
fn limits_of_scripts_are_those_of_the_user_and_a_project_narrows_its_own() {
    let place = Place::new();
    skill(&place, ".agents/skills/tool");
    place.write(
        ".agents/skills/tool/scripts/run.sh",
        "#!/bin/sh\necho \"key=$KEY\"\nsleep \"$1\"\necho done\n",
    );
    place.run(["trust", "add", "tool", "--yes"]).exits(0);
    let run = |seconds: &str, args: &[&str]| {
        let mut command = place.command(["run", "tool", "run.sh", seconds].iter().chain(args));
        command.env("KEY", "secret");
        binary::finish(command, b"")
    };
    assert_eq!(run("0", &[]).exits(0).stdout, "key=\ndone\n");
    place.write(USER, "[scripts]\nenv = [\"KEY\"]\ntimeout = 5\n");
    assert_eq!(run("0", &[]).exits(0).stdout, "key=secret\ndone\n");
    place.write(PROJECT, "[scripts]\ntimeout = 0.3\n");
    let late = run("20", &[]).exits(1);
    assert!(late.stdout.contains("key=secret") && !late.stdout.contains("done"), "{late:?}");
    assert_eq!(run("0.5", &["--timeout", "30"]).exits(0).stdout, "key=secret\ndone\n");
    // The project narrows its own scripts, not those of the user.
    place.write("home/.agents/skills/own/SKILL.md", "---\nname: own\ndescription: Does it.\n---\n");
    place.write("home/.agents/skills/own/scripts/run.sh", "#!/bin/sh\nsleep 0.6\necho done\n");
    assert_eq!(place.run(["run", "own", "run.sh"]).exits(0).stdout, "done\n");
    place.write(PROJECT, "[scripts]\nenv = [\"HOME\", \"KEY\"]\n");
    place.write(USER, "");
    assert_eq!(run("0", &[]).stdout, "key=\ndone\n", "a project passes nothing on");
}

#[test]
fn classes_of_tools_have_configuration_and_limits() {
    let place = Place::new();
    let text = "---\nname: hello\ndescription: Greets.\ntoolsets: ['toolsets/hello:HelloToolset']\n---\nGreet.\n";
    for base in [".agents", "home/.agents"] {
        let name = if base == ".agents" { "hello" } else { "mine" };
        let dir = format!("{base}/skills/{name}");
        place.write(
            &format!("{dir}/SKILL.md"),
            text.replace("name: hello", &format!("name: {name}")),
        );
        let library = fs::read(plugin::of_workspace("calls-toolset")).unwrap();
        let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
        place.write(&format!("{dir}/toolsets/{prefix}hello{suffix}"), library);
    }
    place.run(["trust", "add", "--yes", "hello"]).exits(0);
    let call = |tool: &str, arguments: Value| {
        let arguments = arguments.to_string();
        place.run(["tool", "call", tool, &arguments, "--json"]).json()
    };
    let greet =
        |skill: &str| call(&format!("{skill}.greet"), json!({"name": "Ada"}))["text"].clone();
    assert_eq!((greet("hello"), greet("mine")), (json!("Hello, Ada!"), json!("Hello, Ada!")));
    place.write(USER, "[toolsets.HelloToolset]\nconfig = { greeting = \"Good day\" }\n");
    assert_eq!((greet("hello"), greet("mine")), (json!("Good day, Ada!"), json!("Good day, Ada!")));
    place.write(PROJECT, "[toolsets.HelloToolset.config]\ngreeting = \"Moin\"\n");
    let both = (greet("hello"), greet("mine"));
    assert_eq!(both, (json!("Moin, Ada!"), json!("Good day, Ada!")), "its own skills only");
    place.write(PROJECT, "[toolsets.\"hello:HelloToolset\"]\ncall_timeout = 0.3\n");
    let slow = json!({"to": 1000, "pause": 20});
    assert_eq!(call("hello.count", slow)["error"]["code"], "TIMEOUT");
    assert_eq!(call("mine.count", json!({"to": 25, "pause": 20}))["status"], "success");
    // A class that both have: the project narrows its own.
    place.write(PROJECT, "[toolsets.HelloToolset]\ncall_timeout = 0.3\n");
    assert_eq!(call("hello.count", json!({"to": 1000, "pause": 20}))["error"]["code"], "TIMEOUT");
    assert_eq!(call("mine.count", json!({"to": 25, "pause": 20}))["status"], "success");
}
