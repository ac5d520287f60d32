//! `repertoire tool dev`: builds a skill's tools whenever their code changes.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use walkdir::{DirEntry, WalkDir};

use super::build::{self, Plan};
use crate::args::{Common, ToolBuildArgs};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output::Output;

/// The interval at which the code is checked for changes.
const POLL: Duration = Duration::from_millis(300);

/// The files that make up the tools, each with its size and its time of change.
type Seen = Vec<(PathBuf, u64, Option<SystemTime>)>;

/// Builds on each change until the process is ended. A running host uses the new library from the
/// next call on.
pub(crate) fn run(args: &ToolBuildArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    Plan::of(args)?;
    loop {
        // Recorded before the build, so that a change while it runs leads to another build.
        let seen = seen(args).unwrap_or_default();
        match build::run(args, common, out) {
            Ok(_) => out.note("built; waiting for changes"),
            Err(error) => out.partial_failure(&Failure::from(&error)),
        }
        while self::seen(args).unwrap_or_default() == seen {
            thread::sleep(POLL);
        }
    }
}

fn seen(args: &ToolBuildArgs) -> anyhow::Result<Seen> {
    let plan = Plan::of(args)?;
    let manifest = std::fs::read_dir(&plan.owner.dir)?.filter_map(Result::ok).map(|it| it.path());
    let manifest = manifest.filter(|path| path.is_file());
    let walks = plan.code().map(|dir| WalkDir::new(dir).into_iter().filter_entry(is_code));
    let code = walks.flatten().filter_map(Result::ok).map(DirEntry::into_path);
    let files = manifest.chain(code).chain(plan.servers.clone());
    let mut seen: Seen = files.filter_map(|path| stamped(&path)).collect();
    seen.sort();
    Ok(seen)
}

/// Tells whether an entry is code, not something that a build writes.
fn is_code(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    entry.depth() == 0 || !(name.starts_with('.') || name == "target" || name == "Cargo.lock")
}

fn stamped(path: &Path) -> Option<(PathBuf, u64, Option<SystemTime>)> {
    let metadata = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    Some((path.to_owned(), metadata.len(), metadata.modified().ok()))
}
