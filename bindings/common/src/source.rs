//! Sources of skills: directories, and providers of the host.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use percent_encoding::percent_decode_str;
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
    /// The setting for a bare path, or for one in a `file://` URL.
    pub fn bare(path: PathBuf) -> SourceSetting {
        let path = path.to_str().and_then(path_of_url).unwrap_or(path);
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

/// Returns the path in `text` if that is a `file://` URL, as `Path.as_uri()` and `import.meta.url` write one.
pub(crate) fn path_of_url(text: &str) -> Option<PathBuf> {
    let rest = text.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    // On Windows a letter of a drive follows the slash.
    let is_drive = path.as_bytes().get(2) == Some(&b':');
    let path = if is_drive { &path[1..] } else { path };
    percent_decode_str(path).decode_utf8().ok().map(|path| PathBuf::from(&*path))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_of_a_file_is_its_path() {
        for (text, wanted) in [
            ("file:///srv/skills", Some("/srv/skills")),
            ("file://localhost/srv/skills", Some("/srv/skills")),
            ("file:///srv/my%20skills/%C3%BC", Some("/srv/my skills/ü")),
            ("file:///C:/skills", Some("C:/skills")),
            ("file:///srv/100%", Some("/srv/100%")),
            ("/srv/skills", None),
            ("https://srv/skills", None),
        ] {
            assert_eq!(path_of_url(text), wanted.map(PathBuf::from), "{text}");
        }
    }
}
