//! `repertoire man`: writes the manual pages, one for each command.

use std::fs;

use serde_json::json;

use crate::args::{self, ManArgs};
use crate::exit_code::ExitCode;
use crate::output::{Output, Page};
use crate::replace::io_error;
use crate::sanitize;

pub(crate) fn run(ManArgs { dir }: &ManArgs, out: Output) -> anyhow::Result<ExitCode> {
    let failed = |error| io_error("write manual pages into", dir, &error);
    fs::create_dir_all(dir).map_err(failed)?;
    clap_mangen::generate_to(args::command(), dir).map_err(failed)?;
    let dir = dir.to_string_lossy();
    if out.json {
        Output::json(&json!({ "dir": dir }))?;
        return Ok(ExitCode::Done);
    }
    let mut page = Page::default();
    page.line(format_args!("the manual pages are in {}", sanitize::line(&dir)));
    out.human(page.as_str())?;
    Ok(ExitCode::Done)
}
