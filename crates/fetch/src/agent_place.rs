//! The directories of an agent, as the host knows them.

use std::path::PathBuf;

/// The directories in which an agent finds skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentPlace {
    /// The name of the agent, as `agents` of a source has it.
    pub agent: String,
    /// The own directory of the agent for skills of the user, if it has one.
    pub user: Option<PathBuf>,
    /// The own directory for skills of a project, relative to its root.
    pub project: PathBuf,
    /// All directories of which the agent reads skills.
    pub reads: Vec<PathBuf>,
    /// True if the agent lists a skill behind a link to its directory.
    pub follows_links: bool,
}
