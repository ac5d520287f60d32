//! Arguments of the commands about models of meaning.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// The commands of `model`.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// Add a model from a directory, and rank skills by it
    ///
    /// It is a static model in the form of model2vec, or a sentence transformer of the BERT family, such as
    /// all-MiniLM-L6-v2, e5-small or bge-small. Nothing is downloaded: the directory must have `model.safetensors`,
    /// `tokenizer.json` and `config.json`. The model is converted to one flat file, and `routing.meaning` in the user's
    /// `config.toml` names it from then on.
    Add(ModelAddArgs),
    /// List the models that were added, and the one in use
    List,
    /// Remove a model that was added
    Remove(ModelRemoveArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ModelAddArgs {
    /// Directory of the model
    pub(crate) dir: PathBuf,
    /// Name of the model [default: that of the directory]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ModelRemoveArgs {
    /// Name of the model
    pub(crate) name: String,
}
