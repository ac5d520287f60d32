//! Environment variables that stand for options.

use clap::error::{ContextKind, ContextValue};

/// Options with the variables that stand for them.
const VARIABLES: [(&str, &str); 3] = [
    ("--max-skills", "REPERTOIRE_MAX_SKILLS"),
    ("--budget", "REPERTOIRE_PROMPT_BUDGET"),
    ("--refresh", "REPERTOIRE_REFRESH"),
];

/// The variable `name`, for an option; `None` if it is set to nothing, which counts as not set.
pub(crate) fn filled(name: &'static str) -> Option<&'static str> {
    std::env::var_os(name).is_none_or(|value| !value.is_empty()).then_some(name)
}

/// The number in `REPERTOIRE_MAX_SKILLS`; `None` if it is not set, or not a number.
pub(crate) fn max_skills() -> Option<usize> {
    std::env::var("REPERTOIRE_MAX_SKILLS").ok()?.parse().ok()
}

/// The variable that gave the option its value; `None` if that stands on the command line.
pub(crate) fn variable_of(option: &str) -> Option<&'static str> {
    let is_option = |arg: &str| arg == option || arg.starts_with(&format!("{option}="));
    if std::env::args_os().any(|arg| is_option(&arg.to_string_lossy())) {
        return None;
    }
    let (_, variable) = VARIABLES.iter().find(|(known, _)| *known == option)?;
    std::env::var_os(variable).is_some_and(|value| !value.is_empty()).then_some(variable)
}

/// Lets an error about the value of an option name the variable that the value is from.
pub(crate) fn name_variable(mut error: clap::Error) -> clap::Error {
    let option = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(option)) => option.split(' ').next().unwrap_or_default(),
        _ => return error,
    };
    if let Some(variable) = variable_of(option) {
        error.insert(ContextKind::InvalidArg, ContextValue::String(variable.to_owned()));
    }
    error
}
