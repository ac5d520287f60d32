//! Environment variables that stand for options.

use clap::error::{ContextKind, ContextValue};
use repertoire::{Budget, DisclosureOptions, Error, ErrorCode, PromptOptions};

const MAX_SKILLS: &str = "REPERTOIRE_MAX_SKILLS";
const PROMPT_BUDGET: &str = "REPERTOIRE_PROMPT_BUDGET";

/// Options with the variables that stand for them.
const VARIABLES: [(&str, &str); 3] = [
    ("--max-skills", MAX_SKILLS),
    ("--budget", PROMPT_BUDGET),
    ("--refresh", "REPERTOIRE_REFRESH"),
];

/// The variable `name`, for an option; `None` if it is set to nothing, which counts as not set.
pub(crate) fn filled(name: &'static str) -> Option<&'static str> {
    std::env::var_os(name).is_none_or(|value| !value.is_empty()).then_some(name)
}

/// Sets the limit of skills in full to that of `REPERTOIRE_MAX_SKILLS`, for commands that have no
/// option for it. An error leaves the options as they are.
pub(crate) fn limit_skills(options: &mut DisclosureOptions) -> Result<(), Error> {
    let Some(text) = value(MAX_SKILLS) else { return Ok(()) };
    options.max_skills = text.parse().map_err(|_| {
        let message = format!("`{MAX_SKILLS}`: `{text}` is not a number of skills");
        Error::new(
            ErrorCode::InvalidParam,
            message,
            "set it to a number such as `3`, or to nothing",
        )
    })?;
    Ok(())
}

/// Sets the budget of the list of skills to that of `REPERTOIRE_PROMPT_BUDGET`, for commands that
/// have no option for it. An error leaves the options as they are.
pub(crate) fn limit_prompt(options: &mut PromptOptions) -> Result<(), Error> {
    let Some(text) = value(PROMPT_BUDGET) else { return Ok(()) };
    let budget = Budget::parse(&text, options.context_window);
    let budget = budget
        .map_err(|error| error.reworded(format!("`{PROMPT_BUDGET}`: {}", error.message())))?;
    options.budget = Some(budget);
    Ok(())
}

/// The value of a variable; `None` if it is not set, or set to nothing.
fn value(name: &str) -> Option<String> {
    let value = std::env::var_os(name)?.to_string_lossy().into_owned();
    (!value.is_empty()).then_some(value)
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
