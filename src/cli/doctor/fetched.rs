//! The part of the report about skills from elsewhere.

use repertoire::Error;
use repertoire::fetch::{Fetcher, Kept};
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
    /// The directory from which its skills are read.
    path: String,
    /// Why it is not as `skills.lock` pins it, or not the newest.
    problem: Option<Failure>,
}

/// Counts the contents in the cache; `None` if nothing was ever fetched, or a lock file that may pin
/// them is damaged.
pub(super) fn kept(common: &Common) -> Option<Kept> {
    let kept = setup::fetcher(common)?.kept(Fetcher::UNUSED).ok()?;
    (kept.files > 0).then_some(kept)
}

/// Compares all fetched sources with what is pinned; no network is used.
pub(super) fn reports(common: &Common, broken: &mut Vec<String>) -> Vec<FetchedReport> {
    let fetcher = setup::fetcher(common).filter(|_| common.sources.is_empty());
    let Some(fetcher) = fetcher else { return Vec::new() };
    let mut reports = Vec::new();
    for list in fetch::lists(&fetcher, common) {
        for section in list.sections() {
            let name = section.name;
            let problem = list.check(&name).err();
            let told = |error: &Error| format!("the source `{name}`: {}", error.message());
            broken.extend(problem.as_ref().map(told));
            reports.push(FetchedReport {
                source: section.settings.source,
                config: list.config_file().display().to_string(),
                path: list.copy_of(&name).display().to_string(),
                problem: problem.as_ref().map(Failure::from),
                name,
            });
        }
    }
    reports
}

pub(super) fn show(page: &mut Page, reports: &[FetchedReport], kept: Option<Kept>) {
    if reports.is_empty() && kept.is_none() {
        return;
    }
    page.line(format_args!("{}", styled(NAME, "Skills from elsewhere")));
    for FetchedReport { name, source, problem, .. } in reports {
        let state = if problem.is_none() { styled(GOOD, "good") } else { styled(WARNING, "stale") };
        let (name, source) = (sanitize::line(name), sanitize::line(source));
        page.line(format_args!("  {name}: {state} {source}"));
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
