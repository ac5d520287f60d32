//! The fingerprint of a file that a skill was read from: hashes that recognise its version.
//!
//! The manifest is read when the skill is loaded and the body when it is needed, from a file that may
//! have changed in between. An activated skill must not have the manifest of one version and the body of
//! another.

use std::hash::{DefaultHasher, Hasher as _};

use super::document;

/// Hashes of the two parts of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Fingerprint {
    /// A hash of all that comes before the body; `None` if the description was taken from the body.
    head: Option<u64>,
    body: u64,
    pub(super) body_bytes: usize,
}

impl Fingerprint {
    /// Computes the fingerprint of `text`, whose body begins at byte `body`. `is_described` tells whether
    /// the head has a description.
    pub(super) fn of(text: &str, body: usize, is_described: bool) -> Fingerprint {
        let (head, body) = text.split_at_checked(body).unwrap_or((text, ""));
        let head = is_described.then(|| hash(head));
        Fingerprint { head, body: hash(body), body_bytes: body.len() }
    }

    /// Finds the body of this version in `text`, the current content of the same file: the unchanged
    /// body at the end, or an edited body below an unchanged head. Returns `None` if `text` has neither,
    /// or if the body is gone.
    pub(super) fn body_in<'t>(&self, text: &'t str) -> Option<&'t str> {
        let end = text.len().checked_sub(self.body_bytes).and_then(|start| text.get(start..));
        let unchanged = end.filter(|end| self.body_bytes > 0 && hash(end) == self.body);
        unchanged.or_else(|| {
            let known = self.head?;
            let start = document::split(text).ok()?.body;
            let (head, body) = text.split_at_checked(start)?;
            // A file that was cut off after its head has lost its instructions.
            let is_cut = self.body_bytes > 0 && body.trim().is_empty();
            (hash(head) == known && !is_cut).then_some(body)
        })
    }
}

/// A hash of a part of a file; the same in all processes of one program.
pub(super) fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(text.as_bytes());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOADED: &str = "---\nname: a\ndescription: d\n---\nDo this.\n";

    #[test]
    fn a_body_is_of_the_loaded_version_or_of_none() {
        let fingerprint = Fingerprint::of(LOADED, LOADED.find("Do").unwrap(), true);
        for (what, text, body) in [
            ("unchanged", LOADED, Some("Do this.\n")),
            ("a broken head", "---\nname: [\nDo this.\n", Some("Do this.\n")),
            ("an edited body", "---\nname: a\ndescription: d\n---\nDo that.\n", Some("Do that.\n")),
            ("no body now", "---\nname: a\ndescription: d\n---\n", None),
            ("a blank body now", "---\nname: a\ndescription: d\n---\n \n\n", None),
            ("both edited", "---\nname: a\ndescription: e\n---\nDo that.\n", None),
            ("half saved in the head", "---\nname: a\nde", None),
            ("half saved after a name", "---\nname: a\n", None),
            ("empty", "", None),
            ("only text", "é", None),
        ] {
            assert_eq!(fingerprint.body_in(text), body, "{what}");
        }
    }

    #[test]
    fn an_empty_body_is_not_found_everywhere() {
        let text = "---\nname: a\ndescription: d\n---\n";
        let fingerprint = Fingerprint::of(text, text.len(), true);
        assert_eq!(fingerprint.body_in(text), Some(""));
        assert_eq!(fingerprint.body_in("---\nname: b\n---\nOther.\n"), None);
    }

    #[test]
    fn a_body_that_describes_the_skill_is_not_replaced_by_another() {
        let text = "---\nname: a\n---\nIt does this.\n";
        let fingerprint = Fingerprint::of(text, text.find("It").unwrap(), false);
        assert_eq!(fingerprint.body_in(text), Some("It does this.\n"));
        assert_eq!(fingerprint.body_in("---\nname: a\n---\nIt does that.\n"), None);
        assert_eq!(fingerprint.body_in("---\nname: a\n---\n"), None);
    }
}
