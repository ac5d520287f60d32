//! The events of an agent that its hooks report.

/// An event in the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HookEvent {
    /// A conversation starts or is resumed, or its context was shortened or emptied.
    Start {
        /// True if the text that was added to its context earlier is still there.
        resumed: bool,
        /// True if its context was just shortened.
        compacted: bool,
        /// True if the user emptied its context.
        cleared: bool,
    },
    /// The agent asks for the list of skills; nothing else happened.
    Catalog,
    /// The user sent a message.
    Prompt(String),
    /// The model used a tool on these files, which may be none. The paths are as the agent wrote them.
    Files(Vec<String>),
    /// The context may be shortened next; a later event shows whether it was.
    Compacting,
    /// The context was shortened.
    Compacted,
    /// The agent exits; the conversation can be resumed.
    Exit,
    /// The conversation is over.
    End,
}
