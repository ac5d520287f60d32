//! The version of this program, with the features that it was built with.

use std::sync::LazyLock;

/// The optional features, and whether this program has each.
const FEATURES: [(&str, bool); 9] = [
    ("archive-https", cfg!(feature = "archive-https")),
    ("mcp-source-tls", cfg!(feature = "mcp-source-tls")),
    ("object-store", cfg!(feature = "object-store")),
    ("oci", cfg!(feature = "oci")),
    ("otlp", cfg!(feature = "otlp")),
    ("postgres", cfg!(feature = "postgres")),
    ("redis", cfg!(feature = "redis")),
    ("tls", cfg!(feature = "tls")),
    ("transformer", cfg!(feature = "transformer")),
];

/// Returns the version and the features, in one line.
pub(super) fn version() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let there = FEATURES.iter().filter(|(_, is_there)| *is_there).map(|(name, _)| *name);
        let there: Vec<&str> = there.collect();
        let there =
            if there.is_empty() { "no optional features".to_owned() } else { there.join(", ") };
        format!("{} ({there})", env!("CARGO_PKG_VERSION"))
    });
    &TEXT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_build_has_every_feature_of_the_manifest() {
        let manifest: toml_edit::DocumentMut = include_str!("../../Cargo.toml").parse().unwrap();
        let features = manifest["features"].as_table().unwrap();
        let is_own = |name: &&str| !["default", "full"].contains(name);
        let mut all: Vec<&str> = features.iter().map(|(name, _)| name).filter(is_own).collect();
        all.sort_unstable();
        let full = features["full"].as_array().unwrap().iter();
        assert_eq!(full.map(|name| name.as_str().unwrap()).collect::<Vec<_>>(), all);
        assert_eq!(FEATURES.map(|(name, _)| name).to_vec(), all);
        let is_there = |name: &str| version().contains(name);
        assert!(FEATURES.iter().all(|(name, here)| is_there(name) == *here), "{}", version());
    }
}
