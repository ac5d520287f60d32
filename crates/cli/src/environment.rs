//! Environment variables that set options.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use repertoire::{Budget, DisclosureOptions, Error, ErrorCode, PromptOptions};

const MAX_SKILLS: &str = "REPERTOIRE_MAX_SKILLS";
const PROMPT_BUDGET: &str = "REPERTOIRE_PROMPT_BUDGET";

/// Options, each with the environment variable that can set it.
const VARIABLES: [(&str, &str); 3] = [
    ("--max-skills", MAX_SKILLS),
    ("--budget", PROMPT_BUDGET),
    ("--refresh", "REPERTOIRE_REFRESH"),
];

/// Returns `name`, to be read by an option; `None` if the variable is set but empty, which counts as
/// not set.
pub(crate) fn filled(name: &'static str) -> Option<&'static str> {
    std::env::var_os(name).is_none_or(|value| !value.is_empty()).then_some(name)
}

/// Sets the maximum number of skills shown in full from `REPERTOIRE_MAX_SKILLS`, for commands that
/// have no option for it. On an error, the options stay unchanged.
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

/// Sets the budget of the list of skills from `REPERTOIRE_PROMPT_BUDGET`, for commands that have no
/// option for it. On an error, the options stay unchanged.
pub(crate) fn limit_prompt(options: &mut PromptOptions) -> Result<(), Error> {
    let Some(text) = value(PROMPT_BUDGET) else { return Ok(()) };
    let budget = Budget::parse(&text, options.context_window);
    let budget = budget
        .map_err(|error| error.reworded(format!("`{PROMPT_BUDGET}`: {}", error.message())))?;
    options.budget = Some(budget);
    Ok(())
}

/// Returns the value of a variable; `None` if it is not set, or empty.
fn value(name: &str) -> Option<String> {
    let value = std::env::var_os(name)?.to_string_lossy().into_owned();
    (!value.is_empty()).then_some(value)
}

/// Returns the environment variable that set `option`; `None` if the command line gives the option,
/// or nothing does.
pub(crate) fn variable_of(option: &str) -> Option<&'static str> {
    let is_option = |arg: &str| arg == option || arg.starts_with(&format!("{option}="));
    if std::env::args_os().any(|arg| is_option(&arg.to_string_lossy())) {
        return None;
    }
    let (_, variable) = VARIABLES.iter().find(|(known, _)| *known == option)?;
    std::env::var_os(variable).is_some_and(|value| !value.is_empty()).then_some(variable)
}

/// Completes an error of the command line: one about the value of an option names the environment variable
/// that set it, if one did; one about bytes says what to do.
pub(crate) fn explain(mut error: clap::Error) -> clap::Error {
    if error.kind() == ErrorKind::InvalidUtf8 {
        let tip = "messages, names and addresses are UTF-8; name a directory by `.` inside of it, or rename it";
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
        return error;
    }
    let option = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(option)) => option.split(' ').next().unwrap_or_default(),
        _ => return error,
    };
    if let Some(variable) = variable_of(option) {
        error.insert(ContextKind::InvalidArg, ContextValue::String(variable.to_owned()));
    }
    error
}
