//! Triggers: the declared texts and patterns by which a message selects a skill.

use std::collections::HashMap;
use std::ops::Range;

use super::brief::one_line;
use super::fields::{self, Fields, Reader, excerpt};
use super::finding::Finding;
use super::glob;
use super::keys::normalized;
use super::nfkc;
use super::pattern;
use super::spanned::Spanned;
use super::yaml::{Node, Value};
use crate::diagnostic::Code;

/// The longest keyword, verb, exclude or glob, in bytes.
pub(crate) const MAX_TRIGGER_BYTES: usize = 256;

/// The most triggers of one skill.
pub(crate) const MAX_TRIGGERS: usize = 512;

/// The triggers that a skill declares. Every entry is usable; a refused one is only reported by a
/// diagnostic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Triggers {
    /// Words and phrases, matched as whole words.
    pub keywords: Vec<Spanned<String>>,
    /// Action words, matched like keywords and, on request, in their regular inflections.
    pub verbs: Vec<Spanned<String>>,
    /// Patterns in the syntax of the crate `regex`.
    pub patterns: Vec<Spanned<String>>,
    /// Words and phrases that veto the skill for a query.
    pub exclude: Vec<Spanned<String>>,
    /// Globs, matched against the paths a query touches.
    pub paths: Vec<Spanned<String>>,
    /// True if the skill declares any trigger that could select it, even if that trigger was refused: a
    /// skill whose only pattern is broken still does not count as a skill without triggers.
    pub declared: bool,
}

impl Triggers {
    /// The kinds of triggers as named in front matter, each with its entries.
    pub fn kinds(&self) -> [(&'static str, &[Spanned<String>]); 5] {
        // There is no `..`, so that a new kind does not compile until it is listed here.
        let Triggers { keywords, verbs, patterns, exclude, paths, declared: _ } = self;
        [
            (Kind::Keyword.field(), keywords),
            (Kind::Verb.field(), verbs),
            (Kind::Pattern.field(), patterns),
            (Kind::Exclude.field(), exclude),
            (Kind::Path.field(), paths),
        ]
    }

    fn entries(&mut self, kind: Kind) -> &mut Vec<Spanned<String>> {
        match kind {
            Kind::Keyword => &mut self.keywords,
            Kind::Verb => &mut self.verbs,
            Kind::Pattern => &mut self.patterns,
            Kind::Exclude => &mut self.exclude,
            Kind::Path => &mut self.paths,
        }
    }
}

/// Tells whether `key` is a key of a trigger map that names a kind of trigger.
pub(super) fn is_kind(key: &str) -> bool {
    Kind::of(key).is_some()
}

fn names_kind((key, _): &(Node, Node)) -> bool {
    key.text().is_some_and(is_kind)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Keyword,
    Verb,
    Pattern,
    Exclude,
    Path,
}

impl Kind {
    /// Returns the kind that a key of a trigger map names, in any of the spellings seen in published
    /// skills.
    fn of(key: &str) -> Option<Kind> {
        Some(match normalized(key).as_str() {
            "keywords" | "keyword" | "phrases" | "phrase" => Kind::Keyword,
            "verbs" | "verb" => Kind::Verb,
            "patterns" | "pattern" | "regexes" | "regex" => Kind::Pattern,
            "exclude" | "excludes" | "exclude_keywords" => Kind::Exclude,
            "paths" | "path" | "files" | "globs" | "glob" => Kind::Path,
            _ => return None,
        })
    }

    fn field(self) -> &'static str {
        match self {
            Kind::Keyword => "keywords",
            Kind::Verb => "verbs",
            Kind::Pattern => "patterns",
            Kind::Exclude => "exclude",
            Kind::Path => "paths",
        }
    }

    fn split(self, text: &str) -> Vec<Range<usize>> {
        match self {
            Kind::Keyword | Kind::Verb | Kind::Exclude => fields::at_commas(text),
            Kind::Path => fields::at_commas_of_globs(text),
            // A comma may be part of a pattern, so patterns are split at line ends only.
            Kind::Pattern => fields::at_lines(text),
        }
    }
}

/// Reads the triggers from all places where they may be declared: `triggers` at the top level and under
/// `metadata`, `activation`, and `paths`.
pub(super) fn read(
    triggers: [Option<&Node>; 2],
    activation: Option<&Node>,
    paths: Option<&Node>,
    reader: &mut Reader<'_>,
) -> Triggers {
    let mut collector = Collector {
        reader,
        triggers: Triggers::default(),
        seen: HashMap::new(),
        pattern_room: pattern::MAX_COMPILED_OF_SKILL,
        place: 0,
        n_triggers: 0,
    };
    for node in triggers.into_iter().flatten() {
        collector.triggers(node);
        collector.place += 1;
    }
    if let Some(node) = activation {
        collector.activation(node);
        collector.place += 1;
    }
    if let Some(node) = paths {
        collector.values(Kind::Path, node);
    }
    collector.triggers
}

struct Collector<'r, 'f> {
    reader: &'r mut Reader<'f>,
    triggers: Triggers,
    /// The place where each trigger was declared; `None` once its repetition has been reported.
    seen: HashMap<(Kind, String), Option<usize>>,
    /// The bytes that the patterns may still take when they are compiled.
    pattern_room: usize,
    /// The index of the place that is being read.
    place: usize,
    n_triggers: usize,
}

impl Collector<'_, '_> {
    /// Reads a map by kind, a list of keywords and such maps, or a text with keywords between commas.
    fn triggers(&mut self, node: &Node) {
        match &node.value {
            Value::Mapping(entries) => self.map(entries),
            Value::Sequence(entries) => {
                for entry in entries {
                    match &entry.value {
                        Value::Mapping(entries) if entries.iter().any(names_kind) => {
                            self.map(entries);
                        }
                        _ => self.entry(Kind::Keyword, entry),
                    }
                }
            }
            Value::Scalar { .. } => self.values(Kind::Keyword, node),
        }
    }

    fn map(&mut self, entries: &[(Node, Node)]) {
        for field in Fields::new(entries, self.reader).rest() {
            let key = field.key.text().unwrap_or_default();
            match Kind::of(key) {
                Some(kind) => self.values(kind, field.value),
                None => self.reader.report(
                    Code::UnknownKey,
                    field.key.span.clone(),
                    format!("`{}` is not a kind of trigger", excerpt(key)),
                    "the kinds are `keywords`, `verbs`, `patterns`, `exclude` and `paths`",
                ),
            }
        }
    }

    /// Reads `activation`, a block that another engine defines; its other keys are ignored.
    fn activation(&mut self, node: &Node) {
        let example = "triggers: {keywords: [one, two]}";
        let Some(entries) = self.reader.mapping("activation", node, example) else { return };
        let mut fields = Fields::new(entries, self.reader);
        for field in ["keywords", "patterns", "exclude_keywords"] {
            if let (Some(kind), Some(node)) = (Kind::of(field), fields.take(field)) {
                self.values(kind, node);
            }
        }
    }

    /// Reads the entries of one kind, from a list or from one text.
    fn values(&mut self, kind: Kind, node: &Node) {
        match &node.value {
            Value::Sequence(entries) => {
                for entry in entries {
                    self.entry(kind, entry);
                }
            }
            Value::Scalar { .. } if node.is_null() => {}
            Value::Scalar { text, .. } => {
                let parts: Vec<_> = fields::trimmed(text, kind.split(text)).collect();
                if parts.is_empty() {
                    self.entry(kind, node);
                }
                for part in parts {
                    self.add(kind, node, part);
                }
            }
            Value::Mapping(_) => self.wrong_type(kind, node),
        }
    }

    fn entry(&mut self, kind: Kind, node: &Node) {
        let Value::Scalar { .. } = &node.value else { return self.wrong_type(kind, node) };
        let text = node.text().unwrap_or_default();
        if let Some(whole) = fields::trimmed(text, std::iter::once(0..text.len())).next() {
            // The blanks around a pattern are part of it, but not the line end of a block scalar.
            let is_pattern = kind == Kind::Pattern;
            let whole = if is_pattern { 0..text.trim_end_matches('\n').len() } else { whole };
            return self.add(kind, node, whole);
        }
        self.declare(kind);
        self.reader.report(
            Code::EmptyTrigger,
            node.span.clone(),
            format!("an entry of `{}` is empty", kind.field()),
            "remove the entry, or write the text that must occur in a message",
        );
    }

    fn wrong_type(&mut self, kind: Kind, node: &Node) {
        self.declare(kind);
        let field = kind.field();
        let help = match &node.value {
            Value::Mapping(entries)
                if entries.len() == 1
                    && !self.reader.file[node.span.clone()].starts_with(['{', '*', '&']) =>
            {
                let text = one_line(&self.reader.file[node.span.clone()]).replace('\'', "''");
                format!("put it in quotes: `- '{}'`", excerpt(&text))
            }
            _ => format!("write `{field}: [one, two]`"),
        };
        let message = format!("`{field}` holds {} where text is wanted", node.kind());
        self.reader.report(Code::WrongType, node.span.clone(), message, help);
    }

    fn declare(&mut self, kind: Kind) {
        self.triggers.declared |= kind != Kind::Exclude;
    }

    /// Adds the part `range` of the text of `node`, if it is usable and new.
    fn add(&mut self, kind: Kind, node: &Node, range: Range<usize>) {
        self.declare(kind);
        let text = &node.text().unwrap_or_default()[range.clone()];
        if let Some(seen) = self.seen.get_mut(&(kind, text.to_owned())) {
            // Only a repetition within one place is reported: the second place may be there for another
            // engine.
            if seen.take_if(|place| *place == self.place).is_some() {
                self.reader.report(
                    Code::RedundantTrigger,
                    node.place(self.reader.file, range),
                    format!("`{}` is listed twice in `{}`", excerpt(text), kind.field()),
                    "remove one of the two",
                );
            }
            return;
        }
        self.n_triggers += 1;
        if self.n_triggers > MAX_TRIGGERS {
            if self.n_triggers == MAX_TRIGGERS + 1 {
                let span = node.place(self.reader.file, range);
                self.reader.report(
                    Code::TooManyTriggers,
                    span,
                    format!("more than {MAX_TRIGGERS} triggers; the rest is ignored from here"),
                    "keep the words that tell this skill from others, or use a pattern",
                );
            }
            return;
        }
        self.seen.insert((kind, text.to_owned()), Some(self.place));
        let place = |part: Range<usize>| {
            node.place(self.reader.file, range.start + part.start..range.start + part.end)
        };
        let fault = fault(kind, text, &mut self.pattern_room);
        if fault.as_ref().is_none_or(|fault| fault.code == Code::PatternNotNormalized) {
            let entry = Spanned { value: text.to_owned(), span: place(0..text.len()) };
            self.triggers.entries(kind).push(entry);
        }
        let fault = fault.map(|fault| Finding { span: fault.span.map(place), ..fault });
        self.reader.findings.extend(fault);
    }
}

/// Returns the fault of a trigger, with its bytes in `text`. The trigger is refused, except for a pattern
/// that can hardly match.
fn fault(kind: Kind, text: &str, pattern_room: &mut usize) -> Option<Finding> {
    let (field, n_bytes) = (kind.field(), text.len());
    let whole = 0..n_bytes;
    match kind {
        Kind::Keyword | Kind::Verb | Kind::Exclude if n_bytes <= MAX_TRIGGER_BYTES => None,
        Kind::Keyword | Kind::Verb | Kind::Exclude => {
            let message = format!(
                "entry of `{field}` of {n_bytes} bytes is longer than {MAX_TRIGGER_BYTES}: `{}`",
                excerpt(text)
            );
            let help = "write the few words a message would hold, one entry for each phrase";
            Some(Finding::new(Code::TriggerTooLong, whole, message, help))
        }
        Kind::Pattern => {
            let Err(error) = pattern::validate(text, pattern_room) else {
                let help = nfkc::remedy(text)?;
                let message =
                    format!("pattern can hardly match, as it is not in NFKC: `{}`", excerpt(text));
                return Some(Finding::new(Code::PatternNotNormalized, whole, message, help));
            };
            let message = format!("{}: `{}`", error.message, excerpt(text));
            let help = pattern_help(error.code, text);
            Some(Finding::new(error.code, error.span, message, help))
        }
        Kind::Path => {
            let why = glob::refuse(text, MAX_TRIGGER_BYTES)?;
            let message = format!("`paths` entry `{}`: {why}", excerpt(text));
            let help = "write a glob such as `src/**/*.{ts,tsx}`, with each bracket closed";
            Some(Finding::new(Code::InvalidGlob, whole, message, help))
        }
    }
}

fn pattern_help(code: Code, pattern: &str) -> &'static str {
    match code {
        Code::PatternMatchesEmpty => {
            "let the pattern demand at least one character, with `+` for `*` or without `?`"
        }
        Code::PatternTooLarge if pattern.len() > pattern::MAX_PATTERN_BYTES => {
            "split it into several patterns, or name the words it lists as `keywords`"
        }
        Code::PatternTooLarge => "use smaller counts in `{…}` or split it into several patterns",
        _ if ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|form| pattern.contains(form)) => {
            "look-around is not supported; put what must not occur under `exclude`"
        }
        _ if pattern.contains('\\') => {
            "check the pattern; group it as `(?:…)`, escape what stands for itself as in `\\(`, and \
             write it in single quotes"
        }
        _ => "escape what stands for itself as in `\\(`, and write the pattern in single quotes",
    }
}
