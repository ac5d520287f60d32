//! Compiled toolsets with the real binary: inspect, list, call, trust, scaffold.

mod trust;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::binary::{self, Place, Run};
use crate::plugin;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Returns the library of the example plugin, which is built once.
fn hello() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| plugin::of_workspace("calls-toolset"))
}

/// Writes the skill `name` with these toolsets.
fn write_skill(place: &Place, name: &str, toolsets: &[&str]) {
    let head = json!({"name": name, "description": "Greets.", "toolsets": toolsets});
    place.write(&format!("skills/{name}/SKILL.md"), format!("---\n{head}\n---\nBody\n"));
}

/// Creates a place with the example plugin in the project skill `hello`.
fn place() -> Place {
    let place = Place::new();
    write_skill(&place, "hello", &["toolsets/hello:HelloToolset", "toolsets/hello:MoodToolset"]);
    fs::create_dir_all(place.path().join("skills/hello/toolsets")).unwrap();
    fs::copy(hello(), library(&place)).unwrap();
    place
}

fn library(place: &Place) -> PathBuf {
    place.path().join("skills/hello/toolsets/libhello.so")
}

/// Creates a [`place`] whose plugin is trusted.
fn trusted_place() -> Place {
    let place = place();
    run(&place, &["trust", "add", "--yes", "skills/hello"]).exits(0);
    place
}

fn run(place: &Place, args: &[&str]) -> Run {
    run_with(place, args, b"")
}

fn run_with(place: &Place, args: &[&str], input: &[u8]) -> Run {
    let mut command = place.command(args);
    command.args(["--source", "skills"]);
    // State and copies stay in the place, below its `HOME`.
    command.env_remove("XDG_STATE_HOME").env_remove("XDG_CACHE_HOME");
    command.env_remove("CARGO_TARGET_DIR");
    binary::finish(command, input)
}

fn call(place: &Place, options: &[&str], tool: &str, arguments: &Value) -> Run {
    let arguments = arguments.to_string();
    run(place, &[&["tool", "call", tool, &arguments, "--json"], options].concat())
}

fn assert_contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

fn assert_error(run: Run, code: &str, parts: &[&str]) {
    let run = run.exits(1);
    let answer = run.json();
    assert_eq!((&answer["status"], &answer["error"]["code"]), (&json!("error"), &json!(code)));
    let text = format!("{} {}", answer["error"]["message"], answer["error"]["help"]);
    assert_contains(&text, parts);
}

#[test]
fn inspect_tells_what_a_library_says_of_itself() {
    let place = place();
    let file = "skills/hello/toolsets/libhello.so";
    let note = run(&place, &["tool", "inspect", file, "--json"]).exits(0).json();
    assert_eq!(note["name"], "calls-toolset");
    assert_eq!((&note["abi"], &note["panic"]), (&json!("1.0"), &json!("unwind")));
    assert_eq!(note["classes"], json!(["HelloToolset", "MoodToolset"]));
    assert_eq!(note["sha256"].as_str().unwrap().len(), 64);
    assert_eq!((&note["problem"], note.get("tools")), (&Value::Null, None));

    let args = ["tool", "inspect", file, "--json", "--tools", "--in-process"];
    let report = run(&place, &args).exits(0).json();
    assert_eq!(report["tools"].as_array().unwrap().len(), 6, "{report}");
    let unchecked = "the arguments of `inspect.join` are not checked against `format`";
    assert_eq!(report["notes"], json!([unchecked]));
    let text = run(&place, &["tool", "inspect", file, "--tools", "--in-process"]).exits(0);
    assert_contains(
        &text.stdout,
        &["calls-toolset 0.1.0", "abi: 1.0", "inspect.greet", "sha256: ", unchecked],
    );

    let missing = run(&place, &["tool", "inspect", "no.so", "--json"]);
    assert_error(missing, "NOT_FOUND", &["no.so"]);
    place.write("garbage.so", "garbage");
    let garbage = run(&place, &["tool", "inspect", "garbage.so", "--json"]);
    assert_error(garbage, "EXECUTION_ERROR", &["garbage.so", "it is a text", "`PATH:mcp`"]);
}

#[test]
fn the_tools_of_every_model_are_called_as_a_model_calls_them() {
    let place = trusted_place();
    place.write("skills/hello/notes.md", "one\ntwo\n");
    place.write("skills/hello/scripts/say.sh", "#!/bin/sh\necho said\n");
    for (tool, arguments, expected) in [
        ("use_skill", json!({"skill": "/hello"}), "Body"),
        ("find_skills", json!({"query": "greets"}), "hello"),
        ("read_skill_file", json!({"skill": "hello", "path": "notes.md"}), "one\ntwo"),
    ] {
        let arguments = arguments.to_string();
        let told = run(&place, &["tool", "call", tool, &arguments]).exits(0).stdout;
        assert!(told.contains(expected), "{tool}: {told}");
        let answer = run(&place, &["tool", "call", tool, &arguments, "--json"]).exits(0).json();
        assert_eq!(answer["status"], "success", "{tool}: {answer}");
        assert_eq!(answer["text"].as_str().unwrap().trim_end(), told.trim_end(), "{tool}");
    }
    // The files have changed since they were trusted.
    for (tool, arguments, code, part) in [
        ("use_skill", json!({"skill": "helo"}), "NOT_FOUND", "hello"),
        ("use_skill", json!({}), "INVALID_PARAM", "skill"),
        (
            "run_skill_script",
            json!({"skill": "hello", "script": "say.sh"}),
            "PERMISSION_DENIED",
            "say.sh",
        ),
    ] {
        let arguments = arguments.to_string();
        let failed = run(&place, &["tool", "call", tool, &arguments]).exits(1);
        assert!(failed.stderr.contains(&format!("error[{code}]: ")), "{tool}: {failed:?}");
        assert!(failed.stderr.contains(part) && failed.stdout.is_empty(), "{tool}: {failed:?}");
        assert_error(run(&place, &["tool", "call", tool, &arguments, "--json"]), code, &[part]);
    }
}

#[test]
fn tools_are_listed_in_every_shape() {
    let place = trusted_place();
    let tools = run(&place, &["tool", "list", "--json", "--in-process"]).exits(0).json();
    let tools = &tools["tools"];
    let names: Vec<&str> =
        tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let wanted = ["hello.greet", "hello.divide", "hello.panic", "hello.count"];
    assert_eq!(names, [&wanted[..], &["hello.mood", "hello.join"]].concat());
    assert_eq!(
        (&tools[0]["toolset"], &tools[0]["skill"]),
        (&json!("HelloToolset"), &json!("hello"))
    );
    assert_eq!(tools[0]["parameters"]["required"], json!(["name"]));
    for (format, pointer) in [
        ("mcp", "/0/inputSchema"),
        ("openai", "/0/function/parameters"),
        ("anthropic", "/0/input_schema"),
    ] {
        let args = ["tool", "list", "--format", format, "--skill", "hello", "--in-process"];
        let list = run(&place, &args).exits(0).json();
        assert_eq!(list.pointer(pointer).unwrap()["type"], "object", "{list}");
    }
    let table = run(&place, &["tool", "list", "--in-process"]).exits(0).stdout;
    assert_contains(&table, &["TOOL", "hello.greet", "Greets somebody by name."]);
    run(&place, &["tool", "list", "--format", "xml"]).exits(2);
    run(&place, &["tool", "list", "--skill", "nobody", "--in-process"]).exits(1);
}

#[test]
fn the_example_skill_has_tools_once_its_library_is_built() {
    let place = Place::new();
    let skill = fs::read(Path::new(ROOT).join("examples/skills/hello-extended/SKILL.md")).unwrap();
    place.write("skills/hello-extended/SKILL.md", skill);
    let missing = run(&place, &["tool", "list", "--in-process"]).exits(1);
    let told = [
        "toolsets/libhello_toolset.so",
        "help: build it with `repertoire tool build ",
        "skills/hello-extended`, with `--code DIR`",
    ];
    assert_contains(&missing.stderr, &told);
    assert_eq!(missing.stderr.matches("has no library").count(), 1, "{missing:?}");

    let toolsets = place.path().join("skills/hello-extended/toolsets");
    fs::create_dir(&toolsets).unwrap();
    fs::copy(plugin::of_workspace("hello-toolset"), toolsets.join("libhello_toolset.so")).unwrap();
    run(&place, &["trust", "add", "--yes", "skills/hello-extended"]).exits(0);
    let tools =
        run(&place, &["tool", "list", "--in-process", "--json"]).exits(0).json()["tools"].clone();
    let body = fs::read_to_string(place.path().join("skills/hello-extended/SKILL.md")).unwrap();
    let names: Vec<&str> =
        tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["hello-extended.greet", "hello-extended.languages"]);
    for name in names {
        let name = name.trim_start_matches("hello-extended.");
        assert!(body.contains(&format!("`{name}`")), "the body does not tell of `{name}`");
    }
    let arguments = json!({"name": "Ada"});
    let greeted = call(&place, &["--in-process"], "hello-extended.greet", &arguments).exits(0);
    assert_eq!(greeted.json()["text"], "Hello, Ada!");
}

#[test]
fn a_name_that_several_tools_have_lists_them_all() {
    let place = trusted_place();
    write_skill(&place, "again", &["toolsets/hello:HelloToolset"]);
    place.write("skills/again/toolsets/libhello.so", fs::read(hello()).unwrap());
    run(&place, &["trust", "add", "--yes", "skills/again"]).exits(0);
    let ada = json!({"name": "Ada"});
    let refused = call(&place, &["--in-process"], "greet", &ada);
    assert_error(refused, "NOT_FOUND", &["2 tools", "`greet`", "`again.greet`, `hello.greet`"]);
    call(&place, &["--in-process"], "again.greet", &ada).exits(0);
}

#[test]
fn a_call_in_a_session_is_a_use_of_the_skill() {
    let place = trusted_place();
    let greet = |more: &[&str], arguments: &Value| {
        let options = [&["--in-process"], more].concat();
        call(&place, &options, "hello.greet", arguments)
    };
    let ada = json!({"name": "Ada"});
    greet(&[], &ada).exits(0);
    greet(&["--session", "s"], &ada).exits(0);
    greet(&["--session", "s"], &json!({})).exits(1);
    let stats = run(&place, &["stats", "--json"]).exits(0).json();
    let hello = stats["skills"].as_array().unwrap().iter().find(|skill| skill["id"] == "hello");
    assert_eq!((&hello.unwrap()["used"], &stats["sessions"]), (&json!(1), &json!(1)));
}

/// Asserts every way in which a call can end.
fn assert_calls(options: &[&str]) {
    let place = trusted_place();
    let call = |tool: &str, arguments: Value| call(&place, options, tool, &arguments);

    let greeted = call("hello.greet", json!({"name": "Ada", "times": 2})).exits(0).json();
    let wanted = json!({
        "status": "success",
        "data": {"title": "Greeted Ada", "metadata": {"times": 2}},
        "text": "Hello, Ada!\nHello, Ada!",
    });
    assert_eq!(greeted, wanted);
    let whole = call("hello.divide", json!({"dividend": 4.0, "divisor": 2})).exits(0).json();
    assert_eq!(whole["text"], "2");
    let mood = call("mood", json!({"name": "Ada", "hour": 8})).exits(0).json();
    assert_eq!(mood["text"], "Ada is sleepy.");
    assert_eq!(call("hello_join", json!({"words": ["a", "b"]})).exits(0).json()["text"], "a b");

    let divided = call("hello.divide", json!({"dividend": 1, "divisor": 0}));
    assert_error(divided, "EXECUTION_ERROR", &["hello.divide", "cannot divide by zero"]);
    let panicked = call("hello.panic", json!({"message": "on purpose"}));
    assert_error(panicked, "EXECUTION_ERROR", &["hello.panic", "on purpose", "lib.rs"]);
    let misfit = call("hello.mood", json!({"name": "Ada", "hour": "late"}));
    assert_error(misfit, "INVALID_PARAM", &["hello.mood", "/hour", "late"]);
    let empty = call("hello.greet", json!({"name": " "}));
    assert_error(empty, "INVALID_PARAM", &["`name` is empty"]);
    assert_error(call("hello.great", json!({})), "NOT_FOUND", &["hello.great", "hello.greet"]);

    let slow = json!({"to": 1000, "pause": 20});
    let args = ["tool", "call", "count", &slow.to_string(), "--json", "--timeout", "0.3"];
    let late = run(&place, &[&args, options].concat());
    assert_error(late, "TIMEOUT", &["hello.count"]);

    let count = json!({"to": 2}).to_string();
    let args = ["tool", "call", "hello.count", &count, "--verbose"];
    let counted = run(&place, &[&args, options].concat()).exits(0);
    assert_eq!(counted.stdout, "counted to 2\n");
    assert_contains(&counted.stderr, &["50% 1 of 2", "100% 2 of 2", "counting to 2"]);

    let args = ["tool", "call", "hello.greet", "{name", "--json"];
    let run = run(&place, &[&args, options].concat()).exits(2);
    assert_contains(run.json()["error"]["message"].as_str().unwrap(), &["column 2"]);
    let args = ["tool", "call", "hello.greet", "-"];
    let piped = run_with(&place, &[&args, options].concat(), br#"{"name": "Ada"}"#).exits(0);
    assert_eq!(piped.stdout, "Hello, Ada!\n");
}

#[test]
fn tools_are_called_in_process() {
    assert_calls(&["--in-process"]);
}

#[test]
fn tools_are_called_in_a_child_process() {
    assert_calls(&[]);
    let place = trusted_place();
    let tools = run(&place, &["tool", "list", "--json"]).exits(0).json()["tools"].clone();
    assert_eq!(tools.as_array().unwrap().len(), 6);
    let file = "skills/hello/toolsets/libhello.so";
    let note = run(&place, &["tool", "inspect", file, "--json", "--tools"]).exits(0).json();
    assert_eq!(note["tools"].as_array().unwrap().len(), 6);
}

/// Checks some of the faults that `crates/cli/tests/toolsets/failures` covers in full.
#[test]
fn a_bad_toolset_is_told_and_harms_no_other() {
    let cases: &[(&str, &[&str])] = &[
        ("../hello/toolsets/hello:HelloToolset", &["error[INVALID_PARAM]", "`..`", "help: "]),
        ("toolsets/x:Nobody", &["error[NOT_FOUND]", "libx.so", "`Nobody`", "it has HelloToolset"]),
        ("toolsets/y:X", &["error[NOT_FOUND]", "toolsets/liby.so", "repertoire tool build "]),
        (
            "toolsets/z:X",
            &["error[EXECUTION_ERROR]", "libz.so", "help: name the library that is built from it"],
        ),
    ];
    for (entry, parts) in cases {
        let place = trusted_place();
        write_skill(&place, "bad", &[entry]);
        place.write("skills/bad/toolsets/libz.so", "garbage");
        fs::copy(hello(), place.path().join("skills/bad/toolsets/libx.so")).unwrap();
        run(&place, &["trust", "add", "--yes", "skills/bad"]).exits(0);
        let listed = run(&place, &["tool", "list", "--in-process", "--json"]).exits(1);
        assert_eq!(listed.json()["tools"].as_array().unwrap().len(), 6, "{entry}: {listed:?}");
        assert_contains(&listed.stderr, &["skill `bad`"]);
        assert_contains(&listed.stderr, parts);
        let called = call(&place, &["--in-process"], "greet", &json!({"name": "Ada"}));
        called.exits(0);
    }
}

#[test]
fn a_library_that_crashed_is_marked_in_the_list() {
    let failing = plugin::of_workspace("failing-toolset");
    let place = trusted_place();
    write_skill(&place, "bad", &["toolsets/x:FailingToolset", "toolsets/x:ExitInCreate"]);
    fs::create_dir_all(place.path().join("skills/bad/toolsets")).unwrap();
    fs::copy(failing, place.path().join("skills/bad/toolsets/libx.so")).unwrap();
    run(&place, &["trust", "add", "--yes", "skills/bad"]).exits(0);

    let listed = run(&place, &["tool", "list", "--json"]).exits(1);
    let state = |name: &str| {
        let tools = listed.json()["tools"].clone();
        let tool = tools.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
        (tool["state"].clone(), tool["reason"].clone())
    };
    assert_eq!(state("bad.noop"), (json!("crashed"), json!("exit code 5")));
    assert_eq!(state("hello.greet"), (json!("idle"), Value::Null), "it only told its tools");
    let table = run(&place, &["tool", "list"]).exits(1).stdout;
    assert_contains(&table, &["STATE", "crashed", "ready"]);
    let table = run(&place, &["tool", "list", "--skill", "hello"]).exits(0).stdout;
    assert!(!table.contains("STATE"), "{table}");
}

/// Checks that each problem that is visible without running a library is reported, and none for a good
/// library.
#[test]
fn check_tells_libraries_that_cannot_be_loaded() {
    let place = place();
    let codes = || -> Vec<(String, String)> {
        let report = run(&place, &["check", "skills", "--json"]).exits(0).json();
        let found = report["diagnostics"].as_array().unwrap().clone();
        let of = |d: &Value, key: &str| d[key].as_str().unwrap().to_owned();
        let found = found.iter().map(|d| (of(d, "code"), of(d, "help")));
        found.filter(|(code, _)| code.ends_with("library") || code.ends_with("class")).collect()
    };
    assert_eq!(codes(), [], "the library is there, and has both classes");
    let cases: &[(&str, &str, &str, &str)] = &[
        ("toolsets/none:X", "other", "missing-library", "build the library from its code"),
        ("toolsets/libx.so:X", "libx.so", "missing-library", "write the entry as `toolsets/x:X`"),
        ("toolsets/my-x:X", "libmy-x.so", "missing-library", "rename `toolsets/libmy-x.so`"),
        ("toolsets/x:Nobody", "libx.so", "missing-class", "it has HelloToolset"),
        ("toolsets/z:X", "libz.so", "unusable-library", "name the library that is built from it"),
    ];
    for (entry, file, code, help) in cases {
        write_skill(&place, "bad", &[entry]);
        let dir = place.path().join("skills/bad/toolsets");
        fs::create_dir_all(&dir).unwrap();
        match *code {
            "unusable-library" => fs::write(dir.join(file), "garbage").unwrap(),
            _ => drop(fs::copy(hello(), dir.join(file)).unwrap()),
        }
        let found = codes();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].0 == *code && found[0].1.starts_with(help), "{found:?}");
        fs::remove_dir_all(place.path().join("skills/bad")).unwrap();
    }
    fs::set_permissions(library(&place), fs::Permissions::from_mode(0o666)).unwrap();
    let found = codes();
    assert_eq!(found.len(), 2, "once for each entry: {found:?}");
    assert!(found.iter().all(|(code, _)| code == "unsafe-library"), "{found:?}");
}
