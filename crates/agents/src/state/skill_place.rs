//! The directory of each agent into which skills are put for it.

use std::path::PathBuf;

use super::Start;
use crate::agent::HookAgent;

/// The own directory of an agent for skills.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillPlace {
    /// The directory of the user; `None` without a home directory.
    pub user: Option<PathBuf>,
    /// The directory of a project, relative to its root.
    pub project: &'static str,
    /// True if the agent lists a skill behind a link to its directory.
    pub follows_links: bool,
}

impl HookAgent {
    /// Returns the agent's own directory for skills.
    pub fn skill_place(self, start: &Start) -> SkillPlace {
        let own = |project| {
            let user = self.user_dir(start).map(|dir| dir.join("skills"));
            SkillPlace { user, project, follows_links: true }
        };
        match self {
            HookAgent::ClaudeCode => own(".claude/skills"),
            // `~/.codex/skills` is read for earlier installations alone.
            HookAgent::Codex => SkillPlace {
                user: start.in_home(".agents/skills"),
                project: ".agents/skills",
                follows_links: true,
            },
            HookAgent::Gemini => own(".gemini/skills"),
            HookAgent::OpenCode => own(".opencode/skills"),
            HookAgent::Qwen => own(".qwen/skills"),
            HookAgent::Droid => own(".factory/skills"),
            // Links were not followed: vercel-labs/skills#105 and github/copilot-cli#1021. Copilot 1.0.102
            // follows them, but a copy serves earlier versions, too.
            HookAgent::Cursor => SkillPlace { follows_links: false, ..own(".cursor/skills") },
            HookAgent::Copilot => SkillPlace { follows_links: false, ..own(".github/skills") },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use repertoire::catalog::Scope;

    #[test]
    fn an_agent_reads_its_own_directories() {
        let start = Start {
            home: Some("/home/u".into()),
            config_home: Some("/home/u/.config".into()),
            project: "/work/p".into(),
            dir: "/work/p".into(),
            system: "/nowhere".into(),
            ..Start::default()
        };
        for agent in HookAgent::ALL {
            let (place, roots) = (agent.skill_place(&start), agent.state(&start).roots);
            let reads = |path: PathBuf, scope| {
                roots.iter().any(|root| root.path == path && root.scope == scope)
            };
            assert!(reads(place.user.unwrap(), Scope::User), "{agent}");
            assert!(reads(start.project.join(place.project), Scope::Project), "{agent}");
        }
    }
}
