//! Sources of skills: directories, and providers of the host.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use repertoire::catalog::{Provider, Scope};
use repertoire::{Error, Source};

use crate::names;

/// A source of skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceSetting {
    /// The directory or the provider.
    pub place: SourcePlace,
    /// The scope: `bundled`, `user` or `project`; for a provider also `memory`.
    pub scope: String,
    /// True if the directory need not exist.
    pub optional: bool,
    /// True if symbolic links may lead outside of the directory.
    pub links_outside: bool,
    /// The prefix of the ids of its skills; `None` if they have none.
    pub alias: Option<String>,
}

/// The place of a source's skills.
#[derive(Clone)]
pub enum SourcePlace {
    /// A directory.
    Directory(PathBuf),
    /// An object of the host, under a name.
    Provider(String, Arc<dyn Provider>),
}

impl SourceSetting {
    /// The setting for a bare path.
    pub fn bare(path: PathBuf) -> SourceSetting {
        let scope = Source::from(&*path).scope().as_str().to_owned();
        let place = SourcePlace::Directory(path);
        SourceSetting { place, scope, optional: false, links_outside: false, alias: None }
    }

    /// The setting for a provider: its skills are given by the host, unless it says otherwise.
    pub fn provided(name: String, provider: Arc<dyn Provider>) -> SourceSetting {
        let (place, scope) = (SourcePlace::Provider(name, provider), Scope::Memory.to_string());
        SourceSetting { place, scope, optional: false, links_outside: false, alias: None }
    }

    pub(crate) fn to_engine(&self) -> Result<Source, Error> {
        let alias = self.alias.as_deref().unwrap_or_default();
        let path = match &self.place {
            SourcePlace::Directory(path) => path,
            SourcePlace::Provider(name, provider) => {
                let is_memory = self.scope == Scope::Memory.as_str();
                let scope = if is_memory { Scope::Memory } else { names::scope(&self.scope)? };
                let source = Source::provided(scope, name, Arc::clone(provider));
                return Ok(source.alias(alias));
            }
        };
        let mut source = Source::new(names::scope(&self.scope)?, path).alias(alias);
        if self.optional {
            source = source.optional();
        }
        Ok(if self.links_outside { source.allow_links_outside() } else { source })
    }
}

impl PartialEq for SourcePlace {
    fn eq(&self, other: &SourcePlace) -> bool {
        match (self, other) {
            (SourcePlace::Directory(path), SourcePlace::Directory(other)) => path == other,
            (SourcePlace::Provider(name, of), SourcePlace::Provider(other_name, other)) => {
                name == other_name && Arc::ptr_eq(of, other)
            }
            _ => false,
        }
    }
}

impl Eq for SourcePlace {}

impl fmt::Debug for SourcePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourcePlace::Directory(path) => path.fmt(f),
            SourcePlace::Provider(name, _) => write!(f, "{name}:"),
        }
    }
}
