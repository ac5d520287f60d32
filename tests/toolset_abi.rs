//! A plugin of the first ABI, built from the packages as they were published, works with this host.
#![cfg(all(feature = "cli", target_os = "linux"))]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/plugin.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod plugin;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use repertoire::toolset::{Host, HostProgram, LogLevel, PluginNote, ToolOutput, ToolsetOptions};
use repertoire::{Engine, Error, ErrorCode, Source};
use serde_json::{Value, json};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/plugin-api/tests/fixtures/abi-1.0");
const PACKAGES: [&str; 2] = ["repertoire-plugin-1.0.0", "repertoire-plugin-macros-1.0.0"];

/// Builds the frozen plugin against the frozen packages, where this workspace is built: dependencies
/// of the same versions and profile, as `.ci/run` has them, are there already.
fn built() -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("abi-1.0");
    fs::create_dir_all(&place).unwrap();
    for package in PACKAGES {
        let package = format!("{FIXTURE}/{package}.crate");
        let unpacked = Command::new("tar").arg("-xzf").arg(package).current_dir(&place).status();
        assert!(unpacked.unwrap().success());
    }
    for file in ["Cargo.toml", "Cargo.lock", "src/lib.rs"] {
        let (from, to) = (
            Path::new(FIXTURE).join("frozen-toolset").join(file),
            place.join("frozen-toolset").join(file),
        );
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        let content = fs::read(from).unwrap();
        // What is newer than its build is built again.
        if fs::read(&to).ok().as_ref() != Some(&content) {
            fs::write(&to, content).unwrap();
        }
    }
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().to_str().unwrap();
    let profile = "profile.dev.strip='debuginfo'"; // what Cargo strips where there is no `debug`
    let args = ["build", "--locked", "--lib", "--target-dir", target, "--config", profile];
    plugin::library(&place.join("frozen-toolset"), &args, "frozen-toolset")
}

/// Answers, and remembers what it was told.
#[derive(Default)]
struct Listening {
    told: Mutex<Vec<String>>,
    deadline: Option<Instant>,
}

impl Host for Listening {
    fn progress(&self, fraction: f64, message: &str) {
        self.told.lock().unwrap().push(format!("{fraction} {message}"));
    }

    fn log(&self, level: LogLevel, message: &str) {
        self.told.lock().unwrap().push(format!("{level:?} {message}"));
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    fn request(&self, method: &str, params: Value) -> repertoire_plugin::ToolResult<Value> {
        match (method, &params["of"]) {
            ("question", of) if of == "life" => Ok(json!(42)),
            _ => Err("no answer".into()),
        }
    }
}

/// Every tool, with every way in which it can end.
fn assert_all_tools(skills: &Path, mut options: ToolsetOptions) {
    options.config.insert("FrozenToolset".to_owned(), json!({"greeting": "Ahoy"}));
    let engine =
        |options| Engine::builder().source(Source::user(skills)).toolsets(options).build().unwrap();
    let tools = engine(options.clone()).all_tools();
    assert!(tools.failures.is_empty(), "{:?}", tools.failures);
    let names: Vec<&str> = tools.tools.iter().map(|tool| tool.short_name.as_str()).collect();
    let frozen = ["greet", "count", "nothing", "bytes", "fail", "refuse", "panic", "ask", "wait"];
    assert_eq!(names, [&frozen[..], &["add", "echo"]].concat());
    assert_eq!(tools.find("greet").unwrap().annotations["readOnlyHint"], true);
    assert_eq!(tools.find("greet").unwrap().parameters["required"], json!(["name"]));

    let host = Listening::default();
    let call = |name: &str, arguments: Value| -> Result<ToolOutput, Error> {
        tools.find(name).unwrap().call(&arguments, &host)
    };
    let text = |name: &str, arguments: Value| call(name, arguments).unwrap().output;
    let greeted = call("greet", json!({"name": "Ada", "times": 2})).unwrap();
    assert_eq!(greeted.output, "Ahoy, Ada!\nAhoy, Ada!");
    assert_eq!((greeted.title.as_str(), &greeted.metadata["times"]), ("Greeted Ada", &json!(2)));
    assert_eq!([text("count", json!({})), text("count", json!({}))], ["1", "2"]);
    assert_eq!(call("nothing", json!({})).unwrap(), ToolOutput::default());
    assert_eq!(text("bytes", json!({"n": 1 << 20})).len(), 1 << 20);
    assert_eq!(text("add", json!({"a": 2, "b": 3})), "5");
    assert_eq!(text("echo", json!({"text": "é"})), "é");

    let asked: Value = text("ask", json!({})).parse().unwrap();
    let wanted = json!({
        "cancelled": false, "has_deadline": asked["has_deadline"], "dir": "frozen", "known": 42,
        "unknown": true,
    });
    assert_eq!(asked, wanted);
    assert_eq!(*host.told.lock().unwrap(), ["Warn asking", "0.5 half way"]);

    let error = |name: &str| call(name, json!({})).unwrap_err();
    let failed = error("fail");
    assert_eq!(
        (failed.code(), failed.message()),
        (ErrorCode::ExecutionError, "tool `frozen.fail`: it failed")
    );
    assert_eq!(error("refuse").code(), ErrorCode::InvalidParam);
    let panicked = error("panic");
    assert!(
        panicked.message().contains("lib.rs:") && panicked.message().ends_with(": frozen"),
        "{panicked}"
    );
    let deadline = Instant::now().checked_add(Duration::from_millis(50));
    let hasty = Listening { deadline, ..Listening::default() };
    let late = tools.find("wait").unwrap().call(&json!({}), &hasty).unwrap_err();
    assert_eq!(late.code(), ErrorCode::Timeout, "{late}");

    options.config["FrozenToolset"]["refuse"] = true.into();
    let failures = engine(options).all_tools().failures;
    assert_eq!(failures.len(), 1, "the other class is not configured: {failures:?}");
    assert!(failures[0].error.message().ends_with(": refused, as configured"), "{failures:?}");
}

#[test]
fn a_plugin_of_abi_1_0_works_with_this_host() {
    let library = built();
    let note = PluginNote::read(&library).unwrap();
    assert_eq!((note.abi, note.plugin_api.as_str()), ((1, 0), "1.0.0"));
    assert_eq!(note.classes, ["FrozenToolset", "BuilderToolset"]);

    let place = tempfile::tempdir().unwrap();
    let toolsets = place.path().join("frozen/toolsets");
    fs::create_dir_all(&toolsets).unwrap();
    fs::copy(library, toolsets.join("libfrozen.so")).unwrap();
    let entries = ["toolsets/frozen:FrozenToolset", "toolsets/frozen:BuilderToolset"];
    let head = json!({"name": "frozen", "description": "d", "toolsets": entries});
    fs::write(place.path().join("frozen/SKILL.md"), format!("---\n{head}\n---\nBody\n")).unwrap();

    assert_all_tools(place.path(), ToolsetOptions::in_process());
    let program = env!("CARGO_BIN_EXE_repertoire").into();
    let program = HostProgram { program, args: vec!["toolset-host".into()] };
    assert_all_tools(place.path(), ToolsetOptions::in_processes_of(program));
}
