//! Sources that a running engine refreshes at an interval.

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use repertoire::catalog::Scope;
use repertoire::{Engine, ErrorCode};
use repertoire_config::{Config, ConfigPlace, FetchSettings};
use repertoire_fetch::{Fetcher, PollOutcome, SourceList, SourcePoll, SourcePoller, UpdateOptions};
use tempfile::TempDir;

use crate::repository::Repository;

/// A directory with a configuration whose sources were fetched, and a clock that tests can advance.
pub(crate) struct World {
    dir: TempDir,
    scope: Scope,
    fetcher: Fetcher,
    /// The seconds by which the clock is ahead.
    ahead: Arc<AtomicU64>,
}

/// An engine that polls its sources.
struct Polling {
    engine: Engine,
    poller: SourcePoller,
}

impl Polling {
    fn poll(&self) -> SourcePoll {
        self.poller.refresh(&self.engine).unwrap()
    }
}

impl Deref for Polling {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        &self.engine
    }
}

impl World {
    /// Creates a world with the user's source `team`, which is refreshed every minute.
    pub(crate) fn new(settings: &FetchSettings) -> World {
        World::empty(Scope::User).with(settings)
    }

    /// Creates a world with a project's source `team`, which is a directory `vendor` with two skills.
    fn of_project() -> World {
        let world = World::empty(Scope::Project);
        let (skills, vendor) = (with_two_skills(), world.dir.path().join("vendor"));
        crate::repository::copy(&skills.path().join("skills"), &vendor);
        world.with(&settings(vendor.to_str().unwrap()))
    }

    fn empty(scope: Scope) -> World {
        let dir = TempDir::new().unwrap();
        let fetcher = Fetcher::new(dir.path().join("cache"));
        World { dir, scope, fetcher, ahead: Arc::default() }
    }

    fn with(self, settings: &FetchSettings) -> World {
        self.list().add(Some("team"), settings, Path::new(".")).unwrap();
        let text = fs::read_to_string(self.config_file()).unwrap();
        fs::write(self.config_file(), text + "refresh = \"1m\"\n").unwrap();
        self
    }

    /// Replaces a text in the two files that are under version control.
    fn replace(&self, now: &str, then: &str) {
        for file in [self.config_file(), self.dir.path().join(".acme/skills.lock")] {
            let text = fs::read_to_string(&file).unwrap();
            assert!(text.contains(now), "{now}: {text}");
            fs::write(&file, text.replace(now, then)).unwrap();
        }
    }

    fn list(&self) -> SourceList<'_> {
        SourceList::new(&self.fetcher, self.scope, self.dir.path(), "acme")
    }

    fn config_file(&self) -> PathBuf {
        self.dir.path().join(".acme/config.toml")
    }

    fn place(&self) -> ConfigPlace {
        let project = match self.scope {
            Scope::User => self.dir.path().join("work"),
            _ => self.dir.path().to_owned(),
        };
        let home = (self.scope == Scope::User).then(|| self.dir.path().to_owned());
        ConfigPlace { home, working_dir: project.clone(), project, brand: "acme".to_owned() }
    }

    /// Returns a poller, like that of another process.
    pub(crate) fn poller(&self) -> SourcePoller {
        let ahead = Arc::clone(&self.ahead);
        let now = move || SystemTime::now() + Duration::from_secs(ahead.load(Ordering::Relaxed));
        SourcePoller::new(&self.fetcher, &self.place()).clock(now)
    }

    fn engine(&self) -> Polling {
        let config = self.fetcher.apply(Config::load(&self.place()));
        let engine = config.apply(Engine::builder()).build().unwrap();
        Polling { engine, poller: self.poller() }
    }

    pub(crate) fn pass(&self, seconds: u64) {
        self.ahead.fetch_add(seconds, Ordering::Relaxed);
    }

    fn lock(&self) -> String {
        fs::read_to_string(self.dir.path().join(".acme/skills.lock")).unwrap()
    }
}

pub(crate) fn settings(source: &str) -> FetchSettings {
    FetchSettings { source: source.to_owned(), ..FetchSettings::default() }
}

/// Creates a repository with the skills `deploy` and `review`.
fn with_two_skills() -> Repository {
    let repository = Repository::with_deploy();
    repository.skill("skills/review", "review", "Review it.\n");
    repository.commit();
    repository
}

/// Returns the outcome for the only source.
pub(crate) fn outcome(poll: SourcePoll) -> PollOutcome {
    let [source] = <[_; 1]>::try_from(poll.sources).unwrap();
    assert_eq!(source.name, "team");
    source.outcome
}

pub(crate) fn held(poll: SourcePoll) -> String {
    match outcome(poll) {
        PollOutcome::Held(reason) => reason,
        outcome => panic!("{outcome:?}"),
    }
}

/// Returns the codes and messages of an engine's findings.
fn findings(engine: &Engine) -> Vec<(String, String)> {
    let findings = engine.diagnostics();
    findings.iter().map(|found| (found.code.as_str().to_owned(), found.message.clone())).collect()
}

#[test]
fn an_engine_takes_up_a_commit_once_the_interval_has_passed() {
    let repository = Repository::with_deploy();
    let world = World::new(&settings(&repository.url()));
    let engine = world.engine();
    repository.skill("skills/deploy", "deploy", "Deploy it anew.\n");
    let commit = repository.commit();

    let poll = engine.poll();
    assert!(poll.sources.is_empty(), "{poll:?}");
    let next = poll.next.unwrap().as_secs();
    assert!((50..=66).contains(&next), "{next}");
    assert!(engine.disclose("deploy it").text.contains("with care"));

    world.pass(67);
    let PollOutcome::Updated(update) = outcome(engine.poll()) else { panic!() };
    assert_eq!((update.to.as_str(), update.changes[0].id.as_str()), (commit.as_str(), "deploy"));
    assert!(engine.disclose("deploy it").text.contains("Deploy it anew."));
    assert!(world.lock().contains(&commit), "{}", world.lock());
    world.list().check("team").unwrap();

    assert!(engine.poll().sources.is_empty(), "its time has not come");
    world.pass(67);
    assert!(matches!(outcome(engine.poll()), PollOutcome::Unchanged));
}

#[test]
fn processes_share_what_one_of_them_fetched() {
    let repository = Repository::with_deploy();
    let world = World::new(&settings(&repository.url()));
    let (one, other) = (world.engine(), world.engine());
    repository.skill("skills/deploy", "deploy", "Deploy it anew.\n");
    repository.commit();
    world.pass(67);
    assert!(matches!(outcome(one.poll()), PollOutcome::Updated(_)));
    let poll = other.poll();
    assert!(poll.sources.is_empty(), "it was asked already: {poll:?}");
    assert!(other.disclose("deploy it").text.contains("Deploy it anew."));
}

#[test]
fn a_source_that_vanishes_is_asked_less_and_less_and_keeps_its_last_good_state() {
    let repository = Repository::with_deploy();
    let world = World::new(&settings(&repository.url()));
    let engine = world.engine();
    let gone = repository.path().with_extension("gone");
    fs::rename(repository.path(), &gone).unwrap();
    world.pass(67);
    let mut pauses = Vec::new();
    for _ in 0..5 {
        let poll = engine.poll();
        pauses.push(poll.next.unwrap().as_secs());
        let outcome = outcome(poll);
        assert!(matches!(outcome, PollOutcome::Failed(_)), "{outcome:?}");
        assert!(engine.poll().sources.is_empty());
        world.pass(pauses.last().unwrap() + 1);
    }
    for (pause, interval) in pauses.iter().zip([120, 240, 480, 480, 480]) {
        let tenth = interval / 10;
        assert!((interval - tenth - 2..=interval + tenth).contains(pause), "{pauses:?}");
    }
    let [(code, message)] = &findings(&engine)[..] else { panic!() };
    assert_eq!(code, "source-stale");
    let is_told = message.contains("cannot fetch file://") && message.contains("(since 2");
    assert!(is_told, "{message}");
    assert!(engine.disclose("deploy it").text.contains("with care"));

    fs::rename(&gone, repository.path()).unwrap();
    assert!(matches!(outcome(engine.poll()), PollOutcome::Unchanged));
    assert_eq!(findings(&engine), []);
}

#[test]
fn an_update_that_takes_a_skill_away_waits_for_the_user() {
    let repository = with_two_skills();
    let world = World::new(&settings(&repository.url()));
    let engine = world.engine();
    let before = world.lock();
    repository.write("skills/review/SKILL.md", "");
    let broken = repository.commit();
    world.pass(67);
    assert_eq!(held(engine.poll()), "it would break `review`");
    fs::remove_dir_all(repository.path().join("skills/review")).unwrap();
    repository.skill("skills/deploy", "deploy", "Deploy it alone.\n");
    let removed = repository.commit();
    assert_ne!(broken, removed);
    for _ in 0..2 {
        world.pass(67);
        assert_eq!(held(engine.poll()), "it would remove `review`");
    }
    let [(code, message)] = &findings(&engine)[..] else { panic!() };
    assert_eq!(code, "source-held");
    assert!(message.contains("it would remove `review` (since 2"), "{message}");
    assert_eq!(findings(&world.engine()), findings(&engine), "another process finds the same");
    assert_eq!(world.lock(), before);
    assert!(engine.disclose("review it").text.contains("Review it."));
    assert!(engine.disclose("deploy it").text.contains("with care"));
    let outdated = world.list().outdated("team").unwrap();
    assert!(outdated.held.unwrap().contains("`review`"));
    assert!(world.list().check("team").unwrap_err().message().contains("an update that waits"));

    // The user accepts the update.
    world.list().update("team", UpdateOptions::default()).unwrap();
    world.pass(67);
    assert!(matches!(outcome(engine.poll()), PollOutcome::Unchanged));
    assert_eq!(findings(&engine), []);
    assert!(engine.disclose("review it").full.is_empty());
    assert!(engine.disclose("deploy it").text.contains("Deploy it alone."));
}

#[test]
fn an_update_that_was_held_is_taken_once_its_source_is_mended() {
    let repository = with_two_skills();
    let world = World::new(&settings(&repository.url()));
    let engine = world.engine();
    repository.git(&["rm", "-r", "--quiet", "skills/review"]);
    repository.commit();
    world.pass(67);
    held(engine.poll());
    repository.skill("skills/review", "review", "Review it well.\n");
    repository.commit();
    world.pass(67);
    assert!(matches!(outcome(engine.poll()), PollOutcome::Updated(_)));
    assert_eq!(findings(&engine), []);
    assert!(engine.disclose("review it").text.contains("Review it well."));
}

#[test]
fn a_pinned_revision_never_moves() {
    let repository = Repository::with_deploy();
    let rev = repository.commit();
    let world = World::new(&FetchSettings { rev: Some(rev), ..settings(&repository.url()) });
    let before = world.lock();
    repository.skill("skills/deploy", "deploy", "Deploy it anew.\n");
    repository.commit();
    world.pass(67);
    assert!(matches!(outcome(world.poller().poll()), PollOutcome::Unchanged));
    assert_eq!(world.lock(), before);
}

#[test]
fn an_address_that_the_author_of_a_project_changes_is_not_asked() {
    let world = World::of_project();
    world.pass(67);
    assert!(matches!(outcome(world.poller().poll()), PollOutcome::Unchanged));

    // Fetching the new address would fail, because there is nothing.
    world.replace("./vendor", "./other");
    world.pass(67);
    let reason = held(world.poller().poll());
    assert_eq!(reason, "`config.toml` names it otherwise than it was fetched");

    let error = world.list().update("team", UpdateOptions::default()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::NotFound, "the user asks it: {error}");
}

#[test]
fn a_choice_that_the_author_of_the_file_changes_is_not_taken() {
    let repository = with_two_skills();
    repository.git(&["branch", "other"]);
    let chosen = FetchSettings {
        rev: Some("main".to_owned()),
        path: Some("skills/deploy".to_owned()),
        skills: vec!["deploy".to_owned()],
        ..settings(&repository.url())
    };
    for (now, then) in [("main", "other"), ("skills/deploy", "skills"), ("deploy", "review")] {
        let world = World::new(&chosen);
        world.replace(&format!("\"{now}\""), &format!("\"{then}\""));
        world.pass(67);
        let reason = held(world.poller().poll());
        assert_eq!(reason, "`config.toml` names it otherwise than it was fetched", "{then}");
    }
}

#[test]
fn a_directory_without_revisions_is_compared_by_its_files() {
    let dir = TempDir::new().unwrap();
    let write = |body: &str| {
        let text = crate::repository::skill("deploy", "", body);
        fs::create_dir_all(dir.path().join("deploy")).unwrap();
        fs::write(dir.path().join("deploy/SKILL.md"), text).unwrap();
    };
    write("Deploy it.\n");
    let world = World::new(&settings(dir.path().to_str().unwrap()));
    let engine = world.engine();
    world.pass(67);
    assert!(matches!(outcome(engine.poll()), PollOutcome::Unchanged));
    write("Deploy it anew.\n");
    world.pass(67);
    assert!(matches!(outcome(engine.poll()), PollOutcome::Updated(_)));
    assert!(engine.disclose("deploy it").text.contains("Deploy it anew."));
}
