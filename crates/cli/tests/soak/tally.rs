//! Counts of faults, and the table that shows them.

use std::fmt::Write as _;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use serde::{Deserialize, Serialize};

/// The maximum number of failures that are described.
const MAX_NOTES: usize = 10;

/// The outcome of one kind of fault.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Tally {
    /// The fault and, in brackets, what must not be lost.
    name: String,
    tried: u64,
    survived: u64,
    kept: u64,
    lost: u64,
    notes: Vec<String>,
    /// The reason why this fault cannot be tried on this machine.
    skipped: Option<String>,
}

impl Tally {
    pub(crate) fn new(fault: &str, kept: &str) -> Tally {
        Tally { name: format!("{fault} ({kept})"), ..Tally::default() }
    }

    /// Records the reason why nothing is tried here.
    pub(crate) fn skip(mut self, why: &str) -> Tally {
        self.skipped = Some(why.to_owned());
        self
    }

    /// Counts a fault. `outcome` is `Ok` if it was survived, or else says what failed.
    pub(crate) fn fault(&mut self, outcome: Result<(), String>) {
        self.tried += 1;
        match outcome {
            Ok(()) => self.survived += 1,
            Err(failure) => self.note(&failure),
        }
    }

    /// Counts the things that are still there and those that are not.
    pub(crate) fn found(&mut self, kept: u64, lost: u64, what: impl FnOnce() -> String) {
        self.kept += kept;
        self.lost += lost;
        if lost > 0 {
            self.note(&format!("{lost} lost: {}", what()));
        }
    }

    /// Counts one thing that must be there.
    pub(crate) fn holds(&mut self, is_there: bool, what: impl FnOnce() -> String) {
        self.found(u64::from(is_there), u64::from(!is_there), what);
    }

    /// Adds the counts of another thread or process that tried the same fault.
    pub(crate) fn add(&mut self, other: Tally) {
        self.tried += other.tried;
        self.survived += other.survived;
        self.kept += other.kept;
        self.lost += other.lost;
        other.notes.into_iter().for_each(|note| self.note(&note));
        self.skipped = self.skipped.take().or(other.skipped);
    }

    fn note(&mut self, what: &str) {
        if self.notes.len() < MAX_NOTES {
            self.notes.push(format!("{}: {what}", self.name));
        }
    }

    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Tells whether nothing was tried or kept, although the machine allows the fault to be tried.
    pub(crate) fn is_idle(&self) -> bool {
        self.skipped.is_none() && (self.tried == 0 || self.kept == 0)
    }
}

/// Returns the table of all faults, in Markdown.
pub(crate) fn table(tallies: &[Tally]) -> String {
    let mut table = "| fault (what must not be lost) | tried | survived | kept | lost |\n\
                     |---|---|---|---|---|\n"
        .to_owned();
    let mut row = |name: &str, counts: [u64; 4]| {
        let counts = counts.map(|count| count.to_string()).join(" | ");
        let _ = writeln!(table, "| {name} | {counts} |");
    };
    let mut all = [0; 4];
    for tally in tallies {
        let counts = [tally.tried, tally.survived, tally.kept, tally.lost];
        match &tally.skipped {
            Some(why) => row(&format!("{}: SKIPPED, {why}", tally.name), counts),
            None => row(&tally.name, counts),
        }
        all.iter_mut().zip(counts).for_each(|(all, count)| *all += count);
    }
    row("all", all);
    table
}

/// Returns a seed that differs in each run.
pub(crate) fn any_seed() -> u64 {
    RandomState::new().build_hasher().finish() >> 16
}

/// A random number generator: repeatable, and good enough to choose faults.
#[derive(Debug, Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// Returns the next number (`SplitMix64`).
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `n`.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub(crate) fn position(&mut self, len: usize) -> usize {
        self.next() as usize % len
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.position(items.len())]
    }

    pub(crate) fn noise(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next().to_le_bytes()[0]).collect()
    }
}
