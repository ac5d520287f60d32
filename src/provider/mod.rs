//! Providers: places from which a host serves the files of skills, such as a database or another program.

mod memory;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use repertoire_system::confined::plain;

use crate::error::{Error, ErrorCode};

pub use memory::MemoryFiles;

/// A place from which skills are read: a database, another program, functions of the host. It looks like the
/// directory of a source: each skill is a directory with a `SKILL.md`, and may have further files.
///
/// The engine lists the files when it is built and on each refresh, and reads a `SKILL.md` again only if its
/// revision changed. It reads any other file whenever somebody asks for it, so that its content can be made at
/// that moment. Both methods may be called from any thread. [`MemoryFiles`] is a provider of texts and
/// functions.
///
/// ```
/// use repertoire::catalog::{ProvidedFile, Provider, Scope};
/// use repertoire::{Engine, Error, ErrorCode, Source};
///
/// struct Table(Vec<(&'static str, u64, &'static str)>); // path, version, text
///
/// impl Provider for Table {
///     fn list(&self) -> Result<Vec<ProvidedFile>, Error> {
///         Ok(self.0.iter().map(|(path, version, _)| ProvidedFile::new(*path, version.to_string())).collect())
///     }
///
///     fn read(&self, path: &str) -> Result<Vec<u8>, Error> {
///         let row = self.0.iter().find(|(at, ..)| *at == path);
///         row.map(|(_, _, text)| text.as_bytes().to_vec())
///             .ok_or_else(|| Error::new(ErrorCode::NotFound, format!("no row {path}"), "list the files again"))
///     }
/// }
///
/// let table = Table(vec![("ship/SKILL.md", 1, "---\nname: ship\ndescription: Ships.\n---\nShip $ARGUMENTS.")]);
/// let engine = Engine::builder().source(Source::provided(Scope::Memory, "table", table)).build()?;
/// assert_eq!(engine.activate("ship", "v2", &engine.session("chat-7"))?.content, "Ship v2.");
/// # Ok::<(), Error>(())
/// ```
pub trait Provider: Send + Sync {
    /// Lists all files. If this fails, the engine keeps the files that it knows, with a diagnostic.
    fn list(&self) -> Result<Vec<ProvidedFile>, Error>;

    /// Returns the content of the file at `path`, one of those that were listed.
    fn read(&self, path: &str) -> Result<Vec<u8>, Error>;
}

impl<P: Provider + ?Sized> Provider for Arc<P> {
    fn list(&self) -> Result<Vec<ProvidedFile>, Error> {
        (**self).list()
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, Error> {
        (**self).read(path)
    }
}

/// A file that a [`Provider`] lists.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct ProvidedFile {
    /// The relative path, `/`-separated, such as `code-review/SKILL.md`.
    pub path: String,
    /// A text that changes whenever the content does: a hash, a version, a time. Only that of a `SKILL.md`, and
    /// of the `agents/openai.yaml` of a skill, matters.
    pub revision: String,
}

impl ProvidedFile {
    /// A file at this path, with this revision.
    pub fn new(path: impl Into<String>, revision: impl Into<String>) -> ProvidedFile {
        ProvidedFile { path: path.into(), revision: revision.into() }
    }
}

/// The files of a provider, as they were last listed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Listing {
    /// The revision of each file, by path.
    pub(crate) files: BTreeMap<String, String>,
    /// The listed paths that cannot be those of files, each with the reason.
    pub(crate) refused: Vec<(String, &'static str)>,
    /// The reason why the files could not be listed again.
    pub(crate) problem: Option<String>,
}

/// A provider under its name, with its latest listing. All skills read from it share it.
pub(crate) struct Provided {
    /// The name of the provider followed by a colon: the first part of the paths in diagnostics.
    root: PathBuf,
    provider: Box<dyn Provider>,
    listing: RwLock<Option<Arc<Listing>>>,
}

impl Provided {
    pub(crate) fn new(name: &str, provider: impl Provider + 'static) -> Provided {
        let root = PathBuf::from(format!("{name}:"));
        Provided { root, provider: Box::new(provider), listing: RwLock::default() }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The path of a file in diagnostics.
    pub(crate) fn location(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// The path from the root of a file or directory at `location`, `/`-separated on every system; empty for
    /// the root.
    pub(crate) fn path_of(&self, location: &Path) -> String {
        let below = location.strip_prefix(&self.root).unwrap_or(location);
        below.iter().map(OsStr::to_string_lossy).collect::<Vec<_>>().join("/")
    }

    /// The latest listing. The first call asks the provider.
    pub(crate) fn listing(&self) -> Arc<Listing> {
        let known = self.listing.read().unwrap_or_else(PoisonError::into_inner).clone();
        known.unwrap_or_else(|| self.relist())
    }

    /// Asks the provider for a new listing. If it has none, returns the earlier one with the problem.
    pub(crate) fn relist(&self) -> Arc<Listing> {
        let listed = self.guarded("listing its files", || self.provider.list());
        let mut latest = self.listing.write().unwrap_or_else(PoisonError::into_inner);
        let listing = match listed {
            Ok(files) => Listing::of(files),
            Err(error) => {
                let before = latest.as_deref().cloned().unwrap_or_default();
                Listing { problem: Some(error.to_string()), ..before }
            }
        };
        Arc::clone(latest.insert(Arc::new(listing)))
    }

    /// Returns the content of a listed file.
    pub(crate) fn read(&self, path: &str) -> Result<Vec<u8>, Error> {
        self.guarded("reading a file", || self.provider.read(path))
    }

    fn guarded<T>(&self, what: &str, ask: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        catch_unwind(AssertUnwindSafe(ask)).unwrap_or_else(|_| {
            let message = format!("{what} from the provider `{}` panicked", self.root.display());
            Err(Error::new(ErrorCode::InternalError, message, "report this to the host's author"))
        })
    }
}

impl fmt::Debug for Provided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Provided").field(&self.root).finish()
    }
}

impl Listing {
    fn of(listed: Vec<ProvidedFile>) -> Listing {
        let mut listing = Listing::default();
        for ProvidedFile { path, revision } in listed {
            match plain(&path) {
                Ok(path) => {
                    listing.files.insert(path, revision);
                }
                Err(why) => listing.refused.push((path, why)),
            }
        }
        listing
    }
}
