//! A session store of the host that fails costs no answer: memory stands in for it, and the host is told.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use repertoire::activation::{MountLimits, ReadOptions, Task, TaskSpawner};
use repertoire::catalog::Audience;
use repertoire::session::{Event, MemoryStore, SessionState, SessionStore, SkillState};
use repertoire::{Activate, Consent, ConsentPolicy, Engine, EngineBuilder, Error, ErrorCode};
use repertoire::{Session, ToolFormat};
use serde_json::json;
use tempfile::TempDir;

use super::{builder, skills, write};

/// A fault of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Load,
    Save,
    Both,
    /// Knows a session that cannot be, and tells of it after each event.
    Garbage,
    /// Knows a session that cannot be, and cannot write another.
    StuckGarbage,
}

use Fault::{Both, Garbage, Load, Save, StuckGarbage};

const FAULTS: [Fault; 5] = [Load, Save, Both, Garbage, StuckGarbage];

impl Fault {
    fn is_garbage(self) -> bool {
        matches!(self, Garbage | StuckGarbage)
    }
}

#[derive(Debug, Clone)]
struct Store(Arc<(MemoryStore, Fault, AtomicBool)>);

impl Store {
    fn new(fault: Fault) -> Store {
        Store(Arc::new((MemoryStore::default(), fault, AtomicBool::new(true))))
    }

    fn fails(&self, is_on: bool) {
        self.0.2.store(is_on, Ordering::Relaxed);
    }

    /// Fails if the store has one of `faults` now.
    fn check(&self, faults: &[Fault]) -> Result<bool, Error> {
        let (_, fault, is_on) = &*self.0;
        let is_on = is_on.load(Ordering::Relaxed);
        if is_on && faults.contains(fault) {
            return Err(Error::new(ErrorCode::ExecutionError, "the disk is on fire", "put it out"));
        }
        Ok(is_on && fault.is_garbage())
    }
}

/// Two skills that asked for each other, one of them twice, and one that nobody knows.
fn garbage() -> Vec<SkillState> {
    let of = |id: &str, by: &str| {
        let mut state = SkillState::new(id.into());
        state.activated_by = Some(by.into());
        (state.uses, state.joined) = (u64::MAX, Some(u64::MAX));
        (state.in_context, state.body, state.lost) = (true, Some(7), true);
        state
    };
    vec![of("paint", "dig"), of("dig", "paint"), of("paint", "paint"), of("", "gone")]
}

impl SessionStore for Store {
    fn record(&self, session: &str, event: &Event<'_>) -> Result<Option<SkillState>, Error> {
        if self.check(&[Save, Both, StuckGarbage])? {
            return Ok(garbage().pop());
        }
        self.0.0.record(session, event)
    }

    fn state(&self, session: &str) -> Result<SessionState, Error> {
        if self.check(&[Load, Both])? {
            return Ok(SessionState { skills: garbage() });
        }
        self.0.0.state(session)
    }

    fn end(&self, session: &str) -> Result<(), Error> {
        self.check(&[Save, Both, StuckGarbage])?;
        self.0.0.end(session)
    }
}

#[derive(Debug)]
struct Spawner;

impl TaskSpawner for Spawner {
    fn spawn(&self, _: &Task) -> Result<String, Error> {
        Ok("task".to_owned())
    }
}

fn hosts() -> (TempDir, EngineBuilder) {
    let dir = skills(&[
        ("paint", "triggers: [paint it]\n", "PAINT $ARGUMENTS"),
        ("dig", "context: fork\n", "DIG $ARGUMENTS"),
        ("own", "disable-model-invocation: true\n", "OWN"),
    ]);
    for skill in ["paint", "own"] {
        write(dir.path(), &format!("{skill}/notes.txt"), "a note");
    }
    let builder = builder(&dir).task_spawner(Spawner);
    (dir, builder)
}

type Step = fn(&Engine, &Session) -> Result<String, Error>;

fn turn(message: &str, engine: &Engine, session: &Session) -> Result<String, Error> {
    let turn = engine.turn(message, session).run()?;
    // What the host is told is the same in the turn and in the session.
    let [told, kept] = [turn.unsaved, session.unsaved()].map(|of| of.map(|of| of.to_string()));
    assert_eq!(told, kept, "{message}");
    Ok(format!("{:?} {}", turn.disclosure.full, turn.text))
}

fn call(tool: &str, of: &str, engine: &Engine, session: &Session) -> Result<String, Error> {
    let arguments = match tool {
        "find_skills" => json!({"query": of}),
        "read_skill_file" => json!({"skill": of, "path": "notes.txt"}),
        _ => json!({"skill": of}),
    };
    let answer = engine.tools(session).call(tool, &arguments);
    match answer.code() {
        Some(code) => Err(Error::new(code, answer.text(), "")),
        None => Ok(answer.text().into_owned()),
    }
}

/// Everything that answers a user, a model or a host, in an order in which each depends on those before.
const STEPS: &[(&str, Step)] = &[
    ("prompt", |e, s| Ok(e.session_prompt(s).text)),
    ("a message", |e, s| turn("paint it", e, s)),
    ("a message whose skill is in the context", |e, s| turn("paint it, please", e, s)),
    ("a preview", |e, s| Ok(e.turn("paint it", s).preview().text)),
    ("an explanation", |e, s| Ok(format!("{:?}", e.turn("paint it", s).explain(3)))),
    ("use_skill of what is in the context", |e, s| call("use_skill", "paint", e, s)),
    ("find_skills", |e, s| call("find_skills", "paint", e, s)),
    ("read_skill_file", |e, s| call("read_skill_file", "paint", e, s)),
    ("the tools", |e, s| Ok(e.tools(s).definitions(ToolFormat::OpenAi).to_string())),
    ("a command", |e, s| turn("/paint red", e, s)),
    ("a command that opens a skill to the model", |e, s| turn("/own", e, s)),
    ("a file of the skill that was opened", |e, s| call("read_skill_file", "own", e, s)),
    ("a typed message", |e, s| Ok(format!("{:?}", e.user_message("/paint blue", s)?))),
    ("an activation", |e, s| Ok(format!("{:?}", e.activate("paint", "green", s)?))),
    ("a request for consent", |e, s| {
        Ok(format!("{:?}", e.consent_request("paint", s, Audience::Model)?.risk))
    }),
    ("a task", |e, s| call("use_skill", "dig", e, s)),
    ("the end of a task", |e, s| Ok(e.tools(s).finish("task", Ok("gold"))?.text().into_owned())),
    ("a resource", |e, s| {
        Ok(format!("{:?}", e.read_resource("paint", "notes.txt", s, &ReadOptions::default())?))
    }),
    ("a mount", |e, s| {
        let dir = tempfile::tempdir().unwrap();
        Ok(format!("{:?}", e.mount("paint", dir.path(), s, &MountLimits::default())?.files))
    }),
    ("a chain of skills", |e, s| {
        let how = Activate { by: Some("paint".into()), inline: true, ..Activate::default() };
        Ok(format!("{:?}", e.activate_with("dig", "", s, &how)?))
    }),
    ("a loss of the context", |_, s| {
        drop(s.compacted());
        Ok(String::new())
    }),
    ("a message after it", |e, s| turn("go on", e, s)),
    ("a message with everything there", |e, s| turn("paint it", e, s)),
];

/// The steps that depend on what happened before.
const HISTORICAL: [&str; 2] = ["a file of the skill that was opened", "a chain of skills"];

#[test]
fn each_answer_is_that_of_a_store_that_works() {
    let (dir, with) = hosts();
    let healthy = with.build().unwrap();
    for fault in FAULTS {
        for is_of_engine in [true, false] {
            let store = Store::new(fault);
            let (other, with) = hosts();
            let engine = if is_of_engine { with.session_store(store.clone()) } else { with };
            let engine = engine.build().unwrap();
            let name = format!("{fault:?} {is_of_engine}");
            let session = if is_of_engine {
                engine.session(&name)
            } else {
                Session::new(&name, Arc::new(store.clone()))
            };
            let mirror = healthy.session(&name);
            for (step, run) in STEPS {
                let answer = run(&engine, &session);
                let wanted = run(&healthy, &mirror).unwrap();
                let context = format!("{name}: {step}: {answer:?}");
                if fault.is_garbage() {
                    // Another history has other answers: a skill that was not opened, a chain that leads back.
                    let code = answer.as_ref().err().map(Error::code);
                    let refusals = [ErrorCode::NotFound, ErrorCode::InvalidParam];
                    assert!(code.is_none_or(|code| refusals.contains(&code)), "{context}");
                    assert!(code.is_none() || HISTORICAL.contains(step), "{context}");
                    continue;
                }
                let plain = |text: &str| {
                    let dirs = [&dir, &other].map(|dir| dir.path().display().to_string());
                    dirs.iter().fold(text.to_owned(), |text, dir| text.replace(dir, "DIR"))
                };
                assert_eq!(plain(&answer.unwrap()), plain(&wanted), "{name}: {step}");
            }
            let told = session.unsaved().map(|error| error.message().to_owned());
            let wanted = (fault != Garbage).then(|| "the disk is on fire".to_owned());
            assert_eq!(told, wanted, "{name}");
            store.fails(false);
            engine.turn("paint it", &session).run().unwrap();
            let after = engine.turn("/paint", &session).run().unwrap();
            assert!(after.unsaved.is_none() && session.unsaved().is_none(), "{name}");
        }
    }
}

#[test]
fn what_a_host_asks_the_session_itself_fails_and_is_kept_for_the_answers() {
    for (fault, fails) in
        [(Load, [true, false, false]), (Save, [false, true, true]), (Both, [true; 3])]
    {
        let session = Session::new("s", Arc::new(Store::new(fault)));
        let id = "paint".into();
        let asked = [session.state().map(drop), session.record_use(&id), session.consent(&id)];
        assert_eq!(asked.map(|asked| asked.is_err()), fails, "{fault:?}");
        let known = session.tolerant().state().unwrap();
        assert!(known.skills[0].consented && known.skills[0].uses == 1, "{fault:?}: {known:?}");
        assert_eq!(session.end().is_err(), fails[2], "{fault:?}");
    }
}

#[test]
fn a_consent_that_cannot_be_marked_as_spent_is_not_spent() {
    let (_dir, with) = hosts();
    let store = Store::new(Save);
    let consent = Consent::new(ConsentPolicy::Always);
    let engine = with.consent(consent).session_store(store.clone()).build().unwrap();
    let session = engine.session("s");
    let activate = || engine.activate("paint", "", &session).map_err(|error| error.code());
    store.fails(false);
    session.consent(&"paint".into()).unwrap();
    store.fails(true);
    assert_eq!(activate().unwrap_err(), ErrorCode::ConsentRequired, "others could spend it, too");
    // The consent that memory has is good once, as always.
    session.consent(&"paint".into()).unwrap_err();
    activate().unwrap();
    assert_eq!(activate().unwrap_err(), ErrorCode::ConsentRequired);
}
