//! A provider of files in memory: texts, and functions that make a file when it is read.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use super::{ProvidedFile, Provider};
use crate::error::{Error, ErrorCode};

/// Skills made in code: files by path, whose content is given or made by a function whenever the file is read.
/// Clones share the files, so that a host can change them after an engine was built; a refresh takes it up.
///
/// ```
/// use repertoire::activation::{Content, ReadOptions};
/// use repertoire::catalog::{MemoryFiles, Scope};
/// use repertoire::{Engine, Source};
///
/// let files = MemoryFiles::new();
/// files.put("oncall/SKILL.md", "---\nname: oncall\ndescription: Who is on call.\n---\nRead `now.md`.");
/// files.put_function("oncall/now.md", || Ok("Ana".into()));
///
/// let engine = Engine::builder().source(Source::provided(Scope::Memory, "code", files.clone())).build()?;
/// let session = engine.session("chat-7");
/// assert_eq!(engine.activate("oncall", "", &session)?.files, ["now.md"]);
/// let now = engine.read_resource("oncall", "now.md", &session, &ReadOptions::default())?;
/// assert!(matches!(now.content, Content::Text { text, .. } if text == "Ana"));
///
/// files.remove("oncall/SKILL.md");
/// assert_eq!(engine.refresh()?.removed, ["oncall"]);
/// # Ok::<(), repertoire::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct MemoryFiles(Arc<RwLock<Files>>);

#[derive(Default)]
struct Files {
    /// Each file with the number of the change that made it.
    by_path: BTreeMap<String, (u64, Content)>,
    n_changes: u64,
}

#[derive(Clone)]
enum Content {
    Bytes(Arc<[u8]>),
    Function(Arc<dyn Fn() -> Result<Vec<u8>, Error> + Send + Sync>),
}

impl MemoryFiles {
    /// No files.
    pub fn new() -> MemoryFiles {
        MemoryFiles::default()
    }

    /// Adds a file at `path`, such as `code-review/SKILL.md`, or replaces it.
    pub fn put(&self, path: impl Into<String>, content: impl Into<Vec<u8>>) {
        self.insert(path.into(), Content::Bytes(content.into().into()));
    }

    /// Adds a file whose content `make` returns whenever the file is read, or replaces it. A `SKILL.md` is
    /// read again only when it is put again.
    pub fn put_function(
        &self,
        path: impl Into<String>,
        make: impl Fn() -> Result<Vec<u8>, Error> + Send + Sync + 'static,
    ) {
        self.insert(path.into(), Content::Function(Arc::new(make)));
    }

    /// Removes the file at `path`; returns false if there is none.
    pub fn remove(&self, path: &str) -> bool {
        self.0.write().unwrap_or_else(PoisonError::into_inner).by_path.remove(path).is_some()
    }

    fn insert(&self, path: String, content: Content) {
        let mut files = self.0.write().unwrap_or_else(PoisonError::into_inner);
        files.n_changes += 1;
        let n_changes = files.n_changes;
        files.by_path.insert(path, (n_changes, content));
    }
}

impl Provider for MemoryFiles {
    fn list(&self) -> Result<Vec<ProvidedFile>, Error> {
        let files = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let file = |(path, (change, _)): (&String, &(u64, Content))| {
            ProvidedFile::new(path, change.to_string())
        };
        Ok(files.by_path.iter().map(file).collect())
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, Error> {
        let content = {
            let files = self.0.read().unwrap_or_else(PoisonError::into_inner);
            files.by_path.get(path).map(|(_, content)| content.clone())
        };
        // The function may change the files, so it runs without the lock.
        match content {
            Some(Content::Bytes(bytes)) => Ok(bytes.to_vec()),
            Some(Content::Function(make)) => make(),
            None => {
                let message = format!("there is no file `{path}` in memory");
                Err(Error::new(ErrorCode::NotFound, message, "refresh the engine"))
            }
        }
    }
}

impl fmt::Debug for MemoryFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = self.0.read().unwrap_or_else(PoisonError::into_inner);
        f.debug_set().entries(files.by_path.keys()).finish()
    }
}
