//! Finds the library of an entry. Nothing of a library runs before it is trusted: its place, its
//! permissions and its bytes are checked first.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use repertoire_plugin::host::PluginNote;
use repertoire_worker::locked;
use repertoire_worker::{Code, Worker};

use super::copies::Copies;
use super::entry::ToolsetEntry;
use super::error::open_error;
use super::in_process::InProcess;
use super::library::{
    Backend, Content, Copying, Library, MAX_LIBRARY_BYTES, SkillCopy, read, read_error,
};
use super::library_cache::LibraryCache;
#[cfg(feature = "mcp-toolsets")]
use super::program::Program;
use super::rights::Rights;
use super::{Isolation, ToolsetOptions};
use crate::catalog::stamp::Stamp;
use crate::error::{Error, ErrorCode};
use crate::skill::ToolsetRights;
use crate::trust::{ContentHash, Demand, Owner, SkillFiles, TrustStore, check_permissions};

/// Opens libraries, each only once.
#[derive(Debug)]
pub(crate) struct Loader {
    pub(super) options: ToolsetOptions,
    trust: Arc<TrustStore>,
    copies: Arc<Copies>,
    notes: LibraryCache,
    /// The open libraries, by their file, limits and rights.
    open: Mutex<HashMap<Opened, Arc<Library>>>,
    hashes: Mutex<Hashes>,
}

/// The hashes of skill files by their stamps, so that listing tools does not read unchanged files
/// again. Trust does not depend on the stamps, as in [`LibraryCache`]: a toolset sees copies whose contents
/// have the hashes that were trusted.
type Hashes = HashMap<PathBuf, (Stamp, ContentHash)>;

/// A library file, and the name under which the options have limits for a class of it, if they do.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Opened {
    path: PathBuf,
    limits: Option<String>,
    /// The rights that the class has in addition to those limits.
    rights: Rights,
}

/// A library or a program that passed all checks.
struct Checked {
    classes: Vec<String>,
    runs: Vec<(PathBuf, ContentHash)>,
    sha256: ContentHash,
    content: Option<Content>,
    skill: Option<Arc<SkillCopy>>,
    stamp: Stamp,
    trusted_at: AtomicU64,
}

impl Loader {
    pub(crate) fn new(options: ToolsetOptions, trust: Arc<TrustStore>) -> Loader {
        let copies = Arc::new(Copies::new(options.cache.clone()));
        let notes = LibraryCache(options.cache.clone());
        let (open, hashes) = (Mutex::default(), Mutex::default());
        Loader { options, trust, copies, notes, open, hashes }
    }

    /// Returns the library of `entry`, without running it. A known library is reused while its file is
    /// unchanged.
    pub(crate) fn library(
        &self,
        owner: &Owner,
        entry: &ToolsetEntry,
        asked: &ToolsetRights,
    ) -> Result<Arc<Library>, Error> {
        if entry.is_server() {
            return self.server(owner, entry, asked);
        }
        let start = SystemTime::now();
        let (path, mut file) = entry.open(&owner.dir)?;
        let rights = Rights::of(&self.trust, owner, &path, entry.class(), asked);
        let limits = self.options.limits_name(owner, entry.class());
        let key = Opened { path: path.clone(), limits, rights: rights.clone() };
        let read_error = |error| read_error(&path, error);
        let stamp = Stamp::of(&file.metadata().map_err(read_error)?, start);
        let skill = self.compared(owner)?;
        let skill = skill.as_ref();
        let verify = |sha256: &_, classes: &_| self.verify(owner, skill, &path, sha256, classes);
        let known = self.known(&key, skill);
        let is_same = |known: &&Arc<Library>| locked(&known.stamp).proves_unchanged(&stamp);
        if let Some(known) = known.as_ref().filter(is_same) {
            known.check_trust(|| verify(&known.sha256, &known.classes))?;
            return Ok(Arc::clone(known));
        }
        check_permissions(&path, &file)?;
        if let Some(known) = known {
            // The content is nearly always unchanged, so its hash is compared before it is read into
            // memory.
            let sha256 = ContentHash::of_reader((&file).take(MAX_LIBRARY_BYTES + 1));
            if known.sha256 == sha256.map_err(read_error)? {
                known.check_trust(|| verify(&known.sha256, &known.classes))?;
                return Ok(known.with_stamp(stamp));
            }
            file.rewind().map_err(read_error)?;
        }
        let (sha256, note, content) = self.content(&mut file, &path, &stamp)?;
        let trusted_at = AtomicU64::new(self.trust.version());
        verify(&sha256, &note.classes)?;
        if let Some(known) = self.known_with(&key, skill, &sha256) {
            // Another thread opened it in the meantime.
            return Ok(known.with_stamp(stamp));
        }
        let code = Code::Library(self.copies.path(&sha256)?);
        let checked = Checked {
            classes: note.classes.clone(),
            runs: vec![(path, sha256.clone())],
            sha256,
            content: content.map(Content::Library),
            skill: skill.cloned(),
            stamp,
            trusted_at,
        };
        let backend = self.backend(code, &key, (owner, skill), Some(note))?;
        Ok(self.insert(key, owner, checked, backend))
    }

    /// Returns the MCP server of `entry`. Its files are read each time: there are only a few.
    #[cfg(feature = "mcp-toolsets")]
    fn server(
        &self,
        owner: &Owner,
        entry: &ToolsetEntry,
        asked: &ToolsetRights,
    ) -> Result<Arc<Library>, Error> {
        let trusted_at = AtomicU64::new(self.trust.version());
        let (approve, skill) = (self.options.approve.as_ref(), self.compared(owner)?);
        let skill = skill.as_ref();
        let classes = [entry.class().to_owned()];
        let files = skill.map(|skill| &skill.files);
        let abilities = || self.options.abilities(owner, &classes);
        let (classes, rights) = (&classes[..], &ToolsetRights::default());
        let demand =
            Demand { owner, skill: files, classes, approve, rights, abilities: &abilities };
        let program = Program::read(&owner.dir, entry)?.trusted(&demand, &self.trust)?;
        let path = owner.dir.join(entry.path());
        let rights = Rights::of(&self.trust, owner, &path, entry.class(), asked);
        let key = Opened { path, limits: self.options.limits_name(owner, entry.class()), rights };
        if let Some(known) = self.known_with(&key, skill, &program.sha256) {
            known.check_trust(|| Ok(()))?;
            return Ok(known);
        }
        let code = program.code(self.copies.program_dir(&program.sha256)?)?;
        let runs = program.files.iter().map(|file| (file.shown_as.clone(), file.sha256.clone()));
        let checked = Checked {
            classes: classes.to_vec(),
            runs: runs.collect(),
            sha256: program.sha256,
            content: Some(Content::Program(program.files)),
            skill: skill.cloned(),
            stamp: Stamp::take(&key.path, SystemTime::now()),
            trusted_at,
        };
        let backend = self.backend(code, &key, (owner, skill), None)?;
        Ok(self.insert(key, owner, checked, backend))
    }

    #[cfg(not(feature = "mcp-toolsets"))]
    #[expect(clippy::unused_self, reason = "called like the one that starts servers")]
    fn server(
        &self,
        _: &Owner,
        entry: &ToolsetEntry,
        _: &ToolsetRights,
    ) -> Result<Arc<Library>, Error> {
        let message = format!("`{entry}` is an MCP server, for which this program has no client");
        let help = "build it with the feature `mcp-toolsets`";
        Err(Error::new(ErrorCode::InvalidParam, message, help))
    }

    /// Adds a library that was checked.
    fn insert(
        &self,
        key: Opened,
        owner: &Owner,
        checked: Checked,
        backend: Backend,
    ) -> Arc<Library> {
        let Checked { classes, runs, sha256, content, skill, stamp, trusted_at } = checked;
        let library = Arc::new(Library {
            path: key.path.clone(),
            classes,
            sha256,
            runs,
            stamp: Mutex::new(stamp),
            skill_dir: owner.dir.clone(),
            skill,
            backend,
            copies: Arc::clone(&self.copies),
            copying: Mutex::new(Copying::Missing(content)),
            rights: key.rights.clone(),
            trust: Arc::clone(&self.trust),
            scope: owner.scope,
            trusted_at,
        });
        locked(&self.open).insert(key, Arc::clone(&library));
        library
    }

    /// Returns the hash and the note of a library, and its content if it had to be read for them.
    fn content(
        &self,
        file: &mut File,
        path: &Path,
        stamp: &Stamp,
    ) -> Result<(ContentHash, PluginNote, Option<Vec<u8>>), Error> {
        if let Some((sha256, note)) = self.notes.get(path, stamp) {
            note.check(path).map_err(open_error)?;
            return Ok((sha256, note, None));
        }
        let bytes = read(file, path)?;
        let note = PluginNote::parse(&bytes, path).map_err(open_error)?;
        note.check(path).map_err(open_error)?;
        let sha256 = ContentHash::of(&bytes);
        self.notes.put(path, stamp, &sha256, &note);
        Ok((sha256, note, Some(bytes)))
    }

    /// Forgets the libraries of skills whose directories are not live, and ends their processes.
    pub(crate) fn retain(&self, is_live: impl Fn(&Path) -> bool) {
        let mut open = locked(&self.open);
        let gone: Vec<_> = open.extract_if(|_, library| !is_live(&library.skill_dir)).collect();
        drop(open);
        for (_, library) in gone {
            library.restart();
        }
    }

    /// Ends the processes of the libraries that `which` selects, and forgets their failures.
    pub(crate) fn restart(&self, which: impl Fn(&Library) -> bool) {
        let open = locked(&self.open);
        let which: Vec<_> = open.values().filter(|library| which(library)).cloned().collect();
        drop(open);
        for library in which {
            library.restart();
        }
    }

    /// The library of `key`, if it was opened with the same files of its skill.
    fn known(&self, key: &Opened, skill: Option<&Arc<SkillCopy>>) -> Option<Arc<Library>> {
        let known = locked(&self.open).get(key).cloned();
        known.filter(|known| known.skill.as_ref() == skill)
    }

    /// The library of `key`, if it was opened with the same files of its skill and the same content.
    fn known_with(
        &self,
        key: &Opened,
        skill: Option<&Arc<SkillCopy>>,
        sha256: &ContentHash,
    ) -> Option<Arc<Library>> {
        self.known(key, skill).filter(|known| known.sha256 == *sha256)
    }

    /// Returns the files of a skill, if they must be compared before one of its toolsets runs.
    fn compared(&self, owner: &Owner) -> Result<Option<Arc<SkillCopy>>, Error> {
        let approve = self.options.approve.as_ref();
        let files = self.trust.compared(owner, approve, |dir| {
            let start = SystemTime::now();
            let mut hashes = locked(&self.hashes);
            SkillFiles::read_with(dir, &mut |path, file| {
                let stamp = Stamp::of(&file.metadata()?, start);
                match hashes.get(path) {
                    Some((known, sha256)) if known.proves_unchanged(&stamp) => Ok(sha256.clone()),
                    _ => {
                        let sha256 = ContentHash::of_reader(file)?;
                        hashes.insert(path.to_owned(), (stamp, sha256.clone()));
                        Ok(sha256)
                    }
                }
            })
        })?;
        let Some(files) = files else { return Ok(None) };
        let sha256 = files.sha256();
        let dir = self.copies.skill_dir(&sha256)?;
        Ok(Some(Arc::new(SkillCopy { files, sha256, dir })))
    }

    /// Fails if a library is not trusted to run together with the files of its skill.
    fn verify(
        &self,
        owner: &Owner,
        skill: Option<&Arc<SkillCopy>>,
        path: &Path,
        sha256: &ContentHash,
        classes: &[String],
    ) -> Result<(), Error> {
        let approve = self.options.approve.as_ref();
        let abilities = || self.options.abilities(owner, classes);
        let skill = skill.map(|skill| &skill.files);
        let rights = &ToolsetRights::default();
        let demand = Demand { owner, skill, classes, approve, rights, abilities: &abilities };
        self.trust.demand(&demand, path, sha256)?;
        self.trust.demand_skill(&demand, path, sha256)
    }

    fn backend(
        &self,
        code: Code,
        Opened { path, limits: own, rights }: &Opened,
        (owner, skill): (&Owner, Option<&Arc<SkillCopy>>),
        note: Option<PluginNote>,
    ) -> Result<Backend, Error> {
        let shown_as = path.clone();
        Ok(match (&self.options.isolation, code, note) {
            (Isolation::Process { program, limits }, code, _) => {
                let own = own.as_ref().and_then(|name| self.options.named_limits(owner, name));
                let mut limits = own.unwrap_or(limits).clone();
                limits.read.extend(rights.held.read.iter().map(PathBuf::from));
                limits.network = limits.network.or(&rights.held.network);
                // Callers name files of the skill by their original paths, so these must be readable,
                // too.
                limits.read.extend(skill.map(|_| owner.dir.clone()));
                let seen = skill.map_or(&owner.dir, |skill| &skill.dir);
                let program = program.clone();
                let worker = Worker::new(program, code, shown_as, seen.clone(), limits);
                Backend::Process(Box::new(worker))
            }
            (Isolation::InProcess, Code::Library(copy), Some(note)) => {
                Backend::InProcess(Box::new(InProcess::new(copy, shown_as, note)))
            }
            (Isolation::InProcess, ..) => {
                let message = format!("{} runs in a process of its own only", path.display());
                let help = "run toolsets in child processes";
                return Err(Error::new(ErrorCode::InvalidParam, message, help));
            }
        })
    }
}
