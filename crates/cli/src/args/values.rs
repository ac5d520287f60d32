//! Parsers of values that options of several commands share.

use std::error::Error;
use std::str::FromStr;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use repertoire::session::Tallies;

/// Parses a `T` that has one of `names`.
pub(super) fn one_of<T>(
    names: impl IntoIterator<Item = &'static str>,
) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err: Into<Box<dyn Error + Send + Sync>>> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names).try_map(|name: String| name.parse::<T>())
}

/// Parses a positive time in seconds.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().and_then(|n| Duration::try_from_secs_f64(n).ok());
    seconds
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| "write a number of seconds above zero, such as `2.5`".to_owned())
}

/// The default period of tallies.
pub(super) const PERIOD: &str = "30d";

/// Parses a period that ends today, in days or weeks, and returns its number of days.
pub(super) fn days(text: &str) -> Result<u32, String> {
    let units = [("d", 1), ("w", 7)].into_iter();
    let mut numbers = units.filter_map(|(unit, n_days)| {
        let number: u32 = text.strip_suffix(unit)?.parse().ok()?;
        number.checked_mul(n_days)
    });
    let days = numbers.next().filter(|days| (1..=Tallies::KEPT_DAYS).contains(days));
    days.ok_or_else(|| {
        let most = Tallies::KEPT_DAYS;
        format!("write days or weeks, such as `30d` or `4w`, up to the {most} days that are kept")
    })
}

/// Parses the name of an environment variable. Refuses names that a shell does not pass on to a script.
pub(super) fn variable(text: &str) -> Result<String, String> {
    let is_name = !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match text.split_once('=') {
        Some((name, _)) if !name.is_empty() => Err(format!(
            "write the name alone, `--env {name}`: it is passed on with the value that it has here"
        )),
        None if is_name => Ok(text.to_owned()),
        _ => Err("write the name of a variable, such as `LANG`: letters, digits and `_`, and no \
                  digit first"
            .to_owned()),
    }
}
