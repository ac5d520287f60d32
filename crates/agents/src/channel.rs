//! The channel of an agent: the skills that it lists itself, how its model loads one, and where the list
//! of the other skills goes. The agent's own way of loading a skill has more authority with its model
//! than text from a hook, so it is preferred.

use repertoire::disclosure::NativeSkills;
use repertoire::skill::Quirk;

/// The place for the list of skills that the agent does not list itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    /// At the start of a conversation. `after_resume` is true if the agent loses the list when it
    /// resumes a conversation, so that the list is given again.
    Start { after_resume: bool },
    /// With the first message. Gemini would put a list that is given at the start before the first
    /// message of the user, and drop both when it resumes the conversation.
    FirstPrompt,
    /// In the system prompt of each request, added by the `OpenCode` plugin.
    System,
}

/// The skills that one agent lists itself, and the place of the others.
#[derive(Debug)]
pub(super) struct Channel {
    /// The skills that the agent lists and loads by itself.
    pub(super) native: NativeSkills,
    pub(super) list: List,
}

impl Channel {
    /// Tells whether the list goes to the start of a conversation, or of one that is `resumed`.
    pub(super) fn lists_at_start(&self, resumed: bool) -> bool {
        matches!(self.list, List::Start { after_resume } if !resumed || after_resume)
    }

    /// Renders the channel as a row of the table of `docs/agents.md`.
    pub(super) fn row(&self, agent: &str) -> String {
        let NativeSkills { roots, nested, hides_paths, how_to_load, needs, .. } = &self.native;
        let roots: Vec<String> = roots.iter().map(|root| format!("`{root}`")).collect();
        let nested = match needs.depth {
            Some(depth) => format!(", down to {depth} directories below"),
            None if needs.no_skill_above => {
                ", at any depth, but not below another skill".to_owned()
            }
            None if *nested => ", at any depth".to_owned(),
            None => String::new(),
        };
        let hidden = if *hides_paths { ", without `paths`" } else { "" };
        let list = match self.list {
            List::Start { after_resume: false } => "when a conversation begins",
            List::Start { after_resume: true } => "when one begins or is resumed",
            List::FirstPrompt => "beside the first message",
            List::System => "in the system prompt",
        };
        let how = how_to_load.replace("{name}", "NAME").replace("{path}", "PATH");
        let roots = roots.join(", ");
        format!("| `{agent}` | {roots}{nested}{hidden} | {how} | {list} |\n")
    }

    /// Returns the properties of a file for which the agent does not list a skill, as clauses.
    pub(super) fn refusals(&self) -> Vec<&'static str> {
        let needs = self.native.needs;
        let file =
            needs.exact_file.then_some("its file is not named `SKILL.md` in this letter case");
        let link = needs.unlinked_file.then_some("its file is a link");
        let quirks = needs.refused.iter().map(Quirk::as_str);
        file.into_iter().chain(link).chain(quirks).collect()
    }
}
