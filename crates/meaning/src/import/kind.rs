//! The kind of a model in a directory, by its `config.json`.

use std::path::Path;

use serde_json::Value;

use super::read;
use crate::error::{Error, ErrorKind};

pub(super) fn damaged(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Damaged, message)
}

pub(super) fn unsupported(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Unsupported, message)
}

/// Reads a file of JSON that may be missing.
pub(super) fn json(path: &Path) -> Result<Value, Error> {
    if !path.exists() {
        return Ok(Value::Null);
    }
    let parsed = serde_json::from_slice(&read(path)?);
    parsed.map_err(|error| damaged(format!("not JSON: {error}")).of(path))
}

/// Tells whether a directory has a transformer; an error if it is not of the BERT family.
pub(crate) fn is_transformer(directory: &Path) -> Result<bool, Error> {
    let path = directory.join("config.json");
    let config = json(&path)?;
    if config["num_hidden_layers"].is_null() {
        return Ok(false);
    }
    match config["model_type"].as_str() {
        Some("bert") => Ok(true),
        other => {
            let name = other.unwrap_or("of no type");
            Err(unsupported(format!("the model is {name}, not of the BERT family")).of(&path))
        }
    }
}
