//! Calls from the native module to functions of the façade: directly during a synchronous call on the
//! façade's thread, by messages from any other thread.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, mpsc};

use napi::bindgen_prelude::{Env, FnArgs, Function, FunctionRef};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Error, Result, Status};
use repertoire_bindings::repertoire::{self as engine, ErrorCode};
use repertoire_bindings::{catch, note};
use serde_json::{Value, json};

use crate::{pool, views};

type Message = FnArgs<(u32, String, String)>;

/// The façade's `deliver`. It is a weak reference, so that it does not keep Node running.
type Deliver = ThreadsafeFunction<Message, (), Message, Status, false, true>;

thread_local! {
    static DISPATCH: RefCell<Option<FunctionRef<FnArgs<(String,)>, String>>> =
        const { RefCell::new(None) };
    static DELIVER: RefCell<Option<Arc<Deliver>>> = const { RefCell::new(None) };
    /// The environment of the synchronous call that is running on this thread.
    static ENV: Cell<Option<Env>> = const { Cell::new(None) };
    /// The receiver of questions that the running call on this pool thread asks.
    static ASK: RefCell<Option<Arc<Deliver>>> = const { RefCell::new(None) };
}

static QUESTIONS: LazyLock<Mutex<HashMap<u32, mpsc::Sender<String>>>> =
    LazyLock::new(Mutex::default);
static ENGINES: LazyLock<Mutex<HashMap<u32, engine::Engine>>> = LazyLock::new(Mutex::default);
static NUMBER: AtomicU32 = AtomicU32::new(1);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn init(
    dispatch: &Function<'_, FnArgs<(String,)>, String>,
    deliver: &Function<'_, Message, ()>,
) -> Result<()> {
    let dispatch = dispatch.create_ref()?;
    let deliver: Deliver =
        deliver.build_threadsafe_function().callee_handled::<false>().weak::<true>().build()?;
    DISPATCH.set(Some(dispatch));
    DELIVER.set(Some(Arc::new(deliver)));
    Ok(())
}

fn deliver_of_thread() -> Result<Arc<Deliver>> {
    let deliver = DELIVER.with_borrow(Option::clone);
    deliver.ok_or_else(|| Error::from_reason("the module is not initialised"))
}

/// Sends a message to the façade.
fn send(deliver: &Deliver, number: u32, kind: &str, payload: String) -> bool {
    let message = FnArgs::from((number, kind.to_owned(), payload));
    deliver.call(message, ThreadsafeFunctionCallMode::NonBlocking) == Status::Ok
}

/// Passes the façade's answer to the thread that waits for it.
pub(crate) fn reply(question: u32, answer: String) {
    if let Some(waiting) = locked(&QUESTIONS).remove(&question) {
        let _ = waiting.send(answer);
    }
}

/// Returns a function that notifies a listener of the façade from any thread, without waiting.
pub(crate) fn teller(listener: u32) -> Result<impl Fn(&Value) + Send + Sync + 'static> {
    let deliver = deliver_of_thread()?;
    Ok(move |told: &Value| {
        send(&deliver, listener, "tell", told.to_string());
    })
}

/// Returns a notifier like that of [`teller`], during a call on any thread.
pub(crate) fn teller_of_call(listener: u32) -> Option<impl Fn(&Value) + Send + Sync + 'static> {
    let deliver = Asker::of_call().0?;
    Some(move |told: &Value| {
        send(&deliver, listener, "tell", told.to_string());
    })
}

/// The way to the façade of the call in which it was made, for callbacks that threads of the engine ask.
pub(crate) struct Asker(Option<Arc<Deliver>>);

impl Asker {
    pub(crate) fn of_call() -> Asker {
        Asker(ASK.with_borrow(Option::clone).or_else(|| DELIVER.with_borrow(Option::clone)))
    }

    /// Runs `ask`, whose question goes this way if this thread runs no call of the façade.
    pub(crate) fn within<T>(&self, ask: impl FnOnce() -> T) -> T {
        if ENV.get().is_some() || ASK.with_borrow(Option::is_some) {
            return ask();
        }
        ASK.set(self.0.clone());
        let answer = ask();
        ASK.set(None);
        answer
    }
}

impl std::fmt::Debug for Asker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Asker").field(&self.0.is_some()).finish()
    }
}

/// Keeps an engine until the façade takes it.
pub(crate) fn keep(engine: engine::Engine) -> u32 {
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    locked(&ENGINES).insert(number, engine);
    number
}

pub(crate) fn take(number: u32) -> Option<engine::Engine> {
    locked(&ENGINES).remove(&number)
}

/// Runs `answer` on a thread of the pool, and delivers its result as JSON.
pub(crate) fn answer_elsewhere(
    call: u32,
    answer: impl FnOnce() -> std::result::Result<Value, Value> + Send + 'static,
) -> Result<()> {
    let deliver = deliver_of_thread()?;
    let job = move || {
        ASK.set(Some(Arc::clone(&deliver)));
        let answer = match answer() {
            Ok(answer) => json!({"ok": answer}),
            Err(error) => error,
        };
        ASK.set(None);
        send(&deliver, call, "done", answer.to_string());
    };
    pool::run(job).map_err(|error| Error::from_reason(format!("no thread can be started: {error}")))
}

/// The failure of a callback. `thrown` holds the number under which the façade keeps the thrown value.
struct Failure {
    what: String,
    thrown: Value,
}

/// Runs engine calls during which callbacks can be answered.
pub(crate) struct Answering;

impl Answering {
    /// Runs a call on the façade's thread.
    pub(crate) fn here<T>(
        env: Env,
        call: impl FnOnce() -> std::result::Result<T, engine::Error>,
    ) -> std::result::Result<T, Value> {
        let outer = ENV.replace(Some(env));
        let result = Answering::elsewhere(call);
        ENV.set(outer);
        result
    }

    /// Runs a call on any other thread. A failure of a callback takes precedence over its result.
    pub(crate) fn elsewhere<T>(
        call: impl FnOnce() -> std::result::Result<T, engine::Error>,
    ) -> std::result::Result<T, Value> {
        let (result, failure) = catch::<_, Failure>(call);
        if let Some(Failure { what, thrown }) = failure {
            return Err(views::error(&failed(&what, &thrown)));
        }
        result.map_err(|error| views::error(&error))
    }
}

/// The number under which the façade keeps a value that a callback threw, as the cause of an error.
#[derive(Debug)]
struct Thrown(Value);

impl std::fmt::Display for Thrown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the value {} that a callback threw", self.0)
    }
}

impl std::error::Error for Thrown {}

/// The number under which the façade keeps the thrown value that caused `error`, if there is one.
pub(crate) fn thrown(error: &engine::Error) -> Option<&Value> {
    let source = std::error::Error::source(error)?;
    source.downcast_ref::<Thrown>().map(|Thrown(number)| number).filter(|number| !number.is_null())
}

/// Runs a part of a call whose result itself reports the failed callback.
pub(crate) fn reported<T>(part: impl FnOnce() -> T) -> T {
    catch::<_, Failure>(part).0
}

/// Returns the error for a callback that failed.
fn failed(what: &str, thrown: &Value) -> engine::Error {
    let told = thrown["message"].as_str().unwrap_or("no answer");
    let message = format!("{what} failed: {told}");
    let help = "see the cause of this error";
    let error = engine::Error::new(ErrorCode::ExecutionError, message, help);
    error.with_source(Thrown(thrown["thrown"].clone()))
}

/// Asks a callback of the façade. Returns `{"ok": answer}`, or an object with the message and the number
/// of what was thrown.
fn ask(host: u32, kind: &str, payload: &Value) -> Value {
    let question = json!({"host": host, "kind": kind, "payload": payload}).to_string();
    let answer = match ENV.get() {
        Some(env) => ask_here(env, question),
        None => ask_from_elsewhere(question),
    };
    let lost = |problem: &str| json!({"message": problem});
    match answer.map(|answer| serde_json::from_str::<Value>(&answer)) {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => lost(&error.to_string()),
        Err(problem) => lost(&problem),
    }
}

fn ask_here(env: Env, question: String) -> std::result::Result<String, String> {
    DISPATCH.with_borrow(|dispatch| {
        let dispatch = dispatch.as_ref().ok_or("the module is not initialised")?;
        let dispatch = dispatch.borrow_back(&env).map_err(|error| error.to_string())?;
        dispatch.call(FnArgs::from((question,))).map_err(|error| error.to_string())
    })
}

fn ask_from_elsewhere(question: String) -> std::result::Result<String, String> {
    let deliver = ASK.with_borrow(Option::clone).ok_or("nobody can be asked on this thread")?;
    let (answer, answered) = mpsc::channel();
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    locked(&QUESTIONS).insert(number, answer);
    if !send(&deliver, number, "ask", question) {
        locked(&QUESTIONS).remove(&number);
        return Err("the program ends".to_owned());
    }
    answered.recv().map_err(|error| error.to_string())
}

/// Asks a callback that cannot return an error to the engine. If it fails, notes the failure for the
/// call, and returns `None`.
pub(crate) fn asked<T>(
    host: u32,
    kind: &str,
    what: &str,
    payload: &Value,
    read: impl FnOnce(&Value) -> Option<T>,
) -> Option<T> {
    let mut answer = ask(host, kind, payload);
    let found = answer.get("ok").and_then(read);
    if found.is_none() {
        if let Some(wrong) = answer.get("ok") {
            answer = json!({"message": format!("its answer has another type: {wrong}")});
        }
        note(Failure { what: what.to_owned(), thrown: answer });
    }
    found
}

/// Asks a callback that can return an error to the engine; otherwise like [`asked`].
pub(crate) fn asked_or<T>(
    host: u32,
    kind: &str,
    what: &str,
    payload: &Value,
    read: impl FnOnce(&Value) -> Option<T>,
) -> std::result::Result<T, engine::Error> {
    let answer = ask(host, kind, payload);
    let found = answer.get("ok").and_then(read);
    found.ok_or_else(|| {
        let answer = match answer.get("ok") {
            Some(wrong) => json!({"message": format!("its answer has another type: {wrong}")}),
            None => answer,
        };
        let error = failed(what, &answer);
        note(Failure { what: what.to_owned(), thrown: answer });
        error
    })
}

/// Asks a callback whose failures the engine answers in its own way; otherwise like [`asked_or`]. A promise during a
/// synchronous call is a mistake of the caller, and ends the call as well.
pub(crate) fn asked_reported<T>(
    host: u32,
    kind: &str,
    what: &str,
    payload: &Value,
    read: impl FnOnce(&Value) -> Option<T>,
) -> std::result::Result<T, engine::Error> {
    let (answer, failure) = catch::<_, Failure>(|| asked_or(host, kind, what, payload, read));
    if let Some(failure) = failure
        && failure.thrown["promised"] == true
    {
        note(failure);
    }
    answer
}
