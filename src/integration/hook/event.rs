//! The events of an agent that its hooks report.

/// An event in the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HookEvent {
    /// A conversation begins, or goes on.
    Start {
        /// True if the earlier additions to its context are still there.
        resumed: bool,
        /// True if its context was just shortened.
        compacted: bool,
        /// True if the user emptied its context.
        cleared: bool,
    },
    /// The agent asks for the list of skills; nothing happened.
    Catalog,
    /// The user sent a message.
    Prompt(String),
    /// The model used a tool on these files (possibly none); the paths are as the agent wrote them.
    Files(Vec<String>),
    /// The context may be shortened now; a later event shows if it was.
    Compacting,
    /// The context was shortened.
    Compacted,
    /// The agent exits; the conversation can be resumed.
    Exit,
    /// The conversation is over.
    End,
}
