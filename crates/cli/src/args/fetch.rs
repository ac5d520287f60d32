//! Arguments of the commands about skills from elsewhere.

use std::path::PathBuf;

use clap::Args;
use repertoire_config::FetchSettings;

/// The skills that a command takes from elsewhere.
#[derive(Debug, Args)]
pub(crate) struct SourceArgs {
    /// `owner/repo` on GitHub, the URL of a git repository, a directory, a `.tar.gz` or `.zip` archive or
    /// its `https://` URL, `s3://bucket/prefix`, `oci://registry/name:tag`, or an MCP server:
    /// `mcp:COMMAND`, `mcp+https://…`
    pub(crate) source: String,
    /// Take this skill only; may be repeated
    #[arg(long = "skill", value_name = "ID")]
    pub(crate) skills: Vec<String>,
    /// Branch, tag or commit of the repository, SHA-256 of the archive, or tag or digest of the
    /// artifact
    #[arg(long, value_name = "REV")]
    pub(crate) rev: Option<String>,
    /// Directory in the source where skills are looked for [default: the usual ones]
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Option<String>,
}

impl SourceArgs {
    /// Returns the settings of a source with these arguments.
    pub(crate) fn settings(&self) -> FetchSettings {
        let SourceArgs { source, skills, rev, path } = self;
        FetchSettings {
            source: source.clone(),
            rev: rev.clone(),
            path: path.clone(),
            skills: skills.clone(),
            ..FetchSettings::default()
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Name of the source in `config.toml` [default: the end of its address]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Public key of minisign that must have signed the source; if repeated, one of the keys must
    /// have
    #[arg(long = "signed-by", value_name = "KEY")]
    pub(crate) signed_by: Vec<String>,
    /// Command of the MCP server if the source is `mcp:`, word by word
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PushArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// `oci://registry/name:tag`, `s3://bucket/name.tar.gz`, or the name of a `.tar.gz` file
    pub(crate) to: String,
}

#[derive(Debug, Args)]
pub(crate) struct SignArgs {
    /// Directory with the skills
    pub(crate) dir: PathBuf,
    /// File of the secret key, as `minisign -G` makes it [default: ~/.minisign/minisign.key]
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// Directory in the source where skills are looked for, if others add it with this `--path`
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct UpdateArgs {
    /// Names of sources; all of the user and the project if none is given
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Fetch exactly what `skills.lock` pins, and fail if that is not possible
    #[arg(long)]
    pub(crate) frozen: bool,
}

#[derive(Debug, Args)]
pub(crate) struct OutdatedArgs {
    /// Names of sources; all of the user and the project if none is given
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// Name of the source
    pub(crate) name: String,
}
