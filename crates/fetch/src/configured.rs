//! The fetched sources of a configuration, for an engine. Nothing here uses a network.

use super::address::sections_of;
use super::copies::source_at;
use super::fetcher::Fetcher;
use super::location::check_name;
use super::signature::Demand;
use super::source_list::SourceList;
use super::state::State;
use repertoire::catalog::Scope;
use repertoire::diagnostic::{Code, Diagnostic};
use repertoire_config::{Config, ConfigPlace, FetchSection, PlacedCopy};

impl Fetcher {
    /// Adds the copies of its fetched sources to a configuration. Reports a finding for each source that
    /// has no copy, whose last update failed, or that has an update waiting for the user. A source that
    /// is not signed as the configuration demands is a finding, too, and its copy is left out.
    ///
    /// ```
    /// use repertoire_config::{Config, ConfigPlace};
    /// use repertoire_fetch::Fetcher;
    ///
    /// let dir = tempfile::tempdir()?;
    /// std::fs::create_dir(dir.path().join(".acme"))?;
    /// let settings = "[fetch.team]\nsource = \"https://example.org/team/skills\"\n";
    /// std::fs::write(dir.path().join(".acme/config.toml"), settings)?;
    /// let project = dir.path().to_owned();
    /// let working_dir = project.clone();
    /// let place = ConfigPlace { home: None, project, working_dir, brand: "acme".to_owned() };
    ///
    /// let config = Fetcher::new(dir.path().join("cache")).apply(Config::load(&place));
    /// assert_eq!(config.diagnostics()[0].code.as_str(), "source-not-fetched");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn apply(&self, config: Config) -> Config {
        let (mut sources, mut findings, mut placed) = (Vec::new(), Vec::new(), Vec::new());
        let demanding = self.with_policy_of(&config);
        for section in sections_of(&config) {
            let name = section.name.as_str();
            let mut find = |code, message: String, help: &str| {
                let mut finding = Diagnostic::new(code, &section.file, message, help);
                finding.line = section.line;
                findings.push(finding);
            };
            if let Err(error) = check_name(name) {
                find(Code::InvalidSource, error.message().to_owned(), error.help());
                continue;
            }
            if section.settings.source.is_empty() {
                continue; // reported when the file was read
            }
            // Copies of a source that is not used are not used either, and are no skills of the user's own.
            // Reading a lock file takes time, and few sources are in the directories of agents.
            if !section.settings.agents.is_empty() {
                placed.extend(self.placed_copies(&config, &section, false));
            }
            let copies = self.copies(section.scope, section.file.parent().unwrap_or(&section.file));
            let root = copies.root(name);
            if !root.is_dir() {
                let message = format!("the source `{name}` was not fetched on this machine");
                find(
                    Code::SourceNotFetched,
                    message,
                    "update it; until then its skills are missing",
                );
                continue;
            }
            let state = copies.state(name);
            let keys = demanding.demands.keys_for(section.scope, &section.settings);
            let verified = keys.map(|keys| {
                let demand = Demand { source: &section.settings.source, keys: &keys };
                copies.signed_by(name, &state, demand)
            });
            let signed_by = match verified.transpose() {
                Ok(key) => key,
                Err(error) => {
                    let message = format!("the source `{name}` is not used: {}", error.message());
                    let help = "name the key that signed it, or update it once its author did";
                    find(Code::SourceUnsigned, message, help);
                    // Nor is it read over the links to it.
                    placed.extend(self.placed_copies(&config, &section, true));
                    continue;
                }
            };
            let State { failure, held, .. } = state;
            if let Some(failure) = failure {
                let message = format!("the source `{name}` is as it was fetched last: {failure}");
                find(Code::SourceStale, message, "update it once the cause is gone");
            }
            if let Some(held) = held {
                let message = format!("the source `{name}` has an update that waits: {held}");
                find(Code::SourceHeld, message, "see what it changes, and update the source");
            }
            let mut source = source_at(name, &section.settings.source, root);
            match section.settings.alias.as_deref().map(|alias| (alias, check_name(alias))) {
                Some((alias, Ok(()))) => source = source.alias(alias),
                Some((_, Err(error))) => {
                    find(Code::InvalidSource, error.message().to_owned(), error.help());
                }
                None => {}
            }
            sources.push((section.scope, source.signed_with(signed_by)));
        }
        config.with_fetched(sources, findings).with_placed(placed)
    }

    /// The copies of a source's skills in the directories of agents, or, with `links`, the targets of the links. A
    /// damaged lock file lists none; `check` of its list says so.
    fn placed_copies(
        &self,
        config: &Config,
        section: &FetchSection,
        links: bool,
    ) -> Vec<PlacedCopy> {
        let ConfigPlace { home, project, brand, .. } = config.place();
        let base = if section.scope == Scope::User { home.as_ref() } else { Some(project) };
        let Some(base) = base else { return Vec::new() };
        SourceList::new(self, section.scope, base, brand).placed_copies(&section.name, links)
    }
}
