//! Progress bars, on a terminal.

use std::io::{self, IsTerminal as _};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};
use repertoire::{EngineBuilder, Phase, Progress};

use crate::sanitize;

/// The time that loading must take before the bar is shown.
const SHOWN_AFTER: Duration = Duration::from_secs(1);

/// Returns a progress bar on standard error for `n_items`. It is hidden if there are at most `n_few`,
/// or standard error is not a terminal.
pub(crate) fn counting(verb: &str, n_items: usize, n_few: usize) -> ProgressBar {
    if n_items <= n_few {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(&format!("{verb} {{bar:40}} {{pos}}/{{len}}"));
    ProgressBar::new(n_items as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Runs `work`, which waits for a server or another program. On a terminal, shows a spinner with `what` is
/// being done on standard error until it is done.
pub(crate) fn waiting<T>(what: &str, work: impl FnOnce() -> T) -> T {
    if !io::stderr().is_terminal() {
        return work();
    }
    let style = ProgressStyle::with_template("{spinner} {msg} ({elapsed})");
    let bar = ProgressBar::new_spinner()
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
        .with_message(sanitize::line(what).into_owned())
        .with_finish(ProgressFinish::AndClear);
    bar.enable_steady_tick(Duration::from_millis(100));
    let result = work();
    bar.finish_and_clear();
    result
}

/// Shows a progress bar while the engine is built, if standard error is a terminal and building takes
/// longer than [`SHOWN_AFTER`].
pub(crate) fn with_progress(builder: EngineBuilder) -> EngineBuilder {
    if !io::stderr().is_terminal() {
        return builder;
    }
    let start = Instant::now();
    let bar = Mutex::new(None);
    builder.progress(move |progress| {
        if start.elapsed() >= SHOWN_AFTER {
            let mut bar = bar.lock().unwrap_or_else(PoisonError::into_inner);
            show(progress, bar.get_or_insert_with(new_bar));
        }
    })
}

/// Returns a progress bar that clears itself once the engine is built.
fn new_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {bar:40} {percent}%");
    ProgressBar::new(0)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        .with_finish(ProgressFinish::AndClear)
}

fn show(Progress { phase, done, total }: Progress, bar: &ProgressBar) {
    bar.set_message(match phase {
        Phase::Reading => "reading skills",
        Phase::Compiling => "compiling triggers",
        Phase::Indexing => "indexing texts",
        _ => "loading",
    });
    bar.set_length(total as u64);
    bar.set_position(done as u64);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_follows_the_phase() {
        let bar = new_bar();
        let at = |phase, done| {
            show(Progress { phase, done, total: 300 }, &bar);
            (bar.message(), bar.position(), bar.length())
        };
        assert_eq!(at(Phase::Reading, 64), ("reading skills".to_owned(), 64, Some(300)));
        assert_eq!(at(Phase::Reading, 300), ("reading skills".to_owned(), 300, Some(300)));
        assert_eq!(at(Phase::Compiling, 0), ("compiling triggers".to_owned(), 0, Some(300)));
    }
}
