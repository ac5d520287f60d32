//! Settings of a user for a trial: without keys, addresses, and programs of others.
//!
//! Unknown settings stay, as one of them may keep hooks from running. A model on the loopback needs no
//! keys, and nothing but this program's hooks may run: those of others can commit or send something.

use std::io;
use std::path::Path;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::CstRootNode;
use serde_json::{Map, Value as Json, json};
use toml_edit::{DocumentMut, Item, TableLike, Value};

/// The parts of names of settings that may hold a secret, an address or a program. Of their values, only
/// switches and numbers are kept.
const DROPPED: [&str; 19] = [
    "account", "address", "auth", "command", "credential", "endpoint", "env", "header", "helper",
    "key", "login", "mcp", "notify", "otel", "password", "provider", "secret", "token", "url",
];

/// The settings whose entries are named by users: by skills, plugins, directories or tools.
const NAMED_BY_USERS: [&str; 10] = [
    "enabledPlugins", "permission", "permissions", "plugins", "projects", "skill",
    "skillOverrides", "skills", "state", "tools",
];

/// The rules by which settings are cleaned.
pub(super) struct Rules<'r> {
    /// Tells whether an entry of hooks runs this program's hook.
    pub(super) is_own: &'r dyn Fn(&Json) -> bool,
    /// Returns the text of a path in the copy.
    pub(super) moved: &'r dyn Fn(&str) -> String,
    /// True if the name of the model is kept.
    pub(super) keeps_model: bool,
}

impl Rules<'_> {
    /// Returns `settings` without everything that a trial must not have.
    pub(super) fn clean(&self, settings: &Json) -> Json {
        self.cleaned(settings, "")
    }

    /// Cleans the value of the setting `name`.
    fn cleaned(&self, value: &Json, name: &str) -> Json {
        match value {
            Json::Object(fields) if name == "hooks" => self.own_hooks(fields),
            Json::Object(fields) => {
                let is_named = NAMED_BY_USERS.contains(&name);
                let kept = fields.iter().filter(|(key, value)| is_named || self.keeps(key, value));
                kept.map(|(key, value)| ((self.moved)(key), self.cleaned(value, key))).collect()
            }
            Json::Array(items) => items.iter().map(|item| self.cleaned(item, name)).collect(),
            Json::String(text) => (self.moved)(text).into(),
            other => other.clone(),
        }
    }

    fn keeps(&self, key: &str, value: &Json) -> bool {
        if value.is_boolean() || value.is_number() {
            return true;
        }
        let key = key.to_lowercase();
        let is_model = key.contains("model") || key == "profile";
        !DROPPED.iter().any(|part| key.contains(part)) && (self.keeps_model || !is_model)
    }

    /// Returns the hooks of this program, by events. Other values are switches, or hashes of hooks that
    /// the user trusts.
    fn own_hooks(&self, events: &Map<String, Json>) -> Json {
        let of_event = |(event, value): (&String, &Json)| match value {
            Json::Array(hooks) => {
                let own = hooks.iter().filter_map(|hook| self.own_hook(hook)).collect();
                (event.clone(), Json::Array(own))
            }
            other => (event.clone(), self.cleaned(other, event)),
        };
        events.iter().map(of_event).collect()
    }

    /// Returns a hook, or a group of hooks, with those of this program only.
    fn own_hook(&self, hook: &Json) -> Option<Json> {
        if let Some(inner) = hook["hooks"].as_array() {
            let own: Vec<Json> = inner.iter().filter_map(|hook| self.own_hook(hook)).collect();
            let mut group = hook.clone();
            group["hooks"] = own.into();
            return (group["hooks"] != json!([])).then_some(group);
        }
        (self.is_own)(hook).then(|| hook.clone())
    }
}

/// Reads a settings file in JSON or TOML; `None` if it cannot be parsed, which the agent itself reports.
pub(super) fn read(path: &Path) -> Option<Json> {
    let text = std::fs::read_to_string(path).ok()?;
    let text = text.trim_start_matches('\u{feff}');
    if is_toml(path) {
        return Some(of_table(text.parse::<DocumentMut>().ok()?.as_table()));
    }
    CstRootNode::parse(text, &ParseOptions::default()).ok()?.to_serde_value()
}

/// Writes `settings` to a file in JSON or TOML.
pub(super) fn write(path: &Path, settings: &Json) -> io::Result<()> {
    if !is_toml(path) {
        return std::fs::write(path, settings.to_string());
    }
    let mut document = DocumentMut::new();
    for (key, value) in settings.as_object().into_iter().flatten() {
        if let Some(value) = to_toml(value) {
            document.insert(key, Item::Value(value));
        }
    }
    std::fs::write(path, document.to_string())
}

/// Adds the settings of `others` to `settings`, and replaces those with the same name.
pub(super) fn merge(settings: &mut Json, others: Json) {
    match (settings, others) {
        (Json::Object(settings), Json::Object(others)) => {
            for (key, value) in others {
                merge(settings.entry(key).or_insert(Json::Null), value);
            }
        }
        (settings, others) => *settings = others,
    }
}

fn is_toml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "toml")
}

fn of_table(table: &dyn TableLike) -> Json {
    let of_item = |item: &Item| match item {
        Item::None => Json::Null,
        Item::Value(value) => of_toml(value),
        Item::Table(table) => of_table(table),
        Item::ArrayOfTables(tables) => tables.iter().map(|table| of_table(table)).collect(),
    };
    table.iter().map(|(key, item)| (key.to_owned(), of_item(item))).collect()
}

fn of_toml(value: &Value) -> Json {
    match value {
        Value::String(text) => text.value().as_str().into(),
        Value::Integer(number) => (*number.value()).into(),
        Value::Float(number) => (*number.value()).into(),
        Value::Boolean(is_on) => (*is_on.value()).into(),
        Value::Datetime(time) => time.value().to_string().into(),
        Value::Array(values) => values.iter().map(of_toml).collect(),
        Value::InlineTable(table) => of_table(table),
    }
}

fn to_toml(value: &Json) -> Option<Value> {
    Some(match value {
        Json::Null => return None,
        Json::Bool(is_on) => (*is_on).into(),
        Json::Number(number) => match number.as_i64() {
            Some(number) => number.into(),
            None => number.as_f64()?.into(),
        },
        Json::String(text) => text.as_str().into(),
        Json::Array(values) => Value::Array(values.iter().filter_map(to_toml).collect()),
        Json::Object(fields) => {
            let fields = fields.iter().filter_map(|(key, value)| Some((key, to_toml(value)?)));
            Value::InlineTable(fields.collect())
        }
    })
}

#[cfg(test)]
mod tests {
    use repertoire_agents::HookAgent;

    use super::*;
    use crate::hook;

    #[test]
    fn secrets_and_programs_of_others_are_left_out_and_switches_stay() {
        let own = json!({"type": "command", "command": "repertoire hook claude-code"});
        let other = json!({"type": "command", "command": "git commit -am wip"});
        let settings = json!({
            "apiKeyHelper": "cat key", "env": {"ANTHROPIC_BASE_URL": "https://a.example"},
            "mcpServers": {"a": {}}, "statusLine": {"type": "command", "command": "date"},
            "providers": [{"api_key": "sk-1"}], "forceLoginMethod": "console", "model": "opus",
            "oauthToken": "sk-2", "disableAllHooks": true, "tokenLimit": 7, "unknown": "x",
            "skillOverrides": {"api-key": "off"}, "permissions": {"deny": ["Skill(token)"]},
            "hooks": {"Stop": [{"hooks": [other]}], "SessionStart": [{"hooks": [other, own]}]},
            "projects": {"/p": {"trust_level": "trusted"}},
        });
        let rules = Rules {
            is_own: &|hook| hook::is_own(hook, HookAgent::ClaudeCode),
            moved: &|text| text.replace("/p", "/copy/p"),
            keeps_model: false,
        };
        let wanted = json!({
            "statusLine": {"type": "command"}, "disableAllHooks": true, "tokenLimit": 7,
            "unknown": "x", "skillOverrides": {"api-key": "off"},
            "permissions": {"deny": ["Skill(token)"]},
            "hooks": {"Stop": [], "SessionStart": [{"hooks": [own]}]},
            "projects": {"/copy/p": {"trust_level": "trusted"}},
        });
        assert_eq!(rules.clean(&settings), wanted);
    }

    #[test]
    fn settings_in_toml_are_the_same_after_a_copy() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        let text = "a = 1\nb = 1.5\n[[skills.config]]\nname = \"x\"\nenabled = false\n\
                    [projects.\"/p q\"]\ntrust_level = \"trusted\"\n";
        std::fs::write(&path, text).unwrap();
        let settings = read(&path).unwrap();
        let mut merged = settings.clone();
        merge(&mut merged, json!({"a": 2, "projects": {"/r": {}}}));
        write(&path, &merged).unwrap();
        let wanted = json!({
            "a": 2, "b": 1.5, "skills": {"config": [{"name": "x", "enabled": false}]},
            "projects": {"/p q": {"trust_level": "trusted"}, "/r": {}},
        });
        assert_eq!(read(&path).unwrap(), wanted);
    }
}
