//! The table against a plain reading of it in Python: `train/reference.py` wrote what it makes of
//! 2,000 texts of ten languages.

use std::fs;

use crate::pieces::{PieceScratch, UNKNOWN, pieces};
use crate::{Scratch, Table};

fn checksum(rows: &[u32]) -> u64 {
    rows.iter().fold(0xCBF2_9CE4_8422_2325, |hash, row| {
        (hash ^ u64::from(*row)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => out.push(match chars.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                other => other.unwrap_or('\\'),
            }),
            (c, false) => out.push(c),
        }
    }
    out
}

#[test]
fn pieces_and_vectors_are_those_of_the_plain_reference() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/meaning/reference.tsv");
    let lines = fs::read_to_string(path).unwrap();
    let (table, mut scratch) = (Table::bundled(), Scratch::default());
    let step = table.dimensions() / 8;
    let mut n = 0;
    for line in lines.lines() {
        let [text, sum, len, few] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let text = unescape(text);
        let mut rows = Vec::new();
        let start = &text
            [..(0..=4096.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap()];
        pieces(table.vocabulary(), start, &mut PieceScratch::default(), |piece| {
            if piece.row != UNKNOWN {
                rows.push(piece.row);
            }
        });
        assert_eq!(rows.len().to_string(), len, "{text:?}");
        assert_eq!(format!("{:016x}", checksum(&rows)), sum, "{text:?}");
        let vector = table.vector(&text, &mut scratch);
        for (value, expected) in vector.values().iter().step_by(step).zip(few.split(' ')) {
            let expected: f32 = expected.parse().unwrap();
            assert!((value - expected).abs() < 2e-6, "{text:?}: {value} {expected}");
        }
        n += 1;
    }
    assert_eq!(n, 2000);
}
