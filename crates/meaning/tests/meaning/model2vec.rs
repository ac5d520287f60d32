//! Directories as model2vec writes them. Rows are unit vectors, so a vector tells its pieces.

use std::fs;

use repertoire_meaning::{ErrorKind, Scratch, Table};
use serde_json::{Value, json};

use crate::directory::{Directory, safetensors};

/// Rows of which each has its own dimension.
fn unit_rows(n: usize) -> Vec<u8> {
    (0..n * n).flat_map(|at| f32::from(u8::from(at / n == at % n)).to_le_bytes()).collect()
}

/// The rows of a text's pieces, as a set.
fn rows(model: &Directory, text: &str) -> Vec<usize> {
    let table = Table::from_model2vec(model.path()).unwrap();
    table.verify().unwrap();
    let vector = table.vector(text, &mut Scratch::default());
    (0..vector.values().len()).filter(|at| vector.values()[*at] > 0.01).collect()
}

fn refusal(model: &Directory) -> (ErrorKind, String) {
    let error = Table::from_model2vec(model.path()).unwrap_err();
    let name = error.path().unwrap().file_name().unwrap().to_string_lossy().into_owned();
    (error.kind(), name)
}

fn word_piece() -> Value {
    let pieces =
        ["[UNK]", "[CLS]", "deploy", "##ment", "the", ",", "数", "据", "uber", "server", "##s"];
    let vocabulary: serde_json::Map<String, Value> =
        pieces.iter().enumerate().map(|(id, piece)| ((*piece).to_owned(), json!(id))).collect();
    json!({
        "added_tokens": [{"id": 1, "content": "[CLS]", "special": true}],
        "normalizer": {"type": "BertNormalizer", "lowercase": true, "strip_accents": null},
        "model": {"type": "WordPiece", "vocab": vocabulary, "continuing_subword_prefix": "##"},
    })
}

fn unigram() -> Value {
    json!({
        "added_tokens": [{"id": 0, "content": "<s>", "special": true}],
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFKC"}]},
        "model": {"type": "Unigram", "unk_id": 1, "vocab": [
            ["<s>", 0.0], ["<unk>", 0.0], ["▁deploy", -5.0], ["ment", -6.0], ["▁de", -3.0], ["ploy", -3.0],
            ["▁deployment", -9.0], ["数据", -7.0], ["▁", -2.0], ["数", -8.0], ["!", -4.0],
        ]},
    })
}

#[test]
fn words_are_cut_as_bert_cuts_them() {
    let model = Directory::new(
        "wp",
        &word_piece(),
        &safetensors(&[("embeddings", "F32", &[11, 11], unit_rows(11))]),
    );
    assert_eq!(rows(&model, "The DEPLOYMENT,servers"), [2, 3, 4, 5, 9, 10]);
    assert_eq!(rows(&model, "Über 数据"), [6, 7, 8]);
    assert_eq!(
        rows(&model, "deployx ment"),
        Vec::<usize>::new(),
        "an unknown rest makes a word unknown"
    );
    assert_eq!(rows(&model, "[CLS] \u{0}t\u{200b}he\u{7f}\u{ad}"), [4]);
    let long = "the".repeat(40);
    assert_eq!(rows(&model, &format!("{long} server")), [9]);
}

#[test]
fn sentences_are_cut_into_the_cheapest_pieces() {
    let model = Directory::new(
        "uni",
        &unigram(),
        &safetensors(&[("embeddings", "F32", &[11, 11], unit_rows(11))]),
    );
    assert_eq!(rows(&model, "deploy"), [2], "5 nats are less than 6");
    assert_eq!(rows(&model, "x\u{200b}deploy"), [2, 8], "a space of no width is a space");
    assert_eq!(rows(&model, "deployment"), [6], "9 nats are less than 11");
    assert_eq!(rows(&model, "数据！"), [7, 8, 10], "full width becomes half");
    assert_eq!(rows(&model, "Deploy"), [5, 8], "case is kept; `D` and `e` have no piece");
}

#[test]
fn weights_and_mappings_are_applied() {
    let mapping: Vec<u8> =
        [0_i64, 0, 1, 1, 1, 2, 2, 2, 2, 2, 2].iter().flat_map(|n| n.to_le_bytes()).collect();
    let weights: Vec<u8> =
        (0..11).flat_map(|n| f64::from(n == 2 || n == 9).to_le_bytes()).collect();
    let model = safetensors(&[
        ("embeddings", "F32", &[3, 3], unit_rows(3)),
        ("mapping", "I64", &[11], mapping),
        ("weights", "F64", &[11], weights),
    ]);
    let model = Directory::new("map", &word_piece(), &model);
    assert_eq!(rows(&model, "deployment"), [1], "piece 2 has row 1; piece 3 weighs nothing");
    assert_eq!(rows(&model, "server deploy"), [1, 2]);
}

#[test]
fn halves_bytes_and_more_than_256_dimensions_are_read() {
    let halves: Vec<u8> =
        (0..121).flat_map(|at| if at % 12 == 0 { [0x00, 0x3C] } else { [0, 0x80] }).collect();
    let model = Directory::new(
        "f16",
        &word_piece(),
        &safetensors(&[("embeddings", "F16", &[11, 11], halves)]),
    );
    assert_eq!(rows(&model, "the server"), [4, 9]);
    let bytes: Vec<u8> = (0..11 * 300).map(|at| u8::from(at / 300 == at % 300) * 100).collect();
    let model = Directory::new(
        "i8",
        &word_piece(),
        &safetensors(&[("embeddings", "I8", &[11, 300], bytes)]),
    );
    assert_eq!(rows(&model, "the server"), [4, 9]);
    assert_eq!(Table::from_model2vec(model.path()).unwrap().dimensions(), 256);
}

#[test]
fn what_does_not_fit_is_refused_with_the_file_that_is_wrong() {
    let good = safetensors(&[("embeddings", "F32", &[11, 11], unit_rows(11))]);
    let refused = |name: &str, tokenizer: &Value, model: &[u8]| {
        refusal(&Directory::new(name, tokenizer, model))
    };
    let (damaged, unsupported) = (ErrorKind::Damaged, ErrorKind::Unsupported);
    let (tensors, tokens) = ("model.safetensors".to_owned(), "tokenizer.json".to_owned());
    for (n, model) in [
        &good[..0],
        &good[..7],
        &good[..40],
        &good[..good.len() - 1],
        b"\xff\xff\xff\xff\xff\xff\xff\xff",
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(
            refused(&format!("cut{n}"), &word_piece(), model),
            (damaged, tensors.clone()),
            "{n}"
        );
    }
    for value in [f32::NAN, f32::INFINITY] {
        let mut rows = unit_rows(11);
        rows[8 * 44..8 * 44 + 4].copy_from_slice(&value.to_le_bytes());
        let model = safetensors(&[("embeddings", "F32", &[11, 11], rows)]);
        assert_eq!(refused("nan", &word_piece(), &model), (damaged, tensors.clone()));
    }
    for shape in [&[11][..], &[11, 12], &[usize::MAX, 16], &[11, 11, 1]] {
        let model = safetensors(&[("embeddings", "F32", shape, unit_rows(11))]);
        assert_eq!(
            refused("shape", &word_piece(), &model),
            (damaged, tensors.clone()),
            "{shape:?}"
        );
    }
    let empty = safetensors(&[("embeddings", "F32", &[0, 16], Vec::new())]);
    assert_eq!(refused("empty", &word_piece(), &empty), (damaged, tensors.clone()));
    let other = safetensors(&[("other", "F32", &[11, 11], unit_rows(11))]);
    assert_eq!(refused("other", &word_piece(), &other), (unsupported, tensors));
    let bpe = json!({"model": {"type": "BPE", "vocab": {}}});
    assert_eq!(refused("bpe", &bpe, &good), (unsupported, tokens.clone()));
    assert_eq!(
        refused("scores", &json!({"model": {"type": "Unigram", "vocab": [["a"]]}}), &good),
        (damaged, tokens.clone())
    );
    let model = Directory::new("json", &word_piece(), &good);
    fs::write(model.path().join("tokenizer.json"), "{").unwrap();
    assert_eq!(refusal(&model), (damaged, tokens.clone()));
    fs::remove_file(model.path().join("tokenizer.json")).unwrap();
    assert_eq!(refusal(&model), (ErrorKind::Io, tokens));
}
