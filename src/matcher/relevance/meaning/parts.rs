//! The parts of a skill that have a vector each.

use repertoire_meaning::{Compact, Scratch, Table};

use crate::matcher::relevance::fields::{Field, FieldTexts};
use crate::matcher::text::boundary::char_boundary;

/// The maximum number of bytes that are read of each part. The start says what it is about; more finds no more
/// skills, and a catalog of 1,000 skills would take longer than a tenth of a second.
const MAX_PART: usize = 1_000;

/// Returns the vectors of a skill: that of what it says of itself, and that of the start of its body, if it has
/// one.
pub(in crate::matcher::relevance) fn vectors(
    table: &Table,
    texts: &FieldTexts<'_>,
    scratch: &mut Scratch,
) -> Vec<Compact> {
    let mut vector = |text: &str| {
        let start = char_boundary(text, MAX_PART.min(text.len()));
        table.vector(&text[..start], scratch).compact()
    };
    let head = vector(&head(texts));
    let body = texts.get(Field::Body).trim();
    let body = (!body.is_empty()).then(|| vector(body));
    [head].into_iter().chain(body).collect()
}

/// What a skill says of itself.
fn head(texts: &FieldTexts<'_>) -> String {
    let name = texts.get(Field::Name).replace(['-', '_'], " ");
    let fields = [Field::Description, Field::WhenToUse, Field::Examples];
    fields.iter().fold(name, |head, field| format!("{head}. {}", texts.get(*field)))
}
