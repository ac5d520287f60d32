//! Guarantees to callers as long as nothing fails.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use repertoire_plugin::{ErrorCode, Host, LogLevel, ToolResult};

use super::*;

#[test]
fn a_call_answers_and_the_process_stays_warm() {
    let fixture = Fixture::hello();
    assert_eq!(fixture.worker.state(), WorkerState::Idle);
    assert_eq!(fixture.greet("Ada").unwrap(), "Hello, Ada!");
    let pid = fixture.pid();
    let config = json!({"greeting": "Salut"});
    let host = FakeHost::new();
    let arguments = r#"{"name": "Bo", "times": 2}"#;
    let output =
        fixture.worker.call("HelloToolset", &config, "greet", arguments, &|_| true, &host).unwrap();
    assert_eq!(output.output, "Salut, Bo!\nSalut, Bo!");
    assert_eq!((output.title.as_str(), &output.metadata["times"]), ("Greeted Bo", &json!(2)));
    let description = fixture.worker.describe("MoodToolset", &json!({}), &FakeHost::new()).unwrap();
    assert_eq!(description.tools.len(), 2);
    let error = fixture.greet("").unwrap_err();
    let WorkerError::Failed { code, message, .. } = error else { panic!("{error}") };
    assert_eq!(code, ErrorCode::InvalidArguments);
    assert_eq!(message, "nobody to greet: `name` is empty");
    assert_eq!(fixture.pid(), pid);
    drop(fixture);
    assert_gone(pid);
}

#[test]
fn progress_and_logs_arrive() {
    let (fixture, host) = (Fixture::hello(), FakeHost::new());
    fixture
        .worker
        .call("HelloToolset", &json!({}), "count", r#"{"to": 4}"#, &|_| true, &host)
        .unwrap();
    let reports = host.progress_reports();
    assert_eq!(reports.len(), 4);
    assert_eq!(reports[3], (1.0, "4 of 4".to_owned()));
    assert_eq!(host.logs(), [(LogLevel::Info, "counting to 4".to_owned())]);
}

#[test]
fn requests_are_answered() {
    let fixture = Fixture::prober(short());
    assert_eq!(fixture.probe("ask", &json!({"name": "color"})).unwrap(), "\"green\"");
    let error = fixture.probe("ask", &json!({"name": "size"})).unwrap_err();
    assert_eq!(error.to_string(), "the fake host has no answer to `size`");
}

#[test]
fn a_tool_that_stops_when_cancelled_keeps_its_process() {
    let fixture = Fixture::hello();
    fixture.greet("Ada").unwrap();
    let pid = fixture.pid();
    let host = FakeHost::new();
    let began = Instant::now();
    let error = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(100));
            host.cancel();
        });
        let arguments = r#"{"to": 100000, "pause": 5}"#;
        fixture
            .worker
            .call("HelloToolset", &json!({}), "count", arguments, &|_| true, &host)
            .unwrap_err()
    });
    assert!(matches!(error, WorkerError::Cancelled { stopped: true, .. }), "{error}");
    assert!(began.elapsed() < Duration::from_secs(60));
    assert_eq!(fixture.pid(), pid);
    let already = FakeHost::new();
    already.cancel();
    let error = fixture.worker.call("HelloToolset", &json!({}), "greet", "{}", &|_| true, &already);
    assert!(matches!(error.unwrap_err(), WorkerError::Cancelled { stopped: true, .. }));
}

#[test]
fn a_tool_that_does_not_stop_when_cancelled_is_killed() {
    let fixture = Fixture::prober(short());
    fixture.probe("where", &json!({})).unwrap();
    let pid = fixture.pid();
    let host = FakeHost::new().cancelled_after(4);
    let error =
        fixture.worker.call("Prober", &Value::Null, "spin", "{}", &|_| true, &host).unwrap_err();
    assert!(matches!(error, WorkerError::Cancelled { stopped: false, .. }), "{error}");
    assert_gone(pid);
    assert_eq!(fixture.worker.state(), WorkerState::Idle);
}

#[test]
fn a_deadline_of_the_host_shortens_the_time() {
    let fixture = Fixture::prober(short());
    fixture.probe("where", &json!({})).unwrap();
    let pid = fixture.pid();
    let host = FakeHost::new().with_time(Duration::from_millis(100));
    let call =
        |tool, host| fixture.worker.call("Prober", &Value::Null, tool, "{}", &|_| true, host);
    let error = call("deadline", &host).unwrap_err();
    assert!(matches!(error, WorkerError::TimedOut { stopped: true, .. }), "{error}");
    // A result that arrives late is still used.
    let host = FakeHost::new().with_time(Duration::from_millis(100));
    assert_eq!(call("late", &host).unwrap().output, "done nevertheless");
    assert_eq!(fixture.pid(), pid);
}

/// A host whose methods panic.
struct Panicking;

impl Host for Panicking {
    fn progress(&self, _: f64, _: &str) {
        panic!("a bug of the embedder");
    }

    fn request(&self, _: &str, _: Value) -> ToolResult<Value> {
        panic!("a bug of the embedder");
    }
}

#[test]
fn a_panic_of_the_host_is_a_cancellation_or_a_failed_request() {
    let fixture = Fixture::hello();
    let arguments = r#"{"to": 100000, "pause": 1}"#;
    let count =
        fixture.worker.call("HelloToolset", &json!({}), "count", arguments, &|_| true, &Panicking);
    assert!(matches!(count.unwrap_err(), WorkerError::Cancelled { stopped: true, .. }));
    let fixture = Fixture::prober(short());
    let arguments = r#"{"name": "color"}"#;
    let asked =
        fixture.worker.call("Prober", &Value::Null, "ask", arguments, &|_| true, &Panicking);
    assert_eq!(asked.unwrap_err().to_string(), "the host failed at `color`");
}

#[test]
fn many_threads_get_their_own_answers() {
    let fixture = Fixture::hello();
    thread::scope(|scope| {
        for number in 0..8 {
            let fixture = &fixture;
            scope.spawn(move || {
                for turn in 0..200 {
                    let name = format!("{number}-{turn}");
                    assert_eq!(fixture.greet(&name).unwrap(), format!("Hello, {name}!"));
                }
            });
        }
    });
    assert_eq!(group(fixture.pid()).len(), 1);
}

#[test]
fn more_calls_than_threads_wait_for_their_turn() {
    let fixture = Fixture::prober(short());
    fixture.probe("where", &json!({})).unwrap();
    let (began, done) = (Instant::now(), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..40 {
            scope.spawn(|| {
                assert_eq!(fixture.probe("sleep", &json!({})).unwrap(), "slept");
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
        // A call that waits for a thread can be cancelled, too.
        thread::sleep(Duration::from_millis(30));
        let host = FakeHost::new().cancelled_after(2);
        let error = fixture
            .worker
            .call("Prober", &Value::Null, "sleep", "{}", &|_| true, &host)
            .unwrap_err();
        assert!(matches!(error, WorkerError::Cancelled { stopped: true, .. }), "{error}");
    });
    assert_eq!(done.into_inner(), 40);
    // At 15 calls at a time, 40 calls take three rounds.
    assert!(began.elapsed() >= Duration::from_millis(290), "{:?}", began.elapsed());
}

#[test]
fn an_idle_process_ends_and_comes_back() {
    let limits = Limits { idle: Duration::from_millis(500), ..short() };
    let fixture = Fixture::prober(limits);
    fixture.probe("where", &json!({})).unwrap();
    let pid = fixture.pid();
    assert_gone(pid);
    let patience = Instant::now() + Duration::from_secs(30);
    while fixture.worker.state() != WorkerState::Idle {
        assert!(Instant::now() < patience, "{:?}", fixture.worker.state());
        thread::sleep(Duration::from_millis(5));
    }
    fixture.probe("where", &json!({})).unwrap();
    assert_ne!(fixture.pid(), pid);
    // A call that takes longer than the idle time does not count as idle.
    let host = FakeHost::new().with_time(Duration::from_millis(1500));
    let late = fixture.worker.call("Prober", &Value::Null, "late", "{}", &|_| true, &host).unwrap();
    assert_eq!(late.output, "done nevertheless");
}

#[test]
fn a_reset_lets_calls_end_in_the_old_process() {
    let fixture = Fixture::prober(short());
    fixture.probe("where", &json!({})).unwrap();
    let old = fixture.pid();
    thread::scope(|scope| {
        let call = scope.spawn(|| fixture.probe("sleep", &json!({})));
        thread::sleep(Duration::from_millis(30));
        fixture.worker.reset();
        fixture.probe("where", &json!({})).unwrap();
        assert_ne!(fixture.pid(), old);
        assert_eq!(call.join().unwrap().unwrap(), "slept");
    });
    assert_gone(old);
    fixture.probe("where", &json!({})).unwrap();
}
