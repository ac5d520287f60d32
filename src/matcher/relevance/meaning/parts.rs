//! The parts of a skill that have a vector each.

use repertoire_meaning::{Compact, Scratch, Table};

use crate::matcher::relevance::fields::{Field, FieldTexts};
use crate::matcher::relevance::retriever::headings;
use crate::matcher::text::boundary::char_boundary;

/// The maximum number of vectors of a skill: one for what it says of itself, and those of its body.
pub(in crate::matcher::relevance) const MAX_PARTS: usize = 4;

/// The maximum number of bytes that are read of each part: the first sentences say what it is about, and more
/// would take a catalog of 1,000 skills longer than a tenth of a second.
const MAX_PART: usize = 600;

/// Returns the vectors of a skill, that of its name and description first.
pub(in crate::matcher::relevance) fn vectors(
    table: &Table,
    texts: &FieldTexts<'_>,
    scratch: &mut Scratch,
) -> Vec<Compact> {
    let body = texts.get(Field::Body);
    let mut parts = vec![head(texts), headings(body).collect::<Vec<&str>>().join(". ")];
    parts.extend(paragraphs(body).take(MAX_PARTS - parts.len()));
    let read = parts.iter().enumerate().filter(|(place, part)| *place == 0 || !part.is_empty());
    read.map(|(_, part)| table.vector(start(part), scratch).compact()).collect()
}

/// What a skill says of itself.
fn head(texts: &FieldTexts<'_>) -> String {
    let name = texts.get(Field::Name).replace(['-', '_'], " ");
    let fields = [Field::Description, Field::WhenToUse, Field::Examples];
    fields.iter().fold(name, |head, field| format!("{head}. {}", texts.get(*field)))
}

/// The paragraphs of a body that are prose of some length.
fn paragraphs(body: &str) -> impl Iterator<Item = String> {
    let is_prose = |part: &&str| part.len() > 60 && !part.starts_with(['#', '`', '|', '<']);
    body.split("\n\n").map(str::trim).filter(is_prose).map(str::to_owned)
}

fn start(text: &str) -> &str {
    &text[..char_boundary(text, MAX_PART.min(text.len()))]
}
