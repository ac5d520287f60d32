//! Calls that harm their process: panics, crashes, calls that never end.

use std::fs;
use std::sync::OnceLock;
use std::time::Duration;

use repertoire::toolset::{Isolation, WorkerState};
use repertoire::{ErrorCode, Remedy};
use serde_json::json;

use super::{Place, Silent, assert_error, assert_good, built, call, failure, in_child};

fn aborting() -> &'static [u8] {
    static LIBRARY: OnceLock<Vec<u8>> = OnceLock::new();
    LIBRARY.get_or_init(|| built("aborting-toolset", &["-C", "panic=abort"]))
}

/// Returns the isolation in a child process, with little time for a call.
fn in_hasty_child() -> Isolation {
    let Isolation::Process { program, mut limits } = in_child() else { unreachable!() };
    limits.call_timeout = Duration::from_secs(2);
    Isolation::Process { program, limits }
}

#[test]
fn what_a_call_does_is_that_calls_error_in_a_child() {
    let crash = "the next call starts it again";
    let cases: &[(&str, &[&str], &str)] = &[
        ("panic", &["bad.panic", "panicked at", "boom 42"], "libbad.so: fix it"),
        ("hostile_panic", &["panicked at", "a value that is not text"], "libbad.so: fix it"),
        ("double_panic", &["libbad.so", "SIGABRT", "last output"], crash),
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
            assert_error(&error, ErrorCode::ExecutionError, &message, "libbad.so: fix it");
        }
    }
    assert_good(&engine);
    assert_eq!(call(&engine, "bad.noop").unwrap(), "");
}

#[test]
fn an_answer_that_is_not_utf_8_is_that_calls_error() {
    for isolation in [|| Isolation::InProcess, in_child] {
        let place = Place::failing();
        let engine = place.engine(isolation());
        let error = call(&engine, "bad.bytes").unwrap_err();
        assert_eq!(error.code(), ErrorCode::ExecutionError);
        assert!(error.message().contains("the tool's output is not UTF-8"), "{error:#}");
        assert_eq!(call(&engine, "bad.noop").unwrap(), "");
    }
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
    let tools = engine.tools_of(&"bad".into());
    let noop = tools.find("noop").unwrap();
    let state = noop.worker_state().unwrap();
    assert!(
        matches!(&state, WorkerState::Disabled { how, .. } if how == "exit code 3"),
        "{state:?}"
    );
    let listed = serde_json::to_value(noop).unwrap();
    assert_eq!((&listed["state"], &listed["reason"]), (&json!("disabled"), &json!("exit code 3")));
    assert!((1..=60).contains(&listed["retry_in_seconds"].as_u64().unwrap()), "{listed}");

    let error = noop.call(&json!({}), &Silent).unwrap_err();
    let message = ["bad.noop", "libbad.so", "disabled after 3 crashes", "exit code 3"];
    assert_error(&error, ErrorCode::ExecutionError, &message, "it is tried again in 60 s");
    assert_eq!(error.remedy(), Some(&Remedy::Restart(place.library("bad"))));
    assert_good(&engine);

    noop.restart();
    assert_eq!(serde_json::to_value(noop).unwrap()["state"], "idle");
    assert_eq!(noop.call(&json!({}), &Silent).unwrap().output, "");
    assert_eq!(serde_json::to_value(noop).unwrap()["state"], "running");
}
