//! Files of prompts: JSON, a line of JSON each, or YAML.
//!
//! A bad entry is left out and named with its line; the others are kept. After a syntax error in
//! a JSON array nothing can be told apart any more, so the rest of that file is left out. A file
//! without prompts is a problem, too: a measure of nothing would pass.

use serde_json::{Map, Value};

use super::case::{Case, Problem, of_entry, of_prompt, own_skill};
use crate::skill::json::to_json;
use crate::skill::yaml::{self, Node};

/// Keys of a map under which entries stand.
const LISTS: [&str; 5] = ["evals", "cases", "queries", "tests", "test_cases"];
/// Keys of a map under which prompts of its skill stand, and whether these should fire it.
const PROMPTS: [(&str, bool); 6] = [
    ("should_trigger_prompts", true),
    ("should_not_trigger_prompts", false),
    ("shouldTriggerPrompts", true),
    ("shouldNotTriggerPrompts", false),
    ("should_trigger", true),
    ("should_not_trigger", false),
];

/// What is read of a file.
struct Reader<'t> {
    text: &'t str,
    /// The byte where each line begins.
    lines: Vec<usize>,
    file: &'t str,
    /// The skill the prompts belong to unless they say otherwise.
    skill: Option<&'t str>,
    cases: Vec<Case>,
    problems: Vec<Problem>,
}

/// A value and the byte of the file where it begins.
struct Part {
    key: String,
    at: usize,
    value: Value,
    /// The parts of a list.
    parts: Vec<Part>,
}

/// The prompts of the file named `file` with the content `text`, and what of it is left out.
/// `skill` is the skill they belong to where they do not say so.
///
/// ```
/// let text = "{\"query\": \"deploy it\", \"should_trigger\": true}\n{\"query\": 7}\n";
/// let (cases, problems) = repertoire::eval::read("evals.jsonl", text, Some("deploy"));
/// assert_eq!((cases[0].query.as_str(), &cases[0].expected[..]), ("deploy it", &["deploy".to_owned()][..]));
/// assert_eq!((problems[0].line, problems[0].message.as_str()), (2, "`query` is a number, not text"));
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
                _ if line.trim().is_empty() => {}
                Ok(entry) => self.entry(&entry, at, self.skill),
                Err(error) => self.problem(at, json_message(&error)),
            }
            at += line.len();
        }
    }

    fn json_list(&mut self) {
        let start = self.text.len() - self.text.trim_start().len();
        self.entries(&json_parts(self.text, start), self.skill);
        if let Err(error) = serde_json::from_str::<Value>(self.text) {
            let message = format!("{}; the rest of the file is left out", json_message(&error));
            self.problem(self.byte_of(error.line()), message);
        }
    }

    fn json_map_or_lines(&mut self) {
        let start = self.text.len() - self.text.trim_start().len();
        let first_line = self.text[start..].lines().next().unwrap_or_default();
        match serde_json::from_str::<Value>(self.text) {
            Ok(_) => self.document(start, &json_parts(self.text, start)),
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
                    self.entries(&yaml_parts(root), self.skill);
                }
                Some(root) if matches!(root.value, yaml::Value::Mapping(_)) => {
                    self.document(root.span.start, &yaml_parts(root));
                }
                _ => {}
            },
            Err(error) => self.problem(error.at, format!("not valid YAML: {}", error.message)),
        }
    }

    /// A map that holds lists of entries or of prompts, or is an entry.
    fn document(&mut self, at: usize, parts: &[Part]) {
        let fields: Map<String, Value> =
            parts.iter().map(|part| (part.key.clone(), part.value.clone())).collect();
        let named = own_skill(&fields).unwrap_or_else(|message| {
            self.problem(at, message);
            None
        });
        let skill = named.as_deref().or(self.skill);
        let mut has_list = false;
        for part in parts.iter().filter(|part| part.value.is_array()) {
            if LISTS.contains(&part.key.as_str()) {
                has_list = true;
                self.entries(&part.parts, skill);
            } else if let Some((_, fires)) = PROMPTS.iter().find(|(key, _)| *key == part.key) {
                has_list = true;
                self.prompts(&part.parts, part.at, skill, *fires);
            }
        }
        if !has_list {
            self.entry(&Value::Object(fields), at, skill);
        }
    }

    fn prompts(&mut self, parts: &[Part], at: usize, skill: Option<&str>, fires: bool) {
        let Some(skill) = skill else {
            let message = "it does not say which skill these prompts belong to: add `skill: NAME`, \
                           or name it with `--skill`";
            self.problem(at, message.to_owned());
            return;
        };
        for part in parts {
            self.keep(part.at, of_prompt(&part.value, skill, fires));
        }
    }

    fn entries(&mut self, parts: &[Part], skill: Option<&str>) {
        for part in parts {
            self.entry(&part.value, part.at, skill);
        }
    }

    fn entry(&mut self, entry: &Value, at: usize, skill: Option<&str>) {
        self.keep(at, of_entry(entry, skill));
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

    /// The line of a byte, from 1.
    fn line_of(&self, at: usize) -> usize {
        self.lines.partition_point(|start| *start <= at)
    }

    /// The first byte of a line, from 1.
    fn byte_of(&self, line: usize) -> usize {
        self.lines.get(line.saturating_sub(1)).copied().unwrap_or(self.text.len())
    }
}

fn json_message(error: &serde_json::Error) -> String {
    let message = error.to_string();
    // The line is the problem's; that of the error may be one of a part of the file.
    let message = message.split(" at line ").next().unwrap_or_default();
    format!("not valid JSON: {message} at column {}", error.column())
}

/// What stands in the list or the map that begins at byte `start`, up to where it is broken.
fn json_parts(text: &str, start: usize) -> Vec<Part> {
    let is_map = text[start..].starts_with('{');
    let mut parts = Vec::new();
    let mut at = start + 1;
    while let Some((part, end)) = json_part(text, at, is_map) {
        parts.push(part);
        at = end + blanks(&text[end..]);
        if !text[at..].starts_with(',') {
            break;
        }
        at += 1;
    }
    parts
}

/// The entry of a list or a map that begins after byte `at`, and the byte after it.
fn json_part(text: &str, at: usize, is_map: bool) -> Option<(Part, usize)> {
    let (key, at) = if is_map {
        let (key, end) = json_value(text, at)?;
        (key.as_str()?.to_owned(), end + blanks(&text[end..]) + 1)
    } else {
        (String::new(), at)
    };
    let at = at + blanks(text.get(at..)?);
    let (value, end) = json_value(text, at)?;
    let parts = if value.is_array() { json_parts(text, at) } else { Vec::new() };
    Some((Part { key, at, value, parts }, end))
}

fn json_value(text: &str, at: usize) -> Option<(Value, usize)> {
    let mut stream = serde_json::Deserializer::from_str(text.get(at..)?).into_iter::<Value>();
    let value = stream.next()?.ok()?;
    Some((value, at + stream.byte_offset()))
}

/// Bytes of white space at the start of a text.
fn blanks(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

fn yaml_parts(node: &Node) -> Vec<Part> {
    let part = |key: String, node: &Node| {
        let is_list = matches!(node.value, yaml::Value::Sequence(_));
        let parts = if is_list { yaml_parts(node) } else { Vec::new() };
        Part { key, at: node.span.start, value: to_json(node), parts }
    };
    match &node.value {
        yaml::Value::Scalar { .. } => Vec::new(),
        yaml::Value::Sequence(entries) => {
            entries.iter().map(|entry| part(String::new(), entry)).collect()
        }
        yaml::Value::Mapping(entries) => {
            let key = |key: &Node| key.text().unwrap_or_default().to_owned();
            entries.iter().map(|(name, value)| part(key(name), value)).collect()
        }
    }
}
