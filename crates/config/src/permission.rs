//! The permission of a project's file to set a key.

use std::fs::File;
use std::path::Path;

use repertoire::catalog::Scope;
use repertoire::diagnostic::Code;
use repertoire::disclosure::PromptOptions;
use repertoire::trust::check_permissions;

use super::defaults::default_of;
use super::read::Reader;
use super::schema::{Key, Kind, ProjectMay, Value};
use super::value::Problem;

impl Reader<'_> {
    /// Returns the value if this file may set it.
    pub(super) fn permitted(&self, key: &Key, name: &str, value: Value) -> Result<Value, Problem> {
        if self.scope != Scope::Project {
            let Some(why) = grants(key).then(|| foreign(self.path)).flatten() else {
                return Ok(value);
            };
            let message = format!("`{name}` is not taken from a file of others: {why}");
            let help = "see that nobody else can write the file, or replace it";
            return Err(Problem::new(Code::RefusedSetting, message, help));
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

/// Returns the reason why another user of the machine may have written a file; `None` if nobody else can.
fn foreign(path: &Path) -> Option<String> {
    let file = File::open(path).ok()?;
    check_permissions(path, &file).err().map(|error| error.message().to_owned())
}

/// Tells whether a setting runs a program, takes skills for the user's own, gives code rights, or says where messages
/// are kept.
fn grants(key: &Key) -> bool {
    let kinds = [Kind::Command, Kind::Sources, Kind::Paths, Kind::Variables, Kind::Network];
    kinds.contains(&key.kind) || matches!(key.kind, Kind::Address | Kind::Table)
}

/// Tells whether a setting is the configuration of a toolset that is an MCP server: those are code, and not data.
fn is_of_server(name: &str) -> bool {
    let class = name.strip_prefix("toolsets.").and_then(|rest| rest.strip_suffix(".config"));
    class.is_some_and(|class| class.rsplit(':').next() == Some("mcp"))
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::schema::KEYS;
    use crate::tests::{World, findings};

    /// A file that another user of the machine can write gives nothing: each key that grants is tried.
    #[test]
    fn a_file_that_others_can_write_grants_nothing() {
        let values = |kind: Kind| match kind {
            Kind::Command => "\"touch x\"",
            Kind::Sources | Kind::Paths => "[\"/\"]",
            Kind::Variables => "[\"SECRET\"]",
            Kind::Network => "true",
            Kind::Address => "\"redis://evil\"",
            _ => "{ a = 1 }",
        };
        let granting: Vec<&Key> = KEYS.iter().filter(|key| grants(key)).collect();
        let all = ["routing.retriever", "scripts.write", "toolsets.*.config", "sources.add"];
        assert!(all.iter().all(|name| granting.iter().any(|key| key.name == *name)));
        for key in granting {
            let name = key.name.replace("toolsets.*", "toolsets.Any");
            let (section, setting) = name.rsplit_once('.').unwrap();
            let text = format!(
                "[{section}]\n{setting} = {}\n[limits]\nmax_skills = 2\n",
                values(key.kind)
            );
            let world = World::new(&text, "");
            let file = world.path("home/.acme/config.toml");
            for (path, mode) in [(file.clone(), 0o666), (world.path("home/.acme"), 0o777)] {
                let is_taken =
                    |config: &crate::Config| config.found.iter().any(|found| found.name == name);
                let before = world.config();
                assert!(is_taken(&before), "{name}: {:?}", findings(&before));
                let own = path.metadata().unwrap().permissions();
                fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
                let config = world.config();
                assert!(!is_taken(&config), "{name} with {mode:o} for {}", path.display());
                assert!(config.found.iter().any(|found| found.name == "limits.max_skills"));
                let told = config.diagnostics().iter().find(|it| it.code == Code::RefusedSetting);
                assert!(told.unwrap().message.contains("can be written by everybody"), "{told:?}");
                fs::set_permissions(&path, own).unwrap();
            }
        }
    }
}
