//! The identity of a skill in a catalog.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The identity of a skill: unique in its catalog, with parts separated by `/` (`sven/plan`). Cheap to
/// clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SkillId(Arc<str>);

impl SkillId {
    /// Creates the id with this text.
    pub fn new(text: &str) -> SkillId {
        SkillId(text.into())
    }

    /// The text of the id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SkillId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for SkillId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &self.0)
    }
}

impl Serialize for SkillId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for SkillId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SkillId, D::Error> {
        String::deserialize(deserializer).map(|text| SkillId::new(&text))
    }
}

impl AsRef<str> for SkillId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for SkillId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl From<String> for SkillId {
    fn from(text: String) -> SkillId {
        SkillId(text.into())
    }
}

impl From<&str> for SkillId {
    fn from(text: &str) -> SkillId {
        SkillId::new(text)
    }
}

impl PartialEq<str> for SkillId {
    fn eq(&self, other: &str) -> bool {
        &*self.0 == other
    }
}

impl PartialEq<&str> for SkillId {
    fn eq(&self, other: &&str) -> bool {
        &*self.0 == *other
    }
}

/// Tells whether `name` is an identifier as the Agent Skills specification defines it for names:
/// `^[a-z0-9]+(-[a-z0-9]+)*$`, at most 64 characters.
pub fn is_identifier(name: &str) -> bool {
    name.len() <= 64
        && name.split('-').all(|part| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        })
}

#[cfg(test)]
mod tests {
    use super::is_identifier;

    #[test]
    fn identifiers_follow_the_specification() {
        for name in ["a", "plan-2", "0-1-2", &"x".repeat(64)] {
            assert!(is_identifier(name), "{name}");
        }
        for name in ["", "-a", "a-", "a--b", "A", "a b", "a_b", "é", "a/b", &"x".repeat(65)] {
            assert!(!is_identifier(name), "{name}");
        }
    }
}
