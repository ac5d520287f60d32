//! Sources that tests sign, and configurations that accept them.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use minisign::KeyPair;
use repertoire::catalog::Scope;
use repertoire::trust::ContentHash;
use repertoire::{Engine, Error, ErrorCode};
use repertoire_config::{Config, ConfigPlace, FetchSettings};
use repertoire_fetch::{Fetcher, PollOutcome, SourceList, SourcePoller, UpdateOptions};
use tempfile::TempDir;

use crate::repository::Repository;

/// The name of the list of files.
pub(crate) const LIST: &str = "skills.sha256";
/// The name of the list's signature.
pub(crate) const SIGNATURE: &str = "skills.sha256.minisig";

/// An author with a key for signing sources.
pub(crate) struct Author(KeyPair);

impl Author {
    pub(crate) fn new() -> Author {
        Author(KeyPair::generate_unencrypted_keypair().unwrap())
    }

    pub(crate) fn public(&self) -> String {
        self.0.pk.to_base64()
    }

    /// Returns the text of a signature of a list.
    pub(crate) fn signature(&self, list: &str) -> String {
        let signed = minisign::sign(Some(&self.0.pk), &self.0.sk, list.as_bytes(), None, None);
        signed.unwrap().into_string()
    }

    /// Signs the current files below `skills/`, and commits everything.
    pub(crate) fn sign(&self, repository: &Repository) {
        self.sign_list(repository, &list(&repository.path().join("skills")));
    }

    pub(crate) fn sign_list(&self, repository: &Repository, list: &str) {
        repository.write(LIST, list);
        repository.write(SIGNATURE, &self.signature(list));
        repository.commit();
    }
}

/// Returns the list of all files below a directory, in the format of `sha256sum`.
pub(crate) fn list(root: &Path) -> String {
    let mut list = String::new();
    for file in walkdir::WalkDir::new(root).sort_by_file_name().into_iter().map(Result::unwrap) {
        if file.file_type().is_file() {
            let hash = ContentHash::of(&fs::read(file.path()).unwrap());
            writeln!(list, "{hash}  {}", file.path().strip_prefix(root).unwrap().display())
                .unwrap();
        }
    }
    list
}

/// Creates a repository with the skills `deploy`, which has a script, and `review`, signed by `author`.
pub(crate) fn signed(author: &Author) -> Repository {
    let repository = Repository::with_deploy();
    repository.skill("skills/review", "review", "Review it.\n");
    author.sign(&repository);
    repository
}

/// A directory with a configuration, and the cache of its sources.
pub(crate) struct World {
    dir: TempDir,
    scope: Scope,
    fetcher: Fetcher,
}

impl World {
    pub(crate) fn new(scope: Scope) -> World {
        let dir = TempDir::new().unwrap();
        fs::create_dir(dir.path().join("home")).unwrap();
        let fetcher = Fetcher::new(dir.path().join("cache"));
        World { dir, scope, fetcher }
    }

    pub(crate) fn base(&self, scope: Scope) -> PathBuf {
        self.dir.path().join(if scope == Scope::User { "home" } else { "work" })
    }

    /// Runs `with` on the list of sources, as a host creates it.
    pub(crate) fn list<T>(&self, with: impl FnOnce(&SourceList<'_>) -> T) -> T {
        let fetcher = self.fetcher.clone().signatures(Config::load(&self.place()).signatures());
        with(&SourceList::new(&fetcher, self.scope, &self.base(self.scope), "acme"))
    }

    pub(crate) fn add(&self, source: &str, signed_by: &[&str]) -> Result<Option<String>, Error> {
        self.add_with(&settings(source, signed_by))
    }

    pub(crate) fn add_with(&self, settings: &FetchSettings) -> Result<Option<String>, Error> {
        self.list(|list| Ok(list.add(Some("team"), settings, Path::new("/"))?.signed_by))
    }

    /// Updates the source, and returns the key that signed it.
    pub(crate) fn update(&self, frozen: bool) -> Result<Option<String>, Error> {
        self.list(|list| Ok(list.update("team", UpdateOptions::new(false, frozen))?.signed_by))
    }

    pub(crate) fn write_config(&self, scope: Scope, text: &str) {
        let file = Config::path(&self.base(scope), "acme");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    pub(crate) fn config(&self, scope: Scope) -> String {
        fs::read_to_string(Config::path(&self.base(scope), "acme")).unwrap()
    }

    pub(crate) fn place(&self) -> ConfigPlace {
        let project = self.base(Scope::Project);
        let home = Some(self.base(Scope::User));
        ConfigPlace { home, working_dir: project.clone(), project, brand: "acme".to_owned() }
    }

    /// Polls the source with a clock that is this many hours ahead, and returns the outcome.
    pub(crate) fn poll(&self, hours: u64) -> PollOutcome {
        let now = move || SystemTime::now() + Duration::from_secs(hours * 3600);
        let poller = SourcePoller::new(&self.fetcher, &self.place()).clock(now);
        poller.poll().sources.pop().unwrap().outcome
    }

    /// Returns the ids of the skills in use, and the findings.
    pub(crate) fn in_use(&self) -> (Vec<String>, Vec<String>) {
        let config = self.fetcher.apply(Config::load(&self.place()));
        let engine = config.apply(Engine::builder()).build().unwrap();
        let ids = engine.catalog().entries().map(|entry| entry.id.to_string()).collect();
        let findings = engine.diagnostics();
        let shown = findings.iter().map(|it| format!("{}: {}", it.code.as_str(), it.message));
        (ids, shown.collect())
    }
}

pub(crate) fn settings(source: &str, signed_by: &[&str]) -> FetchSettings {
    let signed_by = signed_by.iter().map(|key| (*key).to_owned()).collect();
    FetchSettings { source: source.to_owned(), signed_by, ..FetchSettings::default() }
}

pub(crate) fn refusal(result: Result<Option<String>, Error>) -> String {
    let error = result.unwrap_err();
    assert_eq!(error.code(), ErrorCode::PermissionDenied, "{error:?}");
    assert!(!error.help().is_empty(), "{error:?}");
    error.message().to_owned()
}
