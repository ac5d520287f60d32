//! Everything a plugin can do wrong, through an engine: each is an error that names the file and
//! what to do, and the toolset beside it works on.
#![cfg(all(feature = "cli", target_os = "linux"))]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "it names the row that fails")]

#[path = "support/plugin.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod plugin;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use repertoire::toolset::{
    Host, HostProgram, Isolation, Limits, Tool, ToolsetOptions, WorkerState,
};
use repertoire::trust::TrustStore;
use repertoire::{Engine, Error, ErrorCode, Source};
use serde_json::json;
use tempfile::TempDir;

struct Silent;

impl Host for Silent {}

/// Builds a plugin of this workspace, without its debug information if the system can take it off.
fn built(package: &str, rustc_args: &[&str]) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
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
    LIBRARY.get_or_init(|| built("hello-toolset", &[]))
}

fn failing() -> &'static [u8] {
    static LIBRARY: OnceLock<Vec<u8>> = OnceLock::new();
    LIBRARY.get_or_init(|| built("failing-toolset", &[]))
}

fn aborting() -> &'static [u8] {
    static LIBRARY: OnceLock<Vec<u8>> = OnceLock::new();
    LIBRARY.get_or_init(|| built("aborting-toolset", &["-C", "panic=abort"]))
}

/// `library` with all of `from` replaced by `to`, of the same length.
fn patched(library: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = library.to_vec();
    let mut at = 0;
    let mut n_found = 0;
    while let Some(found) = bytes[at..].windows(from.len()).position(|window| window == from) {
        at += found;
        bytes[at..at + to.len()].copy_from_slice(to);
        n_found += 1;
    }
    assert!(n_found > 0, "{} is not there", String::from_utf8_lossy(from));
    bytes
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

    /// A place whose skill `bad` has the failing plugin.
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

    /// An engine for which the skills are the user's own.
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
    let limits = Limits {
        call_timeout: Duration::from_secs(20),
        grace: Duration::from_millis(200),
        address_space: Some(512 << 20),
        ..Limits::default()
    };
    Isolation::Process { program, limits }
}

/// The same, with little time for a call.
fn in_hasty_child() -> Isolation {
    let Isolation::Process { program, limits } = in_child() else { unreachable!() };
    let call_timeout = Duration::from_secs(2);
    Isolation::Process { program, limits: Limits { call_timeout, ..limits } }
}

fn tool(engine: &Engine, name: &str) -> Tool {
    engine.all_tools().find(name).unwrap_or_else(|error| panic!("{error:#}")).clone()
}

fn call(engine: &Engine, name: &str) -> Result<String, Error> {
    tool(engine, name).call(&json!({}), &Silent).map(|output| output.output)
}

/// The toolset beside the bad one works.
#[track_caller]
fn assert_good(engine: &Engine) {
    let output = tool(engine, "good.greet").call(&json!({"name": "Ada"}), &Silent);
    assert_eq!(output.unwrap().output, "Hello, Ada!");
}

/// The error has the code, names the file or the entry, and says what to do.
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

/// The only failure of an engine.
#[track_caller]
fn failure(engine: &Engine) -> Arc<Error> {
    let mut failures = engine.all_tools().failures;
    assert_eq!(failures.len(), 1, "{failures:?}");
    failures.remove(0).error
}

/// What is wrong, the entry, how it is made so, and what is said.
struct Load {
    what: &'static str,
    entry: &'static str,
    spoil: fn(&Path),
    code: ErrorCode,
    message: &'static [&'static str],
    help: &'static str,
}

const HELLO: &str = "toolsets/bad:HelloToolset";
const LOADS: &[Load] = &[
    Load {
        what: "no file",
        entry: HELLO,
        spoil: |_| {},
        code: ErrorCode::NotFound,
        message: &["libbad.so", "toolsets/bad"],
        help: "cargo build --release",
    },
    Load {
        what: "an empty file",
        entry: HELLO,
        spoil: |file| fs::write(file, "").unwrap(),
        code: ErrorCode::ExecutionError,
        message: &["libbad.so", "is empty"],
        help: "build or copy it again",
    },
    Load {
        what: "garbage",
        entry: HELLO,
        spoil: |file| fs::write(file, vec![0xA5; 100_000]).unwrap(),
        code: ErrorCode::ExecutionError,
        message: &["libbad.so", "not a usable shared library"],
        help: "build or copy it again",
    },
    Load {
        what: "a directory",
        entry: HELLO,
        spoil: |file| fs::create_dir(file).unwrap(),
        code: ErrorCode::ExecutionError,
        message: &["libbad.so"],
        help: "check the",
    },
    Load {
        what: "the first kilobyte",
        entry: HELLO,
        spoil: |file| fs::write(file, &hello()[..1024]).unwrap(),
        code: ErrorCode::ExecutionError,
        message: &["libbad.so", "not a usable shared library"],
        help: "build or copy it again",
    },
    Load {
        what: "half of a library",
        entry: HELLO,
        spoil: |file| fs::write(file, &hello()[..hello().len() / 2]).unwrap(),
        code: ErrorCode::ExecutionError,
        message: &["libbad.so", "not a usable shared library"],
        help: "build or copy it again",
    },
    Load {
        what: "all but the last byte",
        entry: HELLO,
        spoil: |file| fs::write(file, &hello()[..hello().len() - 1]).unwrap(),
        code: ErrorCode::ExecutionError,
        message: &["libbad.so", "not a usable shared library"],
        help: "build or copy it again",
    },
    Load {
        what: "a library of somebody else",
        entry: HELLO,
        spoil: |file| {
            let maps = fs::read_to_string("/proc/self/maps").unwrap();
            let libc = maps.split_whitespace().find(|word| word.contains("/libc.so")).unwrap();
            fs::copy(libc, file).unwrap();
        },
        code: ErrorCode::ExecutionError,
        message: &["libbad.so", "not a plugin"],
        help: "export_toolsets!",
    },
    #[cfg(target_arch = "x86_64")]
    Load {
        what: "a library of another architecture",
        entry: HELLO,
        spoil: |file| {
            let mut bytes = hello().to_vec();
            bytes[18..20].copy_from_slice(&183_u16.to_le_bytes()); // e_machine
            fs::write(file, bytes).unwrap();
        },
        code: ErrorCode::ExecutionError,
        message: &["libbad.so", "Aarch64"],
        help: "build it for this platform",
    },
    Load {
        what: "another ABI, by the note",
        entry: HELLO,
        spoil: |file| {
            let other = patched(hello(), b"\"abi\":[1,0]", b"\"abi\":[2,0]");
            fs::write(file, other).unwrap();
        },
        code: ErrorCode::ExecutionError,
        message: &["libbad.so", "ABI 2.0", "1.0"],
        help: "rebuild it against repertoire-plugin 1.x",
    },
    Load {
        what: "another ABI, by the marker",
        entry: HELLO,
        spoil: |file| {
            let other = patched(hello(), b"REPTPLUG\x01\0\0\0", b"REPTPLUG\x02\0\0\0");
            fs::write(file, other).unwrap();
        },
        code: ErrorCode::ExecutionError,
        message: &["libbad.so", "ABI 2.0", "1.0"],
        help: "rebuild it against repertoire-plugin 1.x",
    },
    Load {
        what: "other types at the border",
        entry: HELLO,
        spoil: |file| {
            let other = patched(hello(), b"title;metadata;output;", b"title;metadatb;output;");
            fs::write(file, other).unwrap();
        },
        code: ErrorCode::ExecutionError,
        message: &["libbad.so", "ROutput: the field `metadata` here, `metadatb` there"],
        help: "rebuild it against repertoire-plugin 1.x",
    },
    Load {
        what: "no marker",
        entry: HELLO,
        spoil: |file| {
            let other =
                patched(hello(), b"\0repertoire_plugin_marker\0", b"\0repertoire_plugin_market\0");
            fs::write(file, other).unwrap();
        },
        code: ErrorCode::ExecutionError,
        message: &["libbad.so", "not a plugin", "repertoire_plugin_marker"],
        help: "export_toolsets!",
    },
    Load {
        what: "a symbol that nobody has",
        entry: HELLO,
        spoil: |file| {
            let other = patched(hello(), b"\0pthread_key_create\0", b"\0pthread_key_cr3ate\0");
            fs::write(file, other).unwrap();
        },
        code: ErrorCode::ExecutionError,
        message: &["libbad.so", "pthread_key_cr3ate"],
        help: "install the library or symbol",
    },
    Load {
        what: "a damaged note",
        entry: HELLO,
        spoil: |file| {
            let other = patched(hello(), b"\"classes\":[", b"\"klasses\":[");
            fs::write(file, other).unwrap();
        },
        code: ErrorCode::ExecutionError,
        message: &["libbad.so", "missing field `classes`"],
        help: "rebuild it",
    },
    Load {
        what: "a class that is not there",
        entry: "toolsets/bad:Nobody",
        spoil: |file| fs::write(file, hello()).unwrap(),
        code: ErrorCode::NotFound,
        message: &["libbad.so", "`Nobody`"],
        help: "it has HelloToolset, MoodToolset",
    },
    Load {
        what: "a panic when a toolset is made",
        entry: "toolsets/bad:PanicInCreate",
        spoil: |file| fs::write(file, failing()).unwrap(),
        code: ErrorCode::ExecutionError,
        message: &["libbad.so", "`PanicInCreate`", "panicked at", "no such toolset today"],
        help: "mend the toolset",
    },
    Load {
        what: "a configuration that does not fit",
        entry: "toolsets/bad:PickyToolset",
        spoil: |file| fs::write(file, failing()).unwrap(),
        code: ErrorCode::InvalidParam,
        message: &["libbad.so", "`PickyToolset`", "missing field `level`"],
        help: "mend the configuration",
    },
    Load {
        what: "two tools of one name",
        entry: "toolsets/bad:TwiceToolset",
        spoil: |file| fs::write(file, failing()).unwrap(),
        code: ErrorCode::ExecutionError,
        message: &["libbad.so", "two tools are named `twice`"],
        help: "mend the toolset",
    },
    Load {
        what: "a directory that everybody can write",
        entry: HELLO,
        spoil: |file| {
            fs::write(file, hello()).unwrap();
            let mode = fs::Permissions::from_mode(0o777);
            fs::set_permissions(file.parent().unwrap(), mode).unwrap();
        },
        code: ErrorCode::PermissionDenied,
        message: &["libbad.so", "can be written by everybody"],
        help: "run `chmod o-w /",
    },
    Load {
        what: "a file that everybody can write",
        entry: HELLO,
        spoil: |file| {
            fs::write(file, hello()).unwrap();
            fs::set_permissions(file, fs::Permissions::from_mode(0o666)).unwrap();
        },
        code: ErrorCode::PermissionDenied,
        message: &["libbad.so", "can be written by everybody"],
        help: "run `chmod o-w /",
    },
    Load {
        what: "a path that climbs out",
        entry: "../good/toolsets/good:HelloToolset",
        spoil: |_| {},
        code: ErrorCode::InvalidParam,
        message: &["../good/toolsets/good", "without `.` and `..`"],
        help: "relative to the skill's directory",
    },
    Load {
        what: "an absolute path",
        entry: "/usr/lib/bad:HelloToolset",
        spoil: |_| {},
        code: ErrorCode::InvalidParam,
        message: &["/usr/lib/bad", "relative"],
        help: "relative to the skill's directory",
    },
    Load {
        what: "a link that leads out",
        entry: HELLO,
        spoil: |file| {
            let good = file.parent().unwrap().join("../../good/toolsets/libgood.so");
            symlink(good.canonicalize().unwrap(), file).unwrap();
        },
        code: ErrorCode::PermissionDenied,
        message: &["libbad.so"],
        help: "without links that leave it",
    },
    Load {
        what: "a link to nothing",
        entry: HELLO,
        spoil: |file| symlink("libnobody.so", file).unwrap(),
        code: ErrorCode::NotFound,
        message: &["libbad.so"],
        help: "mend the link",
    },
];

fn assert_loads(isolation: fn() -> Isolation) {
    for Load { what, entry, spoil, code, message, help } in LOADS {
        println!("{what}");
        let place = Place::new(entry);
        spoil(&place.library("bad"));
        let engine = place.engine(isolation());
        assert_error(&failure(&engine), *code, message, help);
        assert_good(&engine);
    }
}

#[test]
fn what_cannot_be_loaded_harms_nobody_in_process() {
    assert_loads(|| Isolation::InProcess);
}

#[test]
fn what_cannot_be_loaded_harms_nobody_in_a_child() {
    assert_loads(in_child);
}

/// These end the process that opens them.
#[test]
fn what_ends_its_process_when_it_is_loaded_harms_nobody_in_a_child() {
    // Sound where it is looked at, and nonsense for the system's loader.
    let mut damaged = hello().to_vec();
    damaged[0x1000..0x1000 + 20_000].fill(0xA5);
    for (entry, library, how) in
        [("toolsets/bad:ExitInCreate", failing(), "exit code 5"), (HELLO, &damaged, "crashed")]
    {
        let place = Place::new(entry);
        fs::write(place.library("bad"), library).unwrap();
        let engine = place.engine(in_child());
        let message = ["libbad.so", "crashed", how];
        assert_error(&failure(&engine), ErrorCode::ExecutionError, &message, "mend the plugin");
        assert_good(&engine);
    }
}

#[test]
fn what_a_call_does_is_that_calls_error_in_a_child() {
    let crash = "the next call starts it again";
    let cases: &[(&str, &[&str], &str)] = &[
        ("panic", &["bad.panic", "panicked at", "boom 42"], "libbad.so: mend it"),
        ("hostile_panic", &["panicked at", "a value that is not text"], "libbad.so: mend it"),
        ("double_panic", &["libbad.so", "SIGABRT", "last words"], crash),
        ("segfault", &["libbad.so", "SIGSEGV"], crash),
        ("abort", &["libbad.so", "SIGABRT"], crash),
        ("exit", &["libbad.so", "exit code 3"], crash),
        ("overflow", &["libbad.so", "SIGABRT", "stack overflow"], crash),
        ("allocate", &["libbad.so", "SIGABRT", "memory allocation"], crash),
    ];
    for (name, message, help) in cases {
        let place = Place::failing();
        let engine = place.engine(in_child());
        assert_eq!(call(&engine, "bad.noop").unwrap(), "");
        let error = call(&engine, &format!("bad.{name}")).unwrap_err();
        assert_error(&error, ErrorCode::ExecutionError, message, help);
        assert_good(&engine);
        assert_eq!(call(&engine, "bad.noop").unwrap(), "", "{name}: it is started again");
    }
    let place = Place::failing();
    let engine = place.engine(in_hasty_child());
    let error = call(&engine, "bad.endless").unwrap_err();
    let message = ["libbad.so", "did not end within 2.0 s", "killed"];
    assert_error(&error, ErrorCode::Timeout, &message, "check for cancellation");
    assert_good(&engine);
    assert_eq!(call(&engine, "bad.noop").unwrap(), "");
}

#[test]
fn a_panic_in_process_is_that_calls_error() {
    let place = Place::failing();
    let engine = place.engine(Isolation::InProcess);
    for (name, text) in [("panic", "boom 42"), ("hostile_panic", "a value that is not text")] {
        for _ in 0..100 {
            let error = call(&engine, &format!("bad.{name}")).unwrap_err();
            let message = ["panicked at", "lib.rs:", text];
            assert_error(&error, ErrorCode::ExecutionError, &message, "libbad.so: mend it");
        }
    }
    assert_good(&engine);
    assert_eq!(call(&engine, "bad.noop").unwrap(), "");
}

#[test]
fn a_library_whose_panics_abort_runs_only_in_a_child() {
    let place = Place::new("toolsets/bad:FailingToolset");
    fs::write(place.library("bad"), aborting()).unwrap();
    let engine = place.engine(Isolation::InProcess);
    let message = ["libbad.so", "panic = \"abort\"", "would end this process"];
    let help = "remove that setting from its profile";
    assert_error(&failure(&engine), ErrorCode::ExecutionError, &message, help);
    assert_good(&engine);

    let engine = place.engine(in_child());
    assert_eq!(call(&engine, "bad.noop").unwrap(), "");
    let error = call(&engine, "bad.panic").unwrap_err();
    let message = ["libbad.so", "SIGABRT", "boom 42"];
    assert_error(&error, ErrorCode::ExecutionError, &message, "the next call starts it again");
    assert_eq!(call(&engine, "bad.noop").unwrap(), "");
    assert_good(&engine);
}

#[test]
fn three_crashes_disable_a_library_until_it_is_restarted() {
    let place = Place::failing();
    let engine = place.engine(in_child());
    for _ in 0..3 {
        call(&engine, "bad.exit").unwrap_err();
    }
    let disclosure = engine.disclose("$bad");
    assert_eq!(disclosure.full, ["bad"]);
    let tools = engine.tools(&disclosure);
    let noop = tools.find("noop").unwrap();
    let state = noop.worker_state().unwrap();
    assert!(
        matches!(&state, WorkerState::Disabled { how, .. } if how == "exit code 3"),
        "{state:?}"
    );
    let listed = serde_json::to_value(noop).unwrap();
    assert_eq!((&listed["state"], &listed["reason"]), (&json!("disabled"), &json!("exit code 3")));

    let error = noop.call(&json!({}), &Silent).unwrap_err();
    let message = ["bad.noop", "libbad.so", "disabled after 3 crashes", "exit code 3"];
    assert_error(&error, ErrorCode::ExecutionError, &message, "`Tool::restart`");
    assert_good(&engine);

    noop.restart();
    assert_eq!(serde_json::to_value(noop).unwrap()["state"], "idle");
    assert_eq!(noop.call(&json!({}), &Silent).unwrap().output, "");
    assert_eq!(serde_json::to_value(noop).unwrap()["state"], "running");
}

#[test]
fn a_rebuilt_library_is_used_when_tools_are_listed_again() {
    for isolation in [|| Isolation::InProcess, in_child] {
        let place = Place::new(HELLO);
        let file = place.library("bad");
        fs::write(&file, hello()).unwrap();
        let engine = place.engine(isolation());
        let greet = |tool: &Tool| tool.call(&json!({"name": "Ada"}), &Silent).unwrap().output;
        let old = tool(&engine, "bad.greet");
        assert_eq!(greet(&old), "Hello, Ada!");
        // In place, as `cp` does it: what runs is a copy.
        fs::write(&file, failing()).unwrap();
        assert_eq!(greet(&old), "Hello, Ada!");
        assert_eq!(greet(&tool(&engine, "bad.greet")), "Good night, Ada.");
        assert_eq!(greet(&old), "Hello, Ada!");

        fs::remove_file(&file).unwrap();
        assert_eq!(greet(&old), "Hello, Ada!");
        let help = "cargo build --release";
        assert_error(&failure(&engine), ErrorCode::NotFound, &["libbad.so"], help);
        assert_good(&engine);
    }
}

#[test]
fn trust_that_is_taken_back_elsewhere_reaches_a_running_host() {
    for isolation in [|| Isolation::InProcess, in_child] {
        let place = Place::failing();
        let store = place.dir.path().join("trust.json");
        let elsewhere = TrustStore::open(&store).unwrap();
        let source = Source::project(place.skills());
        let engine = place.engine_of(source, isolation(), TrustStore::open(&store).unwrap());
        assert_eq!(engine.all_tools().failures.len(), 2, "nothing is trusted");

        let (good, bad) = (place.library("good"), place.library("bad"));
        elsewhere.add(&good).unwrap();
        elsewhere.add(&bad).unwrap();
        let noop = tool(&engine, "bad.noop");
        let call = || noop.call(&json!({}), &Silent);
        assert_eq!(call().unwrap().output, "");

        elsewhere.remove(&bad).unwrap();
        let error = call().unwrap_err();
        let message = ["libbad.so", "not trusted any more"];
        assert_error(&error, ErrorCode::PermissionDenied, &message, "repertoire trust add /");
        if let Some(state) = noop.worker_state() {
            assert_eq!(state, WorkerState::Idle, "its process was ended");
        }
        let message = ["libbad.so", "is not trusted (sha256 "];
        let help = "repertoire trust add /";
        assert_error(&failure(&engine), ErrorCode::PermissionDenied, &message, help);
        assert_good(&engine);

        elsewhere.add(&bad).unwrap();
        assert_eq!(call().unwrap().output, "");
        // Trusted with another content than the one that runs.
        fs::write(&bad, [failing(), b"0"].concat()).unwrap();
        elsewhere.add(&bad).unwrap();
        let error = call().unwrap_err();
        let help = "list the tools again";
        assert_error(&error, ErrorCode::PermissionDenied, &["libbad.so"], help);
        assert_eq!(tool(&engine, "bad.noop").call(&json!({}), &Silent).unwrap().output, "");

        fs::write(&bad, [failing(), b"00"].concat()).unwrap();
        let message = ["libbad.so", "has changed since it was trusted: sha256 "];
        let help = "repertoire trust add /";
        assert_error(&failure(&engine), ErrorCode::PermissionDenied, &message, help);
        assert_good(&engine);
    }
}
