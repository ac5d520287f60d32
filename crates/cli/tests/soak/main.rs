//! Faults of all kinds, for as long as there is time. Nothing that was acknowledged may be lost, no
//! file of another program may be moved, and nothing may get out of a skill.
//!
//! A run takes some seconds, so that it can be part of the normal tests. `REPERTOIRE_SOAK_SECONDS` sets
//! a longer time; `docs/reliability.md` shows the table that such a run printed.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../support/binary.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod binary;
mod catalogs;
mod clients;
mod clocks;
mod code;
mod disks;
#[path = "../../../../tests/support/escapes.rs"]
mod escape_paths;
mod escapes;
mod files;
#[path = "../../../../tests/support/plugin.rs"]
mod plugin;
#[path = "../../../../tests/support/probes.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod probes;
mod role;
#[path = "../../../../tests/support/mod.rs"]
#[expect(dead_code, reason = "these tests need no shared data")]
mod support;
mod tally;
mod writers;

use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use support::say;
use tally::{Dice, Tally};

/// The length of a normal run, in seconds.
const SHORT: u64 = 12;

/// The kinds of faults. Each is tried on its own thread until the deadline.
const FAULTS: [fn(Run) -> Vec<Tally>; 9] = [
    writers::killed,
    writers::killed_programs,
    disks::full,
    clocks::jumping,
    catalogs::churning,
    files::damaged_and_foreign,
    code::swapped,
    clients::stalled,
    escapes::tried,
];

/// The deadline and the random seed for one kind of fault.
#[derive(Debug, Clone, Copy)]
struct Run {
    deadline: Instant,
    seed: u64,
}

impl Run {
    /// Tells whether there is time for another fault.
    fn goes_on(&self) -> bool {
        Instant::now() < self.deadline
    }

    fn dice(&self) -> Dice {
        Dice::new(self.seed)
    }

    /// Returns the time that is left, at least 100 ms.
    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(100))
    }
}

#[test]
fn faults_lose_nothing_and_let_nobody_in() {
    let seconds = std::env::var("REPERTOIRE_SOAK_SECONDS");
    let seconds = seconds.map_or(SHORT, |seconds| seconds.parse().unwrap());
    let seed = std::env::var("REPERTOIRE_SOAK_SEED");
    let seed = seed.map_or_else(|_| tally::any_seed(), |seed| seed.parse().unwrap());
    // Cargo may have to build these plugins, which takes longer than a short run.
    for package in ["calls-toolset", "failing-toolset"] {
        plugin::of_workspace(package);
    }
    let start = Instant::now();
    let deadline = start + Duration::from_secs(seconds);
    let tallies: Vec<Tally> = thread::scope(|scope| {
        let start = |(nth, fault): (u64, fn(Run) -> Vec<Tally>)| {
            scope.spawn(move || fault(Run { deadline, seed: seed ^ nth }))
        };
        let faults: Vec<_> = (0..).zip(FAULTS).map(start).collect();
        let joined = faults.into_iter().map(ScopedJoinHandle::join);
        joined
            .flat_map(|tallies| tallies.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let elapsed = start.elapsed().as_secs();
    say(&format!("{elapsed} seconds of faults, seed {seed}:\n\n{}", tally::table(&tallies)));
    let notes: Vec<&String> = tallies.iter().flat_map(Tally::notes).collect();
    assert!(notes.is_empty(), "seed {seed}: {notes:#?}");
    let idle: Vec<&Tally> = tallies.iter().filter(|tally| tally.is_idle()).collect();
    assert!(idle.is_empty(), "nothing was tried: {idle:?}");
}

#[test]
#[ignore = "a process of the other test"]
fn child() {
    role::play();
}
