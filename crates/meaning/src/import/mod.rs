//! Models of others, from directories with `tokenizer.json` and `model.safetensors`.

#[cfg(feature = "transformer")]
mod bert;
mod kind;
mod model2vec;
mod tensors;
mod vocabulary;
mod writer;

pub(crate) use kind::is_transformer;

use std::path::Path;

use crate::error::Error;

/// The largest `tokenizer.json` or other file of JSON that is read, in bytes.
const MAX_JSON: u64 = 64 << 20;

/// Reads a file of JSON as a whole.
fn read(path: &Path) -> Result<Vec<u8>, Error> {
    crate::file::read(path, MAX_JSON)
}

/// Returns the name that a model has in its file: that of its directory, up to 32 bytes.
fn name(directory: &Path) -> String {
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    let end = (0..=name.len().min(32)).rev().find(|at| name.is_char_boundary(*at));
    name[..end.unwrap_or_default()].to_owned()
}
