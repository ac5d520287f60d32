//! Bounds the cost of checking a value against a schema, before the schema is compiled.
//!
//! Checking against a schema of a few kilobytes can take years: if each of 40 definitions refers twice
//! to the next one, each doubles the work. This module finds the most subschemas that apply to any one
//! value, however deeply it is nested in the arguments. A check takes at most that many steps for each
//! value.

use std::collections::BTreeMap;

use serde_json::Value;

use super::nodes::{self, Node};

/// The most subschemas that may apply to one value. Unions of hundreds of variants stay below this
/// limit.
const MAX_APPLIED: u64 = 10_000;
/// The most subschemas that may be nested and apply to the same value. A check needs stack space for
/// each.
const MAX_DEPTH: usize = 32;
/// The deepest nesting of arguments that is read.
const MAX_NESTING: usize = 128;
/// The cost of checking a value that is itself a schema, by a reference to the standard's meta-schema.
const META_SCHEMA: u64 = 50;
/// The most parts that are examined to bound the cost of one level of the arguments.
const MAX_WORK: usize = 200_000;

/// Refuses a schema if checking a value against it could take very long. The error is a phrase to
/// follow the schema's name.
pub(super) fn check(schema: &Value) -> Result<(), String> {
    let nodes = Nodes(nodes::read(schema)?);
    let order = nodes.order()?;
    let mut applied = nodes.applied(&order);
    for _ in 0..MAX_NESTING {
        let most = applied.first().copied().unwrap_or_default();
        if most > MAX_APPLIED {
            return Err(format!(
                "multiplies: over {MAX_APPLIED} subschemas apply to one value, by references or \
                 by nesting"
            ));
        }
        let next = nodes.below(&order, &applied)?;
        if next == applied {
            break;
        }
        applied = next;
    }
    Ok(())
}

/// The subschemas of a schema, the root first.
struct Nodes<'a>(Vec<Node<'a>>);

/// A number for each named key, and one for all other keys.
#[derive(Clone)]
struct Keyed<K> {
    named: BTreeMap<K, u64>,
    other: u64,
}

impl<K: Ord + Copy> Keyed<K> {
    fn add(&mut self, more: &Keyed<K>, factor: u64) {
        for key in more.named.keys() {
            self.named.entry(*key).or_insert(self.other);
        }
        for (key, sum) in &mut self.named {
            let one = more.named.get(key).unwrap_or(&more.other);
            *sum = sum.saturating_add(one.saturating_mul(factor));
        }
        self.other = self.other.saturating_add(more.other.saturating_mul(factor));
    }

    fn most(&self) -> u64 {
        self.named.values().copied().fold(self.other, u64::max)
    }
}

/// The numbers of subschemas that apply to each part of a value.
#[derive(Clone)]
struct Parts<'a> {
    properties: Keyed<&'a str>,
    items: Keyed<usize>,
    names: u64,
}

impl<'a> Nodes<'a> {
    /// Orders the nodes so that each comes after its subschemas that apply to the same value.
    fn order(&self) -> Result<Vec<usize>, String> {
        let mut marks = vec![Mark::New; self.0.len()];
        let mut order = Vec::with_capacity(self.0.len());
        for node in 0..self.0.len() {
            self.visit(node, 0, &mut marks, &mut order)?;
        }
        Ok(order)
    }

    fn visit(
        &self,
        node: usize,
        depth: usize,
        marks: &mut [Mark],
        order: &mut Vec<usize>,
    ) -> Result<usize, String> {
        match marks[node] {
            Mark::Done(height) => return Ok(height),
            Mark::Open => return Err("refers to itself for the same value, without end".to_owned()),
            Mark::New => {}
        }
        let too_deep = || Err(format!("nests more than {MAX_DEPTH} subschemas for one value"));
        if depth > MAX_DEPTH {
            return too_deep();
        }
        marks[node] = Mark::Open;
        let mut height = 0;
        for &below in &self.0[node].same {
            height = height.max(1 + self.visit(below, depth + 1, marks, order)?);
        }
        if height > MAX_DEPTH {
            return too_deep();
        }
        marks[node] = Mark::Done(height);
        order.push(node);
        Ok(height)
    }

    /// Returns, for each node, the number of subschemas that it applies to a value, itself included.
    fn applied(&self, order: &[usize]) -> Vec<u64> {
        let mut applied = vec![0_u64; self.0.len()];
        for &node in order {
            let Node { same, factor, is_meta, .. } = &self.0[node];
            let below = same.iter().fold(0_u64, |sum, below| sum.saturating_add(applied[*below]));
            let own = if *is_meta { META_SCHEMA } else { 1 };
            applied[node] = below.saturating_mul(*factor).saturating_add(own);
        }
        applied
    }

    /// Returns, for each node, the most subschemas that it applies to one part of a value. `applied`
    /// has, for each node, the number that it applies to a part for which it is the schema.
    fn below(&self, order: &[usize], applied: &[u64]) -> Result<Vec<u64>, String> {
        let mut n_looked = 0;
        let mut all: Vec<Option<Parts<'a>>> = vec![None; self.0.len()];
        let mut most = vec![0; self.0.len()];
        for &place in order {
            let node = &self.0[place];
            let mut parts = node.parts(applied);
            for below in &node.same {
                let Some(more) = &all[*below] else { continue };
                n_looked += parts.len() + more.len();
                if n_looked > MAX_WORK {
                    return Err("combines too many properties".to_owned());
                }
                parts.properties.add(&more.properties, node.factor);
                parts.items.add(&more.items, node.factor);
                parts.names = parts.names.saturating_add(more.names.saturating_mul(node.factor));
            }
            let meta = if node.is_meta { META_SCHEMA } else { 0 };
            most[place] =
                parts.properties.most().max(parts.items.most()).max(parts.names).max(meta);
            all[place] = Some(parts);
        }
        Ok(most)
    }
}

impl Parts<'_> {
    fn len(&self) -> usize {
        1 + self.properties.named.len() + self.items.named.len()
    }
}

impl<'a> Node<'a> {
    /// The numbers of subschemas that this node alone applies to each part of a value.
    fn parts(&self, applied: &[u64]) -> Parts<'a> {
        let sum = |places: &[usize]| {
            places.iter().fold(0_u64, |sum, place| sum.saturating_add(applied[*place]))
        };
        let most = |places: &[usize]| places.iter().map(|place| applied[*place]).max().unwrap_or(0);
        let (patterns, all) = (sum(&self.patterns), sum(&self.all_items));
        let property =
            |(name, place): &(&'a str, usize)| (*name, applied[*place].saturating_add(patterns));
        let item = |(idx, place): (usize, &usize)| (idx, applied[*place].saturating_add(all));
        Parts {
            properties: Keyed {
                named: self.properties.iter().map(property).collect(),
                other: patterns.max(most(&self.other_properties)),
            },
            items: Keyed {
                named: self.first_items.iter().enumerate().map(item).collect(),
                other: most(&self.other_items).saturating_add(all),
            },
            names: sum(&self.names),
        }
    }
}

#[derive(Clone, Copy)]
enum Mark {
    New,
    Open,
    Done(usize),
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    /// Makes `n` definitions, each of which combines the next one with itself by `twice`.
    fn nested(n: usize, twice: impl Fn(&Value) -> Value) -> Value {
        let mut definitions = Map::new();
        for i in 0..n {
            let next = json!({"$ref": format!("#/$defs/d{}", i + 1)});
            definitions.insert(format!("d{i}"), twice(&next));
        }
        definitions.insert(format!("d{n}"), json!({"type": "string"}));
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": definitions})
    }

    #[test]
    fn schemas_that_multiply_are_refused() {
        let both = |next: &Value| json!({"allOf": [next, next]});
        let either = |next: &Value| json!({"anyOf": [next, next]});
        let below = |next: &Value| json!({"allOf": [{"items": next}, {"items": next}]});
        let again = |next: &Value| json!({"allOf": [next], "unevaluatedProperties": false});
        let itself = json!({"allOf": [{"$ref": "#"}, {"type": "object"}]});
        let grows = json!({"allOf": [
            {"properties": {"a": {"$ref": "#"}}}, {"additionalProperties": {"$ref": "#"}},
            {"patternProperties": {"a": {"$ref": "#"}}},
        ]});
        let anchored =
            json!({"$defs": {"x": {"$anchor": "x", "not": {"$ref": "#x"}}}, "$ref": "#x"});
        let escaped = "#/$defs/a%20b%25/%zz%4";
        let escaped = json!({"$defs": {"a b%": {"%zz%4": {"$ref": escaped}}}, "$ref": escaped});
        let inner = json!({"properties": {"a": {"$id": "http://x/y", "$ref": "#/z"}}});
        for (schema, why) in [
            (nested(40, both), "nests more than 32"),
            (nested(15, both), "multiplies"),
            (nested(15, either), "multiplies"),
            (nested(40, below), "multiplies"),
            (nested(12, again), "multiplies"),
            (itself, "refers to itself"),
            (grows, "multiplies"),
            (anchored, "refers to itself"),
            (escaped, "refers to itself"),
            (inner, "has an `$id` inside"),
            (json!({"$ref": "file:///etc/passwd"}), "has the reference"),
            (json!({"anyOf": vec![json!({}); 20_001]}), "subschemas"),
        ] {
            let text: String = schema.to_string().chars().take(200).collect();
            let error = check(&schema).expect_err(&text);
            assert!(error.contains(why), "{error}: {text}");
        }
    }

    #[test]
    fn schemas_of_use_are_taken() {
        let tree = json!({"$defs": {"node": {"type": "object", "properties": {
            "left": {"$ref": "#/$defs/node"}, "right": {"$ref": "#/$defs/node"},
            "all": {"type": "array", "items": {"$ref": "#/$defs/node"}},
        }}}, "$ref": "#/$defs/node"});
        let filter = json!({"$id": "http://x/filter", "oneOf": [
            {"properties": {"and": {"items": {"$ref": "http://x/filter#"}}}, "required": ["and"]},
            {"properties": {"or": {"items": {"$ref": "#"}}}, "required": ["or"]},
            {"properties": {"not": {"$ref": "#"}}, "required": ["not"]},
        ]});
        let variants: Vec<Value> = (0..300)
            .map(|i| json!({"properties": {"kind": {"const": i}, "of": {"type": "string"}}}))
            .collect();
        for schema in [
            json!(true),
            json!({"type": "object"}),
            tree,
            filter,
            json!({"oneOf": variants}),
            nested(5, |next| json!({"allOf": [next, next]})),
            nested(100, |next| json!({"properties": {"a": next, "b": next}})),
            json!({"properties": {"a": {"$ref": "#"}}, "additionalProperties": {"$ref": "#"},
                "patternProperties": {"^x-": {}}, "items": {"$ref": "#"}}),
            json!({"$defs": {"a/b": {}}, "$ref": "#/$defs/a~1b", "$anchor": "top"}),
            json!({"properties": {"schema": {"$ref": "https://json-schema.org/draft/2020-12/schema"}}}),
        ] {
            let text: String = schema.to_string().chars().take(200).collect();
            assert_eq!(check(&schema), Ok(()), "{text}");
        }
    }
}
