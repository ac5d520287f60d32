//! `repertoire add`, `export`, `update`, `outdated`, `remove`, `push` and `sign`: fetches skills from
//! elsewhere, and publishes skills for others.

pub(crate) mod add;
mod agents;
mod choose;
mod copy_problems;
mod each_source;
pub(crate) mod export;
mod ignored;
pub(crate) mod outdated;
mod preview;
pub(crate) mod push;
pub(crate) mod remove;
pub(crate) mod sign;
pub(crate) mod update;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use repertoire::catalog::Scope;
use repertoire::toolset::collect_cache;
use repertoire::{Code, Error, ErrorCode};
use repertoire_fetch::{Fetcher, Kept, LeftOut, SourceList};

use crate::args::Common;
use crate::output::{Output, Page, WARNING, styled};
use crate::report::{self, count};
use crate::source_text::{failure_of, short};
use crate::{agent, progress_bar, sanitize, setup, signals};

/// Returns a fetcher that is cancelled when a signal asks this process to end. Fails without a home
/// directory.
pub(crate) fn fetcher(common: &Common) -> anyhow::Result<Fetcher> {
    let fetcher = setup::fetcher(common).ok_or_else(|| {
        let message = "there is no home directory to keep fetched skills in";
        Error::new(ErrorCode::NotFound, message, "set `HOME` to an absolute path")
    })?;
    signals::cancel_fetches()?;
    Ok(fetcher
        .placing_in(agent::skill_places(common))
        .cancelled_when(|| signals::cancelled_by().is_some()))
}

/// Returns the list that a command changes: the project's with `--project`, else the user's.
pub(crate) fn list_to_change<'f>(
    fetcher: &'f Fetcher,
    common: &Common,
) -> Result<SourceList<'f>, Error> {
    if common.names_project {
        return Ok(list_of_project(fetcher, common));
    }
    Ok(SourceList::new(fetcher, Scope::User, &setup::config_home()?, &common.brand))
}

fn list_of_project<'f>(fetcher: &'f Fetcher, common: &Common) -> SourceList<'f> {
    SourceList::new(fetcher, Scope::Project, &common.project, &common.brand)
}

/// Returns the lists in force: the user's and the project's, or the project's alone with `--project`.
pub(crate) fn lists<'f>(fetcher: &'f Fetcher, common: &Common) -> Vec<SourceList<'f>> {
    if common.names_project {
        return vec![list_of_project(fetcher, common)];
    }
    all_lists(fetcher, common)
}

/// Returns the lists of the user and the project.
pub(crate) fn all_lists<'f>(fetcher: &'f Fetcher, common: &Common) -> Vec<SourceList<'f>> {
    let of_project = list_of_project(fetcher, common);
    let new = |home: PathBuf| SourceList::new(fetcher, Scope::User, &home, &common.brand);
    let of_user = setup::home().map(new);
    let real = |list: &SourceList<'_>| list.config_file().canonicalize().ok();
    // The project may be the home directory.
    let is_one = of_user.as_ref().and_then(real).is_some_and(|u| real(&of_project) == Some(u));
    of_user.into_iter().chain((!is_one).then_some(of_project)).collect()
}

/// Reports invalid settings, which have no effect: without them, a source may differ from what its
/// author meant.
pub(crate) fn tell_of_settings(common: &Common, out: Output) -> Result<(), Error> {
    let codes = [Code::UnknownSetting, Code::WrongType, Code::InvalidValue, Code::InvalidToml];
    let config = setup::config(common)?;
    for finding in config.diagnostics().iter().filter(|finding| codes.contains(&finding.code)) {
        out.note(&report::short(finding));
    }
    Ok(())
}

/// Returns the sources that `names` mean, each with its list: by their names or addresses, or by one of
/// their skills. Returns all sources if no names are given. Fails for a name that no list has.
pub(crate) fn named<'l, 'f>(
    names: &[String],
    lists: &'l [SourceList<'f>],
) -> Result<Vec<(&'l SourceList<'f>, String)>, Error> {
    let all = lists
        .iter()
        .flat_map(|list| list.sections().into_iter().map(move |section| (list, section.name)));
    let all: Vec<_> = all.collect();
    if names.is_empty() {
        return Ok(all);
    }
    let mut wanted = BTreeSet::new();
    for name in names {
        let mut is_found = false;
        for list in lists {
            for found in list.find(name)? {
                is_found = true;
                wanted.insert((list.config_file(), found.source));
            }
        }
        if !is_found && let Some(list) = lists.first() {
            return Err(list.not_found(name));
        }
    }
    let is_wanted = |(list, name): &(&SourceList<'_>, String)| {
        wanted.contains(&(list.config_file(), name.clone()))
    };
    Ok(all.into_iter().filter(is_wanted).collect())
}

/// Adds a line for each skill that was not taken.
pub(crate) fn show_left_out(page: &mut Page, left_out: &[LeftOut]) {
    for LeftOut { dir, reason, .. } in left_out {
        let (title, dir) = (styled(WARNING, "left out"), sanitize::line(dir));
        page.line(format_args!("{title}: `{dir}`: {}", sanitize::line(reason)));
    }
}

/// Adds a line for a replaced copy that the user had changed.
pub(crate) fn show_edited(page: &mut Page, edited: Option<&Path>) {
    if let Some(dir) = edited {
        let (title, dir) = (styled(WARNING, "your changes"), dir.to_string_lossy());
        page.line(format_args!("{title} of the copy are kept in {}", sanitize::line(&dir)));
    }
}

/// Runs `work`, which fetches `source`. On a terminal, shows a spinner until it is done.
pub(crate) fn waiting<T>(source: &str, work: impl FnOnce() -> T) -> T {
    progress_bar::waiting(&format!("fetching {source}"), work)
}

/// Removes unused copies of toolsets and unused fetched contents from the cache. Returns the number
/// of fetched contents removed.
pub(crate) fn collect(fetcher: &Fetcher, common: &Common, out: Output) -> u64 {
    // The command has done its work: if tidying up fails, that does not matter.
    if let Some(dir) = setup::toolset_cache(common) {
        collect_cache(&dir, Fetcher::UNUSED);
    }
    let Ok(Kept { unused, unused_bytes, .. }) = fetcher.collect(Fetcher::UNUSED) else { return 0 };
    if unused > 0 && !out.json {
        let files = count(usize::try_from(unused).unwrap_or(usize::MAX), "unused file");
        out.note(&format!("{files} of {} KiB removed from the cache", unused_bytes.div_ceil(1024)));
    }
    unused
}

/// Returns the scripts and libraries of the skills in the copy at `root`, by their paths in it.
pub(crate) fn code_in(root: &Path) -> Vec<String> {
    let Ok(root) = &root.canonicalize() else { return Vec::new() };
    let walk = walkdir::WalkDir::new(root).sort_by_file_name().into_iter().filter_map(Result::ok);
    let dirs = walk.filter(|entry| entry.file_type().is_dir());
    let skills = dirs.filter_map(|entry| crate::trust::skill_in(entry.path()));
    let files = skills.flat_map(|owner| crate::trust::code_files(&owner).unwrap_or_default());
    let below = files.filter_map(|path| {
        let path = path.strip_prefix(root).map(Path::to_owned).ok()?;
        Some(path.to_string_lossy().into_owned())
    });
    let all: BTreeSet<String> = below.collect();
    all.into_iter().collect()
}
