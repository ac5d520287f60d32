//! The skills of a benchmark as a source of an engine.

use std::path::PathBuf;
use std::sync::Arc;

use repertoire::catalog::{ProvidedFile, Provider, Scope};
use repertoire::{Error, ErrorCode, Source};

use super::Candidate;

/// The name of the source, and so the first part of the ids in the engine.
const NAME: &str = "benchmark";
/// The start of the name of a skill's directory, before its place. Together they are a word that no request has, so
/// that no request names a skill by its id.
const DIRECTORY: &str = "candidate-no-";

/// Serves each skill as a directory with a `SKILL.md`, whose text is made when it is read.
struct Served(Arc<[Candidate]>);

/// Returns the skills as a source. Its ids are the names of directories, whatever the names of the skills are.
pub(super) fn source(skills: Arc<[Candidate]>) -> Source {
    Source::provided(Scope::Memory, NAME, Served(skills)).namespaced()
}

/// Returns the place of a skill by its id in the engine.
pub(super) fn place(id: &str) -> Option<usize> {
    id.strip_prefix(NAME)?.strip_prefix('/')?.strip_prefix(DIRECTORY)?.parse().ok()
}

/// Returns the path of a skill's file in findings.
pub(super) fn location(place: usize) -> PathBuf {
    PathBuf::from(format!("{NAME}:")).join(path(place))
}

fn path(place: usize) -> String {
    format!("{DIRECTORY}{place}/SKILL.md")
}

impl Provider for Served {
    fn list(&self) -> Result<Vec<ProvidedFile>, Error> {
        Ok((0..self.0.len()).map(|place| ProvidedFile::new(path(place), "")).collect())
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, Error> {
        let id = path.strip_suffix("/SKILL.md").map(|directory| format!("{NAME}/{directory}"));
        let skill = id.and_then(|id| self.0.get(place(&id)?));
        skill.map(|skill| skill.text().into_bytes()).ok_or_else(|| {
            let message = format!("the benchmark has no file `{path}`");
            Error::new(ErrorCode::NotFound, message, "read one of the files that it lists")
        })
    }
}
