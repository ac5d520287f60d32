//! MCP servers in Codex's `config.toml`.

use serde_json::{Value as Json, json};
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, Value};

use super::entry::{NAME, Server, no_servers, own_words, taken};
use crate::agent::Problem;

/// The table with the servers.
const SERVERS: &str = "mcp_servers";

/// Returns the command line, as words, by which the settings run this program; `None` if they do not
/// run it.
pub(super) fn words(text: &str) -> Result<Option<Vec<String>>, Problem> {
    let settings = parse(text)?;
    let servers = servers(&settings)?;
    Ok(servers
        .and_then(|servers| servers.iter().find_map(|(_, server)| own_words(&json_of(server)))))
}

/// Returns `text` with `wanted` among the servers, and no other server that runs this program.
pub(super) fn add(text: &str, wanted: &Server) -> Result<String, Problem> {
    let mut settings = parse(text)?;
    let own = own(&settings)?;
    if own.is_empty() && servers(&settings)?.is_some_and(|servers| servers.contains_key(NAME)) {
        return Err(taken());
    }
    let implicit = || {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    };
    let item = settings.entry(SERVERS).or_insert_with(implicit);
    let servers = item.as_table_like_mut().ok_or_else(|| no_servers(SERVERS))?;
    for name in own.iter().skip(1) {
        servers.remove(name);
    }
    let name = own.first().map_or(NAME, String::as_str);
    if !servers.contains_key(name) {
        servers.insert(name, Item::Table(Table::new()));
    }
    if let Some(server) = servers.get_mut(name).and_then(Item::as_table_like_mut) {
        for field in ["command", "args"] {
            if server.get(field).map(json_of).as_ref() != Some(&wanted.command[field]) {
                server.insert(field, item_of(&wanted.command[field]));
            }
        }
    }
    Ok(written(text, &settings))
}

/// Returns `text` without our servers, and without tables that held nothing else, unless `before` has
/// them. `None` if nothing is left that a user wrote.
pub(super) fn remove(text: &str, before: Option<&str>) -> Result<Option<String>, Problem> {
    let mut settings = parse(text)?;
    let own = own(&settings)?;
    let item = settings.get_mut(SERVERS).and_then(Item::as_table_like_mut);
    let Some(servers) = item else { return Ok(Some(text.to_owned())) };
    for name in own {
        servers.remove(&name);
    }
    let had_servers =
        before.is_some_and(|text| parse(text).is_ok_and(|old| old.contains_key(SERVERS)));
    if servers.is_empty() && !had_servers {
        settings.remove(SERVERS);
    }
    let left = written(text, &settings);
    Ok((before.is_some() || !left.trim().is_empty()).then_some(left))
}

fn parse(text: &str) -> Result<DocumentMut, Problem> {
    text.trim_start_matches('\u{feff}').parse().map_err(|error: toml_edit::TomlError| {
        let at = error.span().map(|span| {
            let before = text.get(..span.start).unwrap_or_default();
            let line = before.rsplit('\n').next().unwrap_or_default();
            (before.matches('\n').count() + 1, line.chars().count() + 1)
        });
        Problem { at, ..Problem::new(format!("is not TOML: {}", error.message())) }
    })
}

/// Writes the settings with the byte order mark and the line ends of `text`.
fn written(text: &str, settings: &DocumentMut) -> String {
    let mark = if text.starts_with('\u{feff}') { "\u{feff}" } else { "" };
    let new = settings.to_string();
    let has_other_ends = text.replace("\r\n", "").contains('\n');
    if text.contains("\r\n") && !has_other_ends {
        return format!("{mark}{}", new.replace("\r\n", "\n").replace('\n', "\r\n"));
    }
    format!("{mark}{new}")
}

/// Returns the table with the servers, if there is one.
fn servers(settings: &DocumentMut) -> Result<Option<&dyn TableLike>, Problem> {
    let Some(servers) = settings.get(SERVERS) else { return Ok(None) };
    servers.as_table_like().map(Some).ok_or_else(|| no_servers(SERVERS))
}

/// Returns the names of the servers that run this program.
fn own(settings: &DocumentMut) -> Result<Vec<String>, Problem> {
    let servers = servers(settings)?.into_iter().flat_map(TableLike::iter);
    let own = servers.filter(|(_, server)| own_words(&json_of(server)).is_some());
    Ok(own.map(|(name, _)| name.to_owned()).collect())
}

/// Returns as JSON the parts of an item that hold a command line.
fn json_of(item: &Item) -> Json {
    if let Some(text) = item.as_str() {
        return text.into();
    }
    if let Some(values) = item.as_array() {
        return values.iter().filter_map(Value::as_str).collect();
    }
    let Some(table) = item.as_table_like() else { return Json::Null };
    let field = |name| table.get(name).filter(|item| !item.is_table_like()).map(json_of);
    json!({"command": field("command"), "args": field("args")})
}

fn item_of(value: &Json) -> Item {
    match value {
        Json::Array(values) => {
            toml_edit::value(values.iter().filter_map(Json::as_str).collect::<Array>())
        }
        value => toml_edit::value(value.as_str().unwrap_or_default()),
    }
}
