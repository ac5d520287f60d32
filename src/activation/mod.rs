//! Activation: turns a chosen skill into instructions, with arguments and with hints at its files.
//!
//! The model's `use_skill` and the user's `/id args` produce the same [`Activation`]. Its content is the
//! body with the arguments substituted. Files of the skill are listed, read ([`read_resource`]) and
//! copied for tasks ([`mount`]) without ever leaving the skill's directory.

mod arguments;
mod command;
mod consent;
mod knowledge;
mod mount;
mod permission;
mod prepare;
mod render;
mod resource;
mod resources;
mod task;
mod tree;

use std::path::PathBuf;

use serde::Serialize;

use crate::catalog::Scope;
use crate::skill::{Context, SkillId};

pub use crate::catalog::files::{BundledFiles, MAX_BUNDLED_FILES, bundled_files};
pub use command::Command;
pub use consent::{Consent, ConsentPolicy, ConsentRequest, Risk};
pub use knowledge::KnowledgeDocument;
pub use mount::{LeftOut, LeftOutReason, MountLimits, Mounted, mount};
pub use permission::permits;
pub use resource::{Content, ReadOptions, Resource};
pub use resources::read_resource;
pub use task::{SpawnedTask, Task, TaskSpawner};
pub use tree::{TreeLimits, folder_tree};

pub use crate::catalog::files::{files_of, has_directory};
#[cfg(feature = "scripts")]
pub(crate) use arguments::split as split_arguments;
#[doc(hidden)]
pub use arguments::text_of_arguments;
pub(crate) use command::commands;
#[doc(hidden)]
pub use command::{Typed, find as find_command};
pub use consent::refused;
pub(crate) use prepare::{consent_request, prepare};
#[doc(hidden)]
pub use resources::bytes_of;
pub(crate) use resources::resource_of;

/// A skill loaded by name: instructions with arguments, and the files that come with them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Activation {
    /// The id of the skill.
    pub id: SkillId,
    /// The name of the skill.
    pub name: String,
    /// The origin of the skill.
    pub scope: Scope,
    /// The destination of the instructions.
    pub mode: Context,
    /// The body with the arguments substituted; empty if the instructions went to a task.
    pub content: String,
    /// True if the body has commands such as `` !`git status` ``, whose output other agents insert. They
    /// are never run, and the text says so.
    pub runs_no_commands: bool,
    /// The absolute path of the skill's directory; `None` for skills in memory or of a provider. In JSON, bytes that are
    /// not UTF-8 become `U+FFFD`.
    #[serde(serialize_with = "repertoire_system::lossy_path::serialize_option")]
    pub base_dir: Option<PathBuf>,
    /// The files that come with the skill, as paths below its directory: [`MAX_BUNDLED_FILES`] at most.
    pub files: Vec<String>,
    /// The number of further files, which are not in `files`.
    pub more_files: usize,
    /// The skills directly below this one.
    pub sub_skills: Vec<SubSkill>,
    /// Documents that are worth reading with the skill.
    pub knowledge: Vec<KnowledgeDocument>,
    /// The skills that this one builds on, those that are missing included.
    pub required_skills: Vec<RequiredSkill>,
    /// The tools that the skill's author wants to be allowed; `None` means all tools. See
    /// [`Activation::permits`] and [`Activation::preapproved`].
    pub allowed_tools: Option<Vec<String>>,
    /// The model that the skill's author wants.
    pub model: Option<String>,
    /// The kind of agent that the skill's author wants.
    pub agent: Option<String>,
    /// The risk of the activation.
    pub risk: Risk,
    /// The task that follows the instructions, if they went to a task.
    #[serde(flatten)]
    pub task: Option<SpawnedTask>,
}

/// A skill below another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SubSkill {
    /// The id of the sub-skill.
    pub id: SkillId,
    /// The description of the sub-skill in one line.
    pub brief: String,
}

/// A skill that another one builds on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RequiredSkill {
    /// The id of the skill; of a missing one, its name as it is written.
    pub id: String,
    /// The description of the skill in one line.
    pub brief: String,
    /// True if there is no such skill that a model may load.
    pub is_missing: bool,
}

impl Activation {
    /// Tells whether the `allowed-tools` of the skill let it use `tool`: a name such as `read_file`, or
    /// a call such as `Bash(git status)`.
    ///
    /// A skill without `allowed-tools` may use every tool, a skill with an empty list none. In an entry,
    /// `*` matches any characters; `Bash(git:*)` matches a command that begins with the word `git`. An
    /// entry with parentheses does not allow text that a shell would run as several commands, unless they
    /// contain exactly this text, `*` or `:*`.
    pub fn permits(&self, tool: &str) -> bool {
        let allowed = self.allowed_tools.as_deref();
        allowed.is_none_or(|allowed| permits(allowed, tool))
    }

    /// Tells whether the skill asks that `tool`, given as for [`Activation::permits`], runs without a question to
    /// the user, which is what the Agent Skills specification means by `allowed-tools`. A skill without the
    /// field asks for none.
    ///
    /// A host grants this for as long as the skill is in use, and only if it trusts the skill's author: strangers
    /// wrote the skills of a project and those that were fetched ([`Scope::is_trusted`] of
    /// [`Activation::scope`]).
    ///
    /// ```
    /// use repertoire::Engine;
    ///
    /// let skill = "---\nname: commit\ndescription: d\nallowed-tools: Bash(git:*)\n---\nCommit.";
    /// let engine = Engine::builder().skill(skill.parse()?).build()?;
    /// let commit = engine.activate("commit", "", &engine.session("chat-7"))?;
    /// let runs_without_question = |tool| commit.scope.is_trusted() && commit.preapproved(tool);
    /// assert!(runs_without_question("Bash(git status)"));
    /// assert!(!runs_without_question("Bash(rm -r .)"));
    /// # Ok::<(), repertoire::Error>(())
    /// ```
    pub fn preapproved(&self, tool: &str) -> bool {
        self.allowed_tools.is_some() && self.permits(tool)
    }
}
