//! Directories as model2vec writes them. Rows are unit vectors, so a vector tells its pieces.

use std::fs;
use std::path::PathBuf;

use repertoire_meaning::{ErrorKind, Scratch, Table};
use serde_json::{Value, json};

/// A directory that is removed at the end.
struct Model(PathBuf);

impl Drop for Model {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The bytes of one tensor after the other: name, type, shape, numbers.
fn safetensors(tensors: &[(&str, &str, &[usize], Vec<u8>)]) -> Vec<u8> {
    let (mut index, mut data) = (serde_json::Map::new(), Vec::new());
    for (name, kind, shape, bytes) in tensors {
        let end = data.len() + bytes.len();
        index.insert(
            (*name).to_owned(),
            json!({"dtype": kind, "shape": shape, "data_offsets": [data.len(), end]}),
        );
        data.extend(bytes);
    }
    let index = serde_json::to_vec(&Value::Object(index)).unwrap();
    [&(index.len() as u64).to_le_bytes()[..], &index, &data].concat()
}

/// Rows of which each has its own dimension.
fn unit_rows(n: usize) -> Vec<u8> {
    (0..n * n).flat_map(|at| f32::from(u8::from(at / n == at % n)).to_le_bytes()).collect()
}

impl Model {
    fn new(name: &str, tokenizer: &Value, model: &[u8]) -> Model {
        let path = std::env::temp_dir().join(format!("repertoire-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("tokenizer.json"), tokenizer.to_string()).unwrap();
        fs::write(path.join("model.safetensors"), model).unwrap();
        Model(path)
    }

    /// The rows of a text's pieces, as a set.
    fn rows(&self, text: &str) -> Vec<usize> {
        let table = Table::from_model2vec(&self.0).unwrap();
        table.verify().unwrap();
        let vector = table.vector(text, &mut Scratch::default());
        (0..vector.values().len()).filter(|at| vector.values()[*at] > 0.01).collect()
    }

    fn refusal(&self) -> (ErrorKind, String) {
        let error = Table::from_model2vec(&self.0).unwrap_err();
        let name = error.path().unwrap().file_name().unwrap().to_string_lossy().into_owned();
        (error.kind(), name)
    }
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
    let model = Model::new(
        "wp",
        &word_piece(),
        &safetensors(&[("embeddings", "F32", &[11, 11], unit_rows(11))]),
    );
    assert_eq!(model.rows("The DEPLOYMENT,servers"), [2, 3, 4, 5, 9, 10]);
    assert_eq!(model.rows("Über 数据"), [6, 7, 8]);
    assert_eq!(
        model.rows("deployx ment"),
        Vec::<usize>::new(),
        "an unknown rest makes a word unknown"
    );
    assert_eq!(model.rows("[CLS] \u{0}t\u{200b}he\u{7f}\u{ad}"), [4]);
    let long = "the".repeat(40);
    assert_eq!(model.rows(&format!("{long} server")), [9]);
}

#[test]
fn sentences_are_cut_into_the_cheapest_pieces() {
    let model = Model::new(
        "uni",
        &unigram(),
        &safetensors(&[("embeddings", "F32", &[11, 11], unit_rows(11))]),
    );
    assert_eq!(model.rows("deploy"), [2], "5 nats are less than 6");
    assert_eq!(model.rows("x\u{200b}deploy"), [2, 8], "a space of no width is a space");
    assert_eq!(model.rows("deployment"), [6], "9 nats are less than 11");
    assert_eq!(model.rows("数据！"), [7, 8, 10], "full width becomes half");
    assert_eq!(model.rows("Deploy"), [5, 8], "case is kept; `D` and `e` have no piece");
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
    let model = Model::new("map", &word_piece(), &model);
    assert_eq!(model.rows("deployment"), [1], "piece 2 has row 1; piece 3 weighs nothing");
    assert_eq!(model.rows("server deploy"), [1, 2]);
}

#[test]
fn halves_bytes_and_more_than_256_dimensions_are_read() {
    let halves: Vec<u8> =
        (0..121).flat_map(|at| if at % 12 == 0 { [0x00, 0x3C] } else { [0, 0x80] }).collect();
    let model =
        Model::new("f16", &word_piece(), &safetensors(&[("embeddings", "F16", &[11, 11], halves)]));
    assert_eq!(model.rows("the server"), [4, 9]);
    let bytes: Vec<u8> = (0..11 * 300).map(|at| u8::from(at / 300 == at % 300) * 100).collect();
    let model =
        Model::new("i8", &word_piece(), &safetensors(&[("embeddings", "I8", &[11, 300], bytes)]));
    assert_eq!(model.rows("the server"), [4, 9]);
    assert_eq!(Table::from_model2vec(&model.0).unwrap().dimensions(), 256);
}

#[test]
fn what_does_not_fit_is_refused_with_the_file_that_is_wrong() {
    let good = safetensors(&[("embeddings", "F32", &[11, 11], unit_rows(11))]);
    let refusal =
        |name: &str, tokenizer: &Value, model: &[u8]| Model::new(name, tokenizer, model).refusal();
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
            refusal(&format!("cut{n}"), &word_piece(), model),
            (damaged, tensors.clone()),
            "{n}"
        );
    }
    for value in [f32::NAN, f32::INFINITY] {
        let mut rows = unit_rows(11);
        rows[8 * 44..8 * 44 + 4].copy_from_slice(&value.to_le_bytes());
        let model = safetensors(&[("embeddings", "F32", &[11, 11], rows)]);
        assert_eq!(refusal("nan", &word_piece(), &model), (damaged, tensors.clone()));
    }
    for shape in [&[11][..], &[11, 12], &[usize::MAX, 16], &[11, 11, 1]] {
        let model = safetensors(&[("embeddings", "F32", shape, unit_rows(11))]);
        assert_eq!(
            refusal("shape", &word_piece(), &model),
            (damaged, tensors.clone()),
            "{shape:?}"
        );
    }
    let empty = safetensors(&[("embeddings", "F32", &[0, 16], Vec::new())]);
    assert_eq!(refusal("empty", &word_piece(), &empty), (damaged, tensors.clone()));
    let other = safetensors(&[("other", "F32", &[11, 11], unit_rows(11))]);
    assert_eq!(refusal("other", &word_piece(), &other), (unsupported, tensors));
    let bpe = json!({"model": {"type": "BPE", "vocab": {}}});
    assert_eq!(refusal("bpe", &bpe, &good), (unsupported, tokens.clone()));
    assert_eq!(
        refusal("scores", &json!({"model": {"type": "Unigram", "vocab": [["a"]]}}), &good),
        (damaged, tokens.clone())
    );
    let model = Model::new("json", &word_piece(), &good);
    fs::write(model.0.join("tokenizer.json"), "{").unwrap();
    assert_eq!(model.refusal(), (damaged, tokens.clone()));
    fs::remove_file(model.0.join("tokenizer.json")).unwrap();
    assert_eq!(model.refusal(), (ErrorKind::Io, tokens));
}
