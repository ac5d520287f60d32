//! The effects of an activation on the session, and on a host's tasks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use repertoire::activation::{Task, TaskSpawner};
use repertoire::session::{Event, SessionState, SkillState};
use repertoire::session::{MemoryStore, SessionStore};
use repertoire::skill::Context;
use repertoire::{Activate, Consent, ConsentPolicy, Engine, Error, ErrorCode, Session};
use serde_json::json;

use super::{builder, message, skills, write};

#[derive(Debug, Default, Clone)]
struct Spawner(Arc<Mutex<Vec<Task>>>);

impl TaskSpawner for Spawner {
    fn spawn(&self, task: &Task) -> Result<String, Error> {
        let mut tasks = self.0.lock().unwrap();
        tasks.push(task.clone());
        Ok(format!("task-{}", tasks.len()))
    }
}

#[test]
fn a_forked_skill_becomes_a_task_of_the_host() {
    let dir = skills(&[("big", "context: fork\nagent: worker\nmodel: m\n", "Do $ARGUMENTS well.")]);
    let spawner = Spawner::default();
    let engine = builder(&dir).task_spawner(spawner.clone()).build().unwrap();
    let session = engine.session("s");
    let tools = engine.tools(&session);
    let answer =
        serde_json::to_value(tools.call("use_skill", &json!({"skill": "big", "args": "it"})));
    let answer = answer.unwrap();
    assert_eq!(answer["data"]["task_id"], "task-1");
    assert_eq!(answer["data"]["status"], "spawned");
    assert_eq!((&answer["data"]["mode"], &answer["data"]["content"]), (&json!("fork"), &json!("")));
    {
        let tasks = spawner.0.lock().unwrap();
        assert!(tasks[0].prompt.contains("Do it well."), "{tasks:?}");
        assert_eq!(tasks[0].agent.as_deref(), Some("worker"));
        assert_eq!(tasks[0].session, "s");
    }
    let finished = tools.finish("task-1", Ok("Three files.")).unwrap();
    assert!(finished.text().ends_with("Three files.") && finished.text().contains("`big`"));
    for (session, task) in
        [(&session, "task-1"), (&session, "task-2"), (&engine.session("t"), "task-1")]
    {
        let error = engine.tools(session).finish(task, Ok("")).unwrap_err();
        assert_eq!(error.code(), ErrorCode::NotFound, "a task ends once, in its session");
    }
    tools.call("use_skill", &json!({"skill": "big"}));
    engine.tools(&engine.session("t")).finish("task-2", Ok("")).unwrap_err();
    let failed = tools.finish("task-2", Err("no disk")).unwrap();
    assert_eq!(failed.code(), Some(ErrorCode::ExecutionError));
    assert!(message(&failed).contains("no disk"), "{failed:?}");
    // The instructions went to the task, so they may still be disclosed in this session.
    assert!(!session.state().unwrap().skills[0].in_context);

    let inline = Activate { inline: true, ..Activate::default() };
    let activation = engine.activate_with("big", "it", &session, &inline).unwrap();
    assert_eq!((activation.mode, activation.content.as_str()), (Context::Inline, "Do it well."));

    let alone = builder(&dir).build().unwrap();
    let session = alone.session("s");
    let error = alone.activate("big", "", &session).unwrap_err();
    assert_eq!(error.code(), ErrorCode::ExecutionError);
    assert!(error.message().contains("`big`") && !error.help().is_empty(), "{error:?}");
    assert!(session.state().unwrap().skills.is_empty(), "a failure changes nothing");
}

#[test]
fn a_skill_that_leads_back_to_itself_is_refused_with_the_chain() {
    let dir = skills(&[("a", "", "A"), ("b", "", "B"), ("c", "", "C")]);
    let engine = builder(&dir).build().unwrap();
    let session = engine.session("s");
    let tools = engine.tools(&session);
    let use_skill =
        |skill: &str, by: &str| tools.call("use_skill", &json!({"skill": skill, "by": by}));
    assert_eq!(tools.call("use_skill", &json!({"skill": "a"})).code(), None);
    assert_eq!(use_skill("b", "a").code(), None);
    assert_eq!(use_skill("c", "b").code(), None);
    let cycle = use_skill("a", "c");
    assert_eq!(cycle.code(), Some(ErrorCode::InvalidParam));
    assert!(message(&cycle).contains("a → b → c → a"), "{cycle:?}");
    assert!(message(&use_skill("b", "b")).contains("b → b"));
    assert_eq!(use_skill("a", "nobody").code(), Some(ErrorCode::InvalidParam));
    // Without a skill that asked for the activation, the chain starts again, in this session and in
    // another.
    assert_eq!(tools.call("use_skill", &json!({"skill": "a"})).code(), None);
    let other = Activate { by: Some("c".into()), ..Activate::default() };
    engine.activate_with("a", "", &engine.session("other"), &other).unwrap();
}

#[test]
fn after_its_context_is_lost_a_skill_may_be_activated_again() {
    let dir = skills(&[("a", "", "A"), ("b", "", "B")]);
    let engine = builder(&dir).build().unwrap();
    let session = engine.session("s");
    let by = |by: &'static str| Activate { by: Some(by.into()), ..Activate::default() };
    engine.activate("a", "", &session).unwrap();
    engine.activate_with("b", "", &session, &by("a")).unwrap();
    assert!(engine.activate_with("a", "", &session, &by("b")).is_err());
    session.compacted().unwrap();
    engine.activate_with("a", "", &session, &by("b")).unwrap();
}

/// A store that becomes full at some point.
#[derive(Debug, Default)]
struct Full(MemoryStore, AtomicBool);

impl SessionStore for Full {
    fn record(&self, session: &str, event: &Event<'_>) -> Result<Option<SkillState>, Error> {
        if self.1.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorCode::ExecutionError, "the disk is full", "make room"));
        }
        self.0.record(session, event)
    }

    fn state(&self, session: &str) -> Result<SessionState, Error> {
        self.0.state(session)
    }

    fn end(&self, session: &str) -> Result<(), Error> {
        self.0.end(session)
    }
}

#[test]
fn a_store_that_fails_loses_no_deed_and_a_failed_deed_leaves_no_trace() {
    let dir = skills(&[("big", "context: fork\n", "b"), ("small", "", "s")]);
    let store = Arc::new(Full::default());
    let session = Session::new("s", Arc::clone(&store) as Arc<dyn SessionStore>);
    let spawner = Spawner::default();
    let engine = builder(&dir).task_spawner(spawner.clone()).build().unwrap();
    store.1.store(true, Ordering::Relaxed);
    assert!(engine.activate("big", "", &session).unwrap().task.is_some(), "the task runs");
    assert_eq!(spawner.0.lock().unwrap().len(), 1);
    assert_eq!(engine.activate("small", "", &session).unwrap().content, "s");
    assert_eq!(session.unsaved().unwrap().message(), "the disk is full");
    store.1.store(false, Ordering::Relaxed);

    for (policy, asks) in [(ConsentPolicy::FirstUse, true), (ConsentPolicy::Always, false)] {
        let consent = Consent::new(policy);
        let consent = if asks { consent.ask(|_| true) } else { consent };
        let engine = builder(&dir).consent(consent).build().unwrap();
        let session = engine.session("s");
        if !asks {
            session.consent(&"big".into()).unwrap();
        }
        let before = session.state().unwrap();
        assert!(engine.activate("big", "", &session).is_err(), "nobody spawns tasks");
        let after = session.state().unwrap();
        let consented = |state: &SessionState| state.of(&"big".into()).is_some_and(|s| s.consented);
        assert_eq!(consented(&after), consented(&before), "{policy:?}");
    }
}

/// A store that makes the engine read its skills again whenever its state is read.
#[derive(Debug, Default)]
struct Refreshing(MemoryStore, OnceLock<Engine>);

impl SessionStore for Refreshing {
    fn record(&self, session: &str, event: &Event<'_>) -> Result<Option<SkillState>, Error> {
        self.0.record(session, event)
    }

    fn state(&self, session: &str) -> Result<SessionState, Error> {
        let state = self.0.state(session);
        if let Some(engine) = self.1.get() {
            engine.refresh()?;
        }
        state
    }

    fn end(&self, session: &str) -> Result<(), Error> {
        self.0.end(session)
    }
}

#[test]
fn a_call_gives_the_version_that_it_compared_with_the_context() {
    let dir = skills(&[("paint", "", "FIRST")]);
    let store = Arc::new(Refreshing::default());
    let session = Session::new("s", Arc::clone(&store) as Arc<dyn SessionStore>);
    let late = builder(&dir).build().unwrap();
    // Read the instructions, which the engine does on first use.
    late.activate("paint", "", &late.session("other")).unwrap();
    let text = "---\nname: paint\ndescription: Does paint.\n---\nSECOND";
    write(dir.path(), "paint/SKILL.md", text);
    // Another process knows the new version already, and has shown it.
    builder(&dir).build().unwrap().activate("paint", "", &session).unwrap();
    store.1.set(late.clone()).unwrap();
    let answer = late.tools(&session).call("use_skill", &json!({"skill": "paint"}));
    assert!(message(&answer).contains("FIRST"), "the second is there already: {answer:?}");
}
