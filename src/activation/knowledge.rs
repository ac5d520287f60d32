//! Knowledge: the documents that a skill names for further reading, with the titles that they have.

use std::path::Path;

use repertoire_text::invisible::without_invisible;
use serde::Serialize;

use super::resources::{bytes_of, read_bytes};
use crate::catalog::Entry;
use crate::disclosure::path_text;

/// The largest document whose title is read, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// The directory beside the directory of skills that holds documents for all of them.
const SHARED_DIR: &str = "knowledge";

/// A document that a skill names for further reading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct KnowledgeDocument {
    /// The path as the skill gives it: from its own directory, if the document is there. For a document in the
    /// directory `knowledge` beside that of the skills, its absolute path.
    pub path: String,
    /// The first heading of the document; `None` if it has none, or is in neither directory.
    pub title: Option<String>,
}

/// The documents that a skill names.
pub(super) fn documents(entry: &Entry) -> Vec<KnowledgeDocument> {
    let named = entry.skill.manifest().knowledge.iter();
    named.map(|document| find(entry, &document.value)).collect()
}

fn find(entry: &Entry, path: &str) -> KnowledgeDocument {
    if let Ok(text) = bytes_of(entry, path, MAX_BYTES) {
        return KnowledgeDocument { path: path.to_owned(), title: title(&text) };
    }
    let Some(dir) = entry.skill.dir() else {
        return KnowledgeDocument { path: path.to_owned(), title: None };
    };
    let read = |dir: &Path| read_bytes(entry.id.as_str(), dir, path, MAX_BYTES).ok();
    let n_below_root = Path::new(&entry.relative_path).components().count();
    let shared = dir.ancestors().nth(n_below_root + 1).map(|above| above.join(SHARED_DIR));
    let found = shared.and_then(|shared| Some((read(&shared)?, shared.join(path))));
    let Some((text, at)) = found else {
        return KnowledgeDocument { path: path.to_owned(), title: None };
    };
    KnowledgeDocument { path: path_text(&at), title: title(&text) }
}

/// The first heading of a Markdown text.
fn title(text: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(text).ok()?;
    let heading = text.lines().find_map(|line| line.strip_prefix("# "))?;
    let heading = without_invisible(heading.trim());
    (!heading.is_empty()).then(|| heading.into_owned())
}
