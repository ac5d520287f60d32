//! The sections `[fetch.NAME]`: sources of skills that are fetched from elsewhere.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Serialize, Serializer};
use toml_edit::{Array, Item, Table, Value as TomlValue};

use super::Config;
use super::edit::{edited, last_section, parse, put, wrong};
use super::schema::Value;
use repertoire::Error;
use repertoire::catalog::{Scope, Source};
use repertoire::diagnostic::Diagnostic;

/// The settings of a fetched source.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct FetchSettings {
    /// Its address: of a git repository, a directory, an archive, an MCP server, or in an object store or a
    /// registry.
    pub source: String,
    /// The branch, tag or commit of a repository, the SHA-256 of an archive, or the tag or digest of an
    /// artifact; `None` for the newest.
    pub rev: Option<String>,
    /// The directory in the source that holds the skills; `None` for the usual directories.
    pub path: Option<String>,
    /// The skills to take, by name, path or `skill://` address; empty for all of them.
    pub skills: Vec<String>,
    /// The `minisign` public keys of which one must have signed the source; empty if it need not be
    /// signed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub signed_by: Vec<String>,
    /// The agents into whose own directories the skills are put, by name; empty for none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// The prefix of the ids of its skills; `None` if they have none.
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
}

/// A copy of a fetched skill in the own directory of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedCopy {
    /// The directory of the skill in the copy of its source.
    pub original: PathBuf,
    /// The real path of its copy.
    pub path: PathBuf,
}

/// A section `[fetch.NAME]` of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FetchSection {
    /// Its name.
    pub name: String,
    /// The scope of the file: the user's or the project's.
    pub scope: Scope,
    /// The file.
    #[serde(serialize_with = "repertoire_system::lossy_path::serialize")]
    pub file: PathBuf,
    /// The line of its first key there, from 1.
    pub line: usize,
    /// Its settings.
    pub settings: FetchSettings,
    /// The interval at which long-running hosts check the source for updates; `None` for never. It is
    /// serialised in seconds.
    #[serde(serialize_with = "in_seconds")]
    pub refresh: Option<Duration>,
}

#[expect(clippy::ref_option, reason = "serde gives a reference to the field")]
fn in_seconds<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(|time| time.as_secs_f64()).serialize(serializer)
}

impl Config {
    /// The sections `[fetch.NAME]` of both files, the user's first, in the order of the files.
    pub fn fetch_sections(&self) -> Vec<FetchSection> {
        let mut sections: Vec<FetchSection> = Vec::new();
        for found in &self.found {
            let Some((name, key)) = name_and_key(&found.name) else { continue };
            let is_same = |known: &FetchSection| known.name == name && known.scope == found.scope;
            let at = sections.iter().position(is_same).unwrap_or_else(|| {
                let (file, settings) = (found.path.clone(), FetchSettings::default());
                let (name, scope, line) = (name.to_owned(), found.scope, found.line);
                let refresh = None;
                sections.push(FetchSection { name, scope, file, line, settings, refresh });
                sections.len() - 1
            });
            let FetchSection { settings, refresh, .. } = &mut sections[at];
            match (key, &found.value) {
                ("source", Value::Text(text)) => settings.source.clone_from(text),
                ("rev", Value::Text(text)) => settings.rev = Some(text.clone()),
                ("path", Value::Text(text)) => settings.path = Some(text.clone()),
                ("skills", Value::Texts(texts)) => settings.skills.clone_from(texts),
                ("signed_by", Value::Texts(texts)) => settings.signed_by.clone_from(texts),
                ("agents", Value::Texts(texts)) => settings.agents.clone_from(texts),
                ("as", Value::Text(text)) => settings.alias = Some(text.clone()),
                ("refresh", Value::Seconds(time)) => *refresh = Some(*time),
                _ => {}
            }
        }
        sections
    }

    /// Adds fetched sources, each with the scope of the file that names it, and findings about them.
    /// [`Config::with_sources`] replaces these sources as well.
    #[must_use]
    pub fn with_fetched(
        mut self,
        sources: impl IntoIterator<Item = (Scope, Source)>,
        findings: impl IntoIterator<Item = Diagnostic>,
    ) -> Config {
        self.fetched.extend(sources);
        self.diagnostics.extend(findings);
        self
    }

    /// Adds the copies of fetched skills in the directories of agents. Other sources skip them, so that a
    /// skill is not listed twice.
    #[must_use]
    pub fn with_placed(mut self, copies: impl IntoIterator<Item = PlacedCopy>) -> Config {
        self.placed.extend(copies);
        self
    }

    /// The copies of fetched skills in the directories of agents.
    pub fn placed(&self) -> &[PlacedCopy] {
        &self.placed
    }
}

/// The name and the key of `fetch.NAME.key`.
fn name_and_key(full: &str) -> Option<(&str, &str)> {
    full.strip_prefix("fetch.")?.rsplit_once('.')
}

/// Returns `text` with a section `[fetch.NAME]` that has these settings; comments and order stay.
///
/// Fails with `INVALID_PARAM` if `text` is not TOML, or if `fetch` or `fetch.NAME` is not a section.
pub fn set_fetch(text: &str, name: &str, settings: &FetchSettings) -> Result<String, Error> {
    edited(text, |document| {
        let is_new = match document.get("fetch") {
            None => true,
            Some(fetch) => fetch.as_table().is_some_and(|fetch| !fetch.contains_key(name)),
        };
        let new = if is_new { last_section(document) } else { Table::new() };
        let fetch = document.entry("fetch").or_insert_with(|| {
            let mut table = Table::new();
            // Write only `[fetch.NAME]`, without a `[fetch]` above it.
            table.set_implicit(true);
            Item::Table(table)
        });
        let fetch = fetch.as_table_like_mut();
        let fetch = fetch.ok_or_else(|| wrong("`fetch` is not a section".to_owned()))?;
        if fetch.get(name).is_none() {
            fetch.insert(name, Item::Table(new));
        }
        let section = fetch.get_mut(name).and_then(Item::as_table_like_mut);
        let section = section.ok_or_else(|| wrong(format!("`fetch.{name}` is not a section")))?;
        let FetchSettings { source, rev, path, skills, signed_by, agents, alias } = settings;
        put(section, "source", Some(source.as_str().into()));
        put(section, "rev", rev.as_deref().map(TomlValue::from));
        put(section, "path", path.as_deref().map(TomlValue::from));
        put(section, "skills", list(skills));
        let one_key = <&[String; 1]>::try_from(&signed_by[..]).ok();
        let one_key = one_key.map(|[key]| key.as_str().into());
        put(section, "signed_by", one_key.or_else(|| list(signed_by)));
        put(section, "agents", list(agents));
        put(section, "as", alias.as_deref().map(TomlValue::from));
        Ok(())
    })
}

/// Converts texts to a TOML list; `None` if there are none.
fn list(texts: &[String]) -> Option<TomlValue> {
    let list: Array = texts.iter().map(String::as_str).collect();
    (!texts.is_empty()).then_some(TomlValue::Array(list))
}

/// Returns `text` without the section `[fetch.NAME]` and the comment directly above it; all other text
/// stays. Fails with `INVALID_PARAM` if `text` is not TOML.
pub fn remove_fetch(text: &str, name: &str) -> Result<String, Error> {
    let document = parse(text)?;
    let section = document.get("fetch").and_then(|fetch| fetch.get(name)).and_then(Item::as_table);
    // A section without a header, or with further ones below it, is not a single piece of text.
    if let Some(section) = section.filter(|section| !section.is_dotted() && !section.is_implicit())
        && let Some(header) = section.span()
        && section.iter().all(|(_, item)| item.is_value())
    {
        let values = section.iter().filter_map(|(_, item)| item.span());
        let end = values.map(|span| span.end).max().unwrap_or(header.end);
        return Ok(without_lines(text, header.start, end));
    }
    edited(text, |document| {
        if let Some(fetch) = document.get_mut("fetch").and_then(Item::as_table_like_mut) {
            fetch.remove(name);
            if fetch.is_empty() {
                document.remove("fetch");
            }
        }
        Ok(())
    })
}

/// Returns `text` without the lines from byte `start` to byte `end`, the comment lines directly above
/// them, and blank lines that separate nothing any more.
fn without_lines(text: &str, start: usize, end: usize) -> String {
    let is_blank = |line: &&str| line.trim().is_empty();
    let line_end = |at: usize| text[at..].find('\n').map_or(text.len(), |n| at + n + 1);
    let above = &text[..text[..start].rfind('\n').map_or(0, |n| n + 1)];
    let lines = above.split_inclusive('\n').rev();
    let comment = lines.take_while(|line| line.trim_start().starts_with('#'));
    let mut before = &above[..above.len() - comment.map(str::len).sum::<usize>()];
    let mut behind = &text[line_end(end)..];
    if before.lines().next_back().is_none_or(|line| is_blank(&line)) {
        let blank = behind.split_inclusive('\n').take_while(is_blank);
        behind = &behind[blank.map(str::len).sum()..];
    }
    if behind.is_empty() {
        let blank = before.split_inclusive('\n').rev().take_while(is_blank);
        before = &before[..before.len() - blank.map(str::len).sum::<usize>()];
    }
    format!("{before}{behind}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(source: &str, rev: Option<&str>, skills: &[&str]) -> FetchSettings {
        let (source, rev) = (source.to_owned(), rev.map(str::to_owned));
        let skills = skills.iter().map(|id| (*id).to_owned()).collect();
        FetchSettings { source, rev, skills, ..FetchSettings::default() }
    }

    #[test]
    fn a_section_is_written_changed_and_removed_and_all_else_stays() {
        let mine = "# mine\n[limits] # few\nmax_skills = 1\n";
        let added = set_fetch(mine, "team", &settings("https://h/r", None, &["a"])).unwrap();
        assert_eq!(
            added,
            format!("{mine}\n[fetch.team]\nsource = \"https://h/r\"\nskills = [\"a\"]\n")
        );
        let commented = added.replace("\"https://h/r\"", "\"https://h/r\" # ours");
        let changed = set_fetch(&commented, "team", &settings("https://h/s", Some("v1"), &[]));
        assert_eq!(
            changed.unwrap(),
            format!("{mine}\n[fetch.team]\nsource = \"https://h/s\" # ours\nrev = \"v1\"\n")
        );
        assert_eq!(remove_fetch(&added, "team").unwrap(), mine);
        assert_eq!(remove_fetch(mine, "team").unwrap(), mine);
        let inline = set_fetch("fetch = { }\n", "a", &settings("x", None, &[])).unwrap();
        assert!(inline.contains("source = \"x\""), "{inline}");
        assert!(remove_fetch(&inline, "a").unwrap().is_empty(), "{inline}");
    }

    #[test]
    fn a_removed_section_takes_only_the_comment_directly_above_it() {
        let fetch = "[fetch.t]\nsource = \"x\" # ours\nskills = [\n  \"a\",\n]\n";
        for (above, below, wanted) in [
            ("# mine\n# See wiki.\n\n", "\n[limits]\n", "# mine\n# See wiki.\n\n[limits]\n"),
            ("# mine\n\n# of t\n", "", "# mine\n"),
            ("[limits]\n# end\n\n# -- sources --\n\n", "", "[limits]\n# end\n\n# -- sources --\n"),
            ("[limits]\n", "\n# next\n[skills]\n", "[limits]\n\n# next\n[skills]\n"),
            ("\u{feff}[limits]\n\n", "[skills]\n", "\u{feff}[limits]\n\n[skills]\n"),
            ("", "\n[fetch.u]\nsource = \"y\"\n", "[fetch.u]\nsource = \"y\"\n"),
        ] {
            let text = format!("{above}{fetch}{below}");
            assert_eq!(remove_fetch(&text, "t").unwrap(), wanted, "{text}");
            let (text, wanted) = (text.replace('\n', "\r\n"), wanted.replace('\n', "\r\n"));
            assert_eq!(remove_fetch(&text, "t").unwrap(), wanted, "{text}");
        }
    }

    #[test]
    fn a_new_section_is_the_last_and_a_key_keeps_its_spelling() {
        let source = "[fetch.a]\nsource = \"x\"\nsigned-by = \"old\"\n";
        let before = format!("{source}\n[limits]\n# max_skills = 2\n");
        let after = set_fetch(&before, "b", &settings("y", None, &[])).unwrap();
        assert_eq!(after, format!("{before}\n[fetch.b]\nsource = \"y\"\n"));
        let mut signed = settings("x", None, &[]);
        signed.signed_by = vec!["new".to_owned()];
        let after = set_fetch(&before, "a", &signed).unwrap();
        assert_eq!(after, before.replace("old", "new"));
    }

    #[test]
    fn what_is_wrong_is_left_alone() {
        for text in ["fetch = 3\n", "[fetch]\na = 1\n", "[fetch\n"] {
            let error = set_fetch(text, "a", &FetchSettings::default()).unwrap_err();
            assert!(error.help().contains("nothing was changed"), "{error:?}");
        }
    }
}
