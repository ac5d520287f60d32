//! The part of the report about skills from elsewhere.

use repertoire::Error;
use serde::Serialize;

use crate::args::Common;
use crate::failure::Failure;
use crate::output::{GOOD, NAME, Page, WARNING, styled};
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

pub(super) fn show(page: &mut Page, reports: &[FetchedReport]) {
    if reports.is_empty() {
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
}
