//! The permission of a project's file to set a key.

use repertoire::catalog::Scope;
use repertoire::diagnostic::Code;
use repertoire::disclosure::PromptOptions;

use super::defaults::default_of;
use super::read::Reader;
use super::schema::{Key, ProjectMay, Value};
use super::value::Problem;

impl Reader<'_> {
    /// Returns the value if this file may set it.
    pub(super) fn permitted(&self, key: &Key, name: &str, value: Value) -> Result<Value, Problem> {
        if self.scope != Scope::Project {
            return Ok(value);
        }
        let refused = |message: String| {
            let help = "the user's own `config.toml` can set it";
            Err(Problem::new(Code::RefusedSetting, message, help))
        };
        let least = match key.project {
            ProjectMay::Own if is_of_server(name) => {
                return refused(format!(
                    "the file of a project cannot set `{name}`, the command line and the environment of a \
                     server"
                ));
            }
            ProjectMay::NotSet => {
                return refused(format!("the file of a project cannot set `{name}`"));
            }
            ProjectMay::TurnOn if value != Value::Switch(true) => {
                return refused(format!("the file of a project cannot turn off `{name}`"));
            }
            ProjectMay::TurnOn if self.of_user(name).is_some() => {
                return refused(format!("the user's file sets `{name}` already"));
            }
            ProjectMay::Own | ProjectMay::TurnOn => return Ok(value),
            ProjectMay::Narrow => 0,
            ProjectMay::NarrowTo(least) => least,
        };
        let window = self.of_user("limits.window").and_then(|window| window.size(None));
        let window = window.and_then(|window| usize::try_from(window).ok());
        if least > 0 && value.size(window).is_none_or(|size| size < least) {
            return refused(format!("the file of a project cannot lower `{name}` below {least}"));
        }
        match self.in_force(key, name, window) {
            Some(before) if value.is_wider_than(&before, window) => {
                let before = before.to_json();
                refused(format!("the file of a project cannot raise `{name}` above {before}"))
            }
            _ => Ok(value),
        }
    }

    /// The value that the user's file has for a setting.
    fn of_user(&self, name: &str) -> Option<&Value> {
        self.user.iter().rev().find(|found| found.name == name).map(|found| &found.value)
    }

    /// The value that is in force without the project's file, with a context window of `window` tokens.
    fn in_force(&self, key: &Key, name: &str, window: Option<usize>) -> Option<Value> {
        let of_user = self.of_user(name).or_else(|| self.of_user(&super::without_skill(name)?));
        let of_prompt = || {
            let mut options = PromptOptions::default();
            options.context_window = window;
            Value::of_budget(options.budget_in_force())
        };
        let default = || match key.name {
            "limits.prompt_budget" => Some(of_prompt()),
            name => default_of(name),
        };
        of_user.cloned().or_else(default)
    }
}

/// Tells whether a setting is the configuration of a toolset that is an MCP server: those are code, and not data.
fn is_of_server(name: &str) -> bool {
    let class = name.strip_prefix("toolsets.").and_then(|rest| rest.strip_suffix(".config"));
    class.is_some_and(|class| class.rsplit(':').next() == Some("mcp"))
}
