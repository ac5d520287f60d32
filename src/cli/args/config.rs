//! Arguments of the commands about `config.toml`.

use clap::Args;

/// The skills to turn on or off, and the file to change.
#[derive(Debug, Args)]
pub(crate) struct SwitchArgs {
    /// Ids, paths or unique names of the skills
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
    /// Change the user's file; the default, unless `--project` is given
    #[arg(long)]
    pub(crate) user: bool,
}
