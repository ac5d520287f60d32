//! Rights that toolsets request: `{class: "toolsets/table:Table", rights: {read: ["."]}}`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::fields::{Reader, at_commas, nested};
use super::spanned::Spanned;
use super::yaml::{Node, Value};
use crate::diagnostic::Code;

/// The rights that a toolset requests in addition to those that every toolset has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolsetRights {
    /// Files and directories that the toolset reads: absolute paths, paths below the home directory
    /// (`~/…`), or paths below the directory in which the host works (`.`).
    pub read: Vec<String>,
    /// True if the toolset uses the network.
    pub network: bool,
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
        ToolsetRights { read: self.read.iter().map(resolve).collect(), network: self.network }
    }

    /// Returns the rights in `self` that `other` covers. A right to a directory covers everything below
    /// it.
    #[must_use]
    pub fn and(&self, other: &ToolsetRights) -> ToolsetRights {
        let read = self.read.iter().filter(|path| other.opens(path)).cloned();
        ToolsetRights { read: read.collect(), network: self.network && other.network }
    }

    /// Returns the rights in `self` that `other` does not cover.
    #[must_use]
    pub fn without(&self, other: &ToolsetRights) -> ToolsetRights {
        let read = self.read.iter().filter(|path| !other.opens(path)).cloned();
        ToolsetRights { read: read.collect(), network: self.network && !other.network }
    }

    fn opens(&self, path: &str) -> bool {
        self.read.iter().any(|open| Path::new(path).starts_with(open))
    }

    /// Tells whether there are no rights.
    pub fn is_empty(&self) -> bool {
        self.read.is_empty() && !self.network
    }
}

/// Writes the rights as a phrase, such as "to read `/data` and to use the network".
impl fmt::Display for ToolsetRights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let read: Vec<String> = self.read.iter().map(|path| format!("`{path}`")).collect();
        let read = (!read.is_empty()).then(|| format!("to read {}", read.join(", ")));
        let network = self.network.then(|| "to use the network".to_owned());
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

fn read_rights(node: &Node, reader: &mut Reader<'_>) -> ToolsetRights {
    let mut rights = ToolsetRights::default();
    let example = "rights: {read: [\".\"], network: false}";
    for (name, value) in reader.mapping("rights", node, example).unwrap_or_default() {
        match name.text().unwrap_or_default() {
            "read" => {
                let paths = reader.list("read", value, at_commas);
                rights.read.extend(paths.into_iter().map(|path| path.value));
            }
            "network" => {
                rights.network = reader.boolean("network", value).is_some_and(|it| it.value);
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
