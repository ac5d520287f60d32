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

/// An agent whose hooks are known.
pub(super) fn agents() -> impl clap::builder::TypedValueParser<Value = HookAgent> {
    PossibleValuesParser::new(HookAgent::ALL.map(HookAgent::as_str))
        .try_map(|text| text.parse::<HookAgent>())
}
