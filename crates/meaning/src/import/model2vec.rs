//! Tables of users, from a directory as model2vec writes it.

use std::path::Path;

use super::tensors::{Tensor, Tensors};
use super::vocabulary::{self, Piece};
use super::writer::{Entry, seal, write};
use super::{name, read};
use crate::error::{Error, ErrorKind};
use crate::layout::TABLE;
use crate::table::Table;

impl Table {
    /// Reads a model2vec model: `tokenizer.json`, with a `WordPiece` or Unigram model, and
    /// `model.safetensors`. The table has a byte for each value and the leading 256 dimensions, which
    /// tell most. [`Table::as_bytes`] is the file that [`Table::open_file`] opens without this work.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`] for a file that cannot be read, [`ErrorKind::Damaged`] for one whose parts do
    /// not fit each other or with numbers that are not finite, [`ErrorKind::Unsupported`] for another
    /// tokenizer.
    pub fn from_model2vec(directory: &Path) -> Result<Table, Error> {
        let tokenizer = directory.join("tokenizer.json");
        let (pieces, rules) = read(&tokenizer)
            .and_then(|bytes| vocabulary::read(&vocabulary::parse(&bytes)?))
            .map_err(|error| error.of(&tokenizer))?;
        let model = directory.join("model.safetensors");
        let entries = entries(pieces, &model).map_err(|error| error.of(&model))?;
        if entries.is_empty() {
            let error = Error::new(ErrorKind::Damaged, "no piece of `tokenizer.json` has a row");
            return Err(error.of(&model));
        }
        let (file, _) = write(entries, rules, &name(directory), TABLE);
        Table::open(seal(file))
    }
}

/// Returns the pieces with their rows; pieces beyond the last row are left out.
fn entries(pieces: Vec<Piece>, model: &Path) -> Result<Vec<Entry>, Error> {
    let mut tensors = Tensors::open(model)?;
    let rows = tensors
        .get(&["embeddings", "embedding.weight"])?
        .ok_or_else(|| Error::new(ErrorKind::Unsupported, "no tensor `embeddings`"))?;
    let [n_rows, dimensions] = rows.shape[..] else {
        return Err(Error::new(ErrorKind::Damaged, "`embeddings` does not have two sides"));
    };
    let (mapping, weights) = (tensors.get(&["mapping"])?, tensors.get(&["weights"])?);
    let mut entries = Vec::new();
    for piece in pieces {
        let row = mapping.as_ref().map_or(Some(piece.id), |mapping| mapping.row(piece.id));
        let Some(row) = row.filter(|row| *row < n_rows) else { continue };
        let weight = match &weights {
            Some(weights) => weights.float(piece.id).unwrap_or(0.0),
            None => 1.0,
        };
        let row = scaled(&rows, row * dimensions, dimensions, weight).ok_or_else(|| {
            Error::new(ErrorKind::Damaged, format!("the row of `{}` is not finite", piece.text))
        })?;
        let Piece { text, flag, cost, .. } = piece;
        entries.push(Entry { piece: text.into_bytes(), flag, cost, row });
    }
    Ok(entries)
}

/// Returns finite numbers of a tensor, times a weight.
fn scaled(tensor: &Tensor, start: usize, n: usize, weight: f32) -> Option<Vec<f32>> {
    let number = |value: f32| Some(value * weight).filter(|value| value.is_finite());
    tensor.finite(start, n)?.into_iter().map(number).collect()
}
