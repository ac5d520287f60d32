//! The part of the report about skills from elsewhere.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use repertoire::Error;
use repertoire_fetch::{Fetcher, Kept};
use serde::Serialize;

use crate::args::Common;
use crate::failure::Failure;
use crate::output::{GOOD, NAME, Page, WARNING, styled};
use crate::report::count;
use crate::{fetch, sanitize, setup};

/// The state of a source that `config.toml` fetches.
#[derive(Serialize)]
pub(super) struct FetchedReport {
    name: String,
    source: String,
    config: String,
    /// The directory from which the skills of the source are read.
    path: String,
    /// The interval in seconds at which running MCP servers ask the source for something newer.
    refresh: Option<f64>,
    /// The time at which the source was last asked for something newer, in seconds since 1970.
    asked: Option<u64>,
    /// The key that signed the source, if it must be signed.
    signed_by: Option<String>,
    /// The reason why the copy is not as `skills.lock` pins it, or not the newest.
    problem: Option<Failure>,
}

/// Counts the contents in the cache; `None` if nothing was ever fetched, or a lock file that may pin
/// them is damaged.
pub(super) fn kept(common: &Common) -> Option<Kept> {
    let kept = setup::fetcher_without_policy(common)?.kept(Fetcher::UNUSED).ok()?;
    (kept.files > 0).then_some(kept)
}

/// Compares the copies of all fetched sources with what `skills.lock` pins. Uses no network.
pub(super) fn reports(common: &Common, broken: &mut Vec<String>) -> Vec<FetchedReport> {
    let fetcher = setup::fetcher(common).filter(|_| common.sources.is_empty());
    let Some(fetcher) = fetcher else { return Vec::new() };
    let mut reports = Vec::new();
    for list in fetch::lists(&fetcher, common) {
        for section in list.sections() {
            let signed_by = list.signed_by(&section).ok().flatten();
            let name = section.name;
            let problem = list.check(&name).err();
            let told = |error: &Error| format!("the source `{name}`: {}", error.message());
            broken.extend(problem.as_ref().map(told));
            reports.push(FetchedReport {
                source: section.settings.source,
                config: list.config_file().display().to_string(),
                path: list.copy_of(&name).display().to_string(),
                refresh: section.refresh.map(|interval| interval.as_secs_f64()),
                asked: list
                    .asked(&name)
                    .and_then(|asked| Some(asked.duration_since(UNIX_EPOCH).ok()?.as_secs())),
                signed_by,
                problem: problem.as_ref().map(Failure::from),
                name,
            });
        }
    }
    reports
}

/// Formats a time in the largest unit that it fills.
fn in_one_unit(time: Duration) -> String {
    let units = [(86_400, "d"), (3600, "h"), (60, "min")];
    let seconds = time.as_secs();
    let unit = units.into_iter().find(|(unit, _)| seconds >= *unit).unwrap_or((1, "s"));
    format!("{} {}", seconds / unit.0, unit.1)
}

pub(super) fn show(page: &mut Page, reports: &[FetchedReport], kept: Option<Kept>) {
    if reports.is_empty() && kept.is_none() {
        return;
    }
    page.line(format_args!("{}", styled(NAME, "Skills from elsewhere")));
    for FetchedReport { name, source, refresh, asked, signed_by, problem, .. } in reports {
        let state = if problem.is_none() { styled(GOOD, "good") } else { styled(WARNING, "stale") };
        let (name, source) = (sanitize::line(name), sanitize::line(source));
        page.line(format_args!("  {name}: {state} {source}"));
        if let Some(key) = signed_by {
            page.line(format_args!("    signed by {}", sanitize::line(key)));
        }
        if let Some(refresh) = refresh {
            let asked = asked
                .as_ref()
                .map(|at| SystemTime::now().duration_since(UNIX_EPOCH + Duration::from_secs(*at)));
            let asked = asked
                .and_then(Result::ok)
                .map_or_else(String::new, |since| format!("; asked {} ago", in_one_unit(since)));
            let interval = in_one_unit(Duration::from_secs_f64(*refresh));
            page.line(format_args!("    servers ask it every {interval}{asked}"));
        }
        if let Some(Failure { message, help, .. }) = problem {
            page.line(format_args!("    {}; {}", sanitize::line(message), sanitize::line(help)));
        }
    }
    if let Some(Kept { files, bytes, unused, .. }) = kept {
        let files = count(usize::try_from(files).unwrap_or(usize::MAX), "file");
        let size = bytes.div_ceil(1024);
        page.line(format_args!("  cache: {files} of {size} KiB, {unused} unused for 30 days"));
    }
}
