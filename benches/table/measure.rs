//! Measurement: times of rivals that take turns, and tables of them.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// A contestant: answers a query, and returns how much it found.
pub(crate) struct Rival<'a> {
    pub(crate) name: &'static str,
    pub(crate) run: Box<dyn FnMut(&str) -> usize + 'a>,
}

/// Names of rivals with their nanoseconds a query.
pub(crate) type Figures = Vec<(&'static str, f64)>;

pub(crate) fn rival<'a>(name: &'static str, run: impl FnMut(&str) -> usize + 'a) -> Rival<'a> {
    Rival { name, run: Box::new(run) }
}

/// Nanoseconds a query of each rival: the shortest pass of those that fit in `budget` each. The matcher has
/// met the words of `queries` before, as it has most of a conversation's: see `by_many` for others.
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
            // The state of the caches after the others does not count: see `cold` for that.
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
