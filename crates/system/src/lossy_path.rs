//! Paths in JSON, as text. On Unix a path is any bytes, and one that is not UTF-8 must not keep an answer
//! from being written: its other bytes become `U+FFFD`.

use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

/// Serialises a path; for `#[serde(serialize_with = "…")]`.
pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    path.to_string_lossy().serialize(serializer)
}

/// Serialises a path that may be missing; for `#[serde(serialize_with = "…")]`.
pub fn serialize_option<S: Serializer>(
    path: &Option<PathBuf>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.to_string_lossy()).serialize(serializer)
}
