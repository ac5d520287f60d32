//! Arguments of the commands about skills from elsewhere.

use std::path::PathBuf;

use clap::Args;
use repertoire_agents::HookAgent;
use repertoire_config::FetchSettings;

use super::agents::hook_agents;

/// The part of a source that a command takes.
#[derive(Debug, Args)]
pub(crate) struct ChoiceArgs {
    /// Take this skill only: its id, its directory, or a pattern such as `'sem*'`; may be repeated, and
    /// `'!ID'` leaves one out
    #[arg(long = "skill", short = 's', value_name = "ID", value_delimiter = ',')]
    pub(crate) skills: Vec<String>,
    /// Branch, tag or commit of the repository, SHA-256 of the archive, or tag or digest of the
    /// artifact
    #[arg(long, value_name = "REV")]
    pub(crate) rev: Option<String>,
    /// Directory in the source where skills are looked for [default: the usual ones]
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Option<String>,
}

impl ChoiceArgs {
    /// Returns the settings of `source` with these arguments.
    pub(crate) fn settings(&self, source: &str) -> FetchSettings {
        let ChoiceArgs { skills, rev, path } = self;
        FetchSettings {
            source: source.to_owned(),
            rev: rev.clone(),
            path: path.clone(),
            skills: skills.clone(),
            ..FetchSettings::default()
        }
    }
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub(crate) struct AddArgs {
    /// `owner/repo`, `owner/repo@skill`, the address of a repository, or of a page in it as the browser
    /// shows it; a directory, a `SKILL.md`, a `.tar.gz`, `.zip` or `.skill` archive or its `https://` URL,
    /// a site that lists its skills, `s3://bucket/prefix`, `oci://registry/name:tag`, or an MCP server:
    /// `mcp:COMMAND`, `mcp+https://…`
    #[arg(required = true, value_name = "SOURCE")]
    pub(crate) addresses: Vec<String>,
    #[command(flatten)]
    pub(crate) choice: ChoiceArgs,
    /// Name of the source in `config.toml` [default: the end of its address]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Begin the ids of its skills with `ALIAS/`, where another source has skills of the same names
    #[arg(long = "as", value_name = "ALIAS")]
    pub(crate) alias: Option<String>,
    /// Public key of minisign that must have signed the source; if repeated, one of the keys must
    /// have
    #[arg(long = "signed-by", value_name = "KEY")]
    pub(crate) signed_by: Vec<String>,
    /// Put the skills into the own directory of this agent, too; may be repeated
    #[arg(long = "agent", short = 'a', value_name = "AGENT", value_delimiter = ',')]
    #[arg(value_parser = hook_agents())]
    pub(crate) agents: Vec<HookAgent>,
    /// Take all skills, without a question; at a terminal, a source with many asks which to take
    #[arg(long, conflicts_with = "skills")]
    pub(crate) all: bool,
    /// Ask nothing; as in commands of other programs that people copy
    #[arg(long, short, hide = true)]
    pub(crate) yes: bool,
    /// For the user, which is what happens anyway
    #[arg(long, short, hide = true, conflicts_with = "project")]
    pub(crate) global: bool,
    /// Show the skills of the source, with tokens, code, rights and findings, and add nothing
    #[arg(long)]
    pub(crate) list: bool,
    /// Show what would be added and written, and change nothing
    #[arg(long, conflicts_with = "list")]
    pub(crate) dry_run: bool,
    /// Command of the MCP server if the source is `mcp:`, word by word
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The agents
    #[arg(required = true, value_name = "AGENT", value_parser = hook_agents())]
    pub(crate) agents: Vec<HookAgent>,
    /// Remove the skills from there again
    #[arg(long)]
    pub(crate) undo: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PushArgs {
    /// The skills to pack: a directory, or any other source that `add` takes
    pub(crate) source: String,
    #[command(flatten)]
    pub(crate) choice: ChoiceArgs,
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
    /// Sources, by name or address, or skills, whose sources are updated; all if none is given
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
    /// Sources, by name or address, or skills, whose sources are checked; all if none is given
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// Sources, by name or address, or skills: `pdf`, `SOURCE@pdf`, `'sem*'`
    #[arg(required = true, value_name = "NAME")]
    pub(crate) names: Vec<String>,
}
