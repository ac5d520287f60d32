//! Nothing allocates once the working memory is warm. A binary of its own, because its global allocator
//! counts.

#[expect(dead_code, reason = "other binaries also ask for the bytes that are held")]
#[path = "../../../../tests/support/allocations.rs"]
mod allocations;

use allocations::allocations;
use repertoire_meaning::{MAX_TEXT, Query, Scratch, Table, Vectors};

#[test]
fn a_message_allocates_nothing_once_one_as_long_was_met() {
    let (table, mut scratch) = (Table::bundled(), Scratch::default());
    let compact = ["deploy", "write a poem", "数据库"]
        .map(|skill| table.vector(skill, &mut scratch).compact());
    let bytes = Vectors::pack(&compact);
    let vectors = Vectors::new(&bytes, table.dimensions()).unwrap_or_else(|| unreachable!());
    let texts = [
        "数据".repeat(MAX_TEXT / 6),
        "Donaudampfschifffahrt ".repeat(500),
        "e\u{301}ﬁÜ①".repeat(1_000),
        "please deploy the release, and tell me when it is done".to_owned(),
    ];
    let mut estimates = Vec::new();
    let mut nearest = 0.0;
    let mut pass = || {
        for text in &texts {
            let query: Query = table.vector(text, &mut scratch).query();
            vectors.estimates(&query, &mut estimates);
            nearest += vectors.cosine(&query, 0);
        }
    };
    pass();
    let before = allocations();
    pass();
    assert_eq!(allocations() - before, 0);
    assert!(nearest.abs() > 0.0);
}
