//! The texts of a skill that its vector is made of.

use repertoire_meaning::{Compact, Model, Scratch, Vector};
use repertoire_text::boundary::char_boundary;

use crate::matcher::relevance::fields::{Field, FieldTexts};

/// The maximum number of bytes that are read of what a skill says of itself, and of its body. The start says what
/// it is about; more finds no more skills, and a catalog of 1,000 would take longer than a tenth of a second.
const MAX_PART: usize = 1_000;

/// Returns the vector of a skill: midway between what it says of itself and the start of its body.
pub(in crate::matcher::relevance) fn vector(
    model: &Model,
    texts: &FieldTexts<'_>,
    scratch: &mut Scratch,
) -> Compact {
    let [head, body] = vectors(model, texts, scratch);
    head.midway(&body).compact()
}

/// Returns the vector of what a skill says of itself, and that of the start of its body.
pub(in crate::matcher::relevance) fn vectors(
    model: &Model,
    texts: &FieldTexts<'_>,
    scratch: &mut Scratch,
) -> [Vector; 2] {
    let parts = [&*head(texts), texts.get(Field::Body).trim_start()];
    parts.map(|part| model.document_vector(start(part), scratch))
}

/// The text of what a skill says of itself.
fn head(texts: &FieldTexts<'_>) -> String {
    let name = texts.get(Field::Name).replace(['-', '_'], " ");
    let fields = [Field::Description, Field::WhenToUse, Field::Examples];
    fields.iter().fold(name, |head, field| format!("{head}. {}", texts.get(*field)))
}

fn start(text: &str) -> &str {
    &text[..char_boundary(text, MAX_PART.min(text.len()))]
}
