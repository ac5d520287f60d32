//! The reader of settings, which checks each setting in the tree of a file.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use toml_edit::{Item, Key as TomlKey, TableLike, Value as TomlValue};

use super::retriever;
use super::schema::{self, Key, Kind, ProjectMay, Value, plain};
use super::value::{
    Problem, budget, is_model_name, is_public_key, json_of_table, kind_of, kind_of_value, margin,
    shown, time,
};
use repertoire::catalog::Scope;
use repertoire::diagnostic::{Code, Diagnostic};
use repertoire::skill::Network;
use repertoire_sessions::is_address;

/// The minimum interval at which sources are checked for updates.
const MIN_INTERVAL: Duration = Duration::from_secs(60);

/// A setting of a file.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// Its full name, with the name of the class or the source in place of `*`.
    pub(super) name: String,
    pub(super) value: Value,
    pub(super) scope: Scope,
    pub(super) path: PathBuf,
    /// The line of its key.
    pub(super) line: usize,
    column: usize,
    span: Range<usize>,
}

impl Found {
    /// The setting with which every fetched source must be signed, for a user's file that `finding` left
    /// out.
    pub(super) fn signatures_required(finding: &Diagnostic) -> Found {
        let name = "signatures.required".to_owned();
        Found::at(finding.clone(), Scope::User, name, Value::Switch(true))
    }

    /// Creates a setting at the place of a finding.
    fn at(place: Diagnostic, scope: Scope, name: String, value: Value) -> Found {
        let Diagnostic { line, column, span, path, .. } = place;
        Found { name, value, scope, path, line, column, span: span.unwrap_or_default() }
    }

    /// A finding about the setting.
    pub(super) fn finding(&self, code: Code, message: String, help: &str) -> Diagnostic {
        let mut finding = Diagnostic::new(code, &self.path, message, help);
        (finding.line, finding.column) = (self.line, self.column);
        finding.span = Some(self.span.clone());
        finding
    }
}

/// Reads the settings of one file.
pub(super) struct Reader<'a> {
    pub(super) path: &'a Path,
    pub(super) text: &'a str,
    pub(super) scope: Scope,
    /// The directory for `~`. Relative paths in a project's file begin at `project`.
    pub(super) home: Option<&'a Path>,
    pub(super) project: &'a Path,
    /// The settings in the user's file. A project may only narrow some of them.
    pub(super) user: &'a [Found],
    pub(super) found: Vec<Found>,
    pub(super) findings: Vec<Diagnostic>,
}

impl Reader<'_> {
    /// Reads all sections.
    pub(super) fn read(&mut self, root: &dyn TableLike) {
        let known: Vec<&str> = schema::sections().collect();
        let mut seen = BTreeSet::new();
        for (name, item) in root.iter() {
            let section = plain(name);
            let key = root.key(name);
            if !known.contains(&section.as_str()) {
                self.unknown(key, name, "section", "", &known);
                continue;
            }
            self.note_repetition(&mut seen, &section, key);
            let Some(table) = self.table(item, key, name) else { continue };
            if let Some(named) = schema::named(&section) {
                for (one, item) in table.iter() {
                    let Some(settings) = self.table(item, table.key(one), one) else { continue };
                    if named == schema::FETCHED && !settings.contains_key("source") {
                        let message = format!("the source `{}` has no address", plain(one));
                        let help = "write `source = \"…\"` below its name";
                        let problem = Problem::new(Code::InvalidSource, message, help);
                        self.tell(problem, None, table.key(one));
                    }
                    self.section(settings, named, &format!("{section}.{one}"));
                }
            } else {
                self.section(table, &section, &section);
            }
        }
    }

    fn table<'t>(
        &mut self,
        item: &'t Item,
        key: Option<&TomlKey>,
        name: &str,
    ) -> Option<&'t dyn TableLike> {
        let table = item.as_table_like();
        if table.is_none() {
            let message = format!("`{name}` is a section, not {}", kind_of(item));
            let help = format!("write `[{name}]`, and its keys below it");
            self.tell(Problem::new(Code::WrongType, message, help), item.span(), key);
        }
        table
    }

    /// Reads a section. `section` is its name in the schema, `shown` the one in the file, with a name in
    /// place of `*`.
    fn section(&mut self, table: &dyn TableLike, section: &str, shown: &str) {
        let mut seen = BTreeSet::new();
        for (name, item) in table.iter() {
            let key = table.key(name);
            let plain = plain(name);
            let Some((_, setting)) = schema::keys_of(section).find(|(known, _)| *known == plain)
            else {
                let known: Vec<&str> = schema::keys_of(section).map(|(known, _)| known).collect();
                self.unknown(key, name, "key", shown, &known);
                continue;
            };
            self.note_repetition(&mut seen, &plain, key);
            let full = format!("{shown}.{plain}");
            match self.value(setting, item).and_then(|value| self.permitted(setting, &full, value))
            {
                Ok(value) => self.take(full, value, key),
                Err(problem) => {
                    let may_set =
                        self.scope != Scope::Project || setting.project == ProjectMay::Own;
                    if let Some(value) = setting.kind.strictest(texts_of(item)).filter(|_| may_set)
                    {
                        self.take(full, value, key);
                    }
                    self.tell(problem, item.span(), key);
                }
            }
        }
    }

    fn take(&mut self, name: String, value: Value, key: Option<&TomlKey>) {
        let span = key.and_then(TomlKey::span).unwrap_or_default();
        let place = Diagnostic::new(Code::InvalidValue, self.path, "", "").at(self.text, span);
        self.found.push(Found::at(place, self.scope, name, value));
    }

    fn tell(&mut self, problem: Problem, value: Option<Range<usize>>, key: Option<&TomlKey>) {
        let Problem { code, message, help, span } = problem;
        let span = span.or(value).or_else(|| key.and_then(TomlKey::span)).unwrap_or_default();
        self.findings.push(Diagnostic::new(code, self.path, message, help).at(self.text, span));
    }

    fn unknown(
        &mut self,
        key: Option<&TomlKey>,
        name: &str,
        what: &str,
        section: &str,
        known: &[&str],
    ) {
        let place = if section.is_empty() { String::new() } else { format!(" in `[{section}]`") };
        let message = format!("there is no {what} `{name}`{place}");
        let similarity = |known: &&str| strsim::jaro_winkler(&plain(name), known);
        let nearest = known.iter().map(|known| (similarity(known), known));
        let nearest = nearest.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(near, _)| *near > 0.8);
        let help = match nearest {
            Some((_, nearest)) => format!("did you mean `{nearest}`?"),
            None => format!("there are `{}`", known.join("`, `")),
        };
        let problem = Problem::new(Code::UnknownSetting, message, help);
        self.tell(problem, None, key);
    }

    /// Reports a key that occurs twice; `max-lines` and `max_lines` are the same key.
    fn note_repetition(&mut self, seen: &mut BTreeSet<String>, name: &str, key: Option<&TomlKey>) {
        if !seen.insert(name.to_owned()) {
            let message = format!("`{name}` is set twice; the last value is used");
            let problem = Problem::new(Code::DuplicateKey, message, "remove one of them");
            self.tell(problem, None, key);
        }
    }

    fn value(&self, key: &Key, item: &Item) -> Result<Value, Problem> {
        let wrong = |wanted: &str| {
            let message = format!("this is {}, not {wanted}", kind_of(item));
            let help = format!("write {wanted}; until then the setting has no effect");
            Problem::new(Code::WrongType, message, help)
        };
        match key.kind {
            Kind::Switch => item.as_bool().map(Value::Switch).ok_or_else(|| wrong("true or false")),
            Kind::Network if item.is_bool() => {
                Ok(Value::Network(item.as_bool().unwrap_or_default().into()))
            }
            Kind::Network => {
                let listed = self.texts(key, item).unwrap_or_else(|| {
                    Err(wrong("true, false, or a list such as `[\"api.example.com:443\"]`"))
                })?;
                let network = Network::parse(listed.texts().iter().map(String::as_str));
                network.map(Value::Network).map_err(|why| {
                    let help = "write a host and a port, such as `api.example.com:443`";
                    Problem::new(Code::InvalidValue, format!("this is not an address: {why}"), help)
                })
            }
            Kind::Count(least) => {
                let n = item.as_integer().ok_or_else(|| wrong("a whole number"))?;
                let n = u64::try_from(n).ok().filter(|n| *n >= least);
                n.map(Value::Count).ok_or_else(|| {
                    let message = format!("the number must be at least {least}");
                    Problem::new(Code::InvalidValue, message, "write a larger one")
                })
            }
            Kind::Seconds => {
                time(item, Duration::ZERO).ok_or_else(|| wrong("a number of seconds"))?
            }
            Kind::Interval => {
                time(item, MIN_INTERVAL).ok_or_else(|| wrong("a time such as `\"15m\"`"))?
            }
            Kind::Budget => budget(item).ok_or_else(|| wrong("a budget"))?,
            Kind::Margin => margin(item).ok_or_else(|| {
                wrong("true, false, or a table such as `{ worth = 1.6, lead = 0.9, words = 2 }`")
            })?,
            Kind::Shown => {
                let table = item.as_table_like().ok_or_else(|| wrong("a table"))?;
                Ok(Value::Shown(shown(table)))
            }
            Kind::Table => {
                let table = item.as_table_like().ok_or_else(|| wrong("a table"))?;
                Ok(Value::Table(json_of_table(table)))
            }
            Kind::Address => {
                let url = item.as_str().ok_or_else(|| wrong("an address in quotes"))?;
                if is_address(url) {
                    return Ok(Value::Address(url.to_owned()));
                }
                // The message does not show the address, as any part of it may be a password.
                let help = "begin it with `postgres://` or `redis://`";
                Err(Problem::new(Code::InvalidValue, "this is not the address of a server", help))
            }
            Kind::Hosts | Kind::Meaning if item.is_bool() => {
                Ok(Value::Switch(item.as_bool() == Some(true)))
            }
            Kind::Meaning if !item.is_str() => {
                Err(wrong("true, false, or the name of a model in quotes"))
            }
            Kind::Command if !item.is_str() => Err(wrong("a program with its arguments in quotes")),
            Kind::Text | Kind::Meaning | Kind::Command => {
                let text = item.as_value().ok_or_else(|| wrong("a text"))?;
                self.text(key, text).map(Value::Text)
            }
            Kind::Hosts => self.texts(key, item).unwrap_or_else(|| {
                Err(wrong("true, false, or a list of hosts such as `[\"github.com\"]`"))
            }),
            Kind::Keys if item.is_str() => {
                let text = item.as_value().map(|text| self.text(key, text)).transpose()?;
                Ok(Value::Texts(text.into_iter().collect()))
            }
            Kind::Keys => self
                .texts(key, item)
                .unwrap_or_else(|| Err(wrong("a public key in quotes, or a list of some"))),
            Kind::Closed => self.texts(key, item).unwrap_or_else(|| {
                let message = format!("this is {}, not a list of texts", kind_of(item));
                let help =
                    "write a list such as `[\"git\"]`; until then the skills it names are off";
                Err(Problem::new(Code::WrongType, message, help))
            }),
            Kind::Texts | Kind::Variables | Kind::Paths | Kind::Sources => {
                self.texts(key, item).unwrap_or_else(|| Err(wrong("a list of texts")))
            }
        }
    }

    /// Reads the elements of a list; `None` for a value of the wrong kind.
    fn texts(&self, key: &Key, item: &Item) -> Option<Result<Value, Problem>> {
        let text = |value: &TomlValue| self.text(key, value).map_err(|p| p.at(value));
        let texts: Result<Vec<String>, _> = item.as_array()?.iter().map(text).collect();
        Some(match texts {
            Ok(texts) if texts.is_empty() && key.kind == Kind::Keys => {
                let help = "name a key, or remove the setting; until then no key is accepted";
                Err(Problem::new(Code::InvalidValue, "no key is named", help))
            }
            texts => texts.map(Value::Texts),
        })
    }

    /// Reads a text, or an element of a list.
    fn text(&self, key: &Key, value: &TomlValue) -> Result<String, Problem> {
        let text = value.as_str().ok_or_else(|| {
            let message = format!("this is {}, not a text", kind_of_value(value));
            Problem::new(Code::WrongType, message, "write it in quotes")
        })?;
        let invalid = |message: &str, help: &str| Problem::new(Code::InvalidValue, message, help);
        if text.trim().is_empty() {
            return Err(invalid("the text is empty", "remove it"));
        }
        match key.kind {
            Kind::Variables if text.contains(['=', '\0']) => {
                Err(invalid("this is not the name of a variable", "write the name alone"))
            }
            Kind::Meaning if !is_model_name(text) => {
                Err(invalid("this is not the name of a model", "see `repertoire model list`"))
            }
            Kind::Command => self.command(text),
            Kind::Keys if !is_public_key(text) => {
                let help = "write the second line of the `.pub` file; until then it signs nothing";
                Err(invalid("this is not a public key of minisign", help))
            }
            Kind::Sources if self.scope == Scope::Project => self.source_of_project(text),
            Kind::Sources | Kind::Paths => self.path_of_user(text),
            _ => Ok(text.to_owned()),
        }
    }

    /// Resolves a source that a project names. It must be inside the project.
    fn source_of_project(&self, text: &str) -> Result<String, Problem> {
        let refused = |why: &str| {
            let message = format!("the source `{text}` {why}");
            let help = "name a directory inside the project, relative to its root";
            Err(Problem::new(Code::RefusedSetting, message, help))
        };
        let is_inside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        if text.starts_with('~') || !Path::new(text).components().all(is_inside) {
            return refused("is not inside the project");
        }
        let root = self.project.join(text);
        let real = |path: &Path| path.canonicalize().ok();
        if let (Some(real_root), Some(project)) = (real(&root), real(self.project))
            && !real_root.starts_with(project)
        {
            return refused("leads outside of the project by a link");
        }
        Ok(root.to_string_lossy().into_owned())
    }

    /// Checks a command. Its program must not be relative, as agents work in many directories.
    fn command(&self, text: &str) -> Result<String, Problem> {
        let words = retriever::words(text, self.home).ok_or_else(|| {
            let help = "close it, or write `\\'` for a quote that is part of a word";
            Problem::new(Code::InvalidValue, "a quote in this command is not closed", help)
        })?;
        if let Some(program) = words.first().filter(|program| program.contains('/')) {
            self.path_of_user(program)?;
        }
        Ok(text.to_owned())
    }

    /// Resolves a path that the user names. It must not be relative, as agents work in many directories.
    fn path_of_user(&self, text: &str) -> Result<String, Problem> {
        let below_home =
            text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let path = match (below_home, self.home) {
            (Some(rest), Some(home)) => home.join(rest.trim_start_matches('/')),
            _ => PathBuf::from(text),
        };
        if path.is_absolute() {
            return Ok(path.to_string_lossy().into_owned());
        }
        let message = format!("the path `{text}` is relative");
        let help = "begin it with `/` or `~/`: agents work in many directories";
        Err(Problem::new(Code::InvalidValue, message, help))
    }
}

/// The texts in a value of any form.
fn texts_of(item: &Item) -> Vec<String> {
    let values = item.as_array().map(|array| array.iter().collect::<Vec<_>>());
    let values = values.unwrap_or_else(|| item.as_value().into_iter().collect());
    let text = |value: &TomlValue| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    // An empty list would demand no key: return a text that no key equals.
    if values.is_empty() { vec![String::new()] } else { values.into_iter().map(text).collect() }
}
