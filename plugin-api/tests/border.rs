//! Plugins built with cargo, opened in this process.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};

use repertoire_plugin::host::{CreateError, ErrorCode, Library, OpenError, PluginNote, Toolset};
use repertoire_plugin::prelude::*;
use repertoire_plugin::{Host, ToolSpec};

static HELLO: LazyLock<PathBuf> = LazyLock::new(|| support::build("hello-toolset"));
static FAILING: LazyLock<PathBuf> = LazyLock::new(|| support::build("failing-toolset"));

fn open(path: &Path) -> Library {
    Library::open(path).unwrap_or_else(|error| panic!("{error}"))
}

fn create(library: &Library, class: &str) -> Toolset {
    library.create(class, &Value::Null).unwrap_or_else(|error| panic!("{error}"))
}

fn text(toolset: &Toolset, tool: &str, arguments: &Value) -> String {
    let answer = toolset.call(tool, &arguments.to_string(), &FakeHost::new());
    answer.unwrap_or_else(|error| panic!("{error}")).output
}

#[test]
fn the_note_is_read_without_running_anything() {
    let note = PluginNote::read(&HELLO).unwrap();
    assert_eq!((note.name.as_str(), note.version.as_str()), ("hello-toolset", "0.1.0"));
    assert_eq!(note.abi, (1, 0));
    assert_eq!(note.classes, ["HelloToolset", "MoodToolset"]);
    assert!(note.unwinds());
    assert!(note.target.contains(std::env::consts::ARCH), "{}", note.target);
    assert!(note.rustc.starts_with("1."), "{}", note.rustc);
    assert_eq!(note.plugin_api, env!("CARGO_PKG_VERSION"));
    note.check(&HELLO).unwrap();
}

#[test]
fn every_tool_of_the_example_can_be_called() {
    let library = open(&HELLO);
    assert_eq!(library.classes().collect::<Vec<_>>(), ["HelloToolset", "MoodToolset"]);
    let config = json!({"greeting": "Ahoy"});
    let hello = library.create("HelloToolset", &config).unwrap();
    let mood = create(&library, "MoodToolset");

    let description = hello.describe();
    assert_eq!(description.class, "HelloToolset");
    assert_eq!(description.description, "Friendly greetings, and all the ways a call can end.");
    let names: Vec<_> = description.tools.iter().map(|tool: &ToolSpec| &tool.name).collect();
    assert_eq!(names, ["greet", "divide", "panic", "count"]);
    assert_eq!(description.tools[0].annotations["readOnlyHint"], true);

    let host = FakeHost::new();
    let output = hello.call("greet", r#"{"name": "Ada", "times": 2}"#, &host).unwrap();
    assert_eq!(output.output, "Ahoy, Ada!\nAhoy, Ada!");
    assert_eq!(output.title, "Greeted Ada");
    assert_eq!(output.metadata["times"], 2);
    assert_eq!(text(&hello, "divide", &json!({"dividend": 7, "divisor": 2})), "3");
    assert_eq!(text(&mood, "mood", &json!({"name": "Ada", "hour": 12})), "Ada is cheerful.");
    assert_eq!(text(&mood, "join", &json!({"words": ["a", "b"]})), "a b");

    let error = hello.call("divide", r#"{"dividend": 1, "divisor": 0}"#, &host).unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (ErrorCode::Failed, "cannot divide by zero"));
    let error = hello.call("greet", r#"{"name": 5}"#, &host).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidArguments);
    let error = hello.call("gret", "{}", &host).unwrap_err();
    assert_eq!(error.code, ErrorCode::UnknownTool);
    assert_eq!(error.message, "no tool is named `gret`; there are: greet, divide, panic, count");
}

#[test]
fn a_panic_is_the_error_of_its_call() {
    let hello = create(&open(&HELLO), "HelloToolset");
    for _ in 0..100 {
        let arguments = json!({"message": "on request"}).to_string();
        let error = hello.call("panic", &arguments, &FakeHost::new()).unwrap_err();
        assert_eq!(error.code, ErrorCode::Panicked);
        let (place, message) = error.message.rsplit_once(": ").unwrap();
        assert_eq!(message, "on request");
        assert!(place.starts_with("panicked at ") && place.contains("lib.rs:"), "{place}");
    }
    assert_eq!(text(&hello, "greet", &json!({"name": "Ada"})), "Hello, Ada!");
}

#[test]
fn hostile_panics_do_not_escape() {
    let library = open(&FAILING);
    let failing = create(&library, "FailingToolset");
    let error = failing.call("panic", "", &FakeHost::new()).unwrap_err();
    assert!(error.message.ends_with(": boom 42"), "{}", error.message);
    let error = failing.call("hostile_panic", "", &FakeHost::new()).unwrap_err();
    assert_eq!(error.code, ErrorCode::Panicked);
    assert!(error.message.ends_with(": a value that is not text"), "{}", error.message);
    assert_eq!(text(&failing, "big", &json!({})).len(), 64 * 1024);
    drop(create(&library, "PanicInDrop"));
}

#[test]
fn a_class_that_cannot_be_created_says_why() {
    let library = open(&FAILING);
    let message = |class: &str, config: Value| {
        let error = library.create(class, &config).unwrap_err();
        let file = library.path().display().to_string();
        error.to_string().replace(&file, "FILE")
    };
    let panicked = message("PanicInCreate", Value::Null);
    assert!(panicked.contains("panicked at "), "{panicked}");
    assert!(panicked.ends_with(": no such toolset today"), "{panicked}");
    assert_eq!(
        message("PickyToolset", json!({"level": "high"})),
        "the toolset `PickyToolset` of `FILE` cannot be created: the configuration does not fit: \
         argument `level`: invalid type: string \"high\", expected u8"
    );
    assert_eq!(
        message("PickyToolset", json!({"level": 0})),
        "the toolset `PickyToolset` of `FILE` cannot be created: level 0 is not enough"
    );
    assert_eq!(
        message("FailingToolset", json!({"fast": true})),
        "the toolset `FailingToolset` of `FILE` cannot be created: the toolset takes no \
         configuration, but was given {\"fast\":true}"
    );
    assert_eq!(
        message("TwiceToolset", Value::Null),
        "the toolset `TwiceToolset` of `FILE` cannot be created: two tools are named `twice`"
    );
    assert!(matches!(
        library.create("Nobody", &Value::Null),
        Err(CreateError::NoClass { class, have, .. }) if class == "Nobody" && have.len() == 6
    ));
}

#[test]
fn two_libraries_may_export_the_same_class() {
    let first = create(&open(&HELLO), "HelloToolset");
    let second = create(&open(&FAILING), "HelloToolset");
    let arguments = json!({"name": "Ada"});
    assert_eq!(text(&first, "greet", &arguments), "Hello, Ada!");
    assert_eq!(text(&second, "greet", &arguments), "Good night, Ada.");
}

#[test]
fn progress_log_and_cancellation_cross_the_border() {
    let hello = create(&open(&HELLO), "HelloToolset");
    let host = FakeHost::new();
    assert_eq!(hello.call("count", r#"{"to": 4}"#, &host).unwrap().output, "counted to 4");
    assert_eq!(host.progress_reports()[3], (1.0, "4 of 4".to_owned()));
    assert_eq!(host.logs(), [(LogLevel::Info, "counting to 4".to_owned())]);

    let host = FakeHost::new();
    let begin = Instant::now();
    let error = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(50));
            host.cancel();
        });
        hello.call("count", r#"{"to": 100000, "pause": 1}"#, &host).unwrap_err()
    });
    assert_eq!(error.code, ErrorCode::Cancelled);
    assert!(begin.elapsed() < Duration::from_secs(10));
    assert!(!host.progress_reports().is_empty());

    let host = FakeHost::new().with_time(Duration::from_millis(30));
    let error = hello.call("count", r#"{"to": 100000, "pause": 1}"#, &host).unwrap_err();
    assert_eq!(error.code, ErrorCode::DeadlineExceeded);
}

#[test]
fn a_panic_of_the_host_does_not_reach_the_plugin() {
    struct Panicking;
    impl Host for Panicking {
        fn progress(&self, _: f64, _: &str) {
            panic!("the host's own fault");
        }
    }
    let hello = create(&open(&HELLO), "HelloToolset");
    assert_eq!(hello.call("count", r#"{"to": 2}"#, &Panicking).unwrap().output, "counted to 2");
}

#[test]
fn threads_share_a_toolset() {
    let hello = create(&open(&HELLO), "HelloToolset");
    thread::scope(|scope| {
        for thread in 0..8 {
            let hello = &hello;
            scope.spawn(move || {
                for _ in 0..200 {
                    let name = format!("t{thread}");
                    let expected = format!("Hello, {name}!");
                    assert_eq!(text(hello, "greet", &json!({"name": name})), expected);
                    hello.call("panic", r#"{"message": "x"}"#, &FakeHost::new()).unwrap_err();
                }
            });
        }
    });
}

mod broken {
    use super::*;

    fn refused(path: &Path) -> (OpenError, String) {
        let error = Library::open(path).unwrap_err();
        let message = error.to_string();
        assert!(message.contains(&path.display().to_string()), "names the file: {message}");
        (error, message)
    }

    #[test]
    fn files_that_are_no_whole_library() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("libbroken.so");
        assert!(matches!(refused(&path).0, OpenError::Read { .. }), "missing");
        assert!(matches!(refused(dir.path()).0, OpenError::NotALibrary { .. }), "directory");
        let whole = std::fs::read(&*HELLO).unwrap();
        let mut cases = vec![Vec::new(), b"#!/bin/sh\nexit 0\n".to_vec(), vec![0xA5; 100_000]];
        let percent = |percent: usize| whole.len() * percent / 100;
        let lengths = [16, 64, 1024, percent(25), percent(50), percent(99), whole.len() - 1];
        cases.extend(lengths.iter().map(|&length| whole[..length].to_vec()));
        for bytes in cases {
            std::fs::write(&path, &bytes).unwrap();
            let (error, message) = refused(&path);
            let length = bytes.len();
            assert!(matches!(error, OpenError::NotALibrary { .. }), "{length}: {message}");
        }
    }

    #[test]
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    fn other_architectures_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("libarm.so");
        let mut bytes = std::fs::read(&*HELLO).unwrap();
        bytes[18..20].copy_from_slice(&183_u16.to_le_bytes()); // e_machine
        std::fs::write(&path, bytes).unwrap();
        let (error, message) = refused(&path);
        assert!(matches!(error, OpenError::Platform { .. }));
        assert!(message.contains("Aarch64"), "{message}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn libraries_of_others() {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let libc = maps.split_whitespace().find(|word| word.contains("/libc.so.6")).unwrap();
        let (error, message) = refused(Path::new(libc));
        assert!(matches!(error, OpenError::NotAPlugin { .. }));
        assert!(message.contains("`export_toolsets!`"), "{message}");
        let this_program = std::env::current_exe().unwrap();
        assert!(Library::open(this_program).is_err());
    }

    #[test]
    fn another_abi_is_one_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("libnew.so");
        let expected = format!(
            "the plugin `{}` is built for plugin ABI 2.0, this host speaks 1.0; rebuild it against \
             repertoire-plugin 1.x",
            path.display()
        );
        support::patched(&HELLO, &path, b"\"abi\":[1,0]", b"\"abi\":[2,0]");
        let (error, message) = refused(&path);
        assert!(matches!(error, OpenError::AbiVersion { found: (2, 0), .. }));
        assert_eq!(message, expected, "by the note");

        let marker = |major: u8| [b"REPTPLUG".as_slice(), &[major, 0, 0, 0, 0, 0, 0, 0]].concat();
        support::patched(&HELLO, &path, &marker(1), &marker(2));
        assert_eq!(refused(&path).1, expected, "by the marker");
    }

    #[test]
    fn newer_minor_versions_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("libnewer.so");
        support::patched(&HELLO, &path, b"\"abi\":[1,0]", b"\"abi\":[1,7]");
        let hello = create(&open(&path), "HelloToolset");
        assert_eq!(text(&hello, "greet", &json!({"name": "Ada"})), "Hello, Ada!");
    }

    #[test]
    fn aborting_plugins_are_not_for_this_process() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("libabort.so");
        support::patched(&HELLO, &path, b"\"panic\":\"unwind\"", b"\"panic\":\"abort\" ");
        let (error, message) = refused(&path);
        assert!(matches!(error, OpenError::PanicAbort { .. }));
        assert!(message.contains("in a process of its own"), "{message}");
        let marker = |unwind: u8| {
            [b"REPTPLUG".as_slice(), &[1, 0, 0, 0, 0, 0, 0, 0, unwind, 0, 0, 0]].concat()
        };
        support::patched(&HELLO, &path, &marker(1), &marker(0));
        assert!(matches!(refused(&path).0, OpenError::PanicAbort { .. }));
    }

    #[test]
    fn damaged_notes_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("libnote.so");
        support::patched(&HELLO, &path, b"\"classes\":[", b"\"klasses\":[");
        let (error, message) = refused(&path);
        assert!(matches!(error, OpenError::BadNote { .. }));
        assert!(message.contains("missing field `classes`"), "{message}");
        support::patched(&HELLO, &path, b"Repertoire\0\0", b"Repertoirx\0\0");
        assert!(matches!(refused(&path).0, OpenError::BadNote { .. }));
    }
}
