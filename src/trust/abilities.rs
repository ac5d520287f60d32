//! The abilities of code, of which the user is shown one line before a yes.

use std::fmt;
use std::path::PathBuf;

use crate::skill::Network;

/// The things that code may do once it is trusted, besides reading its skill and the system's programs, and
/// writing to a directory of its own that is removed after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Abilities {
    /// Files and directories of the user that it may read; `None` for all files.
    pub read: Option<Vec<PathBuf>>,
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
        Abilities { read: None, network: true.into(), is_network_limited: false, write: None }
    }
}

/// Writes the abilities in one line, such as "reads all your files · no network · writes nothing".
impl fmt::Display for Abilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |paths: &[PathBuf]| {
            let names: Vec<_> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
            names.join(", ")
        };
        match self.read.as_deref() {
            None => f.write_str("reads all your files")?,
            Some([]) => f.write_str("reads its skill alone")?,
            Some(paths) => write!(f, "reads its skill and {}", named(paths))?,
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

    #[test]
    fn abilities_are_one_line() {
        let (a, b) = (PathBuf::from("/a"), PathBuf::from("/b"));
        for (read, network, write, wanted) in [
            (None, false, Some(vec![]), "reads all your files · no network · writes nothing"),
            (
                Some(vec![]),
                true,
                Some(vec![a.clone(), b]),
                "reads its skill alone · uses the network · writes `/a`, `/b`",
            ),
            (
                Some(vec![a]),
                false,
                None,
                "reads its skill and `/a` · no network · writes all your files",
            ),
        ] {
            assert_eq!(
                {
                    let (network, is_network_limited) = (network.into(), true);
                    Abilities { read, network, is_network_limited, write }.to_string()
                },
                wanted
            );
        }
    }
}
