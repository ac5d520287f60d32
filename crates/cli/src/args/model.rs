//! Arguments of the commands about tables of meanings.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// The commands of `model`.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// Add a model in the form of model2vec, and rank skills by it
    ///
    /// Nothing is downloaded: the directory must have `model.safetensors` and `tokenizer.json`. The model is
    /// converted to one flat file, and `routing.meaning` in the user's `config.toml` names it from then on.
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
