//! The policy of a skill that Codex reads: `agents/openai.yaml` in the skill's directory.
//!
//! With `policy: {allow_implicit_invocation: false}`, Codex leaves the skill out of the model's list, and
//! the user invokes it by name (`codex-rs/core-skills/src/loader.rs` of openai/codex).

use std::io::Read as _;
use std::path::{Path, PathBuf};

use repertoire_system::open_options::regular_file;
use repertoire_text::compared;

use super::fields::Reader;
use super::load::bytes_of_provider;
use super::yaml::{self, Node, Value};
use crate::diagnostic::Diagnostic;
use crate::provider::Provided;

/// The path of the file in a skill's directory.
const FILE: [&str; 2] = ["agents", "openai.yaml"];
/// The key that closes a skill to the model.
const KEY: &str = "allow_implicit_invocation";
/// The largest file that is read. Those in use have a few hundred bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// The policy of one skill.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Policy(String);

impl Policy {
    /// Returns the path of the policy of the skill whose file is at `skill_file`.
    pub(crate) fn path(skill_file: &Path) -> PathBuf {
        let dir = skill_file.parent().unwrap_or(Path::new(""));
        dir.join(FILE[0]).join(FILE[1])
    }

    /// Reads the policy at `path`; `None` if there is nothing. What cannot be read closes the skill.
    pub(crate) fn read(path: &Path) -> Option<Policy> {
        path.symlink_metadata().ok()?;
        let mut bytes = Vec::new();
        let read = regular_file(path).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes));
        Some(if read.is_ok() { Policy::of(&bytes) } else { Policy(KEY.to_owned() + ": [") })
    }

    /// Reads the policy that a provider has at `location`; the diagnostic says why that failed.
    pub(crate) fn read_provided(
        provided: &Provided,
        location: &Path,
    ) -> Result<Policy, Diagnostic> {
        bytes_of_provider(provided, location).map(|bytes| Policy::of(&bytes))
    }

    /// The policy that a file with these bytes is.
    pub(crate) fn of(bytes: &[u8]) -> Policy {
        let read = &bytes[..bytes.len().min(MAX_BYTES as usize)];
        Policy(String::from_utf8_lossy(read).into_owned())
    }

    /// Tells whether only the user may invoke the skill. A value that cannot be read closes it, too.
    pub(super) fn closes(&self) -> bool {
        // Without NUL, the letters of UTF-16 are left.
        let text = self.0.replace('\0', "");
        let text = text.trim_start_matches(['\u{feff}', char::REPLACEMENT_CHARACTER]);
        let Ok(tree) = yaml::parse(text, &|at| at) else { return mentions_key(text) };
        let replaced: Vec<_> = tree.duplicates.into_iter().map(|of| of.replaced).collect();
        let root = tree.root.as_ref().map(entries).unwrap_or_default();
        let policies = root.iter().chain(&replaced).filter(|(key, _)| is_named(key, "policy"));
        let in_policies = policies.flat_map(|(_, policy)| entries(policy));
        let mut reader = Reader { file: text, findings: Vec::new() };
        let mut closes = |value| reader.restriction(KEY, value, false).is_some_and(|on| !on.value);
        in_policies
            .chain(root)
            .chain(&replaced)
            .any(|(key, value)| is_named(key, KEY) && closes(value))
    }
}

fn entries(node: &Node) -> &[(Node, Node)] {
    if let Value::Mapping(entries) = &node.value { entries } else { &[] }
}

/// Tells whether a key is `name` in any spelling.
fn is_named(key: &Node, name: &str) -> bool {
    key.text().is_some_and(|key| letters(key) == letters(name))
}

/// Tells whether a text that is not YAML has the key, in any spelling.
fn mentions_key(text: &str) -> bool {
    letters(text).contains(&letters(KEY))
}

/// Returns a text in lower case, without what separates the words of a key.
fn letters(text: &str) -> String {
    compared(text).replace(['-', '_'], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_closes_what_it_does_not_clearly_open() {
        for (text, wanted) in [
            ("policy:\n  allow_implicit_invocation: false\n", true),
            ("\u{feff}policy: {allow_implicit_invocation: no}", true),
            ("policy:\n  allow_implicit_invocation: 'False'\n", true),
            ("policy:\n  allow_implicit_invocation: never\n", true),
            ("policy: [\nallow_implicit_invocation: false", true),
            ("policy: [\nallow-implicit-invocation: false", true),
            ("policy:\n  allowImplicitInvocation: false\n", true),
            ("Policy: {allow-implicit-invocation: false}", true),
            ("policy: {allow_implicit_invocation: false, allow_implicit_invocation: true}", true),
            ("policy: {allowImplicitInvocation: false, allow_implicit_invocation: true}", true),
            ("policy: {allow_implicit_invocation: false}\npolicy: {x: 1}\n", true),
            ("policy: {allow_implicit_invocation: true, allow_implicit_invocation: yes}", false),
            ("policy:\n  allow_implicit_invocation: true\n", false),
            ("policy:\n  allow_implicit_invocation:\n", false),
            ("allow_implicit_invocation: false\n", true),
            ("p\0o\0l\0i\0c\0y\0:\0 \0{\0allow_implicit_invocation: false}", true),
            ("\u{fffd}\u{fffd}policy: {allow_implicit_invocation: false}", true),
            ("interface:\n  allow_implicit_invocation: false\n", false),
            ("allow_implicit_invocation: true\n", false),
            ("policy: [\n", false),
            ("policy: 7\n", false),
            ("", false),
        ] {
            assert_eq!(Policy(text.to_owned()).closes(), wanted, "{text}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_closes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("openai.yaml");
        let closes = || Policy::read(&path).map(|policy| policy.closes());
        assert_eq!(closes(), None);
        std::fs::create_dir(&path).unwrap();
        assert_eq!(closes(), Some(true));
        std::fs::remove_dir(&path).unwrap();
        let utf_16 = "policy: {allow_implicit_invocation: false}".encode_utf16();
        let bytes: Vec<u8> =
            [0xfeff].into_iter().chain(utf_16).flat_map(u16::to_le_bytes).collect();
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(closes(), Some(true));
        std::fs::write(&path, "interface: {display_name: a}").unwrap();
        assert_eq!(closes(), Some(false));
    }
}
