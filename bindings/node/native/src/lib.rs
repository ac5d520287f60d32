//! The native part of the Node package: a class for the engine, one for disclosures, and a function for
//! calls that a pool thread answers. The façade in TypeScript adds the types.
//!
//! Arguments and results are JSON, except in `disclose`, which is called for each message.

mod arguments;
mod call;
mod host;
mod pool;
mod provider;
mod retriever;
mod settings;
mod views;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use napi::bindgen_prelude::{Env, FnArgs, Function};
use napi_derive::napi;
use repertoire_bindings::repertoire::{self as engine, Error, Query};
use serde_json::{Value, json};

use host::Answering;

/// Registers the functions of the façade: `dispatch` answers callbacks during a synchronous call,
/// `deliver` receives questions and answers from other threads.
#[napi]
pub fn init(
    dispatch: Function<'_, FnArgs<(String,)>, String>,
    deliver: Function<'_, FnArgs<(u32, String, String)>, ()>,
) -> napi::Result<()> {
    host::init(&dispatch, &deliver)
}

/// Passes on the answer to a question that `deliver` received.
#[napi]
pub fn reply(question: u32, answer: String) {
    host::reply(question, answer);
}

/// Returns the state of a skill after an event, for session stores. Both are JSON.
#[napi]
pub fn apply_event(state: String, event: String) -> String {
    written(views::apply_event(&state, &event))
}

/// Tells whether a skill's `allowed-tools` permit a tool.
#[napi]
pub fn permits(allowed: Vec<String>, tool: String) -> bool {
    engine::activation::permits(&allowed, &tool)
}

/// Runs the child process of a toolset; never returns.
#[napi]
pub fn run_worker() {
    engine::toolset::worker_main();
}

/// A flag that ends a call.
#[napi]
#[derive(Default)]
pub struct Cancellation(Arc<AtomicBool>);

#[napi]
impl Cancellation {
    /// Creates a flag that is not set.
    #[napi(constructor)]
    pub fn new() -> Cancellation {
        Cancellation::default()
    }

    /// Ends the call that has this flag.
    #[napi]
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The engine behind the façade.
#[napi]
pub struct NativeEngine(engine::Engine);

#[napi]
impl NativeEngine {
    /// Builds an engine. Throws an error whose message is the engine's error as JSON.
    #[napi(constructor)]
    pub fn new(env: Env, options: String) -> napi::Result<NativeEngine> {
        let built = Answering::here(env, || settings::build(&options));
        built.map(NativeEngine).map_err(|error| napi::Error::from_reason(error.to_string()))
    }

    /// Builds an engine on another thread, and delivers the number by which `take` returns it.
    #[napi]
    pub fn create(call: u32, options: String) -> napi::Result<()> {
        host::answer_elsewhere(call, move || {
            let built = Answering::elsewhere(|| settings::build(&options))?;
            Ok(json!(host::keep(built)))
        })
    }

    /// Returns an engine that `create` built.
    #[napi]
    pub fn take(number: u32) -> napi::Result<NativeEngine> {
        let kept = host::take(number).map(NativeEngine);
        kept.ok_or_else(|| napi::Error::from_reason("no such engine"))
    }

    /// Returns the disclosure for a message outside of any conversation.
    #[napi]
    pub fn disclose(
        &self,
        env: Env,
        message: String,
        paths: Option<Vec<String>>,
    ) -> napi::Result<Disclosure> {
        let query = paths
            .iter()
            .flatten()
            .fold(Query::new(&message), |query, path| query.path(path.as_str()));
        let disclosed = Answering::here(env, || Ok(self.0.disclose(query)));
        disclosed.map(Disclosure).map_err(|error| napi::Error::from_reason(error.to_string()))
    }

    /// Returns the engine of a role, for which only the skills of `allow` exist; all without a list.
    #[napi]
    #[must_use]
    pub fn view(&self, allow: Option<Vec<String>>) -> NativeEngine {
        NativeEngine(self.0.view(engine::Allowlist::from_entries(allow.as_deref())))
    }

    /// Runs a method and returns its result as JSON.
    #[napi]
    pub fn call(&self, env: Env, method: String, arguments: String) -> String {
        let answer = Answering::here(env, || call::answer(&self.0, &method, &arguments, None));
        match answer {
            Ok(answer) => json!({"ok": answer}).to_string(),
            Err(error) => error.to_string(),
        }
    }

    /// Runs a method on another thread, and delivers its result.
    #[napi]
    pub fn call_elsewhere(
        &self,
        call: u32,
        method: String,
        arguments: String,
        cancellation: Option<&Cancellation>,
    ) -> napi::Result<()> {
        let engine = self.0.clone();
        let cancelled = cancellation.map(|cancellation| Arc::clone(&cancellation.0));
        host::answer_elsewhere(call, move || {
            let io = call::Io { cancelled };
            Answering::elsewhere(|| call::answer(&engine, &method, &arguments, Some(&io)))
        })
    }

    /// Calls the façade's listener after each refresh that found changes, until the guard is closed.
    #[napi]
    pub fn subscribe(&self, listener: u32) -> napi::Result<Guard> {
        let tell = host::teller(listener)?;
        let subscription = self.0.subscribe(move |refreshed| tell(&views::refreshed(refreshed)));
        Ok(Guard { subscription: Some(subscription), watch: None })
    }

    /// Refreshes the engine whenever its sources change, until the guard is closed.
    #[napi]
    pub fn watch(&self) -> napi::Result<Guard> {
        let watch = self.0.watch(engine::WatchOptions::default());
        let watch =
            watch.map_err(|error| napi::Error::from_reason(views::error(&error).to_string()))?;
        Ok(Guard { subscription: None, watch: Some(watch) })
    }
}

/// A subscription or a watch, which lasts until it is closed.
#[napi]
pub struct Guard {
    subscription: Option<engine::engine::Subscription>,
    watch: Option<engine::Watch>,
}

#[napi]
impl Guard {
    /// Ends the subscription or the watch.
    #[napi]
    pub fn close(&mut self) {
        (self.subscription, self.watch) = (None, None);
    }
}

/// The decision for one message. Fields are converted to JavaScript values only when they are read.
#[napi]
pub struct Disclosure(engine::Disclosure);

#[napi]
impl Disclosure {
    /// The highest tier in the text: 0 nothing, 1 a count of skills, 2 lines, 3 full instructions.
    #[napi(getter)]
    pub fn tier(&self) -> u8 {
        self.0.tier as u8
    }

    /// The text for the prompt; may be empty.
    #[napi(getter)]
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Skills shown in full, best first.
    #[napi(getter)]
    pub fn full(&self) -> Vec<&str> {
        self.0.full.iter().map(engine::SkillId::as_str).collect()
    }

    /// Skills shown as one line each, in the order of the text.
    #[napi(getter)]
    pub fn registry(&self) -> Vec<&str> {
        self.0.registry.iter().map(engine::SkillId::as_str).collect()
    }

    /// Returns all fields as JSON.
    #[napi]
    pub fn json(&self) -> String {
        views::disclosure(&self.0).to_string()
    }
}

/// Writes a result or an error as JSON.
fn written(answer: Result<Value, Error>) -> String {
    match answer {
        Ok(answer) => json!({"ok": answer}).to_string(),
        Err(error) => views::error(&error).to_string(),
    }
}
