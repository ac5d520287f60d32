//! All faults of a plugin, seen through an engine: each becomes an error that names the file and a
//! remedy, and the other toolset still works.

mod alone;
mod calls;
mod changes;
mod loading;
mod rights;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use repertoire::toolset::{Host, HostProgram, Isolation, Limits, Tool, ToolsetOptions};
use repertoire::trust::TrustStore;
use repertoire::{Engine, Error, ErrorCode, Source};
use serde_json::json;
use tempfile::TempDir;

use crate::plugin;

const HELLO: &str = "toolsets/bad:HelloToolset";

struct Silent;

impl Host for Silent {}

/// Builds a plugin of this workspace, and strips its debug information if the system can.
fn built(package: &str, rustc_args: &[&str]) -> Vec<u8> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let args = ["rustc", "--locked", "--lib", "-p", package, "--"];
    let library = plugin::library(root, &[&args, rustc_args].concat(), package);
    let small = tempfile::NamedTempFile::new().unwrap();
    let strip = Command::new("strip")
        .arg("--strip-debug")
        .arg("-o")
        .args([small.path(), &library])
        .status();
    let is_small = strip.is_ok_and(|status| status.success());
    fs::read(if is_small { small.path() } else { &library }).unwrap()
}

fn hello() -> &'static [u8] {
    static LIBRARY: OnceLock<Vec<u8>> = OnceLock::new();
    LIBRARY.get_or_init(|| built("calls-toolset", &[]))
}

fn failing() -> &'static [u8] {
    static LIBRARY: OnceLock<Vec<u8>> = OnceLock::new();
    LIBRARY.get_or_init(|| built("failing-toolset", &[]))
}

/// A directory of skills: `good`, which has the example plugin, and `bad`.
struct Place {
    dir: TempDir,
}

impl Place {
    fn new(entry: &str) -> Place {
        let place = Place { dir: TempDir::new().unwrap() };
        place.write_skill("good", "toolsets/good:HelloToolset");
        place.write_skill("bad", entry);
        fs::write(place.library("good"), hello()).unwrap();
        place
    }

    /// Creates a place whose skill `bad` has the failing plugin.
    fn failing() -> Place {
        let place = Place::new("toolsets/bad:FailingToolset");
        fs::write(place.library("bad"), failing()).unwrap();
        place
    }

    fn skills(&self) -> PathBuf {
        self.dir.path().join("skills")
    }

    fn write_skill(&self, name: &str, entry: &str) {
        let dir = self.skills().join(name);
        fs::create_dir_all(dir.join("toolsets")).unwrap();
        let head = json!({"name": name, "description": "d", "toolsets": [entry]});
        fs::write(dir.join("SKILL.md"), format!("---\n{head}\n---\nBody\n")).unwrap();
    }

    fn library(&self, skill: &str) -> PathBuf {
        self.skills().join(skill).join(format!("toolsets/lib{skill}.so"))
    }

    /// Builds an engine for which the skills are the user's own.
    fn engine(&self, isolation: Isolation) -> Engine {
        self.engine_of(Source::user(self.skills()), isolation, TrustStore::in_memory())
    }

    fn engine_of(&self, source: Source, isolation: Isolation, trust: TrustStore) -> Engine {
        let mut options = ToolsetOptions::in_process();
        options.isolation = isolation;
        options.cache = Some(self.dir.path().join("cache"));
        Engine::builder().source(source).toolsets(options).trust(Arc::new(trust)).build().unwrap()
    }
}

fn in_child() -> Isolation {
    let program = env!("CARGO_BIN_EXE_repertoire").into();
    let program = HostProgram { program, args: vec!["toolset-host".into()] };
    let mut limits = Limits::default();
    limits.call_timeout = Duration::from_secs(20);
    limits.grace = Duration::from_millis(200);
    limits.address_space = Some(512 << 20);
    Isolation::Process { program, limits }
}

fn tool(engine: &Engine, name: &str) -> Tool {
    engine.all_tools().find(name).unwrap_or_else(|error| panic!("{error:#}")).clone()
}

fn call(engine: &Engine, name: &str) -> Result<String, Error> {
    tool(engine, name).call(&json!({}), &Silent).map(|output| output.output)
}

/// Asserts that the good toolset works.
#[track_caller]
fn assert_good(engine: &Engine) {
    let output = tool(engine, "good.greet").call(&json!({"name": "Ada"}), &Silent);
    assert_eq!(output.unwrap().output, "Hello, Ada!");
}

/// Asserts that the error has the code, names the file or the entry, and says what to do.
#[track_caller]
fn assert_error(error: &Error, code: ErrorCode, message: &[&str], help: &str) {
    let text = format!("{error:#}");
    assert_eq!(error.code(), code, "{text}");
    for part in message {
        assert!(error.message().contains(part), "`{part}` is not in: {text}");
    }
    assert!(error.help().contains(help) && !help.is_empty(), "`{help}` is not the help of: {text}");
    assert!(error.message().lines().count() == 1, "{text}");
}

/// Returns the only failure of an engine.
#[track_caller]
fn failure(engine: &Engine) -> Arc<Error> {
    let mut failures = engine.all_tools().failures;
    assert_eq!(failures.len(), 1, "{failures:?}");
    failures.remove(0).error
}
