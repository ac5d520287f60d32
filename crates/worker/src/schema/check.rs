//! Checks a value against a schema.

use std::collections::HashSet;
use std::{mem, slice};

use serde_json::{Map, Number, Value};

use super::keywords::Schema;
use super::target;
use super::values::{canonical, compare, is_multiple, is_type, list, shorten, shown, size};

/// The most problems that are looked for, and the most failed alternatives that a message explains.
const MAX_PROBLEMS: usize = 5;
/// The most steps of a check: subschemas, keywords, values and pieces of texts that are visited.
const MAX_STEPS: usize = 1_000_000;
/// The most subschemas that are nested in a check. Each needs stack space.
const MAX_DEPTH: usize = 256;

/// The state of a check.
struct Check<'s> {
    schema: &'s Schema,
    /// The names and indices that lead to the value.
    place: Vec<String>,
    problems: Vec<String>,
    n_steps: usize,
    depth: usize,
}

impl Schema {
    /// Checks a value. The error lists the problems in one line, each with its place.
    pub(super) fn check(&self, value: &Value) -> Result<(), String> {
        let (place, problems) = (Vec::new(), Vec::new());
        let mut check = Check { schema: self, place, problems, n_steps: 0, depth: 0 };
        check.apply(&self.root, value);
        if check.n_steps > MAX_STEPS {
            Err("the arguments: a check takes too long; send less, or simplify the schema".into())
        } else if check.problems.is_empty() {
            Ok(())
        } else {
            Err(check.problems.join("; "))
        }
    }
}

impl<'s> Check<'s> {
    /// Adds a problem, unless there are enough.
    fn add(&mut self, problem: &str) {
        let key = |key: &String| shorten(key).replace('~', "~0").replace('/', "~1");
        let place = match &*self.place {
            [] => "the arguments".to_owned(),
            keys => format!("`/{}`", keys.iter().map(key).collect::<Vec<_>>().join("/")),
        };
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(format!("{place}: {problem}"));
        }
    }

    /// Tells whether enough problems were found, or too many steps were made.
    fn is_over(&self) -> bool {
        self.problems.len() >= MAX_PROBLEMS || self.n_steps > MAX_STEPS
    }

    /// Checks a value against a subschema, unless the check is over.
    fn apply(&mut self, schema: &'s Value, value: &Value) {
        if self.is_over() {
            return;
        }
        let Value::Object(keywords) = schema else {
            if *schema == false {
                self.add("no value is allowed");
            }
            self.n_steps += 1;
            return;
        };
        self.n_steps += if self.depth < MAX_DEPTH { 1 + keywords.len() } else { MAX_STEPS };
        self.depth += 1;
        self.identity(schema, value);
        match value {
            Value::Number(number) => self.number(schema, number),
            Value::String(text) => self.text(schema, text),
            Value::Array(items) => self.array(schema, items),
            Value::Object(map) => self.object(schema, map),
            Value::Null | Value::Bool(_) => {}
        }
        self.combinations(schema, value);
        self.depth -= 1;
    }

    fn identity(&mut self, schema: &Value, value: &Value) {
        if let Some(types) = schema.get("type") {
            let types = types.as_array().map_or(slice::from_ref(types), Vec::as_slice);
            if !types.iter().any(|name| is_type(name, value)) {
                let types = list(types.iter().filter_map(Value::as_str), " or ");
                self.add(&format!("must be of type {types}, is {}", shown(value)));
            }
        }
        let (constant, choices) = (schema.get("const"), schema["enum"].as_array());
        for choices in constant.map(slice::from_ref).into_iter().chain(choices.map(Vec::as_slice)) {
            self.n_steps += size(value) + choices.iter().map(size).sum::<usize>();
            if !choices.contains(&canonical(value)) {
                let choices = list(choices.iter().map(shown), " or ");
                self.add(&format!("must be {choices}, is {}", shown(value)));
            }
        }
    }

    fn number(&mut self, schema: &Value, number: &Number) {
        let keywords = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
        self.limits(schema, &keywords, number, "");
        if let Value::Number(divisor) = &schema["multipleOf"]
            && !is_multiple(number, divisor)
        {
            self.add(&format!("must be a multiple of {divisor}, is {number}"));
        }
    }

    fn text(&mut self, schema: &Value, text: &str) {
        self.n_steps += text.len() / 64;
        let n_chars = text.chars().count().into();
        self.limits(schema, &["minLength", "maxLength"], &n_chars, " characters");
        if let Value::String(pattern) = &schema["pattern"]
            && self.matches(pattern, text) == Some(false)
        {
            let (pattern, text) = (shorten(pattern), shown(&text.into()));
            self.add(&format!("must match the pattern `{pattern}`, is {text}"));
        }
    }

    fn array(&mut self, schema: &'s Value, items: &[Value]) {
        self.limits(schema, &["minItems", "maxItems"], &items.len().into(), " items");
        if schema["uniqueItems"] == true {
            self.n_steps += items.iter().map(size).sum::<usize>();
            let mut seen = HashSet::new();
            if let Some(item) = items.iter().find(|item| !seen.insert(canonical(item))) {
                self.add(&format!("must not have an item twice, has {} twice", shown(item)));
            }
        }
        let (first, others) = match &schema["items"] {
            first @ Value::Array(_) => (first, &schema["additionalItems"]),
            others => (&schema["prefixItems"], others),
        };
        for (idx, item) in items.iter().enumerate() {
            self.below(&idx.to_string(), first.get(idx).unwrap_or(others), item);
        }
    }

    fn object(&mut self, schema: &'s Value, map: &Map<String, Value>) {
        let keywords = ["minProperties", "maxProperties"];
        self.limits(schema, &keywords, &map.len().into(), " properties");
        let required = schema["required"].as_array().into_iter().flatten();
        for name in required.filter_map(Value::as_str) {
            self.n_steps += 1;
            if !map.contains_key(name) {
                self.add(&format!("`{name}` is missing"));
            }
        }
        let (properties, others) = (&schema["properties"], &schema["additionalProperties"]);
        for (name, value) in map {
            if self.is_over() {
                return;
            }
            self.below(name, &properties[name], value);
            self.below(name, &schema["propertyNames"], &name.as_str().into());
            let mut is_named = properties.get(name).is_some();
            for (pattern, schema) in schema["patternProperties"].as_object().into_iter().flatten() {
                let matches = self.matches(pattern, name);
                is_named |= matches != Some(false);
                if matches == Some(true) {
                    self.below(name, schema, value);
                }
            }
            if !is_named && *others == false {
                let names = list(properties.as_object().into_iter().flat_map(Map::keys), ", ");
                self.add(&format!("`{}` is not one of the properties ({names})", shorten(name)));
            } else if !is_named {
                self.below(name, others, value);
            }
        }
    }

    /// Checks the keywords that apply subschemas to the value itself.
    fn combinations(&mut self, schema: &'s Value, value: &Value) {
        if let Value::String(reference) = &schema["$ref"] {
            self.n_steps += reference.len();
            if let Some(schema) = target(&self.schema.root, reference) {
                self.apply(schema, value);
            }
        }
        for schema in schema["allOf"].as_array().into_iter().flatten() {
            self.apply(schema, value);
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Value::Array(schemas) = &schema[keyword] {
                self.alternatives(schemas, keyword, value);
            }
        }
        // A value that seems to fit may not, if a part of the schema is not checked.
        if let Some(schema) = schema.get("not").filter(|_| self.schema.unchecked.is_empty())
            && self.attempt(schema, value).is_empty()
        {
            self.add("must not fit the schema of `not`");
        }
    }

    fn alternatives(&mut self, schemas: &'s [Value], keyword: &str, value: &Value) {
        let (mut n_fit, mut failed) = (0, Vec::new());
        for schema in schemas {
            let problems = self.attempt(schema, value);
            n_fit += usize::from(problems.is_empty());
            if n_fit > 0 && (keyword == "anyOf" || !self.schema.unchecked.is_empty()) {
                return;
            }
            // The value is probably meant for an alternative with few problems.
            failed.extend(Some(problems).filter(|problems| !problems.is_empty()));
            failed.sort_by_key(Vec::len);
            failed.truncate(MAX_PROBLEMS);
        }
        if n_fit == 0 {
            let first: Vec<&str> = failed.iter().map(|problems| &*problems[0]).collect();
            let n = schemas.len();
            self.add(&format!("must fit one of {n} alternatives ({})", first.join(", or ")));
        } else if n_fit > 1 {
            self.add(&format!("must fit only one alternative of `oneOf`, fits {n_fit}"));
        }
    }

    /// Checks a value without adding the problems, and returns them.
    fn attempt(&mut self, schema: &'s Value, value: &Value) -> Vec<String> {
        let outer = mem::take(&mut self.problems);
        self.apply(schema, value);
        mem::replace(&mut self.problems, outer)
    }

    /// Checks a property or an item, if there is a schema for it.
    fn below(&mut self, key: &str, schema: &'s Value, value: &Value) {
        if !schema.is_null() {
            self.n_steps += key.len() / 64;
            self.place.push(key.to_owned());
            self.apply(schema, value);
            self.place.pop();
        }
    }

    /// Tells whether a text matches a pattern; `None` if the pattern is passed over.
    fn matches(&mut self, pattern: &str, text: &str) -> Option<bool> {
        self.n_steps += 1 + text.len() / 64;
        let compiled = self.schema.patterns.get(pattern).filter(|_| !self.is_over());
        compiled.map(|compiled| compiled.is_match(text))
    }

    /// Checks a number, or a count of `things`, against the limits in `keywords`: inclusive ones, from
    /// below and from above, and then exclusive ones.
    fn limits(&mut self, schema: &Value, keywords: &[&str], number: &Number, things: &str) {
        for (idx, keyword) in keywords.iter().enumerate() {
            let Value::Number(limit) = &schema[*keyword] else { continue };
            let order = compare(number, limit);
            let (fits, words) = match idx {
                0 => (order.is_ge(), "at least"),
                1 => (order.is_le(), "at most"),
                2 => (order.is_gt(), "more than"),
                _ => (order.is_lt(), "less than"),
            };
            if !fits {
                let (must, is) = if things.is_empty() { ("be", "is") } else { ("have", "has") };
                self.add(&format!("must {must} {words} {limit}{things}, {is} {number}"));
            }
        }
    }
}
