//! MCP servers in JSON settings.

use jsonc_parser::cst::{CstObject, CstObjectProp};
use serde_json::Value;

use super::entry::{NAME, Server, no_servers, own_words, taken};
use crate::agent::Problem;
use crate::agent::json::{input, object, parse, property, value, without_mark};

/// Returns the command line, as words, by which the settings run this program; `None` if they do not
/// run it.
pub(super) fn words(text: &str, field: &str) -> Result<Option<Vec<String>>, Problem> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let settings = object(&parse(without_mark(text).1)?)?;
    let servers = servers(&settings, field)?;
    let values = servers.into_iter().flat_map(|servers| own(&servers));
    Ok(values.into_iter().find_map(|server| own_words(&value_of(&server))))
}

/// Returns `text` with `wanted` among the servers in `field`, and no other server that runs this
/// program.
pub(super) fn add(text: &str, field: &str, wanted: &Server) -> Result<String, Problem> {
    let (mark, text) = without_mark(text);
    let root = parse(if text.trim().is_empty() { "{}\n" } else { text })?;
    let settings = object(&root)?;
    let own = servers(&settings, field)?.map(|servers| own(&servers)).unwrap_or_default();
    let mut own = own.into_iter();
    if let Some(server) = own.next() {
        update(&server, wanted);
        own.for_each(CstObjectProp::remove);
        return Ok(format!("{mark}{root}"));
    }
    let servers = settings.object_value_or_set(field);
    if servers.get(NAME).is_some() {
        return Err(taken());
    }
    let mut server = wanted.command.clone();
    for (name, default) in fields(&wanted.defaults) {
        server[name] = default.clone();
    }
    servers.append(NAME, input(&server));
    Ok(format!("{mark}{root}"))
}

/// Returns `text` without our servers, and without containers that held nothing else, unless `before`
/// has them. `None` if nothing is left that a user wrote.
pub(super) fn remove(
    text: &str,
    field: &str,
    before: Option<&str>,
) -> Result<Option<String>, Problem> {
    let (mark, json) = without_mark(text);
    let root = parse(json)?;
    let settings = object(&root)?;
    let Some(servers) = servers(&settings, field)? else { return Ok(Some(text.to_owned())) };
    own(&servers).into_iter().for_each(CstObjectProp::remove);
    let before = before.map(value).unwrap_or_default();
    if servers.properties().is_empty() && before.get(field).is_none() {
        settings.get(field).into_iter().for_each(CstObjectProp::remove);
    }
    let has_comments = root.to_string().contains("//") || root.to_string().contains("/*");
    // The earlier text may hold only our hooks, which may have been removed since.
    let was_ours = before
        .as_object()
        .is_none_or(|old| !old.is_empty() && old.keys().all(|name| name == "hooks"));
    let is_nothing = settings.properties().is_empty() && was_ours && !has_comments;
    Ok((!is_nothing).then(|| format!("{mark}{root}")))
}

/// Sets the command line of our server, and adds the other fields that it lacks.
fn update(server: &CstObjectProp, wanted: &Server) {
    let Some(object) = server.object_value() else { return };
    for (name, value) in fields(&wanted.command) {
        match object.get(name) {
            Some(field) if value_of(&field) == *value => {}
            Some(field) => field.set_value(input(value)),
            None => drop(object.append(name, input(value))),
        }
    }
    for (name, value) in fields(&wanted.defaults).filter(|(name, _)| object.get(name).is_none()) {
        object.append(name, input(value));
    }
}

/// Returns the object with the servers, if there is one.
fn servers(settings: &CstObject, field: &str) -> Result<Option<CstObject>, Problem> {
    let Some(servers) = property(settings, field)? else { return Ok(None) };
    servers.object_value().map(Some).ok_or_else(|| no_servers(field))
}

/// Returns the servers that run this program.
fn own(servers: &CstObject) -> Vec<CstObjectProp> {
    let is_own = |server: &CstObjectProp| own_words(&value_of(server)).is_some();
    servers.properties().into_iter().filter(is_own).collect()
}

fn value_of(field: &CstObjectProp) -> Value {
    field.value().and_then(|value| value.to_serde_value()).unwrap_or_default()
}

fn fields(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}
