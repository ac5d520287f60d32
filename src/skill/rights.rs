//! Rights that scripts and toolsets request: `rights: {read: ["."], network: ["api.example.com:443"]}`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use repertoire_system::network::Network;
use repertoire_text::invisible::is_invisible;
use serde::{Deserialize, Serialize};

use super::fields::{Reader, at_commas, nested};
use super::spanned::Spanned;
use super::yaml::{Node, Value};
use crate::diagnostic::Code;

/// The rights that a toolset, or the scripts of a skill, request in addition to those that all have.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolsetRights {
    /// Files and directories that they read: absolute paths, paths below the home directory
    /// (`~/…`), or paths below the directory in which the host works (`.`).
    pub read: Vec<String>,
    /// The part of the network that they use.
    pub network: Network,
}

impl ToolsetRights {
    /// Returns the same rights with the absolute paths that they refer to now, with symbolic links
    /// resolved.
    #[must_use]
    pub fn resolved(&self) -> ToolsetRights {
        let resolve = |path: &String| {
            let rest = path.strip_prefix("~/").or_else(|| (path == "~").then_some(""));
            let below_home = rest.and_then(|rest| {
                Some(std::env::home_dir().filter(|home| home.is_absolute())?.join(rest))
            });
            let path = below_home.unwrap_or_else(|| PathBuf::from(path));
            let real = path.canonicalize().or_else(|_| std::path::absolute(&path)).unwrap_or(path);
            real.to_string_lossy().into_owned()
        };
        ToolsetRights {
            read: self.read.iter().map(resolve).collect(),
            network: self.network.clone(),
        }
    }

    /// Returns the rights in `self` that `other` covers. A right to a directory covers everything below
    /// it.
    #[must_use]
    pub fn and(&self, other: &ToolsetRights) -> ToolsetRights {
        let read = self.read.iter().filter(|path| other.opens(path)).cloned();
        ToolsetRights { read: read.collect(), network: self.network.and(&other.network) }
    }

    /// Returns the rights in `self` that `other` does not cover.
    #[must_use]
    pub fn without(&self, other: &ToolsetRights) -> ToolsetRights {
        let read = self.read.iter().filter(|path| !other.opens(path)).cloned();
        ToolsetRights { read: read.collect(), network: self.network.without(&other.network) }
    }

    fn opens(&self, path: &str) -> bool {
        self.read.iter().any(|open| Path::new(path).starts_with(open))
    }

    /// Tells whether there are no rights.
    pub fn is_empty(&self) -> bool {
        self.read.is_empty() && self.network.is_none()
    }
}

/// The right to a part of the network, and nothing else.
impl<N: Into<Network>> From<N> for ToolsetRights {
    fn from(network: N) -> ToolsetRights {
        ToolsetRights { read: Vec::new(), network: network.into() }
    }
}

/// Writes a path between quotes that nothing in it ends, for the questions to a user: whoever asks for a right chose
/// the path, which need not exist. Blanks that move the rest of a line out of sight are escaped, too, and so is what has
/// no shape or turns the order around.
pub(crate) fn quoted(path: &str) -> String {
    let mut text = String::from("`");
    let mut last = ' ';
    for c in path.chars() {
        let is_single = c == ' ' && last != ' ';
        let is_unseen = c.is_control() || is_invisible(c) || c.is_whitespace() && !is_single;
        if c == '`' || c == '·' || is_unseen {
            text.extend(c.escape_unicode());
        } else {
            text.push(c);
        }
        last = c;
    }
    text.push('`');
    text
}

/// Writes the rights as a phrase, such as "to read `/data` and to use the network".
impl fmt::Display for ToolsetRights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let read: Vec<String> = self.read.iter().map(|path| quoted(path)).collect();
        let read = (!read.is_empty()).then(|| format!("to read {}", read.join(", ")));
        let network = (!self.network.is_none()).then(|| format!("to use {}", self.network));
        let all: Vec<String> = read.into_iter().chain(network).collect();
        f.write_str(&all.join(" and "))
    }
}

/// Reads the entries of `toolsets`: texts, or maps with a `class` and its `rights`. The requested rights
/// are added to `rights`, keyed by entry.
pub(super) fn read_toolsets(
    node: &Node,
    rights: &mut BTreeMap<String, ToolsetRights>,
    reader: &mut Reader<'_>,
) -> Vec<Spanned<String>> {
    let Value::Sequence(entries) = &node.value else {
        return reader.list("toolsets", node, at_commas);
    };
    let mut read = Vec::with_capacity(entries.len());
    for entry in entries {
        if !matches!(entry.value, Value::Mapping(_)) {
            read.extend(reader.text("toolsets", entry));
            continue;
        }
        let class = nested(entry, "class").and_then(|class| reader.text("class", class));
        let Some(class) = class else {
            let message = "an entry of `toolsets` has no `class`".to_owned();
            let help = "write `{class: \"toolsets/hello:HelloToolset\", rights: {read: [\".\"]}}`";
            reader.report(Code::WrongType, entry.span.clone(), message, help);
            continue;
        };
        let asked = nested(entry, "rights").map(|node| read_rights(node, reader));
        if let Some(asked) = asked.filter(|asked| !asked.is_empty()) {
            rights.insert(class.value.clone(), asked);
        }
        read.push(class);
    }
    read
}

/// Reads the rights of a toolset.
fn read_rights(node: &Node, reader: &mut Reader<'_>) -> ToolsetRights {
    let mut rights = ToolsetRights::default();
    let example = "rights: {read: [\".\"], network: false}";
    for (name, value) in reader.mapping("rights", node, example).unwrap_or_default() {
        match name.text().unwrap_or_default() {
            "read" => {
                rights.read = read_paths(value, reader);
            }
            "network" => {
                rights.network = read_network(value, reader).unwrap_or_default();
            }
            other => {
                let message = format!("there is no right `{other}`");
                let help = "the rights of a toolset are `read` and `network`";
                reader.report(Code::InvalidValue, name.span.clone(), message, help);
            }
        }
    }
    rights
}

/// Reads the `read` of rights.
pub(super) fn read_paths(node: &Node, reader: &mut Reader<'_>) -> Vec<String> {
    reader.list("read", node, at_commas).into_iter().map(|path| path.value).collect()
}

/// Reads the `network` of rights: a truth value, or a list of addresses. An entry that is not an address is
/// reported and opens nothing.
pub(super) fn read_network(node: &Node, reader: &mut Reader<'_>) -> Option<Network> {
    let is_list = matches!(node.value, Value::Sequence(_))
        || node.text().is_some_and(|text| text.contains(':') || text.trim() == "*");
    if !is_list {
        return Some(reader.boolean("network", node)?.value.into());
    }
    let mut network = Network::default();
    for entry in reader.list("network", node, at_commas) {
        match Network::parse([&*entry.value]) {
            Ok(part) => network = network.or(&part),
            Err(why) => {
                let message = format!("an entry of `network` is not an address: {why}");
                let help = "write a host and a port, such as `network: [\"api.example.com:443\"]`";
                reader.report(Code::InvalidValue, entry.span, message, help);
            }
        }
    }
    Some(network)
}
