//! The schema of settings: their form, their default, and whether a project's file may set them.

use std::time::Duration;

use serde_json::{Map, Value as Json, json};

use repertoire::disclosure::{Budget, RelevanceMargin};
use repertoire::skill::Network;
use repertoire_sessions::without_secrets;

/// The time in which a program that ranks skills gives an answer, by default: the first one may load a model.
pub(super) const RETRIEVER_TIMEOUT: Duration = Duration::from_secs(10);

/// The form of a setting's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `true` or `false`.
    Switch,
    /// `true`, `false`, or a list of addresses.
    Network,
    /// A whole number of at least this value.
    Count(u64),
    /// A time above zero.
    Seconds,
    /// A time of a minute or more.
    Interval,
    /// A text that is not empty.
    Text,
    Texts,
    /// Skills that the setting turns off.
    Closed,
    /// A table of how much of each skill is shown.
    Shown,
    /// Directories of skills.
    Sources,
    /// Files and directories that code may use.
    Paths,
    /// Names of environment variables.
    Variables,
    /// `4000`, `"1000t"` or `"2%"`.
    Budget,
    /// `true`, `false`, or a table of three numbers.
    Margin,
    /// `true`, `false`, or the name of a model of meaning.
    Meaning,
    /// A program with its arguments, in one text.
    Command,
    /// Any table, as the class of tools defines its own configuration.
    Table,
    /// The address of a server, which may hold a password.
    Address,
    /// A `minisign` public key, or a list of keys.
    Keys,
    /// `true` for all hosts, `false` for none, or a list of hosts.
    Hosts,
}

impl Kind {
    /// The value to use in place of an invalid one: for skills that are turned off and demands for
    /// signatures, the strictest value, so that a mistake cannot open what they close. `texts` are the parts of the invalid value that could be
    /// read. `None` if the setting is to be left out.
    pub(super) fn strictest(self, texts: Vec<String>) -> Option<Value> {
        match self {
            Kind::Keys => Some(Value::Texts(texts)),
            Kind::Closed => {
                let names = texts.iter().flat_map(|text| text.split(',')).map(str::trim);
                let names = names.filter(|name| !name.is_empty());
                Some(Value::Texts(names.map(str::to_owned).collect()))
            }
            Kind::Hosts => Some(Value::Switch(true)),
            _ => None,
        }
    }
}

/// The permission of a project's file to set a key. The author of the project wrote that file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProjectMay {
    /// Any value: it affects only the project's own skills. `Config::sources` and the catalog leave those of
    /// the user as they are.
    Own,
    /// Only a value that is not wider than the one in force without the project's file.
    Narrow,
    /// The same, and for a number or a budget in characters at least this value: less would hide what the
    /// user has.
    NarrowTo(u64),
    /// Only true, and only where the user's file does not set the key.
    TurnOn,
    /// The project's file cannot set the key: it affects all skills, those of the user too.
    NotSet,
}

/// A setting.
#[derive(Debug)]
pub(super) struct Key {
    /// `section.key`. The sections `toolsets.*` and `fetch.*` stand for each class of tools, or each
    /// fetched source.
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) project: ProjectMay,
}

const fn key(name: &'static str, kind: Kind, project: ProjectMay) -> Key {
    Key { name, kind, project }
}

/// The section of a class of tools.
pub(super) const CLASS: &str = "toolsets.*";
/// The section of a source that is fetched from elsewhere.
pub(super) const FETCHED: &str = "fetch.*";

/// The section in the schema for the named tables in `section`, such as `fetch.*` for `fetch`; `None` if
/// it has no such tables.
pub(super) fn named(section: &str) -> Option<&'static str> {
    [CLASS, FETCHED].into_iter().find(|named| named.strip_suffix(".*") == Some(section))
}

/// The smallest budget that a project can set, in characters: enough for the lines of some skills, and for the
/// instructions of one.
const MIN_BUDGET: u64 = 4_000;

pub(super) const KEYS: &[Key] = &[
    key("sources.add", Kind::Sources, ProjectMay::Own),
    key("sources.standard", Kind::Switch, ProjectMay::Own),
    key("skills.enabled", Kind::Texts, ProjectMay::Own),
    key("skills.disabled", Kind::Closed, ProjectMay::Own),
    key("skills.show", Kind::Shown, ProjectMay::Own),
    key("bundled.command_line", Kind::Switch, ProjectMay::TurnOn),
    key("bundled.hooks", Kind::Switch, ProjectMay::TurnOn),
    key("bundled.mcp", Kind::Switch, ProjectMay::TurnOn),
    key("meta_phrases.registry", Kind::Texts, ProjectMay::NotSet),
    key("meta_phrases.show_all", Kind::Texts, ProjectMay::NotSet),
    key("limits.max_skills", Kind::Count(0), ProjectMay::NarrowTo(1)),
    key("limits.max_all_skills", Kind::Count(0), ProjectMay::NarrowTo(1)),
    key("limits.max_lines", Kind::Count(0), ProjectMay::NarrowTo(1)),
    key("limits.budget", Kind::Budget, ProjectMay::NarrowTo(MIN_BUDGET)),
    key("limits.prompt_budget", Kind::Budget, ProjectMay::NarrowTo(MIN_BUDGET)),
    key("limits.window", Kind::Count(1), ProjectMay::NotSet),
    key("limits.max_query_bytes", Kind::Count(1), ProjectMay::NotSet),
    key("routing.inflect", Kind::Switch, ProjectMay::NotSet),
    key("routing.relevance", Kind::Margin, ProjectMay::NotSet),
    key("routing.keep_messages", Kind::Switch, ProjectMay::Narrow),
    key("routing.meaning", Kind::Meaning, ProjectMay::NotSet),
    // A project must not be able to run a program.
    key("routing.retriever", Kind::Command, ProjectMay::NotSet),
    key("routing.retriever_timeout", Kind::Seconds, ProjectMay::NotSet),
    key("sessions.store", Kind::Address, ProjectMay::NotSet),
    key("sessions.timeout", Kind::Seconds, ProjectMay::NotSet),
    key("scripts.timeout", Kind::Seconds, ProjectMay::Narrow),
    key("scripts.grace", Kind::Seconds, ProjectMay::Narrow),
    key("scripts.output_bytes", Kind::Count(0), ProjectMay::Narrow),
    key("scripts.args", Kind::Count(0), ProjectMay::Narrow),
    key("scripts.arg_bytes", Kind::Count(0), ProjectMay::Narrow),
    key("scripts.cpu_seconds", Kind::Count(1), ProjectMay::Narrow),
    key("scripts.memory", Kind::Count(1), ProjectMay::Narrow),
    key("scripts.address_space", Kind::Count(1), ProjectMay::Narrow),
    key("scripts.file_bytes", Kind::Count(0), ProjectMay::Narrow),
    key("scripts.scratch_bytes", Kind::Count(1), ProjectMay::Narrow),
    key("scripts.group_processes", Kind::Count(1), ProjectMay::Narrow),
    key("scripts.processes", Kind::Count(1), ProjectMay::Narrow),
    key("scripts.network", Kind::Switch, ProjectMay::Narrow),
    key("scripts.write", Kind::Paths, ProjectMay::NotSet),
    key("scripts.env", Kind::Variables, ProjectMay::NotSet),
    key("toolsets.*.config", Kind::Table, ProjectMay::Own),
    key("toolsets.*.call_timeout", Kind::Seconds, ProjectMay::Narrow),
    key("toolsets.*.load_timeout", Kind::Seconds, ProjectMay::Narrow),
    key("toolsets.*.retry", Kind::Seconds, ProjectMay::NotSet),
    key("toolsets.*.grace", Kind::Seconds, ProjectMay::Narrow),
    key("toolsets.*.idle", Kind::Seconds, ProjectMay::Narrow),
    key("toolsets.*.cpu_seconds", Kind::Count(1), ProjectMay::Narrow),
    key("toolsets.*.address_space", Kind::Count(1), ProjectMay::Narrow),
    key("toolsets.*.file_bytes", Kind::Count(0), ProjectMay::Narrow),
    key("toolsets.*.processes", Kind::Count(1), ProjectMay::Narrow),
    key("toolsets.*.network", Kind::Network, ProjectMay::Narrow),
    key("toolsets.*.read", Kind::Paths, ProjectMay::NotSet),
    key("toolsets.*.write", Kind::Paths, ProjectMay::NotSet),
    key("toolsets.*.env", Kind::Variables, ProjectMay::NotSet),
    key("fetch.*.source", Kind::Text, ProjectMay::Own),
    key("fetch.*.rev", Kind::Text, ProjectMay::Own),
    key("fetch.*.path", Kind::Text, ProjectMay::Own),
    key("fetch.*.skills", Kind::Texts, ProjectMay::Own),
    key("fetch.*.as", Kind::Text, ProjectMay::Own),
    // This applies only to sources that the user has fetched from exactly this address: see
    // `fetch/poll.rs`.
    key("fetch.*.refresh", Kind::Interval, ProjectMay::Own),
    key("fetch.*.signed_by", Kind::Keys, ProjectMay::Own),
    // Takes effect when the user adds or updates the source; a project's only in the project.
    key("fetch.*.agents", Kind::Texts, ProjectMay::Own),
    key("signatures.required", Kind::Hosts, ProjectMay::NotSet),
    key("signatures.keys", Kind::Keys, ProjectMay::NotSet),
];

/// Normalises a key: `-` counts as `_`.
pub(super) fn plain(key: &str) -> String {
    key.replace('-', "_")
}

/// The names of the sections, in the order of the keys.
pub(super) fn sections() -> impl Iterator<Item = &'static str> {
    let mut last = "";
    KEYS.iter().filter_map(move |key| {
        let section = key.name.split('.').next().unwrap_or_default();
        (std::mem::replace(&mut last, section) != section).then_some(section)
    })
}

/// The keys of a section.
pub(super) fn keys_of(section: &str) -> impl Iterator<Item = (&'static str, &'static Key)> {
    let in_section = move |key: &'static Key| {
        let (of, name) = key.name.rsplit_once('.')?;
        (of == section).then_some((name, key))
    };
    KEYS.iter().filter_map(in_section)
}

/// An entry of `skills.show`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Show {
    /// The agent for which it applies; `None` for all of them.
    pub(super) agent: Option<String>,
    /// The skills, in a form in which a list names them.
    pub(super) skills: String,
    /// The part of them that is shown, as it is written.
    pub(super) value: String,
}

/// The value of a setting.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Switch(bool),
    Network(Network),
    Count(u64),
    Seconds(Duration),
    Text(String),
    Texts(Vec<String>),
    /// A budget, in the form that [`Budget::parse`](repertoire::Budget::parse) reads.
    Budget(String),
    Margin(Option<RelevanceMargin>),
    Table(Map<String, Json>),
    /// In the order of the file.
    Shown(Vec<Show>),
    Address(String),
}

impl Value {
    /// Tells whether this value allows more than `other` does. Shares refer to a context window of `window`
    /// tokens.
    pub(super) fn is_wider_than(&self, other: &Value, window: Option<usize>) -> bool {
        match (self, other) {
            (Value::Switch(new), Value::Switch(old)) => *new && !old,
            (Value::Network(new), Value::Network(old)) => !new.without(old).is_none(),
            (Value::Count(new), Value::Count(old)) => new > old,
            (Value::Seconds(new), Value::Seconds(old)) => new > old,
            (Value::Budget(_), Value::Budget(_)) => match (self.size(window), other.size(window)) {
                (Some(new), Some(old)) => new > old,
                // A share of an unknown window cannot be compared.
                _ => true,
            },
            _ => true,
        }
    }

    /// A budget, in the form in which files have it.
    pub(super) fn of_budget(budget: Budget) -> Value {
        Value::Budget(match budget {
            Budget::Characters(n) => n.to_string(),
            Budget::Tokens(n) => format!("{n}t"),
            Budget::Share { percent, .. } => format!("{percent}%"),
        })
    }

    /// The size of a number, or of a budget in characters; `None` for another value, and for a share of a
    /// context window of unknown size.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a share of a window is neither negative nor exact"
    )]
    pub(super) fn size(&self, window: Option<usize>) -> Option<u64> {
        const CHARACTERS_A_TOKEN: u64 = 4;
        let budget = match self {
            Value::Count(n) => return Some(*n),
            Value::Budget(text) => Budget::parse(text, window).ok()?,
            _ => return None,
        };
        let tokens = match budget {
            Budget::Characters(n) => return Some(n as u64),
            Budget::Tokens(n) => n as u64,
            Budget::Share { percent, window } => (percent / 100.0 * window as f64) as u64,
        };
        Some(tokens.saturating_mul(CHARACTERS_A_TOKEN))
    }

    /// The elements of a list; none if the value is not a list.
    pub(super) fn texts(&self) -> &[String] {
        match self {
            Value::Texts(texts) => texts,
            _ => &[],
        }
    }

    pub(super) fn to_json(&self) -> Json {
        match self {
            Value::Switch(switch) => (*switch).into(),
            Value::Network(network) => json!(network),
            Value::Count(n) => (*n).into(),
            Value::Seconds(time) if time.subsec_nanos() == 0 => time.as_secs().into(),
            Value::Seconds(time) => time.as_secs_f64().into(),
            Value::Text(text) => text.clone().into(),
            Value::Texts(texts) => texts.clone().into(),
            Value::Budget(text) => match text.parse::<u64>() {
                Ok(n_characters) => n_characters.into(),
                Err(_) => text.clone().into(),
            },
            Value::Margin(None) => false.into(),
            Value::Margin(Some(RelevanceMargin { worth, lead, words })) => {
                // An `f32` converted to JSON directly would show more digits than the file has.
                let decimal = |n: f32| n.to_string().parse::<f64>().unwrap_or_default();
                json!({"worth": decimal(*worth), "lead": decimal(*lead), "words": words})
            }
            Value::Table(table) => table.clone().into(),
            Value::Shown(shown) => shown_to_json(shown),
            Value::Address(url) => without_secrets(url).into(),
        }
    }
}

fn shown_to_json(shown: &[Show]) -> Json {
    let mut table = Map::new();
    for Show { agent, skills, value: show } in shown {
        let of_agent = agent.as_ref().map(|agent| table.entry(agent).or_insert_with(|| json!({})));
        match of_agent {
            Some(of_agent) => of_agent[skills] = show.as_str().into(),
            None => drop(table.insert(skills.clone(), show.as_str().into())),
        }
    }
    table.into()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_grouped_by_section() {
        let names: BTreeSet<_> = KEYS.iter().map(|key| key.name).collect();
        assert_eq!(names.len(), KEYS.len());
        let sections: Vec<_> = sections().collect();
        assert_eq!(sections.iter().collect::<BTreeSet<_>>().len(), sections.len());
        let n_keys: usize = sections.iter().map(|section| keys_of(section).count()).sum();
        let n_named = keys_of(CLASS).count() + keys_of(FETCHED).count();
        assert_eq!(n_keys + n_named, KEYS.len());
    }
}
