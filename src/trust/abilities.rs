//! The abilities of code, of which the user is shown one line before a yes.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use crate::skill::{Network, quoted};

/// The things that code may do once it is trusted, besides reading its skill and the system's programs, and
/// writing to a directory of its own that is removed after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Abilities {
    /// Files and directories of the user that it may read; `None` for all files.
    pub read: Option<Vec<PathBuf>>,
    /// True if it also reads the project in which it runs, which may be another one each time.
    pub project: bool,
    /// The part of the network that it may use.
    pub network: Network,
    /// False if nothing keeps it from other addresses than those, the services of this machine included, once
    /// it may use any part of the network.
    pub is_network_limited: bool,
    /// Files and directories that it may change; `None` for all files.
    pub write: Option<Vec<PathBuf>>,
}

impl Abilities {
    /// The abilities of code that nothing confines: it may do all that the user may.
    pub fn of_user() -> Abilities {
        Abilities {
            read: None,
            project: true,
            network: true.into(),
            is_network_limited: false,
            write: None,
        }
    }

    /// The abilities of code that runs in two ways, such as a script that is an MCP server as well: those of both.
    #[must_use]
    pub fn or(self, other: Abilities) -> Abilities {
        let both = |a: Option<Vec<PathBuf>>, b: Option<Vec<PathBuf>>| {
            let all = a?.into_iter().chain(b?).collect::<BTreeSet<_>>();
            Some(all.into_iter().collect())
        };
        let has_limits = |it: &Abilities| it.network.is_none() || it.is_network_limited;
        let is_network_limited = has_limits(&self) && has_limits(&other);
        Abilities {
            read: both(self.read, other.read),
            project: self.project || other.project,
            network: self.network.or(&other.network),
            is_network_limited,
            write: both(self.write, other.write),
        }
    }
}

/// Writes the abilities in one line, such as "reads all your files · no network · writes nothing".
impl fmt::Display for Abilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |paths: &[PathBuf]| {
            let names: Vec<_> = paths.iter().map(|path| quoted(&path.to_string_lossy())).collect();
            names.join(", ")
        };
        match (self.read.as_deref(), self.project) {
            (None, _) => f.write_str("reads all your files")?,
            (Some([]), false) => f.write_str("reads its skill alone")?,
            (Some([]), true) => f.write_str("reads its skill and the project in which it runs")?,
            (Some(paths), false) => write!(f, "reads its skill and {}", named(paths))?,
            (Some(paths), true) => {
                write!(f, "reads its skill, the project in which it runs and {}", named(paths))?;
            }
        }
        match (self.network.is_none(), self.is_network_limited) {
            (true, _) => f.write_str(" · no network")?,
            (false, true) => write!(f, " · uses {}", self.network)?,
            (false, false) => {
                f.write_str(" · uses the network, services of this machine included")?;
            }
        }
        match self.write.as_deref() {
            None => f.write_str(" · writes all your files"),
            Some([]) => f.write_str(" · writes nothing"),
            Some(paths) => write!(f, " · writes {}", named(paths)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::{ToolsetRights, is_invisible};

    /// The author of a skill chooses the paths that it asks for.
    #[test]
    fn no_path_passes_for_the_rest_of_the_line() {
        for path in [
            "/a` · no network · writes nothing",
            "/a · no network · writes nothing",
            "/a                                              b",
            "/a\u{3000}\u{2003}\u{a0}\u{2028}b",
            "/a\n  reads nothing\t",
            "/a\u{202e}gnihton setirw\u{2066}\u{200b}b",
            "/a ",
        ] {
            let abilities =
                Abilities { read: Some(vec![path.into()]), ..Abilities::of_user() }.to_string();
            let before = "reads its skill, the project in which it runs and `";
            let rest = abilities.strip_prefix(before).unwrap();
            let (shown, rest) = rest.split_once('`').unwrap();
            let uses = "uses the network, services of this machine included";
            assert_eq!(rest, format!(" · {uses} · writes all your files"), "{path:?}");
            assert!(!shown.contains("  ") && !shown.contains('·'), "{shown}");
            let is_plain = |c: char| c == ' ' || !c.is_whitespace() && !c.is_control();
            assert!(shown.chars().all(is_plain), "{shown}");
            assert!(!shown.contains(is_invisible), "{shown}");
            let rights = ToolsetRights { read: vec![path.to_owned()], network: true.into() };
            assert_eq!(rights.to_string(), format!("to read `{shown}` and to use the network"));
        }
    }

    #[test]
    fn abilities_are_one_line() {
        let (a, b) = (PathBuf::from("/a"), PathBuf::from("/b"));
        for (read, project, network, write, wanted) in [
            (None, true, false, Some(vec![]), "reads all your files · no network · writes nothing"),
            (
                Some(vec![]),
                false,
                true,
                Some(vec![a.clone(), b]),
                "reads its skill alone · uses the network · writes `/a`, `/b`",
            ),
            (
                Some(vec![a.clone()]),
                false,
                false,
                None,
                "reads its skill and `/a` · no network · writes all your files",
            ),
            (
                Some(vec![]),
                true,
                false,
                Some(vec![]),
                "reads its skill and the project in which it runs · no network · writes nothing",
            ),
            (
                Some(vec![a]),
                true,
                false,
                Some(vec![]),
                "reads its skill, the project in which it runs and `/a` · no network · writes nothing",
            ),
        ] {
            assert_eq!(
                {
                    let (network, is_network_limited) = (network.into(), true);
                    Abilities { read, project, network, is_network_limited, write }.to_string()
                },
                wanted
            );
        }
    }
}
