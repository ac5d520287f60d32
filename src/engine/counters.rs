//! Counts of an engine's work, for metrics.

use std::sync::atomic::{AtomicU64, Ordering};

/// The counts of an engine and all its clones, since it was built.
///
/// ```
/// use repertoire::{Engine, Skill};
///
/// let skill: Skill = "---\nname: review\ndescription: Reviews code.\n---\nLook twice.".parse()?;
/// let engine = Engine::builder().skill(skill).build()?;
/// engine.turn("use the review skill", &engine.session("chat-7")).run()?;
/// let counts = engine.counts();
/// assert_eq!((counts.queries, counts.matched, counts.full), (1, 1, 1));
/// # Ok::<(), repertoire::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct EngineCounts {
    /// The number of messages answered with a disclosure in a conversation, and of searches for skills.
    pub queries: u64,
    /// Skills that these queries matched by a trigger or a mention.
    pub matched: u64,
    /// Skills that would have matched if an `exclude` had not vetoed them.
    pub vetoed: u64,
    /// Skills shown in full: disclosed, or loaded by name.
    pub full: u64,
    /// Skills shown as a line: disclosed, or found by a search.
    pub lines: u64,
    /// Skills that disclosures only counted.
    pub counted: u64,
    /// Skills loaded by name, including those that were in the context already.
    pub used: u64,
}

impl EngineCounts {
    /// The sum of two engines' counts.
    #[must_use]
    pub fn plus(self, other: EngineCounts) -> EngineCounts {
        EngineCounts {
            queries: self.queries + other.queries,
            matched: self.matched + other.matched,
            vetoed: self.vetoed + other.vetoed,
            full: self.full + other.full,
            lines: self.lines + other.lines,
            counted: self.counted + other.counted,
            used: self.used + other.used,
        }
    }
}

/// The counters behind [`EngineCounts`].
#[derive(Debug, Default)]
pub(super) struct Counters {
    queries: AtomicU64,
    matched: AtomicU64,
    vetoed: AtomicU64,
    full: AtomicU64,
    lines: AtomicU64,
    counted: AtomicU64,
    used: AtomicU64,
}

impl Counters {
    /// Adds `counts`. Skips zeros, which saves their atomic writes.
    pub(super) fn add(&self, counts: EngineCounts) {
        for (counter, more) in [
            (&self.queries, counts.queries),
            (&self.matched, counts.matched),
            (&self.vetoed, counts.vetoed),
            (&self.full, counts.full),
            (&self.lines, counts.lines),
            (&self.counted, counts.counted),
            (&self.used, counts.used),
        ] {
            if more > 0 {
                counter.fetch_add(more, Ordering::Relaxed);
            }
        }
    }

    pub(super) fn counts(&self) -> EngineCounts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        EngineCounts {
            queries: read(&self.queries),
            matched: read(&self.matched),
            vetoed: read(&self.vetoed),
            full: read(&self.full),
            lines: read(&self.lines),
            counted: read(&self.counted),
            used: read(&self.used),
        }
    }
}
