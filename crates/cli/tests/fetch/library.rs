//! The library: fetched sources in engines, and providers that a host implements.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use repertoire::catalog::Scope;
use repertoire::{Engine, Error, ErrorCode, WatchOptions};
use repertoire_config::FetchSettings;
use repertoire_fetch::{
    Fetcher, FileCallback, SourceList, SourceProvider, SourceTree, TreeEntry, TreeKind,
    UpdateOptions,
};
use tempfile::TempDir;

use crate::repository::{Repository, skill};

fn settings(source: &str) -> FetchSettings {
    FetchSettings { source: source.to_owned(), ..FetchSettings::default() }
}

#[test]
fn an_engine_that_watches_takes_up_a_new_state() {
    let (cache, repository) = (TempDir::new().unwrap(), Repository::with_deploy());
    let fetcher = Fetcher::new(cache.path());
    let fetch = || {
        let locked = fetcher.fetch(&settings(&repository.url()), Path::new(".")).unwrap();
        fetcher.copy("team", &locked).unwrap()
    };
    let engine = Engine::builder().source(fetch()).build().unwrap();
    let _watch = engine.watch(WatchOptions::default()).unwrap();
    assert!(engine.disclose("deploy it").text.contains("with care"));
    repository.skill("skills/deploy", "deploy", "Deploy it anew.\n");
    repository.commit();
    fetch();
    let end = Instant::now() + Duration::from_secs(50);
    while !engine.disclose("deploy it").text.contains("Deploy it anew.") {
        assert!(Instant::now() < end, "the engine has the old state");
        std::thread::sleep(Duration::from_millis(50));
    }
    let catalog = engine.catalog();
    let source = engine.source_of(catalog.get("deploy").unwrap()).unwrap();
    assert_eq!(source.name(), Some("team"));
}

#[test]
fn a_source_is_fetched_once_however_it_is_looked_at_and_chosen_from() {
    let [home, cache] = [(); 2].map(|()| TempDir::new().unwrap());
    let repository = Repository::with_deploy();
    repository.skill("skills/pdf", "pdf", "Do it.\n");
    repository.skill("skills/docx", "docx", "Do it.\n");
    repository.commit();
    let fetcher = Fetcher::new(cache.path());
    let list = SourceList::new(&fetcher, Scope::User, home.path(), "acme");
    let opened = list.open(None, &settings(&repository.url()), Path::new(".")).unwrap();
    drop(repository);
    assert!(!opened.names_skills());
    assert_eq!(opened.preview().unwrap().skills("acme").len(), 3);
    let opened = opened.choose(vec!["pdf".to_owned()]).unwrap();
    assert_eq!(opened.preview().unwrap().skills("acme").len(), 1);
    assert_eq!(opened.add().unwrap().skills, ["pdf"]);
}

/// The home directory and the cache for the test in which a source is removed during its update.
static REMOVED_MEANWHILE: OnceLock<(PathBuf, PathBuf)> = OnceLock::new();

#[test]
fn a_source_that_is_removed_while_it_is_updated_stays_away() {
    let [home, cache, kit] = [(); 3].map(|()| TempDir::new().unwrap());
    let write = |body| {
        std::fs::create_dir_all(kit.path().join("deploy")).unwrap();
        std::fs::write(kit.path().join("deploy/SKILL.md"), skill("deploy", "", body)).unwrap();
    };
    write("Deploy it.\n");
    let fetcher = Fetcher::new(cache.path());
    let list = SourceList::new(&fetcher, Scope::User, home.path(), "acme");
    let settings = settings(kit.path().to_str().unwrap());
    list.add(Some("team"), &settings, Path::new(".")).unwrap();
    write("Deploy it anew.\n");

    // The fetch calls this before each file.
    let asking = fetcher.clone().cancelled_when(|| {
        if let Some((home, cache)) = REMOVED_MEANWHILE.get() {
            let fetcher = Fetcher::new(cache);
            let _ = SourceList::new(&fetcher, Scope::User, home, "acme").remove("team");
        }
        false
    });
    let updated = SourceList::new(&asking, Scope::User, home.path(), "acme");
    REMOVED_MEANWHILE.set((home.path().to_owned(), cache.path().to_owned())).unwrap();
    let error = updated.update("team", UpdateOptions::default()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::NotFound, "{error}");
    assert_eq!(list.locked("team").unwrap(), None);
    assert!(!list.copy_of("team").exists(), "the copy is back");
    let state = list.copy_of("team").with_extension("json");
    assert!(!state.exists(), "its state is back");
}

/// A provider of two files, which reports a wrong size for one of them.
struct Own(Mutex<Option<Error>>);

struct OwnTree(Vec<TreeEntry>);

impl SourceProvider for Own {
    fn newest(&self) -> Result<Option<String>, Error> {
        Ok(Some("7".to_owned()))
    }

    fn open(&self, _: Option<&str>) -> Result<Box<dyn SourceTree>, Error> {
        if let Some(error) = self.0.lock().unwrap().take() {
            return Err(error);
        }
        let file = |path: &str| TreeEntry {
            path: path.to_owned(),
            kind: TreeKind::File { bytes: 1, executable: false },
        };
        Ok(Box::new(OwnTree(vec![file("a/SKILL.md"), file("a/endless")])))
    }
}

impl SourceTree for OwnTree {
    fn revision(&self) -> Option<&str> {
        Some("7")
    }

    fn entries(&self) -> &[TreeEntry] {
        &self.0
    }

    fn read(&mut self, files: &[&str], take: &mut FileCallback<'_>) -> Result<(), Error> {
        for path in files {
            match *path {
                "a/SKILL.md" => take(path, &mut skill("a", "", "A.\n").as_bytes())?,
                _ => take(path, &mut std::io::repeat(b'x').take(1 << 40))?,
            }
        }
        Ok(())
    }
}

#[test]
fn a_provider_of_the_host_is_checked_like_any_other() {
    let cache = TempDir::new().unwrap();
    let fetcher = Fetcher::new(cache.path());
    let broken = Error::new(ErrorCode::Timeout, "it does not answer", "wait");
    let own = Own(Mutex::new(Some(broken)));
    let settings = settings("acme:skills");
    let error = fetcher.fetch_from(&own, &settings, None).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Timeout);
    let start = Instant::now();
    let error = fetcher.fetch_from(&own, &settings, None).unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidParam, "{error}");
    assert!(error.message().contains("more than"), "{error}");
    assert!(start.elapsed() < Duration::from_secs(30), "a terabyte is not read");
}
