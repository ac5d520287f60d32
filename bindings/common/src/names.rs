//! Names of enumeration values, as hosts write them.

use repertoire::catalog::Scope;
use repertoire::toolset::ToolPolicy;
use repertoire::trust::Verdict;
use repertoire::{Audience, ConsentPolicy, Error, ErrorCode, MetaQuestion};

/// Parses a name. An error lists the choices.
fn choose<T: Copy>(what: &str, text: &str, choices: &[(&str, T)]) -> Result<T, Error> {
    let found = choices.iter().find(|(name, _)| *name == text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<String> = choices.iter().map(|(name, _)| format!("`{name}`")).collect();
        let message = format!("`{text}` is not a {what}");
        Error::new(ErrorCode::InvalidParam, message, format!("choose {}", names.join(" or ")))
    })
}

/// Parses the scope of a source.
pub fn scope(text: &str) -> Result<Scope, Error> {
    let choices = [("bundled", Scope::Bundled), ("user", Scope::User), ("project", Scope::Project)];
    choose("scope of a source", text, &choices)
}

/// Parses the audience: who asks for a skill.
pub fn audience(text: &str) -> Result<Audience, Error> {
    choose("audience", text, &[("model", Audience::Model), ("user", Audience::User)])
}

/// Parses the consent policy: when activations need consent.
pub fn consent_policy(text: &str) -> Result<ConsentPolicy, Error> {
    let choices = [
        ("never", ConsentPolicy::Never),
        ("first-use", ConsentPolicy::FirstUse),
        ("always", ConsentPolicy::Always),
    ];
    choose("policy of consent", text, &choices)
}

/// Parses the tool policy: which tools of toolsets are offered.
pub fn tool_policy(text: &str) -> Result<ToolPolicy, Error> {
    let choices = [("disclosed", ToolPolicy::Disclosed), ("all", ToolPolicy::All)];
    choose("policy of tools", text, &choices)
}

/// Parses the kind of a question about the skills themselves.
pub fn meta_question(text: &str) -> Result<MetaQuestion, Error> {
    let choices = [("registry", MetaQuestion::Registry), ("show_all", MetaQuestion::ShowAll)];
    choose("question about skills", text, &choices)
}

/// Returns the name of a verdict about code.
pub fn approval_verdict(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Trusted => "trusted",
        Verdict::Changed { .. } => "changed",
        _ => "untrusted",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_are_refused_with_the_choices() {
        let errors = [
            scope("mine").unwrap_err(),
            audience("all").unwrap_err(),
            consent_policy("").unwrap_err(),
            tool_policy("none").unwrap_err(),
            meta_question("x").unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.code(), ErrorCode::InvalidParam);
            assert!(error.help().starts_with("choose `"), "{error:#}");
        }
        assert_eq!(consent_policy("first-use").unwrap(), ConsentPolicy::FirstUse);
    }
}
