//! Notes about what of a benchmark is not measured as its files have it.

use std::fmt;

use serde::Serialize;

/// A reason why the figures of a benchmark may differ from those that others measure with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BenchmarkNote {
    /// The kind.
    pub kind: NoteKind,
    /// The number of skills or requests that it is about.
    pub count: usize,
    /// The first of them: an id, a file with the line, or the reason.
    pub first: String,
}

/// A kind of notes. In JSON, it is written as in `repeated-skill`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum NoteKind {
    /// A skill that is in the files again, with the same content. It counts once.
    RepeatedSkill,
    /// A skill that is in the files again, with another content. The first one counts.
    AmbiguousSkill,
    /// A request that is in the files again, with the same id and the same right skills. It counts once.
    RepeatedRequest,
    /// A request without a right skill. It is left out.
    UnjudgedRequest,
    /// A request none of whose right skills is among the skills. It is left out.
    UnscoredRequest,
    /// A request some of whose right skills are not among the skills. These count as not found.
    PartialRequest,
    /// A skill that the engine does not accept. It is never found.
    RejectedSkill,
    /// A request for which the user's retriever failed. Skills were ranked by words alone.
    FailedRetriever,
}

/// The notes, at most one of each kind.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Notes(Vec<BenchmarkNote>);

impl Notes {
    /// Counts one more skill or request. `first` describes it.
    pub(super) fn add(&mut self, kind: NoteKind, first: impl FnOnce() -> String) {
        match self.0.iter_mut().find(|note| note.kind == kind) {
            Some(note) => note.count += 1,
            None => self.0.push(BenchmarkNote { kind, count: 1, first: first() }),
        }
    }

    /// Iterates over the notes.
    pub fn iter(&self) -> impl Iterator<Item = &BenchmarkNote> {
        self.0.iter()
    }
}

impl fmt::Display for BenchmarkNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BenchmarkNote { kind, count, first } = self;
        let (what, meaning) = match kind {
            NoteKind::RepeatedSkill => ("repeated skill", "counted once"),
            NoteKind::AmbiguousSkill => {
                ("skill", "repeated with another content; the first content counts")
            }
            NoteKind::RepeatedRequest => ("repeated request", "counted once"),
            NoteKind::UnjudgedRequest => ("request", "left out: no skill is right for it"),
            NoteKind::UnscoredRequest => {
                ("request", "left out: the right skills are not among the skills")
            }
            NoteKind::PartialRequest => {
                ("request", "with right skills that are not among the skills, counted as not found")
            }
            NoteKind::RejectedSkill => ("skill", "not accepted by the engine, and never found"),
            NoteKind::FailedRetriever => ("request", "ranked by words alone"),
        };
        let plural = if *count == 1 { "" } else { "s" };
        write!(f, "{count} {what}{plural} {meaning}; the first: {first}")
    }
}
