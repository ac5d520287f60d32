//! Parses YAML into a tree whose values carry their byte ranges in the file.
//!
//! Scalars stay text: `version: 1.0` is `1.0` and `name: NO` is `NO`. A field of another type converts
//! the text. Every limit is checked before memory is spent on a value.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle, ScanError, Span};
use granit_parser::{StrInput, StructureStyle};

use super::MAX_FRONT_MATTER_BYTES;

const MAX_DEPTH: usize = 32;
const MAX_NODES: usize = 10_000;
const MAX_ALIASES: usize = 64;
const MAX_ANCHORS: usize = 64;

/// A value and the bytes of the file it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    pub value: Value,
    pub span: Range<usize>,
}

/// The value of a [`Node`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Text; `plain` if it has no quotes, and may therefore stand for a number or a truth value.
    Scalar { text: String, plain: bool },
    /// A list.
    Sequence(Vec<Node>),
    /// Keys and values, in the order of the file, no key twice.
    Mapping(Vec<(Node, Node)>),
}

impl Node {
    /// Returns the text of a scalar; `None` for null, lists and maps.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, .. } if !self.is_null() => Some(text),
            _ => None,
        }
    }

    /// Tells whether the value is null: empty, `~` or `null`, without quotes.
    pub(crate) fn is_null(&self) -> bool {
        match &self.value {
            Value::Scalar { text, plain } => {
                *plain && matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL")
            }
            _ => false,
        }
    }

    /// Tells whether the text of this value is written in `file` without quotes, `|` or `>`.
    pub(super) fn is_plain_in_source(&self, file: &str) -> bool {
        let is_marked = file[self.span.start..].starts_with(['"', '\'', '|', '>']);
        let line_start = file[..self.span.start].rfind('\n').map_or(0, |at| at + 1);
        let is_below_its_key = file[line_start..self.span.start].trim().is_empty();
        let is_plain = matches!(self.value, Value::Scalar { plain: true, .. });
        // The span of a block scalar may start below its `|` or `>`, which is then not part of it.
        !is_marked && (is_plain || !is_below_its_key)
    }

    /// The kind of the value, with its article, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            Value::Scalar { .. } => "text",
            Value::Sequence(_) => "a list",
            Value::Mapping(_) => "a map",
        }
    }

    /// Returns the bytes of `file` for `range` of the scalar's text. They are exact if the file contains
    /// the text, or this part of it, verbatim; otherwise they are those of the whole scalar.
    pub(crate) fn place(&self, file: &str, range: Range<usize>) -> Range<usize> {
        let Value::Scalar { text, .. } = &self.value else { return self.span.clone() };
        let source = file.get(self.span.clone()).unwrap_or_default();
        let quote = source.len().wrapping_sub(text.len()) / 2;
        match source.get(quote..source.len() - quote.min(source.len())) {
            Some(inner) if quote <= 1 && inner == text => {
                let start = self.span.start + quote;
                start + range.start..start + range.end
            }
            _ => place_of_part(source, text, &range).map_or_else(
                || self.span.clone(),
                |start| self.span.start + start..self.span.start + start + range.len(),
            ),
        }
    }
}

/// Returns the start of the part `range` of `text` in `source`, which is the same text with indentation,
/// escapes or the like. Returns `None` unless the part occurs equally often in both.
fn place_of_part(source: &str, text: &str, range: &Range<usize>) -> Option<usize> {
    /// The search for each part takes time that grows with the text, so long texts are not searched.
    const MAX_BYTES: usize = 16 * 1024;
    let part = text.get(range.clone()).filter(|part| !part.is_empty())?;
    if source.len() > MAX_BYTES {
        return None;
    }
    let nth = text.match_indices(part).position(|(start, _)| start == range.start)?;
    let places: Vec<usize> = source.match_indices(part).map(|(start, _)| start).collect();
    (places.len() == text.matches(part).count()).then(|| places[nth])
}

/// A parsed document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    /// `None` if the text holds no value.
    pub root: Option<Node>,
    /// The keys that repeat an earlier key of the same map.
    pub duplicates: Vec<Duplicate>,
    /// True if a value has a tag that YAML itself does not define.
    pub has_own_tag: bool,
}

/// A key that repeats an earlier key of the same map, whatever the map's form; its value replaces the earlier one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    /// The bytes of the later key in the file.
    pub span: Range<usize>,
    /// The earlier key with its value.
    pub replaced: (Node, Node),
}

/// The reason why a text was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct YamlError {
    pub(crate) kind: YamlErrorKind,
    pub message: String,
    /// The byte of the parsed text, not of the file.
    pub at: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum YamlErrorKind {
    Invalid,
    TooComplex,
}

/// Parses `text`; `place` maps its bytes to those of the file.
pub fn parse(text: &str, place: &dyn Fn(usize) -> usize) -> Result<Tree, YamlError> {
    let mut options = Options::default();
    options.set_emit_comments(false);
    let mut builder = Builder {
        parser: Parser::new_from_str_with_options(text, options),
        place,
        text_len: text.len(),
        duplicates: Vec::new(),
        has_own_tag: false,
        anchors: HashMap::new(),
        n_nodes: 0,
        n_bytes: 0,
        n_aliases: 0,
        depth: 0,
    };
    let root = builder.document()?;
    Ok(Tree { root, duplicates: builder.duplicates, has_own_tag: builder.has_own_tag })
}

struct Builder<'a> {
    parser: Parser<'a, StrInput<'a>>,
    place: &'a dyn Fn(usize) -> usize,
    text_len: usize,
    duplicates: Vec<Duplicate>,
    has_own_tag: bool,
    /// The values that have an anchor.
    anchors: HashMap<usize, Node>,
    n_nodes: usize,
    n_bytes: usize,
    n_aliases: usize,
    depth: usize,
}

impl<'a> Builder<'a> {
    fn document(&mut self) -> Result<Option<Node>, YamlError> {
        let mut root = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamEnd => return Ok(root),
                Event::StreamStart | Event::DocumentEnd => {}
                Event::DocumentStart(..) if root.is_some() => {
                    return Err(invalid("more than one YAML document", start_of(&span)));
                }
                Event::DocumentStart(..) => {
                    let (event, span) = self.next()?;
                    root = Some(self.node(event, &span)?);
                }
                _ => return Err(invalid("a value outside of the document", start_of(&span))),
            }
        }
    }

    fn next(&mut self) -> Result<(Event<'a>, Span), YamlError> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(syntax(&error)),
            None => Err(invalid("the document ends in the middle of a value", self.text_len)),
        }
    }

    fn node(&mut self, event: Event<'a>, span: &Span) -> Result<Node, YamlError> {
        let at = start_of(span);
        self.spend(1, 0, at)?;
        self.has_own_tag |= has_own_tag(&event);
        let (node, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.spend(0, text.len(), at)?;
                let is_text = tag.is_some_and(|tag| tag.core_suffix() == Some("str"));
                let plain = style == ScalarStyle::Plain && !is_text;
                let value = Value::Scalar { text: text.into_owned(), plain };
                (Node { value, span: self.span(span, span) }, anchor)
            }
            Event::SequenceStart(style, anchor, _) => {
                (self.nested(at, |builder| builder.sequence(style, span))?, anchor)
            }
            Event::MappingStart(style, anchor, _) => {
                (self.nested(at, |builder| builder.mapping(style, span))?, anchor)
            }
            Event::Alias(id) => return self.alias(id, span),
            _ => return Err(invalid("a value is missing", at)),
        };
        if anchor != 0 {
            if self.anchors.len() == MAX_ANCHORS {
                return Err(too_complex(format!("more than {MAX_ANCHORS} anchors"), at));
            }
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn nested(
        &mut self,
        at: usize,
        read: impl FnOnce(&mut Self) -> Result<Node, YamlError>,
    ) -> Result<Node, YamlError> {
        if self.depth == MAX_DEPTH {
            return Err(too_complex(format!("nested deeper than {MAX_DEPTH} levels"), at));
        }
        self.depth += 1;
        let node = read(self);
        self.depth -= 1;
        node
    }

    fn sequence(&mut self, style: StructureStyle, start: &Span) -> Result<Node, YamlError> {
        let mut entries = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if event == Event::SequenceEnd {
                let last = entries.last().map(|entry: &Node| entry.span.end);
                let span = self.collection_span(style, start, &span, last);
                return Ok(Node { value: Value::Sequence(entries), span });
            }
            entries.push(self.node(event, &span)?);
        }
    }

    fn mapping(&mut self, style: StructureStyle, start: &Span) -> Result<Node, YamlError> {
        let mut entries: Vec<(Node, Node)> = Vec::new();
        let mut keys = HashSet::new();
        loop {
            let (event, span) = self.next()?;
            if event == Event::MappingEnd {
                let last = entries.last().map(|(_, value)| value.span.end);
                let span = self.collection_span(style, start, &span, last);
                return Ok(Node { value: Value::Mapping(entries), span });
            }
            let key = self.node(event, &span)?;
            let (event, span) = self.next()?;
            let value = self.node(event, &span)?;
            if let Value::Scalar { text, .. } = &key.value
                && !keys.insert(text.clone())
            {
                let is_same = |(earlier, _): &(Node, Node)| matches!(&earlier.value, Value::Scalar { text: t, .. } if t == text);
                if let Some(at) = entries.iter().position(is_same) {
                    let replaced = entries.remove(at);
                    self.duplicates.push(Duplicate { span: key.span.clone(), replaced });
                }
            }
            entries.push((key, value));
        }
    }

    fn alias(&mut self, id: usize, span: &Span) -> Result<Node, YamlError> {
        let at = start_of(span);
        self.n_aliases += 1;
        if self.n_aliases > MAX_ALIASES {
            return Err(too_complex(format!("more than {MAX_ALIASES} aliases"), at));
        }
        let Some(node) = self.anchors.get(&id) else {
            return Err(invalid("an alias stands inside the value it refers to", at));
        };
        let (n_nodes, n_bytes, depth) = measure(node);
        if self.depth + depth > MAX_DEPTH {
            let message = format!("nested deeper than {MAX_DEPTH} levels with aliases expanded");
            return Err(too_complex(message, at));
        }
        self.spend(n_nodes, n_bytes, at)?;
        Ok(Node { value: self.anchors[&id].value.clone(), span: self.span(span, span) })
    }

    /// Counts nodes and bytes of text against the budget.
    fn spend(&mut self, n_nodes: usize, n_bytes: usize, at: usize) -> Result<(), YamlError> {
        self.n_nodes += n_nodes;
        self.n_bytes += n_bytes;
        if self.n_nodes > MAX_NODES {
            return Err(too_complex(format!("more than {MAX_NODES} values"), at));
        }
        if self.n_bytes > MAX_FRONT_MATTER_BYTES {
            return Err(too_complex("more than 256 KiB of text with aliases expanded", at));
        }
        Ok(())
    }

    fn span(&self, start: &Span, end: &Span) -> Range<usize> {
        let end = end.byte_range().map_or(self.text_len, |range| range.end);
        let (start, end) = ((self.place)(start_of(start)), (self.place)(end));
        start..end.max(start)
    }

    /// Returns the bytes of a collection. A block collection ends with its last value, but the parser
    /// reports the end only later.
    fn collection_span(
        &self,
        style: StructureStyle,
        start: &Span,
        end: &Span,
        last: Option<usize>,
    ) -> Range<usize> {
        let whole = self.span(start, end);
        match last {
            Some(last) if style == StructureStyle::Block => whole.start..last.max(whole.start),
            _ => whole,
        }
    }
}

/// Returns the number of nodes, the bytes of text and the depth of `node`, which is at most `MAX_DEPTH`
/// deep.
fn measure(node: &Node) -> (usize, usize, usize) {
    let add = |(nodes, bytes, depth): (usize, usize, usize), child: &Node| {
        let (child_nodes, child_bytes, child_depth) = measure(child);
        (nodes + child_nodes, bytes + child_bytes, depth.max(child_depth + 1))
    };
    match &node.value {
        Value::Scalar { text, .. } => (1, text.len(), 0),
        Value::Sequence(entries) => entries.iter().fold((1, 0, 1), add),
        Value::Mapping(entries) => {
            entries.iter().flat_map(|(key, value)| [key, value]).fold((1, 0, 1), add)
        }
    }
}

fn start_of(span: &Span) -> usize {
    span.start.byte_offset().unwrap_or(0)
}

fn invalid(message: impl Into<String>, at: usize) -> YamlError {
    YamlError { kind: YamlErrorKind::Invalid, message: message.into(), at }
}

fn too_complex(message: impl Into<String>, at: usize) -> YamlError {
    YamlError { kind: YamlErrorKind::TooComplex, message: message.into(), at }
}

fn syntax(error: &ScanError) -> YamlError {
    let at = error.marker().byte_offset().unwrap_or(0);
    match error.kind() {
        ErrorKind::RecursionLimitExceeded => {
            too_complex(format!("nested deeper than {MAX_DEPTH} levels"), at)
        }
        kind => invalid(kind.to_string(), at),
    }
}

/// Tells whether a value has a tag that YAML itself does not define.
fn has_own_tag(event: &Event<'_>) -> bool {
    match event {
        Event::Scalar(_, _, _, tag)
        | Event::SequenceStart(_, _, tag)
        | Event::MappingStart(_, _, tag) => tag.as_ref().is_some_and(|tag| tag.is_custom()),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
