//! Plugins built with cargo, opened in this process.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![expect(unreachable_pub, reason = "a tool is `pub`, wherever its toolset is")]

mod build;
#[cfg(target_os = "linux")]
mod crashes;
mod refusals;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};

use repertoire_plugin::host::{CreateError, ErrorCode, Library, PluginNote, Toolset};
use repertoire_plugin::prelude::*;
use repertoire_plugin::{Host, ToolSpec};

static HELLO: LazyLock<PathBuf> = LazyLock::new(|| build::library("calls-toolset"));
static GIT_LOG: LazyLock<PathBuf> = LazyLock::new(|| build::library("git-log-toolset"));
static FAILING: LazyLock<PathBuf> = LazyLock::new(|| build::library("failing-toolset"));

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
    assert_eq!((note.name.as_str(), note.version.as_str()), ("calls-toolset", "0.1.0"));
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
    let missing = library.create("Nobody", &Value::Null);
    let help = missing.as_ref().unwrap_err().help();
    assert!(help.starts_with("it has `FailingToolset`, `PanicInCreate`"), "{help}");
    assert!(matches!(
        missing,
        Err(CreateError::NoClass { class, have, .. }) if class == "Nobody" && have.len() == 11
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

#[test]
fn what_a_host_knows_reaches_the_plugin() {
    /// Asks for everything.
    #[derive(Default)]
    struct Curious;
    #[toolset]
    impl Curious {
        /// Asks.
        pub fn ask(&self, cx: &ToolContext) -> ToolResult<Value> {
            let left = cx.time_left().ok_or("no deadline")?;
            Ok(json!({
                "dir": cx.skill_dir()?.to_string_lossy(),
                "seconds": left.as_secs(),
                "answer": cx.request("question", json!(6))?,
                "other": cx.request("other", json!(6)).unwrap_err().message(),
            }))
        }
    }
    let host = FakeHost::new()
        .with_skill_dir("/skills/hello")
        .with_time(Duration::from_secs(3600))
        .with_answer("question", json!(42));
    let toolset = Toolset::of::<Curious>(&Value::Null).unwrap();
    assert_eq!(toolset.describe().class, "Curious");
    let answer: Value = toolset.call("ask", "", &host).unwrap().output.parse().unwrap();
    assert_eq!(answer["dir"], "/skills/hello");
    assert_eq!(answer["seconds"], 3599);
    assert_eq!(answer["answer"], 42);
    assert_eq!(answer["other"], "the fake host has no answer to `other`");
}

#[test]
fn built_in_toolsets_take_the_same_way() {
    #[derive(Default)]
    struct BuiltIn;
    #[toolset]
    impl BuiltIn {
        /// Panics.
        pub fn panic(&self) -> ToolResult {
            panic!("inside")
        }
    }
    let toolset = Toolset::of::<BuiltIn>(&json!({})).unwrap();
    let error = toolset.call("panic", "", &FakeHost::new()).unwrap_err();
    assert_eq!(error.code, ErrorCode::Panicked);
    assert!(error.message.contains("main.rs:"), "{}", error.message);
    assert_eq!(
        Toolset::of::<BuiltIn>(&json!(1)).unwrap_err().to_string(),
        "the toolset `BuiltIn` of this program cannot be created: the toolset takes no \
         configuration, but was given 1"
    );
}

#[test]
fn a_toolset_that_does_real_work() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let config = json!({"repository": root});
    let library = open(&GIT_LOG);
    let git = library.create("GitLogToolset", &config).unwrap();
    let arguments = r#"{"limit": 1, "path": "plugin-api"}"#;
    // In a source archive there is no git repository, so the tool must report an error.
    match git.call("recent_commits", arguments, &FakeHost::new()) {
        Ok(output) => assert_eq!(output.title, "1 commit of plugin-api"),
        Err(error) => assert!(error.message.contains("git"), "{}", error.message),
    }
}

#[test]
fn two_hundred_libraries_are_open_at_once() {
    let dir = tempfile::tempdir().unwrap();
    // With debug information, the copies would take 5 GB.
    let small = dir.path().join("small.so");
    let strip =
        Command::new("strip").arg("--strip-debug").arg("-o").args([&small, &*HELLO]).status();
    let is_small = strip.is_ok_and(|status| status.success());
    let (source, count) = if is_small { (&small, 200) } else { (&*HELLO, 20) };
    let toolsets: Vec<_> = (0..count)
        .map(|number| {
            let path = dir.path().join(format!("lib{number}.so"));
            std::fs::copy(source, &path).unwrap();
            let library = open(&path);
            std::fs::remove_file(&path).unwrap();
            let config = json!({"greeting": format!("Hello {number}")});
            library.create("HelloToolset", &config).unwrap()
        })
        .collect();
    for (number, toolset) in toolsets.iter().enumerate() {
        let expected = format!("Hello {number}, Ada!");
        assert_eq!(text(toolset, "greet", &json!({"name": "Ada"})), expected);
    }
}
