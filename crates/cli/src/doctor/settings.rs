//! The settings in force, as `doctor` reports them.

use repertoire::{Code, Diagnostic, Engine};
use repertoire_config::Config;
use serde_json::Value;

/// Returns the findings about settings that name no skill.
pub(super) fn unknown_skills(engine: &Engine) -> Vec<Diagnostic> {
    let findings = engine.diagnostics();
    findings.iter().filter(|found| found.code == Code::UnknownSkill).cloned().collect()
}

/// Says by which means skills are ranked beside their words.
pub(super) fn meaning(config: &Config) -> String {
    let settings = config.settings();
    let value = |key: &str| settings.iter().rfind(|of| of.key == key).map(|of| of.value.clone());
    if let Some(Value::String(command)) = value("routing.retriever") {
        return command;
    }
    match value("routing.meaning") {
        Some(Value::String(name)) if config.has_model() => name,
        Some(Value::String(name)) => format!("the usual table, as `{name}` cannot be used"),
        Some(Value::Bool(false)) => "words alone".to_owned(),
        _ => "the usual table".to_owned(),
    }
}
