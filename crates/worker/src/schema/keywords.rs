//! Schemas, whose keywords are read before values are checked.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ptr;

use regex_automata::meta::{self, Regex};
use serde_json::Value;

use super::target;
use super::values::{canonical, shorten, shown};

/// The keywords that say nothing about a value.
const ANNOTATIONS: &str = "$anchor $comment $defs $id $schema default definitions deprecated description \
    examples readOnly title writeOnly";
/// The keywords that values are checked against.
const CHECKED: &str = "$ref additionalItems additionalProperties allOf anyOf const enum exclusiveMaximum \
    exclusiveMinimum items maxItems maxLength maxProperties maximum minItems minLength minProperties \
    minimum multipleOf not oneOf pattern patternProperties prefixItems properties propertyNames required \
    type uniqueItems";
/// The types of values.
const TYPES: &str = "array boolean integer null number object string";
/// The largest compiled form of a pattern, in bytes.
const MAX_COMPILED: usize = 128 << 10;
/// The most bytes of patterns in a schema that are compiled.
const MAX_PATTERNS: usize = 32 << 10;

/// A valid schema.
#[derive(Debug, Default)]
pub(super) struct Schema {
    /// The schema, in canonical form.
    pub(super) root: Value,
    /// The compiled patterns.
    pub(super) patterns: HashMap<String, Regex>,
    /// The parts that no value is checked against, as phrases.
    pub(super) unchecked: BTreeSet<String>,
    n_pattern_bytes: usize,
}

impl Schema {
    /// Reads a schema, and all subschemas that it uses. The error says what is invalid.
    pub(super) fn read(schema: &Value) -> Result<Schema, String> {
        let (root, mut read) = (canonical(schema), Schema::default());
        let (mut next, mut seen) = (vec![&root], HashSet::new());
        while let Some(schema) = next.pop() {
            if !seen.insert(ptr::from_ref(schema)) {
                continue;
            }
            if !schema.is_object() && !schema.is_boolean() {
                return Err(format!("{} is not a schema", shown(schema)));
            }
            for (keyword, value) in schema.as_object().into_iter().flatten() {
                let is_valid = match (&**keyword, value) {
                    ("$id", Value::String(_)) => ptr::eq(schema, &raw const root),
                    ("$ref", Value::String(reference)) => {
                        let target = target(&root, reference);
                        next.extend(target);
                        if target.is_none() {
                            read.pass_over("the reference ", reference);
                        }
                        target.is_some() || !reference.starts_with("#/")
                    }
                    _ => read.keyword(keyword, value, &mut next),
                };
                if !is_valid {
                    return Err(format!("`{keyword}` cannot be {}", shown(value)));
                }
            }
        }
        read.root = root;
        Ok(read)
    }

    /// Reads a keyword, and adds its subschemas to `next`. Returns false if its value is invalid.
    fn keyword<'r>(&mut self, keyword: &str, value: &'r Value, next: &mut Vec<&'r Value>) -> bool {
        let all = |is: fn(&Value) -> bool| value.as_array().is_some_and(|all| all.iter().all(is));
        match (keyword, value) {
            ("items" | "allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(schemas)) => {
                next.extend(schemas);
                return keyword == "items" || !schemas.is_empty();
            }
            ("additionalItems" | "additionalProperties" | "items" | "not" | "propertyNames", _) => {
                next.push(value);
            }
            ("patternProperties" | "properties", Value::Object(schemas)) => {
                next.extend(schemas.values());
                let patterns = schemas.keys().filter(|_| keyword == "patternProperties");
                patterns.for_each(|pattern| self.pattern(pattern));
            }
            ("pattern", Value::String(pattern)) => self.pattern(pattern),
            ("multipleOf", _) => return value.as_f64() > Some(0.0),
            ("required", _) => return all(Value::is_string),
            ("type", Value::String(name)) => return is_in(TYPES, name),
            ("type", _) => return all(|name| is_in(TYPES, name.as_str().unwrap_or_default())),
            ("exclusiveMaximum" | "exclusiveMinimum" | "maximum" | "minimum", Value::Number(_))
            | ("const", _)
            | ("enum", Value::Array(_))
            | ("uniqueItems", Value::Bool(_)) => {}
            _ if is_in(ANNOTATIONS, keyword) => {}
            // Only those that count are left, such as `minItems`, and those with invalid values.
            _ if is_in(CHECKED, keyword) => return keyword.starts_with('m') && value.is_u64(),
            _ => self.pass_over("", keyword),
        }
        true
    }

    /// Compiles a pattern, in which `\d` and `\w` are ASCII as in JavaScript. It is passed over if it is
    /// too large, or has what the engine lacks, such as look-around.
    fn pattern(&mut self, pattern: &str) {
        let ascii = |part: &str| {
            let part = part.replace(r"\d", "[0-9]").replace(r"\D", "[^0-9]");
            part.replace(r"\w", "[0-9A-Za-z_]").replace(r"\W", "[^0-9A-Za-z_]")
        };
        let compile = || {
            let pattern = pattern.split(r"\\").map(ascii).collect::<Vec<_>>().join(r"\\");
            let config = meta::Config::new().nfa_size_limit(Some(MAX_COMPILED)).dfa(false);
            meta::Builder::new().configure(config).build(&pattern).ok()
        };
        self.n_pattern_bytes += pattern.len();
        match (self.n_pattern_bytes <= MAX_PATTERNS).then(compile).flatten() {
            Some(compiled) => drop(self.patterns.insert(pattern.to_owned(), compiled)),
            None => self.pass_over("the pattern ", pattern),
        }
    }

    fn pass_over(&mut self, kind: &str, text: &str) {
        self.unchecked.insert(format!("{kind}`{}`", shorten(text)));
    }
}

fn is_in(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}
