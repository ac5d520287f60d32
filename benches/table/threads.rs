//! The throughput gained by a second thread.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::measure::Rival;

/// Returns the throughput of two threads as a multiple of that of one. The bare scan writes no shared
/// memory, so its gain is the upper bound.
///
/// Two threads run all the time, and work in turns of a few milliseconds at most: first one, then the
/// other, then both. A thread that has no turn spins, so that it can start at once. The ratio is taken
/// over three consecutive turns, because other work on the machine lasts longer than these, and the
/// median ratio counts. The shortest turn of each kind would not do: it needs idle cores, and two idle
/// cores at once are rare.
pub(crate) fn speed_up<'a>(queries: &[String], rival: impl Fn() -> Rival<'a> + Sync) -> f64 {
    const TURNS: [[bool; 2]; 3] = [[true, false], [false, true], [true, true]];
    let (n_turns, n_passes) = (1_200, 10);
    let n_arrived = AtomicUsize::new(0);
    let one_thread = |which: usize| {
        let mut rival = rival();
        let mut pass = || {
            for query in queries {
                black_box((rival.run)(query));
            }
        };
        (0..5).for_each(|_| pass());
        let mut turn = |nth: usize| {
            // Threads that sleep here would wake up one after the other, and the first would wait.
            n_arrived.fetch_add(1, Ordering::Relaxed);
            while n_arrived.load(Ordering::Relaxed) < (nth + 1) * 2 {
                std::hint::spin_loop();
            }
            let start = Instant::now();
            if TURNS[nth % TURNS.len()][which] {
                (0..n_passes).for_each(|_| pass());
            }
            (start, Instant::now())
        };
        (0..n_turns).map(&mut turn).collect::<Vec<_>>()
    };
    let [first, second] = std::thread::scope(|scope| {
        let one_thread = &one_thread;
        [0, 1].map(|which| scope.spawn(move || one_thread(which))).map(|of| of.join().unwrap())
    });
    let took = first.iter().zip(&second).map(|(first, second)| {
        let took = first.1.max(second.1) - first.0.min(second.0);
        took.as_secs_f64()
    });
    let took: Vec<f64> = took.collect();
    let (rounds, _) = took.as_chunks();
    let mut ratios: Vec<f64> =
        rounds.iter().map(|[first, second, both]| (first + second) / both).collect();
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}
