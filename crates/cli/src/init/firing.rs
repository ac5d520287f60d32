//! The effect of the first skill: in the agent itself where its program can be run against a model on this
//! machine, otherwise in the text that a hook would add.

use repertoire::Engine;
use repertoire_config::Channel;
use serde::Serialize;

use crate::args::{Common, McpAgent};
use crate::output::{DIM, ERROR, GOOD, Page, styled};
use crate::{hook, live, new, progress_bar, sanitize, setup};

/// A message, and whether it brought the skill.
#[derive(Debug, Serialize)]
pub(super) struct Firing {
    message: String,
    pub(super) fires: bool,
    /// The agent that sent the instructions to a model; `None` if only the text for it was computed.
    agent: Option<&'static str>,
    #[serde(skip)]
    title: Option<&'static str>,
    /// True if an agent has the hook now.
    #[serde(skip)]
    is_hooked: bool,
    /// The reason why the agent could not be tried, or sent nothing.
    why: Option<String>,
}

/// Returns the first message that the skill itself gives as an example: the user may have edited it.
fn example_of(name: &str, engine: &Engine) -> Option<String> {
    let catalog = engine.catalog();
    let should = &catalog.get(name)?.skill.manifest().examples.should;
    should.first().map(|example| example.value.clone())
}

impl Firing {
    /// Tries the example of the skill `name` in the first of `agents` that can be run.
    pub(super) fn of(name: &str, agents: &[McpAgent], common: &Common) -> anyhow::Result<Firing> {
        // What is shown must leave nothing behind that `--undo` would not know.
        let common = &Common { no_cache: true, channel: Channel::Hooks, ..common.clone() };
        // Bundled skills, which are off in hooks, would be written to a directory first.
        let config = setup::config(common)?;
        let options = hook::disclosure(&config, &mut Vec::new());
        let engine = config.apply(Engine::builder()).disclosure(options).build()?;
        let message = example_of(name, &engine).unwrap_or_else(|| new::example(name));
        let mut why = None;
        let is_hooked = agents.iter().any(|agent| matches!(agent, McpAgent::Hooked(_)));
        for agent in agents {
            let McpAgent::Hooked(hooked) = *agent else { continue };
            let what = format!("asking {} in a copy of your settings", agent.title());
            let tried =
                progress_bar::waiting(&what, || live::fires(hooked, &message, name, common));
            let (agent, title) = (Some(agent.as_str()), Some(agent.title()));
            match tried {
                Ok(Some(true)) => {
                    let (fires, why) = (true, None);
                    return Ok(Firing { message, fires, agent, title, is_hooked, why });
                }
                Ok(Some(false)) => {
                    let title = title.unwrap_or_default();
                    why = Some(format!("the skill did not reach the model of {title}"));
                }
                Ok(None) => {}
                Err(error) => why = Some(format!("{error:#}")),
            }
        }
        let fires = engine.disclose(&message).full.iter().any(|id| id.as_str() == name);
        Ok(Firing { message, fires, agent: None, title: None, is_hooked, why })
    }

    pub(super) fn show(&self, page: &mut Page) {
        let (style, mark) = if self.fires { (GOOD, "fires") } else { (ERROR, "does not fire") };
        let by = match self.title {
            Some(title) => format!("{title} sent its instructions to a model on this machine"),
            None if self.is_hooked => "the hook adds its instructions".to_owned(),
            None => "a hook would add its instructions".to_owned(),
        };
        let by = if self.fires { format!(": {by}") } else { String::new() };
        let message = sanitize::line(&self.message);
        page.line(format_args!("it {} for \"{message}\"{by}", styled(style, mark)));
        if let Some(why) = &self.why {
            page.line(format_args!("  {}", styled(DIM, sanitize::line(why))));
        }
    }
}
