//! `repertoire remove`: removes skills that were added.

use serde_json::json;

use super::{all_lists, collect, fetcher, list_to_change};
use crate::args::{Common, RemoveArgs};
use crate::exit_code::ExitCode;
use crate::output::{GOOD, NAME, Output, styled};
use crate::sanitize;

pub(crate) fn run(args: &RemoveArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let fetcher = fetcher(common)?;
    let list = list_to_change(&fetcher, common)?;
    let name = args.name.as_str();
    if let Err(error) = list.remove(name) {
        let others = all_lists(&fetcher, common);
        let other = others
            .iter()
            .find(|other| other.config_file() != list.config_file() && other.section(name).is_ok());
        return Err(match other {
            Some(other) => repertoire::Error::new(
                error.code(),
                format!("`{name}` is a source of {}", other.config_file().display()),
                if common.names_project {
                    "leave `--project` out to remove it there"
                } else {
                    "add `--project` to remove it there"
                },
            ),
            None => error,
        }
        .into());
    }
    let config = list.config_file().to_string_lossy();
    let collected = collect(&fetcher, common, out);
    if out.json {
        Output::json(&json!({"name": name, "config": config, "collected": collected}))?;
    } else {
        let (title, name) = (styled(GOOD, "removed"), styled(NAME, sanitize::line(name)));
        out.human(&format!("{title} {name} from {}", sanitize::line(&config)))?;
    }
    Ok(ExitCode::Done)
}
