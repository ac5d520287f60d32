//! `skills.show`: how much of each skill a model sees, for all agents or for one.

use super::Config;
use super::read::Found;
use super::schema::{Show, Value};
use repertoire::catalog::{Exposure, ExposureChoice, Scope, SkillChoice};
use repertoire::diagnostic::Code;

/// The agents whose hooks the program serves, by the names that commands take. A section of `skills.show` may
/// also have the name of the host's brand.
pub const AGENTS: [&str; 8] =
    ["claude-code", "codex", "copilot", "cursor", "droid", "gemini", "opencode", "qwen"];

/// The value that turns skills off.
const OFF: &str = "off";

/// The meaning of a value of `skills.show`; `None` for off. A value that cannot be read closes the skill.
fn exposure(show: &str) -> Option<Exposure> {
    show.parse().ok()
}

impl Config {
    /// Applies the settings of `skills.show` for this agent, as commands name it; the ones for no agent in
    /// particular come first.
    #[must_use]
    pub fn for_agent(mut self, agent: Option<&str>) -> Config {
        self.agent = agent.map(str::to_owned);
        self
    }

    /// The entries of `skills.show` in a file that apply, those for all agents first.
    fn shown_in<'f>(&'f self, found: &'f Found) -> impl Iterator<Item = &'f Show> {
        let all: &[Show] = match &found.value {
            Value::Shown(shown) => shown,
            _ => &[],
        };
        let is_for = |agent: &str| {
            self.agent.as_deref() == Some(agent)
                || self.agent.is_none() && agent == self.place.brand
        };
        let general = all.iter().filter(|show| show.agent.is_none());
        general.chain(all.iter().filter(move |show| show.agent.as_deref().is_some_and(is_for)))
    }

    /// The skills that an entry of `skills.show` in this setting turns off.
    pub(super) fn hidden_by(&self, found: &Found) -> Vec<SkillChoice> {
        let shown = self.shown_in(found).filter(|show| exposure(&show.value).is_none());
        let off = |show: &Show| {
            let mut choice =
                SkillChoice::off(&*show.skills, format!("off in {}", found.path.display()));
            choice.of_project = found.scope == Scope::Project;
            choice.unknown = unknown(found, &show.skills);
            choice
        };
        shown.map(off).collect()
    }

    /// The settings that decide how much of a skill a model sees.
    pub(super) fn exposures(&self) -> Vec<ExposureChoice> {
        let mut choices = Vec::new();
        for found in self.found.iter().filter(|found| found.name == "skills.show") {
            choices.extend(self.shown_in(found).filter_map(|show| {
                let choice = ExposureChoice::new(&*show.skills, exposure(&show.value)?);
                let choice = choice.of_project(found.scope == Scope::Project);
                Some(choice.or_finding(unknown(found, &show.skills)))
            }));
        }
        choices
    }

    /// Reports entries of `skills.show` with an unknown value, or for an unknown agent.
    pub(super) fn check_shown(&mut self) {
        let mut findings = Vec::new();
        for found in &self.found {
            let Value::Shown(shown) = &found.value else { continue };
            for Show { agent, skills, value: show } in shown {
                if exposure(show).is_none() && show != OFF {
                    let message = format!("`{skills}` cannot be shown as `{}`", show.trim());
                    let names = Exposure::ALL.map(Exposure::as_str).join("`, `");
                    let help = format!("write `{names}` or `{OFF}`; until then it is off");
                    findings.push(found.finding(Code::InvalidValue, message, &help));
                }
                let is_known = |agent: &str| AGENTS.contains(&agent) || agent == self.place.brand;
                if let Some(agent) = agent.as_deref().filter(|agent| !is_known(agent)) {
                    let message = format!("`skills.show.{agent}` names no agent");
                    let help = format!("there are `{}`", AGENTS.join("`, `"));
                    findings.push(found.finding(Code::UnknownSetting, message, &help));
                }
            }
        }
        findings.dedup();
        self.diagnostics.extend(findings);
    }
}

fn unknown(found: &Found, skills: &str) -> repertoire::Diagnostic {
    let message = format!("`skills.show` names `{skills}`, but there is no such skill");
    found.finding(Code::UnknownSkill, message, "correct the id, or remove it")
}

#[cfg(test)]
mod tests {
    use repertoire::{Engine, Skill};

    use super::*;
    use crate::tests::World;

    fn engine(user: &str, agent: Option<&str>) -> Engine {
        let text = |name: &str| {
            let text = format!(
                "---\nname: {name}\ndescription: Does {name} well.\ntriggers: [{name}]\n---\nSteps of {name}.\n"
            );
            text.parse::<Skill>().unwrap()
        };
        let config = World::new(user, "").config().for_agent(agent);
        let builder = config.apply(Engine::builder()).skill(text("alpha")).skill(text("beta"));
        builder.build().unwrap()
    }

    #[test]
    fn each_value_shows_as_much_as_it_says() {
        for (show, in_text, in_prompt, code) in [
            ("full", "Steps of alpha", "Does alpha well", ""),
            ("pinned", "Steps of alpha", "Does alpha well", ""),
            ("line", "- alpha: Does alpha well", "Does alpha well", "line-only"),
            ("name", "- alpha\n", "- alpha\n", "line-only"),
            ("manual", "", "", ""),
            ("off", "", "", ""),
            ("loud", "", "", ""),
        ] {
            let engine = engine(&format!("[skills.show]\nalpha = \"{show}\"\n"), None);
            let disclosure = engine.disclose("do alpha");
            let text = disclosure.text + "\n";
            assert_eq!(text.contains("alpha"), !in_text.is_empty(), "{show}: {text}");
            assert!(text.contains(in_text), "{show}: {text}");
            let prompt = engine.prompt().text + "\n";
            assert_eq!(prompt.contains("alpha"), !in_prompt.is_empty(), "{show}: {prompt}");
            assert!(prompt.contains(in_prompt), "{show}: {prompt}");
            let tools = engine.tools(&engine.session(show));
            let found = tools.call("find_skills", &serde_json::json!({"query": "do alpha"}));
            let found = found.text().into_owned() + "\n";
            assert_eq!(found.contains("alpha"), !in_prompt.is_empty(), "{show}: {found}");
            assert!(found.contains(in_prompt), "{show}: {found}");
            let codes = disclosure.omitted.iter().map(|left_out| left_out.reason.code());
            assert_eq!(codes.collect::<String>(), code, "{show}");
            let typed = engine.disclose("/alpha now").text.contains("Steps of alpha");
            assert_eq!(typed, !["off", "loud"].contains(&show), "{show}");
            let found = engine.diagnostics().iter().map(|found| found.code).collect::<Vec<_>>();
            assert_eq!(found.contains(&Code::InvalidValue), show == "loud", "{found:?}");
        }
        let tight = "[skills.show]\nalpha = \"pinned\"\n[limits]\nprompt_budget = 1\n";
        assert_eq!(engine(tight, None).prompt().included, ["alpha"]);
    }

    #[test]
    fn an_agent_has_values_of_its_own_and_the_last_one_decides() {
        let user = "[skills.show]\n\"*\" = \"line\"\nalpha = \"full\"\n\
                    [skills.show.codex]\nAlpha = \"off\"\n[skills.show.acme]\nbeta = \"manual\"\n";
        let shown = |agent| {
            let found = engine(user, agent).disclose("alpha beta");
            format!("{:?} {:?}", found.full, found.registry)
        };
        assert_eq!(shown(Some("claude-code")), r#"["alpha"] ["beta"]"#);
        assert_eq!(shown(Some("codex")), r#"[] ["beta"]"#);
        assert_eq!(shown(None), r#"["alpha"] []"#);
    }

    #[test]
    fn what_names_nothing_is_a_finding() {
        let user = "[skills.show]\nnone = \"line\"\ngone = \"off\"\n[skills.show.claude]\nalpha = \"off\"\n";
        let engine = engine(user, None);
        let found = engine.diagnostics();
        let told: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
        for name in ["`none`", "`gone`", "`skills.show.claude`"] {
            assert!(told.iter().any(|message| message.contains(name)), "{told:?}");
        }
        assert!(found.iter().all(|found| found.line > 0), "{found:?}");
    }
}
