//! Results of a catalog: its prompt, findings, commands and changes, as records.

use repertoire_bindings::repertoire as engine;

use crate::record::{record, texts};

record! {
    /// The list of skills for a system prompt.
    CatalogPrompt {
        /// Skills in the text, in the order of the text.
        included: Vec<String>,
        /// Skills in the text whose description was shortened.
        shortened: Vec<String>,
        /// Skills that did not fit into the budget.
        omitted: Vec<String>,
        /// The text for the system prompt; empty if there is nothing to list.
        text: String,
    }
    {
        fn __str__(&self) -> &str {
            &self.text
        }

        /// Returns the text, for notebooks.
        fn _repr_markdown_(&self) -> &str {
            &self.text
        }
    }
}

impl From<engine::disclosure::CatalogPrompt> for CatalogPrompt {
    fn from(prompt: engine::disclosure::CatalogPrompt) -> CatalogPrompt {
        CatalogPrompt {
            included: texts(prompt.included),
            shortened: texts(prompt.shortened),
            omitted: texts(prompt.omitted),
            text: prompt.text,
        }
    }
}

record! {
    /// A coded finding about a skill file or a source.
    Diagnostic {
        /// The code, in kebab-case.
        code: String,
        /// `error`, `warning` or `info`.
        severity: String,
        /// The file or directory the finding is about; empty for a skill that was never a file.
        path: String,
        /// The line of the finding, from 1.
        line: usize,
        /// The column of the finding in characters, from 1.
        column: usize,
        /// The problem.
        message: String,
        /// The advice on what to do.
        help: String,
    }
}

impl From<&engine::Diagnostic> for Diagnostic {
    fn from(found: &engine::Diagnostic) -> Diagnostic {
        Diagnostic {
            code: found.code.as_str().to_owned(),
            severity: found.severity.as_str().to_owned(),
            path: found.path.display().to_string(),
            line: found.line,
            column: found.column,
            message: found.message.clone(),
            help: found.help.clone(),
        }
    }
}

record! {
    /// A slash command of the user, for menus and completion.
    Command {
        /// The command as it is typed.
        command: String,
        /// The skill that the command activates.
        id: String,
        /// The skill's description in one line.
        brief: String,
        /// The arguments that the command takes, in the words of the skill's author.
        argument_hint: Option<String>,
    }
}

impl From<engine::activation::Command> for Command {
    fn from(command: engine::activation::Command) -> Command {
        let engine::activation::Command { command, id, brief, argument_hint, .. } = command;
        Command { command, id: id.to_string(), brief, argument_hint }
    }
}

record! {
    /// The changes that a refresh found, as ids of skills.
    Refreshed {
        /// Skills that are new.
        added: Vec<String>,
        /// Skills that changed.
        changed: Vec<String>,
        /// Skills that no longer exist.
        removed: Vec<String>,
        /// Skills whose file no longer loads; their last loaded version stays in use.
        kept: Vec<String>,
    }
    {
        fn __bool__(&self) -> bool {
            let Refreshed { added, changed, removed, kept } = self;
            [added, changed, removed, kept].into_iter().any(|ids| !ids.is_empty())
        }
    }
}

impl From<&engine::catalog::Refreshed> for Refreshed {
    fn from(refreshed: &engine::catalog::Refreshed) -> Refreshed {
        Refreshed {
            added: texts(&refreshed.added),
            changed: texts(&refreshed.changed),
            removed: texts(&refreshed.removed),
            kept: texts(&refreshed.kept),
        }
    }
}
