//! The sources that the files and the host name.

use std::path::Path;

use repertoire::catalog::{Scope, Source};
use repertoire::diagnostic::Code;

use super::read::Found;
use super::schema::Value;
use super::{Config, ConfigPlace};

impl Config {
    /// The sources, lowest precedence first. For the user and then for the project, these are the
    /// [fetched](Config::with_fetched) sources, then the standard ones and those
    /// [of the agent](Config::with_agent_sources), unless a file turns them off, then those that the file
    /// adds.
    pub fn sources(&self) -> Vec<Source> {
        if let Some(sources) = &self.sources {
            return sources.clone();
        }
        let ConfigPlace { home, project, working_dir, brand } = &self.place;
        let standard = Source::standard_in(home.as_deref(), project, working_dir, brand);
        let skip = |source: Source| source.without(self.placed.iter().map(|it| it.path.clone()));
        let standard: Vec<Source> =
            standard.into_iter().chain(self.of_agent.iter().cloned()).map(skip).collect();
        // The user's file turns off all of them, the project's only those of the project.
        let is_off = |scope: Scope| {
            let files = self.found.iter().filter(|found| found.name == "sources.standard");
            let mut files = files.filter(|found| [Scope::User, scope].contains(&found.scope));
            files.any(|found| found.value == Value::Switch(false))
        };
        // A plugin is as much the user's choice as a skill of theirs.
        let owner = |source: &Source| match source.scope() {
            Scope::Project => Scope::Project,
            _ => Scope::User,
        };
        let of = |scope| {
            let is_on = !is_off(scope);
            standard.iter().filter(move |source| is_on && owner(source) == scope).cloned()
        };
        let added = |scope| {
            let lists = self.found.iter().filter(move |found| found.scope == scope);
            let paths = lists.filter(|found| found.name == "sources.add").flat_map(Found::texts);
            // A source that does not exist has a finding already.
            let sources = paths.map(move |path| match scope {
                Scope::Project => Source::project(path).optional().allow_links_into(project),
                _ => Source::new(scope, path).optional(),
            });
            sources.map(skip)
        };
        let fetched = |scope| {
            let of_file = self.fetched.iter().filter(move |(of, _)| *of == scope);
            of_file.map(move |(_, source)| match scope {
                Scope::Project => source.clone().named_by_project(),
                _ => source.clone(),
            })
        };
        let all = |scope| fetched(scope).chain(of(scope)).chain(added(scope));
        all(Scope::User).chain(all(Scope::Project)).collect()
    }

    /// Adds the sources that the host's agent reads, above the standard ones: of two copies of a skill, the
    /// one that the agent itself lists wins.
    #[must_use]
    pub fn with_agent_sources(mut self, sources: Vec<Source>) -> Config {
        self.of_agent = sources;
        self
    }

    /// Replaces all sources with `sources`, regardless of the files.
    #[must_use]
    pub fn with_sources(mut self, sources: Vec<Source>) -> Config {
        self.sources = Some(sources);
        self
    }

    /// Reports a project's file that turns off the standard sources: those of the user stay.
    pub(super) fn report_standard(&mut self) {
        let is_false = |found: &&Found| {
            found.name == "sources.standard" && found.value == Value::Switch(false)
        };
        let mut files = self.found.iter().filter(is_false);
        if let Some(found) = files.next().filter(|found| found.scope == Scope::Project) {
            let message =
                "the file of a project turns off its own standard sources, not the user's";
            let help = "the user's own `config.toml` can turn off those";
            let finding = found.finding(Code::RefusedSetting, message.to_owned(), help);
            self.diagnostics.push(finding);
        }
    }

    /// Reports sources that a file adds but that are not directories.
    pub(super) fn check_sources(&mut self) {
        for found in self.found.iter().filter(|found| found.name == "sources.add") {
            for path in found.texts().filter(|path| !Path::new(path).is_dir()) {
                let message = format!("the source {path} is not a directory");
                let help = "create it, or remove it from `sources.add`";
                self.diagnostics.push(found.finding(Code::InvalidValue, message, help));
            }
        }
    }
}
