//! Values that options of several commands have.

use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use repertoire::integration::hook::HookAgent;

/// A time above zero, in seconds.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().and_then(|n| Duration::try_from_secs_f64(n).ok());
    seconds
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| "write a number of seconds above zero, such as `2.5`".to_owned())
}

/// The name of an environment variable.
pub(super) fn variable(text: &str) -> Result<String, String> {
    match text.split_once('=') {
        Some((name, _)) if !name.is_empty() => Err(format!(
            "write the name alone, `--env {name}`: it is passed on with the value that it has here"
        )),
        None if !text.is_empty() => Ok(text.to_owned()),
        _ => Err("write the name of a variable, such as `LANG`".to_owned()),
    }
}

/// An agent whose hooks are known.
pub(super) fn agents() -> impl clap::builder::TypedValueParser<Value = HookAgent> {
    PossibleValuesParser::new(HookAgent::ALL.map(HookAgent::as_str))
        .try_map(|text| text.parse::<HookAgent>())
}
