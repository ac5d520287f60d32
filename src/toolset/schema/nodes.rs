//! The subschemas of a schema, and the references between them.

use std::borrow::Cow;
use std::collections::HashMap;

use percent_encoding::percent_decode_str;
use serde_json::Value;

/// The most subschemas of a schema.
const MAX_SUBSCHEMAS: usize = 20_000;
/// The factor for subschemas next to an `unevaluated…` keyword, which makes them run again to find the
/// parts that they cover.
const UNEVALUATED: u64 = 3;

/// The keywords whose subschemas apply to the value itself.
const SAME_VALUE: [&str; 9] =
    ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"];
/// The keywords whose subschemas have names.
const MAPS: [&str; 3] = ["dependentSchemas", "dependencies", "patternProperties"];
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// A subschema, with the indices of others by what they apply to.
#[derive(Default)]
pub(super) struct Node<'a> {
    /// Subschemas that apply to the same value.
    pub(super) same: Vec<usize>,
    /// The factor for the cost of `same`.
    pub(super) factor: u64,
    pub(super) properties: Vec<(&'a str, usize)>,
    pub(super) patterns: Vec<usize>,
    /// Subschemas for properties that have no subschema of their own.
    pub(super) other_properties: Vec<usize>,
    /// Subschemas for the names of properties.
    pub(super) names: Vec<usize>,
    pub(super) first_items: Vec<usize>,
    /// Subschemas for the items after `first_items`.
    pub(super) other_items: Vec<usize>,
    /// Subschemas for all items.
    pub(super) all_items: Vec<usize>,
    /// True for the standard's meta-schema.
    pub(super) is_meta: bool,
}

/// Returns the subschemas of `root`, which itself comes first. The error is a phrase to follow the
/// schema's name.
pub(super) fn read(root: &Value) -> Result<Vec<Node<'_>>, String> {
    let mut anchors = Anchors::new();
    read_anchors(root, &mut anchors);
    let (places, found) = (HashMap::new(), vec![root]);
    let mut reader = Reader { root, places, found, meta: None, anchors };
    let mut nodes = Vec::new();
    reader.places.insert(std::ptr::from_ref(root), 0);
    while let Some(schema) = reader.found.get(nodes.len()).copied() {
        if nodes.len() >= MAX_SUBSCHEMAS {
            return Err(format!("has more than {MAX_SUBSCHEMAS} subschemas"));
        }
        let is_meta = reader.meta == Some(nodes.len());
        nodes.push(if is_meta {
            Node { is_meta, ..Node::default() }
        } else {
            reader.node(schema)?
        });
    }
    Ok(nodes)
}

/// Reads nodes, each location in the schema once.
struct Reader<'a> {
    root: &'a Value,
    places: HashMap<*const Value, usize>,
    found: Vec<&'a Value>,
    meta: Option<usize>,
    anchors: Anchors<'a>,
}

impl<'a> Reader<'a> {
    fn place(&mut self, schema: &'a Value) -> usize {
        let next = self.found.len();
        let place = *self.places.entry(std::ptr::from_ref(schema)).or_insert(next);
        if place == next {
            self.found.push(schema);
        }
        place
    }

    fn node(&mut self, schema: &'a Value) -> Result<Node<'a>, String> {
        let Value::Object(map) = schema else { return Ok(Node::default()) };
        if !std::ptr::eq(schema, self.root) && map.get("$id").is_some_and(Value::is_string) {
            return Err("has an `$id` inside: write references as `#/…`".to_owned());
        }
        let unevaluated = map.keys().any(|key| key.starts_with("unevaluated"));
        let mut node =
            Node { factor: if unevaluated { UNEVALUATED } else { 1 }, ..Node::default() };
        for (key, value) in map {
            let to = match key.as_str() {
                key if REFERENCES.contains(&key) => {
                    node.same.extend(self.references(value)?);
                    continue;
                }
                "properties" => {
                    for (name, schema) in value.as_object().into_iter().flatten() {
                        node.properties.push((name, self.place(schema)));
                    }
                    continue;
                }
                key if SAME_VALUE.contains(&key) => &mut node.same,
                "patternProperties" => &mut node.patterns,
                "additionalProperties" | "unevaluatedProperties" => &mut node.other_properties,
                "propertyNames" => &mut node.names,
                "prefixItems" => &mut node.first_items,
                "items" if value.is_array() => &mut node.first_items,
                "items" | "additionalItems" | "unevaluatedItems" => &mut node.other_items,
                "contains" => &mut node.all_items,
                _ => continue,
            };
            to.extend(self.subschemas(value, MAPS.contains(&key.as_str())));
        }
        Ok(node)
    }

    /// The subschemas in the value of a keyword: one, a list, or a map by name.
    fn subschemas(&mut self, value: &'a Value, is_map: bool) -> Vec<usize> {
        match value {
            Value::Array(schemas) => schemas.iter().map(|schema| self.place(schema)).collect(),
            Value::Object(map) if is_map => map.values().map(|it| self.place(it)).collect(),
            schema => vec![self.place(schema)],
        }
    }

    /// The subschemas that a reference may refer to.
    fn references(&mut self, value: &'a Value) -> Result<Vec<usize>, String> {
        let Value::String(reference) = value else { return Ok(Vec::new()) };
        if reference.starts_with("http://json-schema.org/")
            || reference.starts_with("https://json-schema.org/")
        {
            return Ok(vec![self.meta(value)]);
        }
        let Some(fragment) = fragment(self.root, reference) else {
            return Err(format!("has the reference `{reference}`: write it as `#/…`"));
        };
        if fragment.is_empty() || fragment.starts_with('/') {
            // A reference that leads nowhere is reported when the schema is compiled.
            let target = self.root.pointer(&fragment);
            return Ok(target.map(|schema| self.place(schema)).into_iter().collect());
        }
        let targets = self.anchors.get(&*fragment).cloned().unwrap_or_default();
        Ok(targets.into_iter().map(|schema| self.place(schema)).collect())
    }

    /// The node of the standard's meta-schema. The first reference to it stands for its location.
    fn meta(&mut self, reference: &'a Value) -> usize {
        let known = self.meta.unwrap_or_else(|| self.place(reference));
        *self.meta.insert(known)
    }
}

/// Returns the decoded fragment of a reference; `None` if the reference leads out of the schema `root`.
pub(in crate::toolset) fn fragment<'r>(root: &Value, reference: &'r str) -> Option<Cow<'r, str>> {
    let id = root["$id"].as_str().unwrap_or_default();
    let fragment = reference.strip_prefix(id).unwrap_or(reference).strip_prefix('#')?;
    Some(percent_decode_str(fragment).decode_utf8_lossy())
}

/// The locations in a schema that have an anchor, by the anchor's name.
type Anchors<'a> = HashMap<&'a str, Vec<&'a Value>>;

fn read_anchors<'a>(value: &'a Value, anchors: &mut Anchors<'a>) {
    match value {
        Value::Object(map) => {
            let names = ["$anchor", "$dynamicAnchor"].into_iter().filter_map(|key| map.get(key));
            for name in names.filter_map(Value::as_str) {
                anchors.entry(name).or_default().push(value);
            }
            map.values().for_each(|value| read_anchors(value, anchors));
        }
        Value::Array(values) => {
            for value in values {
                read_anchors(value, anchors);
            }
        }
        _ => {}
    }
}
