//! Sessions in memory, in a file and on a server behave alike, whatever happens to the file, the server
//! and the processes that share it.
#![cfg(feature = "sqlite")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod damage;
mod foreign;
#[cfg(all(unix, any(feature = "postgres", feature = "redis")))]
mod outages;
#[cfg(all(unix, feature = "postgres"))]
mod postgres;
#[cfg(target_os = "linux")]
#[path = "../../../../tests/support/probes.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod probes;
mod processes;
#[cfg(all(unix, feature = "redis"))]
mod redis;
#[cfg(all(unix, any(feature = "postgres", feature = "redis")))]
#[path = "../../../../tests/support/servers.rs"]
mod servers;
mod stores;
#[cfg(target_os = "linux")]
#[path = "../../../../tests/support/mod.rs"]
#[expect(dead_code, reason = "these tests need no shared data")]
mod support;

use std::thread;

use proptest::prelude::*;
use repertoire::SkillId;
use repertoire::session::{
    Day, Event, KeptMessage, MemoryStore, Session, SessionState, SessionStore, SkillTally,
};
use stores::{Kind, kinds};

const SESSIONS: [&str; 3] = ["chat-1", "chat-2", "Chat-2\0 ü"];
const SKILLS: [&str; 4] = ["git", "sql", "sven/plan", "使用"];

/// An event for a store. Skills are indexes into [`SKILLS`].
#[derive(Debug, Clone, Copy)]
enum Step {
    Used(usize),
    Shown(usize, u64),
    Activated { skill: usize, by: Option<usize>, shown: Option<u64> },
    Consented(usize),
    ConsentSpent(usize),
    Compacted,
    Restored,
    Postponed(usize),
    Stopped(usize),
    End,
}

fn take(store: &dyn SessionStore, session: &str, step: Step) {
    let ids = SKILLS.map(SkillId::new);
    let event = match step {
        Step::End => return store.end(session).unwrap(),
        Step::Used(skill) => Event::Used(&ids[skill]),
        Step::Shown(skill, body) => Event::Shown { skill: &ids[skill], body },
        Step::Activated { skill, by, shown } => {
            Event::Activated { skill: &ids[skill], by: by.map(|by| &ids[by]), shown }
        }
        Step::Consented(skill) => Event::Consented(&ids[skill]),
        Step::ConsentSpent(skill) => Event::ConsentSpent(&ids[skill]),
        Step::Compacted => Event::Compacted,
        Step::Restored => Event::Restored,
        Step::Postponed(skill) => Event::Postponed(&ids[skill]),
        Step::Stopped(skill) => Event::Stopped(&ids[skill]),
    };
    store.record(session, &event).unwrap();
}

fn states(store: &dyn SessionStore) -> Vec<SessionState> {
    SESSIONS.iter().map(|session| store.state(session).unwrap()).collect()
}

fn used(store: &dyn SessionStore, session: &str) -> u64 {
    store.state(session).unwrap().skills.iter().map(|skill| skill.uses).sum()
}

fn record_use(store: &dyn SessionStore, session: &str, skill: &str) {
    store.record(session, &Event::Used(&skill.into())).unwrap();
}

#[test]
fn each_event_makes_the_same_of_all_stores() {
    for kind in kinds().iter().skip(1) {
        makes_the_same(kind);
    }
}

fn makes_the_same(kind: &Kind) {
    let (store, memory) = (kind.open(), MemoryStore::default());
    for (session, step) in [
        (0, Step::Compacted),
        (0, Step::Consented(3)),
        (0, Step::Used(0)),
        (0, Step::Used(1)),
        (0, Step::Used(0)),
        (0, Step::Shown(1, 7)),
        (1, Step::Shown(2, u64::MAX)),
        (0, Step::ConsentSpent(3)),
        (0, Step::Consented(0)),
        (0, Step::Activated { skill: 2, by: Some(1), shown: Some(9) }),
        (0, Step::Activated { skill: 2, by: None, shown: None }),
        (0, Step::Activated { skill: 3, by: Some(2), shown: None }),
        (0, Step::Compacted),
        (2, Step::Shown(0, 0)),
        (0, Step::Shown(2, 8)),
        (0, Step::Compacted),
        (0, Step::Compacted),
        (1, Step::End),
        (0, Step::Restored),
        (0, Step::Postponed(2)),
        (0, Step::Stopped(1)),
        (1, Step::Used(3)),
        (0, Step::End),
        (0, Step::Used(2)),
    ] {
        take(&memory, SESSIONS[session], step);
        take(&*store, SESSIONS[session], step);
        let name = kind.name;
        assert_eq!(states(&*store), states(&memory), "{name}, {step:?} in session {session}");
    }
    let uses = states(&*store).iter().map(|state| state.recent().count()).collect::<Vec<_>>();
    assert_eq!(uses, [1, 1, 1]);
}

fn step() -> impl Strategy<Value = Step> {
    let skill = || 0..SKILLS.len();
    prop_oneof![
        4 => skill().prop_map(Step::Used),
        4 => (skill(), any::<u64>()).prop_map(|(skill, body)| Step::Shown(skill, body)),
        4 => (skill(), prop::option::of(skill()), any::<Option<u64>>())
            .prop_map(|(skill, by, shown)| Step::Activated { skill, by, shown }),
        2 => skill().prop_map(Step::Consented),
        2 => skill().prop_map(Step::ConsentSpent),
        2 => Just(Step::Compacted),
        2 => Just(Step::Restored),
        2 => skill().prop_map(Step::Postponed),
        2 => skill().prop_map(Step::Stopped),
        1 => Just(Step::End),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_events_make_the_same_of_all_stores_and_are_kept(
        steps in prop::collection::vec((0..SESSIONS.len(), step()), 1..40),
    ) {
        thread_local!(static KINDS: Vec<Kind> = kinds());
        KINDS.with(|kinds| {
            for kind in &kinds[1..] {
                let (store, memory) = (kind.open(), MemoryStore::default());
                for session in SESSIONS {
                    store.end(session).unwrap();
                }
                for (session, step) in &steps {
                    take(&memory, SESSIONS[*session], *step);
                    take(&*store, SESSIONS[*session], *step);
                }
                prop_assert_eq!(states(&*store), states(&memory), "{}", kind.name);
                drop(store);
                prop_assert_eq!(states(&*kind.open()), states(&memory), "{}", kind.name);
            }
            Ok(())
        })?;
    }
}

#[test]
fn what_conversations_did_is_counted_alike() {
    let [git, sql] = ["git", "sql"].map(SkillId::new);
    for kind in kinds() {
        let store = kind.open();
        assert!(store.tallies(Day::default()).unwrap().is_empty());
        let shown = |skill| Event::Shown { skill, body: 1 };
        store.record_all("a", &[shown(&git), Event::Listed(&sql), Event::Used(&git)]).unwrap();
        store.record("b", &shown(&git)).unwrap();
        store.record("b", &Event::Compacted).unwrap();
        let by_name = Event::Activated { skill: &sql, by: None, shown: None };
        store.record("b", &by_name).unwrap();
        store.end("a").unwrap();

        let tallies = store.tallies(Day::today().before(1)).unwrap();
        assert_eq!(tallies.sessions, 2, "{store:?}");
        let told: Vec<_> = tallies
            .skills
            .iter()
            .map(|SkillTally { skill, counts, .. }| {
                (skill.as_str(), [counts.fired, counts.loaded, counts.used, counts.listed])
            })
            .collect();
        assert_eq!(told, [("git", [2, 0, 1, 0]), ("sql", [0, 1, 0, 1])], "{store:?}");
        assert!(tallies.skills.iter().all(|tally| tally.last.is_some()), "{store:?}");
    }
}

#[test]
fn trails_are_kept_alike_and_end_with_their_session() {
    let lines = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>();
    for kind in kinds() {
        let name = kind.name;
        let store = kind.open();
        assert_eq!(store.trails().unwrap(), [[""; 0]; 0], "{name}");
        let odd = SESSIONS[2];
        store.extend_trail("a", &lines(&["1", "2"])).unwrap();
        store.extend_trail(odd, &lines(&[r#"{"text":"\u0000 ü '"}"#])).unwrap();
        store.extend_trail("a", &lines(&["3"])).unwrap();
        let mut trails = kind.open().trails().unwrap();
        trails.sort();
        assert_eq!(
            trails,
            [lines(&["1", "2", "3"]), lines(&[r#"{"text":"\u0000 ü '"}"#])],
            "{name}"
        );
        assert!(
            store.tallies(Day::default()).unwrap().is_empty(),
            "a text is not an event: {name}"
        );
        store.end(odd).unwrap();
        assert_eq!(store.trails().unwrap().len(), 1, "{name}");

        for n in 0..=KeptMessage::MAX_LINES {
            store.extend_trail("a", &[n.to_string()]).unwrap();
        }
        let trail = &store.trails().unwrap()[0];
        assert_eq!((trail.len(), &trail[0][..]), (KeptMessage::MAX_LINES, "1"), "{name}");
        for n in 0..KeptMessage::MAX_SESSIONS {
            store.extend_trail(&n.to_string(), &lines(&["x"])).unwrap();
        }
        let trails = store.trails().unwrap();
        assert_eq!(trails.len(), KeptMessage::MAX_SESSIONS, "{name}");
        assert!(trails.iter().all(|trail| trail.len() == 1), "the oldest stayed: {name}");
    }
}

#[test]
fn a_session_ends_for_itself_only() {
    for kind in kinds() {
        let [a, b] = ["a", "b"].map(|id| Session::new(id, kind.open()));
        a.consent(&"git".into()).unwrap();
        assert!(b.state().unwrap().skills.is_empty(), "{}", kind.name);
        b.record_use(&"git".into()).unwrap();
        assert!(!b.state().unwrap().skills[0].consented, "{}", kind.name);
        a.end().unwrap();
        assert!(a.state().unwrap().skills.is_empty(), "{}", kind.name);
        assert_eq!(b.state().unwrap().skills[0].uses, 1, "{}", kind.name);
    }
}

#[test]
fn threads_share_a_store_and_stores_share_their_data() {
    for kind in kinds() {
        let stores = [(); 2].map(|()| kind.open());
        thread::scope(|scope| {
            for i in 0..8 {
                let store = &stores[i % 2];
                scope.spawn(move || (0..25).for_each(|_| record_use(&**store, "s", SKILLS[i % 4])));
            }
        });
        assert_eq!(stores.map(|store| used(&*store, "s")), [200, 200], "{}", kind.name);
    }
}

#[test]
fn those_who_read_a_session_and_then_write_it_lose_nothing_of_each_other() {
    for kind in kinds() {
        let stores = [(); 4].map(|()| kind.open());
        record_use(&*stores[0], "s", SKILLS[0]);
        thread::scope(|scope| {
            for store in &stores {
                scope.spawn(move || {
                    for n in 0..50 {
                        let before = used(&**store, "s");
                        record_use(&**store, "s", SKILLS[n % 4]);
                        assert!(used(&**store, "s") > before, "{}", kind.name);
                    }
                });
            }
        });
        assert_eq!(used(&*stores[0], "s"), 201, "{}", kind.name);
        assert_eq!(stores[0].tallies(Day::default()).unwrap().skills.len(), 4, "{}", kind.name);
    }
}

#[test]
fn several_events_are_one() {
    let [git, sql] = ["git", "sql"].map(SkillId::new);
    for kind in kinds() {
        let store = kind.open();
        let shown = Event::Shown { skill: &git, body: 7 };
        store.record_all("a", &[Event::Listed(&sql), shown, Event::Compacted]).unwrap();
        let state = kind.open().state("a").unwrap();
        assert!(state.of(&git).is_some_and(|git| git.lost && git.uses == 1), "{}", kind.name);
        assert!(state.of(&sql).is_some_and(|sql| !sql.listed), "{}", kind.name);
    }
}

#[test]
fn ids_of_any_length_and_content_are_told_apart() {
    let long = "x".repeat(100_000);
    for kind in kinds() {
        let store = kind.open();
        for id in [&long, &long[1..], "\\0", "\0", "", "' OR 1=1 --"] {
            store.record(id, &Event::Used(&SkillId::new(id))).unwrap();
            let state = store.state(id).unwrap();
            assert_eq!(state.skills.len(), 1, "{}", kind.name);
            assert_eq!((state.skills[0].skill.as_str(), state.skills[0].uses), (id, 1));
        }
    }
}
