//! The models by which texts become vectors.

use std::path::Path;

use crate::error::Error;
use crate::layout::TRANSFORMER_MAGIC;
use crate::scratch::Scratch;
use crate::table::Table;
#[cfg(feature = "transformer")]
use crate::transformer::{Side, Transformer};
use crate::vector::{Contribution, Vector};

/// A model of meaning: what makes vectors of texts. Vectors of different models have nothing to do with each other.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Model {
    /// A static table: microseconds a text.
    Table(Table),
    /// A sentence transformer: milliseconds a text.
    #[cfg(feature = "transformer")]
    Transformer(Transformer),
}

impl From<Table> for Model {
    fn from(table: Table) -> Model {
        Model::Table(table)
    }
}

#[cfg(feature = "transformer")]
impl From<Transformer> for Model {
    fn from(transformer: Transformer) -> Model {
        Model::Transformer(transformer)
    }
}

/// Calls a method that all kinds have.
macro_rules! of_each {
    ($model:expr, $of:ident => $call:expr) => {
        match $model {
            Model::Table($of) => $call,
            #[cfg(feature = "transformer")]
            Model::Transformer($of) => $call,
        }
    };
}

impl Model {
    /// The table in this crate.
    #[cfg(feature = "bundled")]
    pub fn bundled() -> Model {
        // Its bytes are not copied.
        Model::Table(Table::bundled().clone())
    }

    /// Opens the file of a model, and checks its header. Whatever the rest holds, no text makes the model panic;
    /// [`Model::verify`] tells whether it is as it was written.
    ///
    /// # Errors
    ///
    /// [`Io`](crate::ErrorKind::Io) if the file cannot be read, [`NotATable`](crate::ErrorKind::NotATable) if it is of
    /// another kind, and [`Damaged`](crate::ErrorKind::Damaged) if sizes do not fit it.
    pub fn open_file(path: &Path) -> Result<Model, Error> {
        if crate::file::begins_with(path, TRANSFORMER_MAGIC)? {
            #[cfg(feature = "transformer")]
            return Transformer::open_file(path).map(Model::Transformer);
            #[cfg(not(feature = "transformer"))]
            return Err(Error::not_built().of(path));
        }
        Table::open_file(path).map(Model::Table)
    }

    /// Reads a directory with a model of others: `model.safetensors` and `tokenizer.json`, and a `config.json` that
    /// tells the kind. See [`Table::from_model2vec`] and `Transformer::from_directory`.
    ///
    /// # Errors
    ///
    /// Those of the kind of model.
    #[cfg(feature = "model2vec")]
    pub fn from_directory(directory: &Path) -> Result<Model, Error> {
        if crate::import::is_transformer(directory)? {
            #[cfg(feature = "transformer")]
            return Transformer::from_directory(directory).map(Model::Transformer);
            #[cfg(not(feature = "transformer"))]
            return Err(Error::not_built().of(directory));
        }
        Table::from_model2vec(directory).map(Model::Table)
    }

    /// Reads the whole model and compares it with its fingerprint.
    ///
    /// # Errors
    ///
    /// [`Damaged`](crate::ErrorKind::Damaged) if a byte is not as it was written.
    pub fn verify(&self) -> Result<(), Error> {
        of_each!(self, model => model.verify())
    }

    /// Reads the file of the model.
    ///
    /// # Errors
    ///
    /// [`Io`](crate::ErrorKind::Io) if it cannot be read.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        match self {
            Model::Table(table) => Ok(table.as_bytes().to_vec()),
            #[cfg(feature = "transformer")]
            Model::Transformer(transformer) => transformer.to_bytes(),
        }
    }

    /// A number that is the same for the same model in every process, and differs for others.
    pub fn fingerprint(&self) -> u64 {
        of_each!(self, model => model.fingerprint())
    }

    /// The number of dimensions of a vector: a multiple of 16, at most 512; also the size of a
    /// [`Compact`](crate::Compact) vector in bytes.
    pub fn dimensions(&self) -> usize {
        of_each!(self, model => model.dimensions())
    }

    /// The number of word pieces.
    pub fn pieces(&self) -> usize {
        of_each!(self, model => model.pieces())
    }

    /// The name of the model, up to 32 bytes.
    pub fn name(&self) -> &str {
        of_each!(self, model => model.name())
    }

    /// Returns true if a text takes milliseconds, not microseconds.
    pub fn is_slow(&self) -> bool {
        !matches!(self, Model::Table(_))
    }

    /// Returns true if the leading dimensions tell most, so that [`Vectors::estimates`](crate::Vectors::estimates) is near the
    /// cosines.
    pub fn has_ordered_dimensions(&self) -> bool {
        matches!(self, Model::Table(_))
    }

    /// Returns the vector of the start of a text that is looked for: the words of a person.
    pub fn query_vector(&self, text: &str, scratch: &mut Scratch) -> Vector {
        match self {
            Model::Table(table) => table.vector(text, scratch),
            #[cfg(feature = "transformer")]
            Model::Transformer(transformer) => {
                transformer.vector(text, Side::Query, &mut scratch.pieces, &mut scratch.transformer)
            }
        }
    }

    /// Returns the vector of the start of a text among which one looks.
    pub fn document_vector(&self, text: &str, scratch: &mut Scratch) -> Vector {
        match self {
            Model::Table(table) => table.vector(text, scratch),
            #[cfg(feature = "transformer")]
            Model::Transformer(transformer) => transformer.vector(
                text,
                Side::Document,
                &mut scratch.pieces,
                &mut scratch.transformer,
            ),
        }
    }

    /// Returns the words of a query with what each adds to the cosine of its vector and `other`, the largest share
    /// first. Parts of a word count as the word; a word that occurs twice is in the list twice.
    pub fn contributions(
        &self,
        text: &str,
        other: &Vector,
        scratch: &mut Scratch,
    ) -> Vec<Contribution> {
        match self {
            Model::Table(table) => table.contributions(text, other, scratch),
            #[cfg(feature = "transformer")]
            Model::Transformer(transformer) => {
                let Scratch { pieces, transformer: run } = scratch;
                transformer.contributions(text, other, pieces, run)
            }
        }
    }
}

#[cfg(all(test, feature = "model2vec", not(feature = "transformer")))]
mod tests {
    use std::fs;

    use super::*;
    use crate::ErrorKind;

    #[test]
    fn a_program_without_transformers_says_so() {
        let name = format!("repertoire-meaning-{}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        fs::create_dir_all(&directory).unwrap();
        let config = r#"{"model_type": "bert", "num_hidden_layers": 1}"#;
        fs::write(directory.join("config.json"), config).unwrap();
        let file = directory.join("converted.model");
        fs::write(&file, [&TRANSFORMER_MAGIC[..], &[0; 500]].concat()).unwrap();
        for refused in [Model::from_directory(&directory), Model::open_file(&file)] {
            let error = refused.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotBuilt, "{error}");
            assert!(error.help().contains("--features full"));
        }
        fs::remove_dir_all(&directory).unwrap();
    }
}
