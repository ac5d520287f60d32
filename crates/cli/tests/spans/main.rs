//! The spans of an engine, as a `tracing` subscriber sees them; `docs/traces.md` lists them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;
use std::sync::{Arc, Mutex};

use repertoire::session::{Event, SessionState, SessionStore, SkillState};
use repertoire::{Engine, EngineBuilder, Error, ErrorCode, Session, Skill, Source, Turn};
use repertoire_config::FetchSettings;
use repertoire_fetch::Fetcher;
use repertoire_sessions::FallbackStore;
use serde_json::json;
use tracing::Subscriber;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::prelude::*;
use tracing_subscriber::registry::LookupSpan;

/// Returns a builder with two skills in memory.
fn builder() -> EngineBuilder {
    let skill = |name: &str, body: &str| -> Skill {
        let head = format!("name: {name}\ndescription: Does {name}.\ntriggers: [{name} it]\n");
        format!("---\n{head}---\n{body}\n").parse().unwrap()
    };
    Engine::builder().skill(skill("dig", "Dig SECRETLY.")).skill(skill("paint", "Paint OPENLY."))
}

fn run(engine: &Engine, message: &str, session: &Session) -> Turn {
    engine.turn(message, session).run().unwrap()
}

/// A span, with its fields as strings.
#[derive(Debug, Clone)]
struct Span {
    id: u64,
    path: String,
    fields: BTreeMap<&'static str, String>,
}

impl Visit for Span {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.fields.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name(), value.to_owned());
    }
}

/// A subscriber that collects the spans of this crate.
#[derive(Debug, Clone, Default)]
struct Listener(Arc<Mutex<Vec<Span>>>);

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for Listener {
    fn on_new_span(&self, span: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let scope = context.span_scope(id).unwrap().from_root();
        let names: Vec<&str> = scope.map(|span| span.name()).collect();
        let mut new = Span { id: id.into_u64(), path: names.join(" > "), fields: BTreeMap::new() };
        span.record(&mut new);
        self.0.lock().unwrap().push(new);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        let mut spans = self.0.lock().unwrap();
        // The ids of closed spans are reused.
        let span = spans.iter_mut().rfind(|span| span.id == id.into_u64()).unwrap();
        values.record(span);
    }
}

/// Returns the spans of `work`, in the order in which they began.
fn spans_of(work: impl FnOnce()) -> Vec<Span> {
    let listener = Listener::default();
    let of_ours = filter_fn(|metadata| metadata.target().starts_with("repertoire"));
    let listeners = tracing_subscriber::registry().with(listener.clone().with_filter(of_ours));
    tracing::subscriber::with_default(listeners, work);
    listener.0.lock().unwrap().clone()
}

/// Returns the names of spans, each with the path of its parents.
fn paths(spans: &[Span]) -> Vec<&str> {
    spans.iter().map(|span| span.path.as_str()).collect()
}

#[test]
fn a_turn_says_what_was_matched_and_shown_but_not_what_was_said() {
    let engine = builder().build().unwrap();
    let session = engine.session("a-secret-name");
    let spans = spans_of(|| drop(run(&engine, "paint it, the walnut", &session)));
    assert_eq!(paths(&spans), ["turn", "turn > session.read", "turn > session.write"]);
    let turn = &spans[0].fields;
    for (field, value) in [
        ("message.bytes", "20"),
        ("tier", "3"),
        ("matched", "1"),
        ("full", "paint"),
        ("lines", ""),
        ("ranked", "true"),
        ("relevance", "false"),
        ("nearest.skill", "paint"),
        ("nearest.lacking", "undecided"),
    ] {
        assert_eq!(turn[field], value, "{field}: {turn:?}");
    }
    let told = format!("{spans:?}");
    for word in ["walnut", "OPENLY", "secret"] {
        assert!(!told.contains(word), "{told}");
    }

    let spans = spans_of(|| drop(run(&engine, "/paint the almond", &session)));
    let below = ["", " > session.read", " > activate", " > activate > session.read"];
    let expected = below.map(|below| format!("turn{below}"));
    assert_eq!(paths(&spans)[..4], expected);
    assert_eq!((&*spans[0].fields["command"], &*spans[2].fields["audience"]), ("paint", "user"));
    assert!(!format!("{spans:?}").contains("almond"), "{spans:?}");
}

#[test]
fn loads_say_how_many_skills_there_are_and_what_changed() {
    let dir = tempfile::tempdir().unwrap();
    let mut built = None;
    let spans = spans_of(|| {
        built = Some(Engine::builder().source(Source::user(dir.path())).build().unwrap());
    });
    assert_eq!((paths(&spans), &*spans[0].fields["skills"]), (vec!["catalog.load"], "0"));
    let engine = built.unwrap();
    fs::create_dir(dir.path().join("ship")).unwrap();
    fs::write(dir.path().join("ship/SKILL.md"), "---\ndescription: Ships.\n---\n").unwrap();
    let spans = spans_of(|| drop(engine.refresh().unwrap()));
    assert_eq!(paths(&spans), ["catalog.reload"]);
    assert_eq!((&*spans[0].fields["added"], &*spans[0].fields["removed"]), ("1", "0"));
}

/// A store whose server is unreachable.
#[derive(Debug)]
struct Away;

impl SessionStore for Away {
    fn record(&self, _: &str, _: &Event<'_>) -> Result<Option<SkillState>, Error> {
        Err(Error::new(ErrorCode::Timeout, "away", "wait"))
    }

    fn state(&self, _: &str) -> Result<SessionState, Error> {
        Err(Error::new(ErrorCode::Timeout, "away", "wait"))
    }

    fn end(&self, _: &str) -> Result<(), Error> {
        Ok(())
    }
}

#[test]
fn a_session_store_that_is_away_is_seen_whether_memory_answers_or_not() {
    let engine = builder().session_store(Arc::new(Away)).build().unwrap();
    let session = engine.session("a");
    let spans = spans_of(|| drop(session.state().unwrap_err()));
    assert_eq!(paths(&spans), ["session.read"]);
    assert_eq!(spans[0].fields["error.type"], "TIMEOUT");
    assert_eq!(spans[0].fields["otel.status_code"], "ERROR");

    let stores: [Arc<dyn SessionStore>; 2] =
        [Arc::new(Away), Arc::new(FallbackStore::new(Away, |_| {}))];
    for store in stores {
        let engine = builder().session_store(store).build().unwrap();
        let session = engine.session("a");
        let spans = spans_of(|| drop(run(&engine, "paint it", &session)));
        assert_eq!(paths(&spans), ["turn", "turn > session.read", "turn > session.write"]);
        for Span { path, fields, .. } in &spans[1..] {
            assert_eq!(fields["fallback"], "TIMEOUT", "{path}");
            assert!(!fields.contains_key("error.type"), "{path}");
        }
    }
}

#[test]
fn a_call_of_a_tool_that_does_not_exist_is_not_named() {
    let engine = builder().build().unwrap();
    let tools = engine.tools(&engine.session("a"));
    let spans = spans_of(|| drop(tools.call("made_up", &json!({}))));
    assert_eq!((&*spans[0].path, &*spans[0].fields["tool"]), ("tool", "toolset"));
    assert_eq!(spans[0].fields["error.type"], "NOT_FOUND");
    assert!(!format!("{spans:?}").contains("made_up"), "{spans:?}");
}

#[test]
fn a_fetch_says_how_many_files_it_got_or_why_none() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("skills/ship")).unwrap();
    fs::write(dir.path().join("skills/ship/SKILL.md"), "---\ndescription: Ships.\n---\n").unwrap();
    fs::create_dir(dir.path().join("empty")).unwrap();
    let fetcher = Fetcher::new(dir.path().join("cache"));
    for (source, field, value) in
        [("./skills", "files", "1"), ("./empty", "error.type", "NOT_FOUND")]
    {
        let settings = FetchSettings { source: source.to_owned(), ..Default::default() };
        let spans = spans_of(|| drop(fetcher.fetch(&settings, dir.path())));
        assert_eq!(paths(&spans), ["fetch"]);
        assert_eq!(spans[0].fields[field], value, "{spans:?}");
    }
}
