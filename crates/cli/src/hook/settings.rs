//! Reads and edits hooks in a settings file; everything else stays byte for byte.

use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject};
use repertoire_agents::HookAgent;
use serde_json::Value;

use super::agents::{Hook, is_own_command};
use super::entry::{self, OwnEntry};
use crate::agent::Problem;
use crate::agent::json::{input, object, parse, property, value, without_mark};

/// Returns `text`, settings of `agent`, with each of `hooks` exactly once, and without other hooks of this
/// program.
pub(super) fn add(
    text: &str,
    version: Option<u64>,
    hooks: &[Hook],
    agent: HookAgent,
) -> Result<String, Problem> {
    let (mark, text) = without_mark(text);
    let is_new = text.trim().is_empty();
    let root = parse(if is_new { "{}\n" } else { text })?;
    let settings = object(&root)?;
    if let Some(version) = version
        && settings.get("version").is_none()
    {
        settings.append("version", CstInputValue::Number(version.to_string()));
    }
    check(&settings)?;
    for hook in hooks {
        let event = settings.object_value("hooks").and_then(|all| all.get(hook.event));
        if event.is_some_and(|event| event.array_value().is_none()) {
            return Err(Problem::new(format!("has hooks of `{}` that are not a list", hook.event)));
        }
    }
    let is_there = |hook: &Hook| {
        let list = settings.object_value("hooks").and_then(|all| all.array_value(hook.event));
        let own = list.iter().flat_map(CstArray::elements).filter(|e| runs_own(e, agent));
        let own: Vec<_> = own.map(|element| element.to_serde_value()).collect();
        own == [Some(hook.value.clone())]
    };
    let missing: Vec<&Hook> = hooks.iter().filter(|hook| !is_there(hook)).collect();
    // Correct hooks stay where they are.
    take_out(&settings, agent, &|event| {
        let is_in = |hooks: &[&Hook]| hooks.iter().any(|hook| hook.event == event);
        hooks.iter().any(|hook| hook.event == event) && !is_in(&missing)
    });
    if !missing.is_empty() {
        let all = settings.object_value_or_set("hooks");
        for hook in missing {
            all.array_value_or_set(hook.event).append(input(&hook.value));
        }
    }
    Ok(format!("{mark}{root}"))
}

/// Returns `text` without our hooks, and without containers that held nothing else, unless `before`
/// has them. `None` if nothing is left that a user wrote.
pub(super) fn remove(
    text: &str,
    before: Option<&str>,
    agent: HookAgent,
) -> Result<Option<String>, Problem> {
    if text.trim().is_empty() {
        return Ok(Some(text.to_owned()));
    }
    let (mark, json) = without_mark(text);
    let root = parse(json)?;
    let settings = object(&root)?;
    check(&settings)?;
    let emptied = take_out(&settings, agent, &|_| false);
    if emptied.is_empty() {
        return Ok(Some(text.to_owned()));
    }
    let before = before.map(value).unwrap_or_default();
    if let Some(all) = settings.object_value("hooks") {
        for event in emptied {
            let list = all.get(&event).filter(|_| before["hooks"].get(&event).is_none());
            let is_empty = all.array_value(&event).is_some_and(|list| list.elements().is_empty());
            if let (Some(list), true) = (list, is_empty) {
                list.remove();
            }
        }
        if all.properties().is_empty() && before.get("hooks").is_none() {
            settings.get("hooks").into_iter().for_each(jsonc_parser::cst::CstObjectProp::remove);
        }
    }
    let left = settings.properties();
    let is_ours = left.iter().all(|property| property.decoded_name().as_deref() == Some("version"));
    let has_comments = root.to_string().contains("//") || root.to_string().contains("/*");
    // The earlier text may hold only our MCP server, which may have been removed since.
    let was_ours = before
        .as_object()
        .is_none_or(|old| !old.is_empty() && old.keys().all(|name| name == "mcpServers"));
    let is_nothing = is_ours && was_ours && !has_comments;
    Ok((!is_nothing).then(|| format!("{mark}{root}")))
}

/// Returns the command of one of our hooks in `text`, if there is one.
pub(super) fn own(text: &str, agent: HookAgent) -> Result<Option<String>, Problem> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let settings = object(&parse(without_mark(text).1)?)?;
    check(&settings)?;
    let lists = settings.object_value("hooks").into_iter().flat_map(|all| all.properties());
    let elements = lists.filter_map(|event| event.array_value()).flat_map(|list| list.elements());
    Ok(elements.flat_map(|element| own_commands(&element, agent)).next())
}

/// Returns the entries in `text`, settings of `agent`, that run our hooks.
pub(super) fn own_entries(text: &str, agent: HookAgent) -> Vec<OwnEntry> {
    let mut entries = all_entries(text);
    entries.retain(|entry| entry::is_own(&entry.hook, agent));
    entries
}

/// Returns all entries of hooks in `text`.
pub(super) fn all_entries(text: &str) -> Vec<OwnEntry> {
    let settings = value(text);
    let mut found = Vec::new();
    for (event, list) in settings["hooks"].as_object().into_iter().flatten() {
        for element in list.as_array().into_iter().flatten() {
            let entries = entries(element).into_iter().map(|(hook, group)| OwnEntry {
                event: event.clone(),
                hook: hook.clone(),
                group: group.cloned(),
            });
            found.extend(entries);
        }
    }
    found
}

/// Checks that `hooks` has the form that agents read.
fn check(settings: &CstObject) -> Result<(), Problem> {
    let Some(hooks) = property(settings, "hooks")? else { return Ok(()) };
    let all =
        hooks.object_value().ok_or_else(|| Problem::new("has `hooks` that are not an object"))?;
    for event in all.properties() {
        let name = event.decoded_name().unwrap_or_default();
        property(&all, &name)?;
        // Other values (Gemini has switches there) are left to the agent.
        if event.object_value().is_some() {
            return Err(Problem::new(format!("has hooks of `{name}` that are not a list")));
        }
    }
    Ok(())
}

/// Removes our hooks from all events except those that `keeps` selects. Returns the events that had
/// any.
fn take_out(settings: &CstObject, agent: HookAgent, keeps: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut events = Vec::new();
    let Some(all) = settings.object_value("hooks") else { return events };
    for property in all.properties() {
        let Some(event) = property.decoded_name().filter(|event| !keeps(event)) else { continue };
        let Some(list) = property.array_value() else { continue };
        let own = list.elements().into_iter().filter(|e| runs_own(e, agent));
        let own: Vec<CstNode> = own.collect();
        if !own.is_empty() {
            events.push(event);
        }
        for element in own {
            take_out_of(element, agent);
        }
    }
    events
}

/// Removes our hooks from an element, and the element itself if it has no others.
fn take_out_of(element: CstNode, agent: HookAgent) {
    let inner = element.as_object().and_then(|group| group.array_value("hooks"));
    if let Some(inner) = inner
        && inner.elements().iter().any(|hook| !runs_own(hook, agent))
    {
        for hook in inner.elements().into_iter().filter(|hook| runs_own(hook, agent)) {
            hook.remove();
        }
    } else {
        element.remove();
    }
}

/// Tells whether an element runs one of our hooks.
fn runs_own(element: &CstNode, agent: HookAgent) -> bool {
    !own_commands(element, agent).is_empty()
}

/// Returns the commands of our hooks that an element runs: its own, and those of the hooks in it.
fn own_commands(element: &CstNode, agent: HookAgent) -> Vec<String> {
    let element = element.to_serde_value().unwrap_or_default();
    let hooks = entries(&element).into_iter().map(|(hook, _)| hook);
    let commands = hooks.filter_map(|hook| entry::command(hook, agent));
    commands.filter(|command| is_own_command(command, agent)).collect()
}

/// Returns an element, and the hooks in it with the element as their group.
fn entries(element: &Value) -> Vec<(&Value, Option<&Value>)> {
    let inner = match &element["hooks"] {
        Value::Array(hooks) => hooks.iter().collect(),
        // No agent reads it, but a user may have meant it.
        hook @ Value::Object(_) => vec![hook],
        _ => Vec::new(),
    };
    let inner = inner.into_iter().map(|hook| (hook, Some(element)));
    std::iter::once((element, None)).chain(inner).collect()
}
