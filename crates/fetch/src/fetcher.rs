//! The fetcher: stores the contents of a provider's files, and lists the files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tracing::Span;

use super::address::taken_apart;
use super::agent_place::AgentPlace;
use super::copies::{Copies, source_at};
use super::layout::{self, LeftOut};
use super::limits::{Deadline, FetchLimits, refused, too_large};
use super::location::Location;
use super::lock_file::{Locked, LockedFile};
use super::objects::{Objects, io_error};
use super::path_index::PathIndex;
use super::provider::{SourceProvider, SourceTree, TreeEntry, TreeKind};
use super::required_signatures::RequiredSignatures;
use super::selection::chosen_units;
use super::untaken::untaken;
use repertoire::catalog::{Scope, Source};
use repertoire::spans;
use repertoire::{Error, ErrorCode};
use repertoire_config::{Config, FetchSettings, SignaturePolicy};

/// Fetches sources, and stores what it fetched in a directory that processes share.
///
/// ```
/// use std::path::Path;
/// use repertoire::Engine;
/// use repertoire_config::FetchSettings;
/// use repertoire_fetch::Fetcher;
///
/// let cache = tempfile::tempdir()?;
/// let fetcher = Fetcher::new(cache.path());
/// // A directory; `owner/repo` and URLs of git repositories are fetched alike.
/// let settings = FetchSettings { source: "../../examples/skills".to_owned(), ..Default::default() };
/// let locked = fetcher.fetch(&settings, Path::new("."))?;
/// assert_eq!(locked.revision.len(), 64);
///
/// let source = fetcher.copy("examples", &locked)?;
/// let engine = Engine::builder().source(source).build()?;
/// assert_eq!(engine.disclose("say hello to Ana").full, ["hello-extended"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Fetcher {
    pub(super) cache: PathBuf,
    /// The directory of the copies.
    pub(super) installed: PathBuf,
    pub(super) limits: FetchLimits,
    is_cancelled: fn() -> bool,
    /// A flag that cancels fetches, too.
    pub(super) flag: Option<Arc<AtomicBool>>,
    pub(super) demands: RequiredSignatures,
    /// The agents into whose directories skills can be put.
    pub(super) agents: Vec<AgentPlace>,
    pub(super) objects: Objects,
}

/// A fetched state, with what is known about it beside its files.
#[derive(Clone)]
pub(super) struct Fetched {
    pub(super) locked: Locked,
    /// The key that signed the source, if a signature is required.
    pub(super) signed_by: Option<String>,
    pub(super) left_out: Vec<LeftOut>,
}

/// Returns a skill that was left out although the settings name it, and not by a pattern.
fn named_but_left_out<'l>(
    left_out: &'l [LeftOut],
    settings: &FetchSettings,
) -> Option<&'l LeftOut> {
    let is_named = |one: &&LeftOut| {
        let last = one.dir.rsplit('/').next().unwrap_or_default();
        settings.skills.iter().any(|id| *id == one.dir || id == last)
    };
    left_out.iter().find(is_named)
}

impl Fetcher {
    /// Creates a fetcher that stores everything below `cache`, which need not exist. Removing that
    /// directory loses nothing that cannot be fetched again; with [`installed_in`](Fetcher::installed_in),
    /// what was fetched stays in use without it.
    pub fn new(cache: impl Into<PathBuf>) -> Fetcher {
        let cache = cache.into();
        Fetcher {
            objects: Objects::new(cache.join("objects")),
            installed: cache.join("copies"),
            cache,
            limits: FetchLimits::default(),
            is_cancelled: || false,
            flag: None,
            demands: RequiredSignatures::default(),
            agents: Vec::new(),
        }
    }

    /// Keeps the copies from which engines read below `dir`, instead of in the cache: those of a user in
    /// `dir/skills/OWNER/REPO/ID`, those of a project in `dir/projects`.
    #[must_use]
    pub fn installed_in(mut self, dir: impl Into<PathBuf>) -> Fetcher {
        self.installed = dir.into();
        self
    }

    /// Names the directories of agents, into which [`SourceList::place`](super::SourceList::place) puts
    /// skills. Without them, it puts none anywhere.
    #[must_use]
    pub fn placing_in(mut self, agents: Vec<AgentPlace>) -> Fetcher {
        self.agents = agents;
        self
    }

    /// Sets the limits of a fetch.
    #[must_use]
    pub fn limits(mut self, limits: FetchLimits) -> Fetcher {
        self.limits = limits;
        self
    }

    /// Refuses every source that is not signed as `policy` demands, in addition to the keys that its
    /// settings name. [`Config::signatures`] returns the policy of the user.
    ///
    /// [`Config::signatures`]: repertoire_config::Config::signatures
    #[must_use]
    pub fn signatures(mut self, policy: SignaturePolicy) -> Fetcher {
        self.demands = RequiredSignatures(Some(policy));
        self
    }

    /// Returns a fetcher with the policy of `config`, unless this one has a policy already.
    pub(super) fn with_policy_of(&self, config: &Config) -> Fetcher {
        let policy = self.demands.0.clone().unwrap_or_else(|| config.signatures());
        self.clone().signatures(policy)
    }

    /// Sets a function that cancels fetches: they end with `CANCELLED` once `is_cancelled` returns true.
    /// It is called often, from several threads. The programs that a fetch started are stopped, too.
    #[must_use]
    pub fn cancelled_when(mut self, is_cancelled: fn() -> bool) -> Fetcher {
        self.is_cancelled = is_cancelled;
        self
    }

    /// The deadline of a fetch that begins now.
    pub(super) fn deadline(&self) -> Deadline {
        Deadline::after(self.limits.time, self.is_cancelled, self.flag.clone())
    }

    /// The directory for the response headers that servers sent with their archives.
    pub(super) fn answers(&self) -> PathBuf {
        self.cache.join("answers")
    }

    pub(super) fn copies(&self, scope: Scope, config_dir: &Path) -> Copies {
        Copies::new(&self.installed, scope, config_dir)
    }

    /// Creates the directory for temporary files.
    pub(super) fn scratch(&self) -> Result<PathBuf, Error> {
        let scratch = self.cache.join("scratch");
        std::fs::create_dir_all(&scratch).map_err(|error| io_error("create", &scratch, &error))?;
        Ok(scratch)
    }

    /// Fetches the newest state of a source; a relative path in `settings` is below `base`. Stores the
    /// contents of its files, which engines can read once there is a [`copy`](Fetcher::copy).
    ///
    /// Fails with `NOT_FOUND` if the source, its revision, or a requested skill does not exist; with
    /// `PERMISSION_DENIED` if the source is hostile, or not signed as it must be; with `INVALID_PARAM`
    /// if it is too large; with `TIMEOUT` or `EXECUTION_ERROR` if it cannot be reached; with `CANCELLED`
    /// if the fetch was cancelled.
    pub fn fetch(&self, settings: &FetchSettings, base: &Path) -> Result<Locked, Error> {
        let settings = &taken_apart(settings);
        let location = Location::parse(&settings.source, base)?;
        self.demands.check_signable(Scope::User, settings)?;
        let provider = self.provider_of(&location, settings)?;
        self.fetch_from(&*provider, settings, None)
    }

    /// Fetches `revision`, or the newest one, from any provider. Fails like [`Fetcher::fetch`].
    pub fn fetch_from(
        &self,
        provider: &dyn SourceProvider,
        settings: &FetchSettings,
        revision: Option<&str>,
    ) -> Result<Locked, Error> {
        self.fetch_for(Scope::User, provider, settings, revision).map(|fetched| fetched.locked)
    }

    /// Fetches like [`fetch_from`](Fetcher::fetch_from), for the `config.toml` of `scope`.
    pub(super) fn fetch_for(
        &self,
        scope: Scope,
        provider: &dyn SourceProvider,
        settings: &FetchSettings,
        revision: Option<&str>,
    ) -> Result<Fetched, Error> {
        spans::within(&spans::fetch(), || {
            self.take(scope, &mut *provider.open(revision)?, settings)
        })
    }

    /// Takes the skills that the settings choose from an open source. Must be called within a span of a fetch.
    pub(super) fn take(
        &self,
        scope: Scope,
        tree: &mut dyn SourceTree,
        settings: &FetchSettings,
    ) -> Result<Fetched, Error> {
        let (locked, left_out) = self.take_files(tree, settings)?;
        Span::current().record("files", spans::int(locked.files.len()));
        let content = |path: &str| self.objects.read(&locked.files.get(path)?.sha256).ok();
        let signed_by = self.demands.verify(scope, settings, &locked, &content)?;
        Ok(Fetched { locked, signed_by, left_out })
    }

    fn take_files(
        &self,
        tree: &mut dyn SourceTree,
        settings: &FetchSettings,
    ) -> Result<(Locked, Vec<LeftOut>), Error> {
        let entries = tree.entries().to_vec();
        let source = settings.source.as_str();
        if entries.len() > self.limits.entries {
            return Err(too_large(source, "entries", self.limits.entries as u64));
        }
        let names = PathIndex::new(&entries, source)?;
        let units = chosen_units(&names, tree, settings)?;
        let (mut files, mut left_out) = layout::files(&names, &units, self.limits.files)?;
        if let Some(LeftOut { dir, reason }) = named_but_left_out(&left_out, settings) {
            return Err(refused(source, dir, &format!("cannot be taken: {reason}")));
        }
        // Who chose skills by name did not ask for the others.
        if settings.skills.is_empty() {
            left_out.extend(untaken(&entries, &units, settings.path.as_deref()));
        }
        layout::add_signature(&names, settings.path.as_deref(), &mut files);
        let mut files = self.keep(tree, &files, source)?;
        for dir in layout::repeated(&units, &files) {
            files.retain(|path, _| !path.strip_prefix(&dir).is_some_and(|p| p.starts_with('/')));
        }
        let digest = || super::lock_file::digest(&files).to_string();
        let revision = tree.revision().map_or_else(digest, str::to_owned);
        let FetchSettings { source, rev, path, skills, .. } = settings.clone();
        Ok((Locked { source, rev, path, skills, revision, files }, left_out))
    }

    /// Turns a fetched state into an engine's source, under a name that the host chooses. Writes a copy
    /// of the files; a later call with the same name replaces it as a whole.
    ///
    /// Fails with `INVALID_PARAM` if the name is not valid, with `NOT_FOUND` if a content is missing
    /// from the cache, and with `EXECUTION_ERROR` if the copy cannot be written.
    pub fn copy(&self, name: &str, locked: &Locked) -> Result<Source, Error> {
        super::location::check_name(name)?;
        let copies = self.copies(Scope::User, &self.cache);
        let _guard = copies.lock(&self.deadline())?;
        let new = copies.unpack(&locked.files, &self.objects)?;
        let Locked { source, rev, path, skills, .. } = locked.clone();
        let settings = FetchSettings { source, rev, path, skills, ..FetchSettings::default() };
        copies.install(name, new, (locked, None), &settings)?;
        Ok(source_at(name, &locked.source, copies.root(name)))
    }

    /// Reads files and stores their contents.
    fn keep(
        &self,
        tree: &mut dyn SourceTree,
        files: &layout::Files<'_>,
        source: &str,
    ) -> Result<BTreeMap<String, LockedFile>, Error> {
        let FetchLimits { file_bytes, total_bytes, .. } = self.limits;
        let mut wanted: BTreeMap<&str, &TreeEntry> = BTreeMap::new();
        let mut total = 0u64;
        for entry in files.values() {
            if let TreeKind::File { bytes, .. } = entry.kind {
                if bytes > file_bytes {
                    let file = format!("`{}` of {source}", entry.path);
                    return Err(too_large(&file, "bytes", file_bytes));
                }
                total = total.saturating_add(bytes);
            }
            wanted.insert(&entry.path, entry);
        }
        if total > total_bytes {
            return Err(too_large(source, "bytes in files of skills", total_bytes));
        }
        self.objects.prepare()?;
        let mut kept = BTreeMap::new();
        let mut left = total_bytes;
        let paths: Vec<&str> = wanted.keys().copied().collect();
        tree.read(&paths, &mut |path, content| {
            // The sizes that a source declares are not trusted.
            let (hash, n_bytes) = self.objects.put(content, file_bytes.min(left), path)?;
            left -= n_bytes;
            kept.insert(path.to_owned(), hash);
            Ok(())
        })?;
        let mut locked = BTreeMap::new();
        for (at, entry) in files {
            let executable = matches!(entry.kind, TreeKind::File { executable: true, .. });
            let Some(sha256) = kept.get(&entry.path).cloned() else {
                let message = format!("{source} has not given `{}`", entry.path);
                return Err(Error::new(ErrorCode::ExecutionError, message, "try again"));
            };
            locked.insert(at.clone(), LockedFile { sha256, executable });
        }
        Ok(locked)
    }
}
