//! The spans of an engine, as a listener of `tracing` sees them; `docs/traces.md` lists them.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;
use std::sync::{Arc, Mutex};

use repertoire::session::{Event, FallbackStore, SessionState, SessionStore, SkillState};
use repertoire::{Engine, Error, ErrorCode, Source};
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Current, Id, Record};
use tracing::{Metadata, Subscriber};

use crate::{builder, run};

/// A span, with its fields as texts.
#[derive(Debug, Clone)]
struct Span {
    metadata: &'static Metadata<'static>,
    parent: Option<usize>,
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

#[derive(Debug, Default)]
struct Recorded {
    spans: Vec<Span>,
    entered: Vec<usize>,
}

/// A listener to the spans of one thread.
#[derive(Debug, Clone, Default)]
struct Listener(Arc<Mutex<Recorded>>);

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && metadata.target().starts_with("repertoire")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut recorded = self.0.lock().unwrap();
        let parent = recorded.entered.last().copied();
        let mut new = Span { metadata: span.metadata(), parent, fields: BTreeMap::new() };
        span.record(&mut new);
        recorded.spans.push(new);
        Id::from_u64(recorded.spans.len() as u64)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        values.record(&mut self.0.lock().unwrap().spans[place(span)]);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &tracing::Event<'_>) {}

    fn enter(&self, span: &Id) {
        self.0.lock().unwrap().entered.push(place(span));
    }

    fn exit(&self, _: &Id) {
        self.0.lock().unwrap().entered.pop();
    }

    fn current_span(&self) -> Current {
        let recorded = self.0.lock().unwrap();
        let Some(place) = recorded.entered.last() else { return Current::none() };
        Current::new(Id::from_u64(*place as u64 + 1), recorded.spans[*place].metadata)
    }
}

fn place(span: &Id) -> usize {
    usize::try_from(span.into_u64()).unwrap() - 1
}

/// The spans of `work`, each as its name below that of its parent, with its fields.
fn spans_of(work: impl FnOnce()) -> Vec<(String, BTreeMap<&'static str, String>)> {
    let listener = Listener::default();
    tracing::subscriber::with_default(listener.clone(), work);
    let recorded = listener.0.lock().unwrap();
    let path = |span: &Span| {
        let mut path = span.metadata.name().to_owned();
        let mut parent = span.parent;
        while let Some(place) = parent {
            path = format!("{} > {path}", recorded.spans[place].metadata.name());
            parent = recorded.spans[place].parent;
        }
        path
    };
    recorded.spans.iter().map(|span| (path(span), span.fields.clone())).collect()
}

fn paths(spans: &[(String, BTreeMap<&'static str, String>)]) -> Vec<&str> {
    spans.iter().map(|(path, _)| path.as_str()).collect()
}

#[test]
fn a_turn_says_what_was_matched_and_shown_but_not_what_was_said() {
    let engine = builder().build().unwrap();
    let session = engine.session("a-secret-name");
    let spans = spans_of(|| drop(run(&engine, "paint it, the walnut", &session)));
    assert_eq!(paths(&spans), ["turn", "turn > session.read", "turn > session.write"]);
    let turn = &spans[0].1;
    for (field, value) in [
        ("message.bytes", "20"),
        ("tier", "3"),
        ("matched", "1"),
        ("full", "paint"),
        ("lines", ""),
        ("relevance", "false"),
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
    assert_eq!((&*spans[0].1["command"], &*spans[2].1["audience"]), ("paint", "user"));
    assert!(!format!("{spans:?}").contains("almond"), "{spans:?}");
}

#[test]
fn loads_say_how_many_skills_there_are_and_what_changed() {
    let dir = tempfile::tempdir().unwrap();
    let mut built = None;
    let spans = spans_of(|| {
        built = Some(Engine::builder().source(Source::user(dir.path())).build().unwrap());
    });
    assert_eq!((paths(&spans), &*spans[0].1["skills"]), (vec!["catalog.load"], "0"));
    let engine = built.unwrap();
    fs::create_dir(dir.path().join("ship")).unwrap();
    fs::write(dir.path().join("ship/SKILL.md"), "---\ndescription: Ships.\n---\n").unwrap();
    let spans = spans_of(|| drop(engine.refresh().unwrap()));
    assert_eq!(paths(&spans), ["catalog.reload"]);
    assert_eq!((&*spans[0].1["added"], &*spans[0].1["removed"]), ("1", "0"));
}

/// A store whose server is away.
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
    let spans = spans_of(|| drop(engine.turn("paint it", &session).run().unwrap_err()));
    for (path, fields) in &spans {
        assert_eq!(fields["error.type"], "TIMEOUT", "{path}");
        assert_eq!(fields["otel.status_code"], "ERROR", "{path}");
    }
    assert_eq!(paths(&spans), ["turn", "turn > session.read"]);

    let store = FallbackStore::new(Away, |_| {});
    let engine = builder().session_store(Arc::new(store)).build().unwrap();
    let session = engine.session("a");
    let spans = spans_of(|| drop(run(&engine, "paint it", &session)));
    assert_eq!(paths(&spans), ["turn", "turn > session.read", "turn > session.write"]);
    for (path, fields) in &spans[1..] {
        assert_eq!(fields["fallback"], "TIMEOUT", "{path}");
        assert!(!fields.contains_key("error.type"), "{path}");
    }
}

#[test]
fn a_call_of_a_tool_that_does_not_exist_is_not_named() {
    let engine = builder().build().unwrap();
    let tools = engine.tools(&engine.session("a"));
    let spans = spans_of(|| drop(tools.call("made_up", &json!({}))));
    assert_eq!((&*spans[0].0, &*spans[0].1["tool"]), ("tool", "toolset"));
    assert_eq!(spans[0].1["error.type"], "NOT_FOUND");
    assert!(!format!("{spans:?}").contains("made_up"), "{spans:?}");
}

#[cfg(feature = "fetch")]
#[test]
fn a_fetch_says_how_many_files_it_got_or_why_none() {
    use repertoire::config::FetchSettings;
    use repertoire::fetch::Fetcher;

    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("skills/ship")).unwrap();
    fs::write(dir.path().join("skills/ship/SKILL.md"), "---\ndescription: Ships.\n---\n").unwrap();
    let fetcher = Fetcher::new(dir.path().join("cache"));
    for (source, field, value) in
        [("./skills", "files", "1"), ("./nothing", "error.type", "NOT_FOUND")]
    {
        let settings = FetchSettings { source: source.to_owned(), ..Default::default() };
        let spans = spans_of(|| drop(fetcher.fetch(&settings, dir.path())));
        assert_eq!(paths(&spans), ["fetch"]);
        assert_eq!(spans[0].1[field], value, "{spans:?}");
    }
}
