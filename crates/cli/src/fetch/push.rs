//! `repertoire push`: packs skills, and uploads them for others to add.

use repertoire_fetch::Pushed;

use super::{fetcher, waiting};
use crate::args::{Common, PushArgs};
use crate::exit_code::ExitCode;
use crate::output::{DIM, GOOD, NAME, Output, Page, styled};
use crate::report::count;
use crate::sanitize;

pub(crate) fn run(args: &PushArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let fetcher = fetcher(common)?;
    let settings = args.choice.settings(&args.source);
    let here = std::env::current_dir().unwrap_or_default();
    let pushed = waiting(&settings.source, || fetcher.push(&settings, &here, &args.to))?;
    if out.json {
        Output::json(&pushed)?;
    } else {
        out.human(page(&pushed).as_str())?;
    }
    Ok(ExitCode::Done)
}

fn page(pushed: &Pushed) -> Page {
    let mut page = Page::default();
    let Pushed { to, digest, sha256, bytes, skills, files, .. } = pushed;
    let (to, files) = (styled(NAME, sanitize::line(to)), count(*files, "file"));
    page.line(format_args!("{} {to}: {files}, {bytes} bytes", styled(GOOD, "pushed")));
    for skill in skills {
        page.line(format_args!("  {}", sanitize::line(skill)));
    }
    let archive = styled(DIM, format_args!("SHA-256 of the archive: {sha256}"));
    page.line(format_args!("{archive}"));
    if let Some(digest) = digest {
        page.line(format_args!("digest: {}", sanitize::line(digest)));
    }
    page
}
