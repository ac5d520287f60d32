//! Queries and matches, and the search for one literal without an index.

use std::borrow::Cow;
use std::ops::Range;

use repertoire_text::boundary::{closes, opens};
use repertoire_text::rows::Row;
use repertoire_text::{QueryText, fold_trigger};
use serde::{Deserialize, Serialize, Serializer, ser::SerializeStruct};

use crate::skill::SkillId;

/// A message of the user, and the files that it touches.
///
/// ```
/// use repertoire::Query;
///
/// let query = Query::new("tidy this up").path("src/main.rs");
/// assert_eq!(query.paths, ["src/main.rs"]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Query<'q> {
    /// The message, as it was typed.
    pub text: Cow<'q, str>,
    /// Files the message touches, `/`-separated and relative to the project.
    pub paths: Vec<Cow<'q, str>>,
}

impl<'q> Query<'q> {
    /// Makes a query of text alone, from a `&str`, a `String`, or a reference to either.
    pub fn new(text: impl Into<Query<'q>>) -> Query<'q> {
        text.into()
    }

    /// Adds one more file that the message touches.
    #[must_use]
    pub fn path(mut self, path: impl Into<Cow<'q, str>>) -> Query<'q> {
        self.paths.push(path.into());
        self
    }

    /// Tells whether there is nothing to answer: no text and no path.
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty() && self.paths.is_empty()
    }
}

impl<'q> From<Cow<'q, str>> for Query<'q> {
    fn from(text: Cow<'q, str>) -> Query<'q> {
        Query { text, ..Query::default() }
    }
}

impl<'q> From<&'q str> for Query<'q> {
    fn from(text: &'q str) -> Query<'q> {
        Query::from(Cow::Borrowed(text))
    }
}

impl<'q> From<&&'q str> for Query<'q> {
    fn from(text: &&'q str) -> Query<'q> {
        Query::from(*text)
    }
}

impl<'q> From<&'q String> for Query<'q> {
    fn from(text: &'q String) -> Query<'q> {
        Query::from(text.as_str())
    }
}

impl From<String> for Query<'_> {
    fn from(text: String) -> Self {
        Query::from(Cow::Owned(text))
    }
}

impl<'q> From<&'q Query<'_>> for Query<'q> {
    fn from(query: &'q Query<'_>) -> Query<'q> {
        Query {
            text: Cow::Borrowed(&query.text),
            paths: query.paths.iter().map(|path| Cow::Borrowed(&**path)).collect(),
        }
    }
}

/// The kind of a trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum HitKind {
    /// The skill's id or name.
    Name,
    /// A keyword.
    Keyword,
    /// A verb, or an inflection of it.
    Verb,
    /// A pattern.
    Pattern,
    /// A glob that matches a path of the query.
    Path,
}

impl Row for HitKind {
    const LEN: usize = 1;

    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(*self as u8);
    }

    fn read(bytes: &[u8]) -> Self {
        match bytes {
            [0] => HitKind::Name,
            [1] => HitKind::Keyword,
            [2] => HitKind::Verb,
            [3] => HitKind::Pattern,
            _ => HitKind::Path,
        }
    }
}

impl HitKind {
    /// The kind in lower case, as in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            HitKind::Name => "name",
            HitKind::Keyword => "keyword",
            HitKind::Verb => "verb",
            HitKind::Pattern => "pattern",
            HitKind::Path => "path",
        }
    }
}

/// A trigger found in a query, at its first occurrence.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hit {
    /// The kind of the trigger.
    pub kind: HitKind,
    /// The trigger as its author wrote it.
    pub trigger: String,
    /// The byte range in the query text; `0..0` for a path.
    pub span: Range<usize>,
    /// The path that the glob matches; `None` for other triggers.
    pub path: Option<String>,
}

impl Serialize for Hit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let n_fields = 4 + usize::from(self.path.is_some());
        let mut hit = serializer.serialize_struct("Hit", n_fields)?;
        hit.serialize_field("kind", &self.kind)?;
        hit.serialize_field("trigger", &self.trigger)?;
        hit.serialize_field("start", &self.span.start)?;
        hit.serialize_field("end", &self.span.end)?;
        if let Some(path) = &self.path {
            hit.serialize_field("path", path)?;
        }
        hit.end()
    }
}

/// A skill that matches, with its hits. Its rank is its position in the list that contains it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Match {
    /// The skill.
    pub id: SkillId,
    /// True if the message asks for the skill by its name: a strong mention.
    pub explicit: bool,
    /// The number of words of the longest literal found; 0 if only patterns or paths were found.
    pub phrase_words: usize,
    /// Every trigger found, in the order of the text; never empty.
    pub hits: Vec<Hit>,
}

/// Returns the byte range at which the keyword or exclude `trigger` first stands in `text` as a word of
/// its own, compared as an [`Index`](crate::matcher::Index) compares them; `None` if there is none or
/// `trigger` is empty.
///
/// ```
/// use repertoire::matcher::find_literal;
///
/// assert_eq!(find_literal("open a Pull  Request", "pull request"), Some(7..20));
/// assert_eq!(find_literal("see github", "git"), None);
/// ```
pub fn find_literal(text: &str, trigger: &str) -> Option<Range<usize>> {
    each_literal(text, trigger, 1).pop()
}

/// Returns all byte ranges at which `trigger` stands in `text`, as [`find_literal`] finds the first.
pub(crate) fn find_literals(text: &str, trigger: &str) -> Vec<Range<usize>> {
    each_literal(text, trigger, usize::MAX)
}

fn each_literal(text: &str, trigger: &str, limit: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let literal = fold_trigger(trigger);
    let Some(first) = literal.chars().next() else { return found };
    let mut query = QueryText::default();
    query.set(text);
    let folded = query.folded();
    let mut from = 0;
    while found.len() < limit
        && let Some(start) = folded[from..].find(&literal).map(|at| from + at)
    {
        let end = start + literal.len();
        let is_word = opens(folded, start, end) && closes(folded, end);
        if is_word {
            found.push(query.span_of_folded(start..end));
        }
        from = if is_word { end } else { start + first.len_utf8() };
    }
    found
}
