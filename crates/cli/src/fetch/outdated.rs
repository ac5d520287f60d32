//! `repertoire outdated`: lists the added sources that have something newer.

use repertoire::Error;
use repertoire_fetch::Outdated;
use serde_json::{Value as Json, json};

use super::{failure_of, fetcher, lists, named, short, tell_of_settings, waiting};
use crate::args::{Common, OutdatedArgs};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output::{GOOD, NAME, Output, Page, WARNING, styled};
use crate::{sanitize, signals};

pub(crate) fn run(args: &OutdatedArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let fetcher = fetcher(common)?;
    let lists = lists(&fetcher, common);
    tell_of_settings(common, out)?;
    let (mut page, mut reports, mut is_good) = (Page::default(), Vec::new(), true);
    for (list, name) in named(&args.names, &lists)? {
        let result = waiting(&name, || list.outdated(&name));
        is_good &= result.as_ref().is_ok_and(|result| !result.outdated);
        match &result {
            Ok(result) => line(&mut page, &name, result),
            Err(error) => out.partial_failure(&failure_of(&name, error)),
        }
        reports.push(report(&name, list.config_file(), &result));
        if signals::cancelled_by().is_some() {
            break;
        }
    }
    if out.json {
        Output::json(&json!({"sources": reports}))?;
    } else if !page.as_str().is_empty() {
        out.human(page.as_str())?;
    } else if reports.is_empty() {
        out.note("no sources; `repertoire add SOURCE` adds one");
    }
    Ok(ExitCode::done_if(is_good))
}

fn report(name: &str, config: &std::path::Path, result: &Result<Outdated, Error>) -> Json {
    let config = config.to_string_lossy();
    match result {
        Ok(Outdated { locked, newest, outdated, held, signed_by, .. }) => json!({
            "name": name, "config": config,
            "locked": locked, "newest": newest, "outdated": outdated, "held": held,
            "signed_by": signed_by, "error": null,
        }),
        Err(error) => json!({
            "name": name, "config": config,
            "locked": null, "newest": null, "outdated": null, "held": null,
            "signed_by": null, "error": Failure::from(error),
        }),
    }
}

fn line(page: &mut Page, name: &str, result: &Outdated) {
    let Outdated { locked, newest, outdated, held, signed_by, .. } = result;
    let name = styled(NAME, sanitize::line(name));
    let newest = sanitize::line(short(newest));
    let (title, text) = match locked {
        _ if !outdated => (styled(GOOD, "newest  "), format!(" at {newest}")),
        Some(locked) => {
            let locked = sanitize::line(short(locked));
            (styled(WARNING, "outdated"), format!(" at {locked}, newest is {newest}"))
        }
        None => (styled(WARNING, "missing "), format!(", newest is {newest}")),
    };
    page.line(format_args!("{title} {name}{text}"));
    if let Some(key) = signed_by {
        page.line(format_args!("         signed by {}", sanitize::line(key)));
    }
    if let Some(held) = held {
        page.line(format_args!("         it waits for `update`: {}", sanitize::line(held)));
    }
}
