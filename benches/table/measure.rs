//! Measures the times of rivals that take turns, and formats them as tables.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// A competitor in a benchmark: it answers a query and returns the number of results.
pub(crate) struct Rival<'a> {
    pub(crate) name: &'static str,
    pub(crate) run: Box<dyn FnMut(&str) -> usize + 'a>,
}

/// The names of rivals, each with its nanoseconds per query.
pub(crate) type Figures = Vec<(&'static str, f64)>;

pub(crate) fn rival<'a>(name: &'static str, run: impl FnMut(&str) -> usize + 'a) -> Rival<'a> {
    Rival { name, run: Box::new(run) }
}

/// Returns the nanoseconds per query of each rival: its shortest pass among those that fit into
/// `budget`. The matcher has seen the words of `queries` before, like most words of a conversation; see
/// `by_many` for more words than it remembers.
pub(crate) fn measure(rivals: &mut [Rival<'_>], queries: &[String], budget: Duration) -> Vec<f64> {
    let mut best = vec![Duration::MAX; rivals.len()];
    let mut spent = vec![Duration::ZERO; rivals.len()];
    while spent.iter().any(|spent| *spent < budget) {
        for (place, rival) in rivals.iter_mut().enumerate() {
            if spent[place] >= budget {
                continue;
            }
            let mut pass = || {
                let start = Instant::now();
                for query in queries {
                    black_box((rival.run)(black_box(query)));
                }
                start.elapsed()
            };
            // The first pass is a warm-up, because the other rivals have changed the caches; see `cold`
            // for that effect.
            let warm_up = pass();
            let elapsed = pass();
            best[place] = best[place].min(elapsed);
            spent[place] += warm_up + elapsed;
        }
    }
    best.iter().map(|best| best.as_nanos() as f64 / queries.len() as f64).collect()
}

/// Formats a time with three significant digits.
pub(crate) fn time(nanoseconds: f64) -> String {
    match nanoseconds {
        n if n < 1e3 => format!("{n:.0} ns"),
        n if n < 1e4 => format!("{:.2} µs", n / 1e3),
        n if n < 1e6 => format!("{:.1} µs", n / 1e3),
        n => format!("{:.1} ms", n / 1e6),
    }
}

pub(crate) fn print_table(title: &str, header: &[String], rows: &[Vec<String>]) {
    let mut text =
        format!("\n### {title}\n\n| {} |\n|{}\n", header.join(" | "), "---|".repeat(header.len()));
    for row in rows {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    println!("{text}");
}
