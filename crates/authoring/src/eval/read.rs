//! The reader of files with prompts: JSON, JSON lines, or YAML.
//!
//! A bad entry is left out, and reported with its line; the others are kept. After a syntax error in a
//! JSON array, entries cannot be told apart, so the rest of that file is left out. A file without
//! prompts is a problem too, because an evaluation without prompts would always pass.

use serde_json::Value;

use super::case::{Case, Problem, QUERY, is_entry, of_entry, of_prompt, own_skill};
use super::fields::{Fields, kind, normal};
use super::located::{Located, blanks, json_parts, yaml_parts};
use repertoire::skill::yaml;

/// Keys of lists of entries, in the form of [`normal`]. Any other list is one of entries if its first
/// element has a prompt.
const LISTS: [&str; 6] = ["evals", "cases", "queries", "tests", "testcases", "scenarios"];
/// Keys of lists of prompts for a skill; true if the prompts should fire the skill.
const PROMPTS: [(&str, bool); 9] = [
    ("shouldtriggerprompts", true),
    ("shouldnottriggerprompts", false),
    ("shouldtrigger", true),
    ("shouldnottrigger", false),
    ("positive", true),
    ("negative", false),
    ("positives", true),
    ("negatives", false),
    ("nearmiss", false),
];
/// The key of a list, or a map by name, of skills with their prompts.
const SKILLS: &str = "skills";

/// The kind of a list in a map.
enum List {
    /// Entries, each of which says what is expected.
    Entries,
    /// Prompts that should fire the skill of the map (if `fires`), or should not.
    Prompts { fires: bool },
    /// Skills, each with its own lists.
    Skills,
    /// A text or a map under a key of a list.
    Other,
}

/// The reader of one file.
struct Reader<'t> {
    text: &'t str,
    /// The byte offset of each line.
    lines: Vec<usize>,
    file: &'t str,
    /// The skill to which the prompts belong unless they name another.
    skill: Option<&'t str>,
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
    let mut reader = Reader { text, lines, file, skill, cases: Vec::new(), problems: Vec::new() };
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
                    self.element(&Located::json(at, value), self.skill);
                }
                Err(error) => self.problem(at, json_message(&error)),
            }
            at += line.len();
        }
    }

    fn json_list(&mut self) {
        let start = blanks(self.text);
        self.elements(&json_parts(self.text, start), self.skill);
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
                self.element(&Located::json(at, value), self.skill);
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
                    self.elements(&yaml_parts(root), self.skill);
                }
                Some(root) if matches!(root.value, yaml::Value::Mapping(_)) => {
                    self.element(&Located::yaml(String::new(), root), self.skill);
                }
                _ => {}
            },
            Err(error) => self.problem(error.at, format!("not valid YAML: {}", error.message)),
        }
    }

    fn elements(&mut self, parts: &[Located<'_>], skill: Option<&str>) {
        for part in parts {
            self.element(part, skill);
        }
    }

    /// Reads an entry, or a map that holds lists of entries or of prompts.
    fn element(&mut self, part: &Located<'_>, skill: Option<&str>) {
        let Value::Object(map) = &part.value else {
            return self.keep(part.at, of_entry(&part.value, skill, None));
        };
        let fields = Fields::of(map);
        if is_entry(&fields) || !self.lists(part, &fields, skill) {
            self.keep(part.at, of_entry(&part.value, skill, None));
        }
    }

    /// Reads the lists of a map. Returns false if it has none.
    fn lists(&mut self, part: &Located<'_>, fields: &Fields<'_>, skill: Option<&str>) -> bool {
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
        let skill = named.as_deref().or(skill);
        for (list, form) in lists {
            match form {
                List::Skills => self.skills(&list),
                List::Prompts { fires } => self.prompts(&list, skill, fires),
                List::Entries => self.elements(&list.parts(self.text), skill),
                List::Other => {
                    let (key, kind) = (&list.key, kind(&list.value));
                    let message = format!("`{key}` is {kind}, not a list: write `[…]`");
                    self.problem(list.at, message);
                }
            }
        }
        true
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
            let name = fields.first(&["name", "id"]).and_then(|(_, name)| name.as_str());
            let by_key = (!part.key.is_empty()).then_some(part.key.as_str());
            if !self.lists(&part, &fields, name.or(by_key)) {
                let message = "there are no prompts of this skill: add lists `positive` and \
                               `negative`";
                self.problem(part.at, message.to_owned());
            }
        }
    }

    fn prompts(&mut self, list: &Located<'_>, skill: Option<&str>, fires: bool) {
        let Some(skill) = skill else {
            let message = "it does not say which skill these prompts belong to: add `skill: NAME`, \
                           name the skill of all prompts, or keep the file below the directory of \
                           its skill";
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
        let fires = PROMPTS.iter().find_map(|(name, fires)| (*name == key).then_some(*fires));
        let is_list = fires.is_some() || LISTS.contains(&key.as_str());
        match &part.value {
            // Other values, such as a flag or a number of prompts, do not hold prompts.
            Value::Object(_) | Value::String(_) if is_list => Some(List::Other),
            Value::Object(map) => {
                let holds_maps = map.values().next().is_some_and(Value::is_object);
                (key == SKILLS && holds_maps).then_some(List::Skills)
            }
            Value::Array(entries) => match (fires, entries.first()) {
                (Some(fires), _) => Some(List::Prompts { fires }),
                (None, Some(Value::Object(_))) if key == SKILLS => Some(List::Skills),
                _ if is_list => Some(List::Entries),
                (None, Some(Value::Object(map))) => {
                    Fields::of(map).first(&QUERY).map(|_| List::Entries)
                }
                _ => None,
            },
            _ => None,
        }
    }
}
