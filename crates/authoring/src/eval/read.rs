//! The reader of files with prompts: JSON, JSON lines, or YAML.
//!
//! A bad entry is left out, and reported with its line; the others are kept. After a syntax error in a
//! JSON array, entries cannot be told apart, so the rest of that file is left out. A file without
//! prompts is a problem too, because an evaluation without prompts would always pass.

use serde_json::Value;

use super::case::{Case, Context, Problem, flag, is_entry, of_entry, of_prompt, own_skill};
use super::fields::{Fields, kind};
use super::located::{Located, blanks, json_parts, yaml_parts};
use super::spellings::{LISTS, Role, SKILL_NAMES, SKILLS, is_container, list_polarity, normal};
use repertoire::skill::yaml;

/// The kind of a list in a map.
enum List {
    /// Entries, each of which says what is expected.
    Entries,
    /// Prompts that should fire the skill of the map (if `fires`), or should not.
    Prompts { fires: bool },
    /// Skills, each with its own lists.
    Skills,
    /// A map with lists of prompts.
    Nested,
    /// A text or a map under a key of a list.
    Other,
}

/// The reader of one file.
struct Reader<'t> {
    text: &'t str,
    /// The byte offset of each line.
    lines: Vec<usize>,
    file: &'t str,
    /// The context of all entries: the skill to which the prompts belong unless they name another.
    context: Context<'t>,
    cases: Vec<Case>,
    problems: Vec<Problem>,
}

/// Reads the prompts in `text`, the content of the file named `file`. Returns them, and a problem for
/// each part that was left out. `skill` is the skill to which the prompts belong unless they name
/// another. The extension of `file` decides the format, if it is a known one.
///
/// ```
/// let text = "{\"query\": \"deploy it\", \"should_trigger\": true}\n{\"query\": 7}\n";
/// let (cases, problems) = repertoire_authoring::eval::read("evals.jsonl", text, Some("deploy"));
/// assert_eq!((cases[0].query.as_str(), &cases[0].expected[..]), ("deploy it", &["deploy".to_owned()][..]));
/// assert_eq!((problems[0].line, problems[0].message.as_str()), (2, "`query` is a number, not text: write the prompt as text"));
/// ```
pub fn read(file: &str, text: &str, skill: Option<&str>) -> (Vec<Case>, Vec<Problem>) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let line_ends = text.match_indices('\n').map(|(at, _)| at + 1);
    let lines = std::iter::once(0).chain(line_ends).collect();
    let context = Context { skill, fires: None };
    let mut reader = Reader { text, lines, file, context, cases: Vec::new(), problems: Vec::new() };
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    match extension.to_ascii_lowercase().as_str() {
        "jsonl" | "ndjson" => reader.lines(),
        "yaml" | "yml" => reader.yaml(),
        "csv" | "tsv" => {
            let message = "tables are not read: write JSON, JSON lines or YAML";
            reader.problem(0, message.to_owned());
        }
        _ if text.trim_start().starts_with("//") => reader.lines(),
        _ if text.trim_start().starts_with('[') => reader.json_list(),
        _ if text.trim_start().starts_with('{') => reader.json_map_or_lines(),
        _ => reader.yaml(),
    }
    if reader.cases.is_empty() && reader.problems.is_empty() {
        reader.problem(0, "there are no prompts in this file".to_owned());
    }
    (reader.cases, reader.problems)
}

impl Reader<'_> {
    fn lines(&mut self) {
        let mut at = 0;
        for line in self.text.split_inclusive('\n') {
            match serde_json::from_str::<Value>(line) {
                _ if is_blank(line) => {}
                Ok(value) => {
                    let at = at + blanks(line);
                    self.element(&Located::json(at, value), self.context);
                }
                Err(error) => self.problem(at, json_message(&error)),
            }
            at += line.len();
        }
    }

    fn json_list(&mut self) {
        let start = blanks(self.text);
        self.elements(&json_parts(self.text, start), self.context);
        if let Err(error) = serde_json::from_str::<Value>(self.text) {
            let message = format!("{}; the rest of the file is left out", json_message(&error));
            self.problem(self.byte_of(error.line()), message);
        }
    }

    fn json_map_or_lines(&mut self) {
        let at = blanks(self.text);
        let first_line = self.text.lines().find(|line| !is_blank(line)).unwrap_or_default();
        match serde_json::from_str::<Value>(self.text) {
            Ok(value) => {
                self.element(&Located::json(at, value), self.context);
            }
            Err(_) if serde_json::from_str::<Value>(first_line).is_ok() => self.lines(),
            Err(error) => {
                self.problem(self.byte_of(error.line()), json_message(&error));
            }
        }
    }

    fn yaml(&mut self) {
        match yaml::parse(self.text, &|at| at) {
            Ok(tree) => match &tree.root {
                Some(root) if matches!(root.value, yaml::Value::Sequence(_)) => {
                    self.elements(&yaml_parts(root), self.context);
                }
                Some(root) if matches!(root.value, yaml::Value::Mapping(_)) => {
                    self.element(&Located::yaml(String::new(), root), self.context);
                }
                _ => {}
            },
            Err(error) => self.problem(error.at, format!("not valid YAML: {}", error.message)),
        }
    }

    fn elements(&mut self, parts: &[Located<'_>], context: Context<'_>) {
        for part in parts {
            self.element(part, context);
        }
    }

    /// Reads an entry, or a map that holds lists of entries or of prompts.
    fn element(&mut self, part: &Located<'_>, context: Context<'_>) {
        let Value::Object(map) = &part.value else {
            return self.keep(part.at, of_entry(&part.value, context));
        };
        let fields = Fields::of(map);
        if is_entry(&fields) || !self.lists(part, &fields, context) {
            self.keep(part.at, of_entry(&part.value, context));
        }
    }

    /// Reads the lists of a map. Returns false if it has none.
    fn lists(&mut self, part: &Located<'_>, fields: &Fields<'_>, context: Context<'_>) -> bool {
        let lists: Vec<(Located<'_>, List)> = part
            .parts(self.text)
            .into_iter()
            .filter_map(|list| List::of(&list).map(|kind| (list, kind)))
            .collect();
        if lists.is_empty() {
            return false;
        }
        let named = own_skill(fields).unwrap_or_else(|message| {
            self.problem(part.at, message);
            None
        });
        // A text under `should_trigger` in such a map is reported as a list that it is not.
        let fires = flag(fields).unwrap_or_default().or(context.fires);
        let context = Context { skill: named.as_deref().or(context.skill), fires };
        for (list, form) in lists {
            match form {
                List::Skills => self.skills(&list),
                List::Prompts { fires } => self.prompts(&list, context.skill, fires),
                List::Entries => self.elements(&list.parts(self.text), context),
                List::Nested => self.nested(&list, context),
                List::Other => {
                    let (key, kind) = (&list.key, kind(&list.value));
                    let message = format!("`{key}` is {kind}, not a list: write `[…]`");
                    self.problem(list.at, message);
                }
            }
        }
        true
    }

    /// Reads a map with lists of prompts. If nothing around it names their skill, its key does.
    fn nested(&mut self, list: &Located<'_>, context: Context<'_>) {
        let key = Some(list.key.as_str()).filter(|key| !is_container(key));
        let skill = context.skill.or(key);
        self.element(list, Context { skill, ..context });
    }

    /// Reads skills with their prompts: a list of maps with a name, or a map by name.
    fn skills(&mut self, list: &Located<'_>) {
        for part in list.parts(self.text) {
            let Value::Object(map) = &part.value else {
                let kind = kind(&part.value);
                let message = format!(
                    "this is {kind}, not a map with the prompts of a skill: write `name`, \
                     `positive` and `negative`"
                );
                self.problem(part.at, message);
                continue;
            };
            let fields = Fields::of(map);
            let is_name = |(key, _): &(&String, &Value)| SKILL_NAMES.contains(&&*normal(key));
            let name = map.iter().find(is_name).and_then(|(_, name)| name.as_str());
            let by_key = (!part.key.is_empty()).then_some(part.key.as_str());
            let context = Context { skill: name.or(by_key), fires: None };
            if !self.lists(&part, &fields, context) {
                let message = "there are no prompts of this skill: add lists `positive` and \
                               `negative`";
                self.problem(part.at, message.to_owned());
            }
        }
    }

    fn prompts(&mut self, list: &Located<'_>, skill: Option<&str>, fires: bool) {
        let Some(skill) = skill else {
            let message = "it does not say which skill these prompts belong to: add `skill: NAME`, \
                           name the skill of all prompts, keep the file below the directory of its \
                           skill, or name it after the skill";
            return self.problem(list.at, message.to_owned());
        };
        for part in list.parts(self.text) {
            self.keep(part.at, of_prompt(&part.value, skill, fires));
        }
    }

    fn keep(&mut self, at: usize, read: Result<Case, String>) {
        match read {
            Ok(case) => {
                let (file, line) = (self.file.to_owned(), self.line_of(at));
                self.cases.push(Case { file, line, ..case });
            }
            Err(message) => self.problem(at, message),
        }
    }

    fn problem(&mut self, at: usize, message: String) {
        let (file, line) = (self.file.to_owned(), self.line_of(at));
        self.problems.push(Problem { file, line, message });
    }

    /// The line, from 1, of the byte at `at`.
    fn line_of(&self, at: usize) -> usize {
        self.lines.partition_point(|start| *start <= at)
    }

    /// The byte offset where `line` begins; lines are counted from 1.
    fn byte_of(&self, line: usize) -> usize {
        self.lines.get(line.saturating_sub(1)).copied().unwrap_or(self.text.len())
    }
}

/// Tells whether a line of a JSON lines file is blank or a comment.
fn is_blank(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with("//") || line.starts_with('#')
}

fn json_message(error: &serde_json::Error) -> String {
    let message = error.to_string();
    // Drop the line number: [`Problem`] has the right one, while the error may count from a part of the
    // file.
    let message = message.split(" at line ").next().unwrap_or_default();
    format!("not valid JSON: {message} at column {}", error.column())
}

impl List {
    fn of(part: &Located<'_>) -> Option<List> {
        let key = normal(&part.key);
        let fires = list_polarity(&key);
        let is_list = fires.is_some() || LISTS.contains(&key.as_str());
        match &part.value {
            // Other values, such as a flag or a number of prompts, do not hold prompts.
            Value::Object(map) => {
                let holds_maps = map.values().next().is_some_and(Value::is_object);
                let is_polar = |(key, list): (&String, &Value)| {
                    list.is_array() && list_polarity(&normal(key)).is_some()
                };
                if key == SKILLS && holds_maps {
                    Some(List::Skills)
                } else if map.iter().any(is_polar) {
                    Some(List::Nested)
                } else {
                    is_list.then_some(List::Other)
                }
            }
            Value::String(_) if is_list => Some(List::Other),
            Value::Array(entries) => match (fires, entries.first()) {
                (Some(fires), _) => Some(List::Prompts { fires }),
                (None, Some(Value::Object(_))) if key == SKILLS => Some(List::Skills),
                _ if is_list => Some(List::Entries),
                (None, Some(Value::Object(map))) => {
                    Fields::of(map).first(Role::Prompt).map(|_| List::Entries)
                }
                _ => None,
            },
            _ => None,
        }
    }
}
