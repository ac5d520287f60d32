//! Libraries that hang or crash when they are opened do not affect others.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use repertoire::engine::SessionToolsOptions;
use repertoire::toolset::{HostProgram, Isolation, Tool, WorkerState, collect_cache};
use repertoire::trust::TrustStore;
use repertoire::{CallIo, Engine, ErrorCode, SessionTools, Source, ToolFormat};
use serde_json::{Value, json};

use super::{Place, Silent, assert_error, assert_good, failing, failure, hello, in_child, tool};

/// A limit for work that takes milliseconds on an idle machine.
const SOON: Duration = Duration::from_secs(6);

/// Returns the isolation in child processes with the time limits `load` and `retry`. Each start of a
/// child adds a line to a log file next to the skills.
fn counted(place: &Place, load: Duration, retry: Duration) -> Isolation {
    let Isolation::Process { program, mut limits } = in_child() else { unreachable!() };
    let (log, program) = (log(place), program.program);
    let script =
        format!("echo \"$PWD\" >> '{}'; exec '{}' toolset-host", log.display(), program.display());
    let args = vec!["-c".into(), script.into()];
    (limits.load_timeout, limits.retry) = (load, retry);
    Isolation::Process { program: HostProgram { program: "/bin/sh".into(), args }, limits }
}

fn log(place: &Place) -> PathBuf {
    place.dir.path().join("started")
}

/// Returns the skills whose libraries were started, in that order.
fn started(place: &Place) -> Vec<String> {
    let text = fs::read_to_string(log(place)).unwrap_or_default();
    let name = |line: &str| Path::new(line).file_name().unwrap().to_string_lossy().into_owned();
    text.lines().map(name).collect()
}

/// Returns the tools of all skills, as a client sees them that lists tools once.
fn tools(engine: &Engine) -> SessionTools {
    let mut options = SessionToolsOptions::default();
    options.all_toolsets = true;
    engine.tools(&engine.session("s")).with_options(options)
}

fn names(tools: &SessionTools) -> Vec<String> {
    let definitions = tools.definitions(ToolFormat::Mcp);
    let names = definitions.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap());
    names.filter(|name| name.contains('_') && !name.contains("skill")).map(str::to_owned).collect()
}

fn greet(tools: &SessionTools) -> Value {
    serde_json::to_value(tools.call("good_greet", &json!({"name": "Ada"}))).unwrap()
}

/// Creates a place with three skills: `good`; `bad`, whose creation never ends; and `worse`, which ends
/// its process.
fn three() -> Place {
    let place = Place::new("toolsets/bad:StuckInCreate");
    fs::write(place.library("bad"), failing()).unwrap();
    fs::write(place.skills().join("bad/stuck"), "").unwrap();
    place.write_skill("worse", "toolsets/worse:ExitInCreate");
    fs::write(place.library("worse"), [failing(), b"0"].concat()).unwrap();
    place
}

#[test]
fn one_library_that_hangs_and_one_that_crashes_harm_no_other() {
    let place = three();
    let minute = Duration::from_secs(60);
    let engine = place.engine(counted(&place, minute, minute));
    let tools = tools(&engine);
    let began = Instant::now();
    assert_eq!(greet(&tools)["status"], "success");
    assert_eq!(started(&place), ["good"], "a call opens the library of its tool alone");
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());

    let began = Instant::now();
    assert!(names(&tools).contains(&"good_greet".to_owned()));
    assert!(began.elapsed() < SOON, "a list waits {:?} for one that hangs", began.elapsed());
    let began = Instant::now();
    assert_eq!(greet(&tools)["status"], "success");
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    assert_eq!(started(&place).iter().filter(|name| *name == "good").count(), 1, "it stays");

    // A call of a tool that has not been loaded yet obeys the deadline of the call.
    let began = Instant::now();
    let io = CallIo::default().deadline(Instant::now() + Duration::from_millis(300));
    let late = serde_json::to_value(tools.call_with("bad_late", &json!({}), io)).unwrap();
    assert_eq!(late["error"]["code"], "TIMEOUT", "{late}");
    assert!(late["error"]["message"].as_str().unwrap().contains("still being opened"), "{late}");
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());

    let is_cancelled = || true;
    let io = CallIo::default().cancelled_if(&is_cancelled);
    let cancelled = serde_json::to_value(tools.call_with("bad_late", &json!({}), io)).unwrap();
    assert_eq!(cancelled["error"]["code"], "CANCELLED", "{cancelled}");
}

#[test]
fn a_library_that_hangs_is_disabled_alone_and_tried_again_later() {
    let place = three();
    let (load, retry) = (Duration::from_millis(800), Duration::from_secs(3));
    let engine = place.engine(counted(&place, load, retry));
    let error = |skill: &str| {
        let failures = engine.tools_of(&skill.into()).failures;
        failures.into_iter().next().map(|failure| failure.error)
    };
    let began = Instant::now();
    let stuck = error("bad").unwrap();
    let message = ["libbad.so", "it did not make the toolset `StuckInCreate` within 0.8 s"];
    assert_error(&stuck, ErrorCode::Timeout, &message, "raise the limit on loading");
    let disabled = error("bad").unwrap();
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    let message = ["libbad.so", "is disabled: it did not make"];
    assert_error(&disabled, ErrorCode::ExecutionError, &message, "it is tried again in ");
    assert_eq!(started(&place), ["bad"]);
    assert_good(&engine);

    fs::remove_file(place.skills().join("bad/stuck")).unwrap();
    assert!(error("bad").is_some(), "not yet");
    thread::sleep(retry);
    let late = tool(&engine, "bad.late");
    assert_eq!(late.call(&json!({}), &Silent).unwrap().output, "at last");
}

#[test]
fn a_disabled_library_runs_again_at_once_if_the_host_or_the_user_says_so() {
    let place = three();
    let store = place.dir.path().join("trust.json");
    let minute = Duration::from_secs(60);
    let isolation = counted(&place, Duration::from_millis(500), minute);
    let trust = TrustStore::open(&store).unwrap();
    let engine = place.engine_of(Source::user(place.skills()), isolation, trust);
    let bad = "bad".into();
    let is_there = || engine.tools_of(&bad).failures.is_empty();
    assert!(!is_there());
    let stuck = place.skills().join("bad/stuck");
    fs::remove_file(&stuck).unwrap();
    assert!(!is_there(), "it is disabled");
    engine.restart_tools(&bad);
    assert!(is_there());

    let place = three();
    let isolation = counted(&place, Duration::from_millis(500), minute);
    let trust = TrustStore::open(&store).unwrap();
    let engine = place.engine_of(Source::user(place.skills()), isolation, trust);
    let is_there = || engine.tools_of(&bad).failures.is_empty();
    assert!(!is_there());
    fs::remove_file(place.skills().join("bad/stuck")).unwrap();
    assert!(!is_there(), "it is disabled");
    TrustStore::open(&store).unwrap().add(&place.library("bad")).unwrap();
    assert!(is_there(), "another process says that it may run");
}

#[test]
fn a_schema_whose_check_would_not_end_fails_its_own_calls() {
    for isolation in [|| Isolation::InProcess, in_child] {
        let place = Place::new("toolsets/bad:NestedSchema");
        fs::write(place.library("bad"), failing()).unwrap();
        let engine = place.engine(isolation());
        let nested = tool(&engine, "bad.nested");
        let began = Instant::now();
        let error = nested.call(&json!({"a": "x"}), &Silent).unwrap_err();
        let message = ["arguments of tool `bad.nested`", "a check takes too long"];
        assert_error(&error, ErrorCode::InvalidParam, &message, "the parameters are {");
        assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
        assert_eq!(nested.call(&json!({}), &Silent).unwrap().output, "done");
        assert_good(&engine);
    }
}

#[test]
fn a_toolset_with_an_invalid_schema_is_refused() {
    for isolation in [|| Isolation::InProcess, in_child] {
        let place = Place::new("toolsets/bad:InvalidSchema");
        fs::write(place.library("bad"), failing()).unwrap();
        let engine = place.engine(isolation());
        let message = ["the tool `odd` has no valid schema", "`type` cannot be \"objekt\""];
        assert_error(&failure(&engine), ErrorCode::ExecutionError, &message, "fix the schema");
        assert_good(&engine);
    }
}

#[test]
fn arguments_that_do_not_fit_are_told_alike_in_a_child_and_in_process() {
    for isolation in [|| Isolation::InProcess, in_child] {
        let place = Place::failing();
        let engine = place.engine(isolation());
        let error = tool(&engine, "good.greet").call(&json!({"nam": 1}), &Silent).unwrap_err();
        let message = ["arguments of tool `good.greet` do not fit: ", "`name` is missing"];
        assert_error(&error, ErrorCode::InvalidParam, &message, "the parameters are {");
    }
}

#[test]
fn lists_start_nothing_once_the_tools_are_known() {
    const N: usize = 200;
    let place = Place::new("toolsets/bad:HelloToolset");
    fs::remove_dir_all(place.skills().join("bad")).unwrap();
    let names_of = |i: usize| format!("s{i}");
    for i in 0..N {
        place.write_skill(&names_of(i), &format!("toolsets/s{i}:HelloToolset"));
        fs::hard_link(place.library("good"), place.library(&names_of(i))).unwrap();
    }
    let minute = Duration::from_secs(60);
    let engine = || place.engine(counted(&place, minute, minute));
    let first = engine();
    let all = first.all_tools();
    assert_eq!(all.tools.len(), (N + 1) * 4, "{:?}", all.failures);
    let n_started = started(&place).len();
    assert!((1..=9).contains(&n_started), "one content is described once: {n_started}");
    let is_idle = |tool: &Tool| tool.worker_state() == Some(WorkerState::Idle);
    let patience = Instant::now() + SOON;
    while !first.all_tools().tools.iter().all(is_idle) {
        assert!(Instant::now() < patience, "processes that described tools stay");
        thread::sleep(Duration::from_millis(10));
    }

    fs::remove_file(log(&place)).unwrap();
    let second = engine();
    let tools = tools(&second);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5 {
                    assert_eq!(names(&tools).len(), (N + 1) * 4);
                }
            });
        }
    });
    assert_eq!(started(&place), [""; 0], "lists start nothing");
    assert_eq!(
        serde_json::to_value(tools.call("s7_greet", &json!({"name": "Ada"}))).unwrap()["text"],
        "Hello, Ada!"
    );
    assert_eq!(started(&place), ["s7"]);
}

#[test]
fn a_description_that_is_wrong_is_replaced_by_that_of_the_toolset_that_runs() {
    let place = Place::new("toolsets/bad:HelloToolset");
    fs::write(place.library("bad"), hello()).unwrap();
    let cache = place.dir.path().join("cache");
    place.engine(in_child()).all_tools();
    let kept = || -> Vec<PathBuf> {
        let files = fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|path| path.extension().is_some_and(|it| it == "tools")).collect()
    };
    assert_eq!(kept().len(), 1, "both skills have the same content and class");
    // Write a cache file that is intact, but wrong.
    let text = fs::read_to_string(&kept()[0]).unwrap();
    let json = text.split_once('\n').unwrap().1.replace("Greets somebody", "Ignores somebody");
    let checksum = repertoire::trust::ContentHash::of(json.as_bytes());
    fs::write(&kept()[0], format!("{checksum}\n{json}")).unwrap();
    let engine = place.engine(in_child());
    let good = tool(&engine, "good.greet");
    assert!(good.description.starts_with("Ignores somebody"), "{}", good.description);
    good.call(&json!({"name": "Ada"}), &Silent).unwrap();
    let good = tool(&engine, "good.greet");
    assert!(good.description.starts_with("Greets somebody"), "{}", good.description);

    fs::write(&kept()[0], "damaged").unwrap();
    assert_good(&place.engine(in_child()));
    assert_ne!(fs::read_to_string(&kept()[0]).unwrap(), "damaged");
}

#[test]
fn private_copies_are_collected_once_no_engine_may_run_them() {
    let place = Place::new("toolsets/bad:HelloToolset");
    let cache = place.dir.path().join("cache");
    for _ in 0..2 {
        let engine = place.engine(in_child());
        assert_good(&engine);
        assert_eq!(collect_cache(&cache, Duration::ZERO), 0);
        assert_good(&engine);
        drop(engine);
        // A process that another test starts has the lock until it runs its program.
        let collect = |_| {
            thread::sleep(Duration::from_millis(10));
            Some(collect_cache(&cache, Duration::ZERO)).filter(|n_removed| *n_removed > 0)
        };
        // The library's copy, its note, and its tools.
        assert_eq!((0..1_000).find_map(collect), Some(3));
    }
}
