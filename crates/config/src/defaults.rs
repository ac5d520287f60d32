//! The defaults of settings.

use repertoire::disclosure::DisclosureOptions;
use repertoire_sessions::ServerOptions;

use super::schema::{RETRIEVER_TIMEOUT, Value};
use repertoire::skill::Network;

/// The default of `name`; `None` if it is unlimited or empty, or if the configuration does not decide
/// it.
pub(super) fn default_of(name: &str) -> Option<Value> {
    let DisclosureOptions { max_skills, max_all_skills, max_lines, relevance, budget, .. } =
        DisclosureOptions::default();
    let count = |n: usize| Some(Value::Count(n as u64));
    match name {
        "sources.standard" | "bundled.command_line" | "routing.meaning" | "scripts.network" => {
            Some(Value::Switch(true))
        }
        "bundled.hooks"
        | "bundled.mcp"
        | "routing.inflect"
        | "routing.keep_messages"
        | "signatures.required" => Some(Value::Switch(false)),
        "toolsets.*.network" => Some(Value::Network(Network::default())),
        "limits.max_skills" => count(max_skills),
        "limits.max_all_skills" => count(max_all_skills),
        "limits.max_lines" => count(max_lines),
        "limits.max_query_bytes" => count(repertoire::matcher::MAX_QUERY_BYTES),
        "limits.budget" => budget.map(Value::of_budget),
        "routing.relevance" => Some(Value::Margin(relevance)),
        "routing.retriever_timeout" => Some(Value::Seconds(RETRIEVER_TIMEOUT)),
        "sessions.timeout" => Some(Value::Seconds(ServerOptions::default().timeout)),
        _ => default_of_code(name),
    }
}

/// The defaults of the limits for scripts and toolsets.
fn default_of_code(name: &str) -> Option<Value> {
    let count = |n: Option<u64>| n.map(Value::Count);
    if let Some(name) = name.strip_prefix("scripts.") {
        let limits = repertoire::script::ScriptLimits::default();
        return match name {
            "timeout" => Some(Value::Seconds(limits.timeout)),
            "grace" => Some(Value::Seconds(limits.grace)),
            "output_bytes" => count(Some(limits.output_bytes as u64)),
            "args" => count(Some(limits.args as u64)),
            "arg_bytes" => count(Some(limits.arg_bytes as u64)),
            "cpu_seconds" => count(limits.cpu_seconds),
            "memory" => count(limits.memory),
            "address_space" => count(limits.address_space),
            "file_bytes" => count(limits.file_bytes),
            "processes" => count(limits.processes),
            "scratch_bytes" => count(limits.scratch_bytes),
            "group_processes" => count(limits.group_processes),
            _ => None,
        };
    }
    if let Some(name) = name.strip_prefix("toolsets.*.") {
        let limits = repertoire::toolset::Limits::default();
        return match name {
            "call_timeout" => Some(Value::Seconds(limits.call_timeout)),
            "load_timeout" => Some(Value::Seconds(limits.load_timeout)),
            "retry" => Some(Value::Seconds(limits.retry)),
            "grace" => Some(Value::Seconds(limits.grace)),
            "idle" => Some(Value::Seconds(limits.idle)),
            "cpu_seconds" => count(limits.cpu_seconds),
            "address_space" => count(limits.address_space),
            "file_bytes" => count(limits.file_bytes),
            "processes" => count(limits.processes),
            _ => None,
        };
    }
    // Without the feature, the setting is read but has no effect.
    let _ = (name, count);
    None
}

#[cfg(test)]
mod tests {
    use super::super::schema::{KEYS, Key, Kind, keys_of};
    use super::*;

    #[test]
    fn defaults_have_the_form_of_their_setting() {
        for Key { name, kind, .. } in KEYS {
            let fits = match default_of(name) {
                None => true,
                Some(Value::Switch(_)) => {
                    matches!(kind, Kind::Switch | Kind::Hosts | Kind::Meaning)
                }
                Some(Value::Network(_)) => *kind == Kind::Network,
                Some(Value::Count(_)) => matches!(kind, Kind::Count(_)),
                Some(Value::Seconds(_)) => *kind == Kind::Seconds,
                Some(Value::Budget(_)) => *kind == Kind::Budget,
                Some(Value::Margin(_)) => *kind == Kind::Margin,
                Some(
                    Value::Text(_)
                    | Value::Texts(_)
                    | Value::Table(_)
                    | Value::Shown(_)
                    | Value::Address(_),
                ) => false,
            };
            assert!(fits, "{name}");
            // Narrowing needs a known default: every switch has one, and a limit without one is
            // unlimited.
            let is_switch = *kind == Kind::Switch;
            assert!(!is_switch || default_of(name).is_some(), "{name}");
        }
    }

    /// A limit without a default is unlimited, so a project may set it to any value.
    #[test]
    fn limits_of_scripts_are_unlimited_only_where_those_of_the_library_are() {
        let unlimited: Vec<&str> = keys_of("scripts")
            .filter(|(_, key)| matches!(key.kind, Kind::Count(_)) && default_of(key.name).is_none())
            .map(|(_, key)| key.name)
            .collect();
        assert_eq!(unlimited, ["scripts.address_space", "scripts.processes"]);
    }
}
