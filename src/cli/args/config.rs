//! Commands about `config.toml`.

use clap::Args;

/// Which skills are turned on or off, and in which file.
#[derive(Debug, Args)]
pub(crate) struct SwitchArgs {
    /// Ids, paths or unique names of the skills
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
    /// In the file of the user; the default, unless there is a `--project`
    #[arg(long)]
    pub(crate) user: bool,
}
