//! A plugin for the first ABI, built from the packages as published then, works with this host.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use repertoire::toolset::{Host, HostProgram, LogLevel, PluginNote, ToolOutput, ToolsetOptions};
use repertoire::{Engine, Error, ErrorCode, Source};
use serde_json::{Value, json};

use crate::plugin;

const FIXTURE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../plugin-api/tests/fixtures/abi-1.0");
const PACKAGES: [&str; 2] = ["repertoire-plugin-1.0.0", "repertoire-plugin-macros-1.0.0"];

/// Unpacks the frozen packages and the plugin into `place`.
fn unpack(place: &Path) {
    fs::create_dir_all(place).unwrap();
    for package in PACKAGES {
        let package = format!("{FIXTURE}/{package}.crate");
        let unpacked = Command::new("tar").arg("-xzf").arg(package).current_dir(place).status();
        assert!(unpacked.unwrap().success());
    }
    for file in ["Cargo.toml", "Cargo.lock", "src/lib.rs"] {
        let from = Path::new(FIXTURE).join("frozen-toolset").join(file);
        write_new(&place.join("frozen-toolset").join(file), &fs::read(from).unwrap());
    }
}

/// Writes a file only if its content changes, because a file that is newer than its build is built
/// again.
fn write_new(path: &Path, content: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    if fs::read(path).ok().as_deref() != Some(content) {
        fs::write(path, content).unwrap();
    }
}

/// Returns the arguments to build in this workspace's target directory, where `.ci/run` has already
/// built dependencies of the same versions and profile.
fn build_args() -> [&'static str; 6] {
    static TARGET: LazyLock<&str> = LazyLock::new(|| {
        Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().to_str().unwrap()
    });
    let profile = "profile.dev.strip='debuginfo'"; // what Cargo strips where there is no `debug`
    ["build", "--offline", "--target-dir", &TARGET, "--config", profile]
}

/// Builds the frozen plugin in the directory `name` against the frozen packages, once `change` has changed those
/// of the ABI.
fn frozen(name: &str, change: impl FnOnce(&Path)) -> PathBuf {
    // Cargo puts the library of each such plugin into the same file, so build one at a time, and keep a copy.
    static BUILDING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    unpack(&place);
    change(&place.join(PACKAGES[0]));
    let args = [&build_args()[..], &["--locked", "--lib"]].concat();
    let library = plugin::library(&place.join("frozen-toolset"), &args, "frozen-toolset");
    let copy = place.join(library.file_name().unwrap());
    fs::copy(library, &copy).unwrap();
    copy
}

/// The frozen plugin, built against the frozen packages.
static FROZEN: LazyLock<PathBuf> = LazyLock::new(|| frozen("abi-1.0", |_| ()));

/// Changes the ABI of the package in `dir` to a later minor version: each side has one more method, and
/// the module has one more field.
fn grow(dir: &Path) {
    let replace = |file: &str, pairs: &[(&str, &str)]| {
        let path = dir.join("src/abi").join(file);
        let mut text = fs::read_to_string(&path).unwrap();
        for (old, new) in pairs {
            assert_eq!(text.matches(old).count(), 1, "{old} in {file}");
            text = text.replace(old, new);
        }
        fs::write(path, text).unwrap();
    };
    let request =
        "fn request(&self, method: RStr<'_>, params: RStr<'_>) -> RResult<RString, RString>;";
    let host = format!("{request}\n    fn later(&self) -> RString {{ RString::from(\"host\") }}");
    let call = "    ) -> RResult<ROutput, RError>;";
    let toolset =
        format!("{call}\n    fn later(&self) -> RString {{ RString::from(\"toolset\") }}");
    let field = "pub classes: extern \"C\" fn() -> RVec<RToolsetClass>,";
    let module = format!(
        "{field}\n    #[sabi(missing_field(option))]\n    pub later: extern \"C\" fn() -> RString,"
    );
    replace("types.rs", &[(request, &host), (call, &toolset), (field, &module)]);
    let made = "PluginModule { classes: classes::<P> }";
    let with = "PluginModule { classes: classes::<P>, later }";
    let classes = "extern \"C\" fn classes<P: Plugin>()";
    let later =
        format!("extern \"C\" fn later() -> RString {{ RString::from(\"module\") }}\n\n{classes}");
    replace("plugin.rs", &[(made, with), (classes, &later)]);
}

/// Builds a host from the current sources with a later minor version of the ABI. It opens a library,
/// asks for the later additions, and calls a tool.
fn later_host() -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("abi-later-host");
    unpack(&place);
    let border = place.join(PACKAGES[0]);
    let today = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("plugin-api");
    for dir in ["src", "src/abi", "src/host", "include"] {
        fs::create_dir_all(border.join(dir)).unwrap();
        for file in fs::read_dir(today.join(dir)).unwrap().map(|entry| entry.unwrap().path()) {
            if file.is_file() {
                fs::copy(&file, border.join(dir).join(file.file_name().unwrap())).unwrap();
            }
        }
    }
    grow(&border);
    let manifest = format!(
        "[package]\nname = \"later-host\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[dependencies]\n\
         serde_json = \"1\"\nrepertoire-plugin = {{ path = \"../{}\", features = [\"host\"] }}\n\
         [patch.crates-io]\nrepertoire-plugin-macros = {{ path = \"../{}\" }}\n[workspace]\n",
        PACKAGES[0], PACKAGES[1]
    );
    let main = r#"fn main() {
        let path = std::env::args().nth(1).unwrap();
        let library = repertoire_plugin::host::Library::open(path).unwrap();
        let toolset = library.create("FrozenToolset", &serde_json::Value::Null).unwrap();
        let arguments = serde_json::json!({"name": "Ada", "times": 1}).to_string();
        let host = repertoire_plugin::FakeHost::new();
        print!("{}", toolset.call("greet", &arguments, &host).unwrap().output);
    }"#;
    let dir = place.join("later-host");
    write_new(&dir.join("Cargo.toml"), manifest.as_bytes());
    write_new(&dir.join("src/main.rs"), main.as_bytes());
    let lock = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("Cargo.lock");
    fs::copy(lock, dir.join("Cargo.lock")).unwrap();
    let messages = plugin::built(&dir, &build_args(), "later-host");
    let executable = messages.iter().find_map(|message| message["executable"].as_str());
    executable.unwrap().into()
}

/// A host that answers requests, and records what it receives.
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

/// Asserts that every tool works, with every way in which a call can end.
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

/// Calls every tool of a library in this process, and in a child process.
fn assert_works(library: &Path) {
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

#[test]
fn a_plugin_of_abi_1_0_works_with_this_host() {
    let note = PluginNote::read(&FROZEN).unwrap();
    assert_eq!((note.abi, note.plugin_api.as_str()), ((1, 0), "1.0.0"));
    assert_eq!(note.classes, ["FrozenToolset", "BuilderToolset"]);
    assert_works(&FROZEN);
}

#[test]
fn a_plugin_of_a_later_minor_version_works_with_this_host() {
    assert_works(&frozen("abi-later", grow));
}

#[test]
fn a_plugin_of_abi_1_0_works_with_a_host_of_a_later_minor_version() {
    let output = Command::new(later_host()).arg(&*FROZEN).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("Ada"));
}
