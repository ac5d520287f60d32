//! Sentence transformers, against a plain reading of the same weights.
#![expect(clippy::cast_precision_loss, reason = "small numbers")]

use std::fs;

use repertoire_meaning::{Model, Scratch, Vector};
use serde_json::{Map, Value, json};

use crate::directory::{Directory, safetensors};

pub(crate) const HIDDEN: usize = 32;
const HEADS: usize = 4;
const LAYERS: usize = 2;
/// Fills no whole number of panels.
const INNER: usize = 44;
const POSITIONS: usize = 200;
const EPSILON: f64 = 1e-12;

const PIECES: [&str; 16] = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "deploy", "##ment", "the", ",", "数", "据", "uber",
    "server", "##s", "query", "passage", ":",
];
const UNKNOWN: usize = 1;
const START: usize = 2;
const END: usize = 3;

/// Texts, and the pieces that BERT cuts them into.
pub(crate) const TEXTS: [(&str, &[usize]); 6] = [
    ("The DEPLOYMENT, servers", &[6, 4, 5, 7, 11, 12]),
    ("Über 数据", &[10, 8, 9]),
    ("deployx the", &[UNKNOWN, 6]),
    ("server server server", &[11, 11, 11]),
    ("[CLS] the", &[UNKNOWN, UNKNOWN, UNKNOWN, 6]),
    ("", &[]),
];

/// A tensor: its name, its shape, its numbers.
pub(crate) type Weight = (String, Vec<usize>, Vec<f32>);

/// Tensors in an order that stays.
pub(crate) type Weights = Vec<Weight>;

pub(crate) fn weights() -> Weights {
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let mut number = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    let mut weights = Weights::new();
    let mut put = |name: String, shape: &[usize], base: f32, range: f32| {
        let n: usize = shape.iter().product();
        weights.push((name, shape.to_vec(), (0..n).map(|_| base + range * number()).collect()));
    };
    put("embeddings.word_embeddings.weight".to_owned(), &[PIECES.len(), HIDDEN], 0.0, 1.0);
    put("embeddings.position_embeddings.weight".to_owned(), &[POSITIONS, HIDDEN], 0.0, 0.5);
    put("embeddings.token_type_embeddings.weight".to_owned(), &[2, HIDDEN], 0.0, 0.5);
    let mut norms = vec!["embeddings.LayerNorm".to_owned()];
    for layer in 0..LAYERS {
        let of = |part: &str| format!("encoder.layer.{layer}.{part}");
        let square = ["self.query", "self.key", "self.value", "output.dense"];
        let square = square.map(|part| (of(&format!("attention.{part}")), HIDDEN, HIDDEN));
        let others =
            [(of("intermediate.dense"), INNER, HIDDEN), (of("output.dense"), HIDDEN, INNER)];
        for (name, outputs, inputs) in square.into_iter().chain(others) {
            put(format!("{name}.weight"), &[outputs, inputs], 0.0, 0.4);
            put(format!("{name}.bias"), &[outputs], 0.0, 0.2);
        }
        norms.extend([of("attention.output.LayerNorm"), of("output.LayerNorm")]);
    }
    for name in norms {
        put(format!("{name}.weight"), &[HIDDEN], 1.0, 0.3);
        put(format!("{name}.bias"), &[HIDDEN], 0.0, 0.3);
    }
    weights
}

/// A plain reading: the states of pieces after the last layer.
fn states(weights: &Weights, ids: &[usize]) -> Vec<Vec<f64>> {
    let get = |name: &str| -> Vec<f64> {
        let found = weights.iter().find(|(of, ..)| of == name).unwrap();
        found.2.iter().map(|value| f64::from(*value)).collect()
    };
    let linear = |x: &[f64], name: &str| -> Vec<f64> {
        let (weight, bias) = (get(&format!("{name}.weight")), get(&format!("{name}.bias")));
        let rows = weight.chunks(x.len()).zip(bias);
        rows.map(|(row, bias)| row.iter().zip(x).map(|(a, b)| a * b).sum::<f64>() + bias).collect()
    };
    let norm = |x: &[f64], name: &str| -> Vec<f64> {
        let (scale, bias) = (get(&format!("{name}.weight")), get(&format!("{name}.bias")));
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        let variance = x.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / x.len() as f64;
        let by = (variance + EPSILON).sqrt();
        (0..x.len()).map(|at| (x[at] - mean) / by * scale[at] + bias[at]).collect()
    };
    let add = |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a + b).collect() };
    let (words, places) =
        (get("embeddings.word_embeddings.weight"), get("embeddings.position_embeddings.weight"));
    let shared = get("embeddings.token_type_embeddings.weight");
    let row = |of: &[f64], at: usize| of[at * HIDDEN..(at + 1) * HIDDEN].to_vec();
    let mut states: Vec<Vec<f64>> = (ids.iter().enumerate())
        .map(|(place, id)| add(&add(&row(&words, *id), &row(&places, place)), &row(&shared, 0)))
        .map(|state| norm(&state, "embeddings.LayerNorm"))
        .collect();
    for layer in 0..LAYERS {
        let of = |part: &str| format!("encoder.layer.{layer}.{part}");
        let project = |part: &str| -> Vec<Vec<f64>> {
            states
                .iter()
                .map(|state| linear(state, &of(&format!("attention.self.{part}"))))
                .collect()
        };
        let (queries, keys, values) = (project("query"), project("key"), project("value"));
        let width = HIDDEN / HEADS;
        let seen: Vec<Vec<f64>> = queries
            .iter()
            .map(|query| {
                (0..HIDDEN)
                    .map(|at| {
                        let head = at / width * width..(at / width + 1) * width;
                        let exponents = keys.iter().map(|key| {
                            let product: f64 = head.clone().map(|at| query[at] * key[at]).sum();
                            (product / (width as f64).sqrt()).exp()
                        });
                        let exponents: Vec<f64> = exponents.collect();
                        let seen =
                            exponents.iter().zip(&values).map(|(weight, value)| weight * value[at]);
                        seen.sum::<f64>() / exponents.iter().sum::<f64>()
                    })
                    .collect()
            })
            .collect();
        states = (states.iter().zip(&seen))
            .map(|(state, seen)| add(state, &linear(seen, &of("attention.output.dense"))))
            .map(|state| norm(&state, &of("attention.output.LayerNorm")))
            .map(|state| {
                let inner = linear(&state, &of("intermediate.dense"));
                let inner: Vec<f64> = inner.into_iter().map(gelu).collect();
                norm(&add(&state, &linear(&inner, &of("output.dense"))), &of("output.LayerNorm"))
            })
            .collect();
    }
    states
}

/// GELU, with the error function as a sum of its series.
fn gelu(x: f64) -> f64 {
    let z = x / std::f64::consts::SQRT_2;
    let (mut term, mut sum) = (z, z);
    for n in 1..200 {
        term *= -z * z / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    0.5 * x * (1.0 + sum * std::f64::consts::FRAC_2_SQRT_PI)
}

/// The cosine of a vector with that of a plain reading of these pieces.
fn agreement(vector: &Vector, weights: &Weights, ids: &[usize], is_first: bool) -> f64 {
    let ids: Vec<usize> = [START].into_iter().chain(ids.iter().copied()).chain([END]).collect();
    let states = states(weights, &ids);
    let n = if is_first { 1 } else { states.len() };
    let pooled = |at: usize| states[..n].iter().map(|state| state[at]).sum::<f64>();
    let pooled: Vec<f64> = (0..HIDDEN).map(pooled).collect();
    let length = pooled.iter().map(|value| value * value).sum::<f64>().sqrt();
    vector.values().iter().zip(&pooled).map(|(a, b)| f64::from(*a) * b).sum::<f64>() / length
}

fn tokenizer() -> Value {
    let pieces = PIECES.iter().enumerate();
    let vocabulary: Map<String, Value> =
        pieces.map(|(id, piece)| ((*piece).to_owned(), json!(id))).collect();
    let special = (0..4).map(|id| json!({"id": id, "content": PIECES[id], "special": true}));
    json!({
        "added_tokens": special.collect::<Vec<_>>(),
        "normalizer": {"type": "BertNormalizer", "lowercase": true, "strip_accents": null},
        "model": {"type": "WordPiece", "vocab": vocabulary, "continuing_subword_prefix": "##"},
    })
}

pub(crate) fn config() -> Value {
    json!({
        "model_type": "bert", "hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
        "intermediate_size": INNER, "hidden_act": "gelu", "layer_norm_eps": EPSILON,
        "max_position_embeddings": POSITIONS, "position_embedding_type": "absolute",
    })
}

fn bytes_of(weights: &Weights) -> Vec<u8> {
    let bytes = |numbers: &[f32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let tensor = |(name, shape, numbers): &Weight| (name.clone(), shape.clone(), bytes(numbers));
    let tensors: Vec<(String, Vec<usize>, Vec<u8>)> = weights.iter().map(tensor).collect();
    let tensors =
        tensors.iter().map(|(name, shape, bytes)| (&**name, "F32", &**shape, bytes.clone()));
    safetensors(&tensors.collect::<Vec<_>>())
}

pub(crate) fn directory(name: &str, weights: &Weights) -> Directory {
    let directory = Directory::new(name, &tokenizer(), &bytes_of(weights));
    directory.write("config.json", config().to_string());
    directory
}

pub(crate) fn query(model: &Model, text: &str) -> Vector {
    model.query_vector(text, &mut Scratch::default())
}

#[test]
fn vectors_are_those_of_a_plain_reading() {
    let weights = weights();
    for pooling in ["mean_tokens", "cls_token"] {
        let directory = directory(pooling, &weights);
        let mode = format!("pooling_mode_{pooling}");
        directory.write(
            "1_Pooling/config.json",
            json!({mode: true, "pooling_mode_max_tokens": false}).to_string(),
        );
        let model = Model::from_directory(directory.path()).unwrap();
        assert_eq!((model.dimensions(), model.pieces()), (HIDDEN, PIECES.len() - 4));
        let mut scratch = Scratch::default();
        for (text, ids) in TEXTS {
            let vector = model.query_vector(text, &mut scratch);
            let cosine = agreement(&vector, &weights, ids, pooling == "cls_token");
            assert!(cosine > 0.999, "{pooling} of {text:?}: {cosine}");
            assert_eq!(vector, model.document_vector(text, &mut scratch), "no prompts");
        }
    }
}

#[test]
fn a_file_is_the_same_model_in_every_process() {
    let weights = weights();
    let directory = directory("file", &weights);
    let model = Model::from_directory(directory.path()).unwrap();
    directory.write("tiny.model", model.to_bytes().unwrap());
    let path = directory.path().join("tiny.model");
    let opened = Model::open_file(&path).unwrap();
    opened.verify().unwrap();
    assert!(opened.is_slow() && !opened.has_ordered_dimensions());
    assert_eq!(opened.fingerprint(), model.fingerprint());
    assert_eq!(opened.name(), model.name());
    assert_eq!(query(&opened, TEXTS[0].0), query(&model, TEXTS[0].0));
    // A file that was cut after it was opened makes texts unknown, and no panic.
    let cut = Model::open_file(&path).unwrap();
    fs::write(&path, "").unwrap();
    assert!(query(&cut, TEXTS[0].0).is_zero());
    assert!(
        cut.contributions(TEXTS[0].0, &query(&model, "the"), &mut Scratch::default()).is_empty()
    );
}

#[test]
fn prompts_are_those_that_the_directory_names_or_those_of_its_family() {
    let weights = weights();
    let [asked, told] = [&[13, 15][..], &[14, 15]];
    let the = |prompt: &[usize]| [prompt, &[6]].concat();
    let prompts = |content: Value| json!({"prompts": content}).to_string();
    let named = json!({"query": "query: ", "document": "passage: "});
    for (name, file, expected) in [
        ("small-e5", None, [the(asked), the(told)]),
        ("e5", Some(prompts(json!({"query": "", "document": ""}))), [the(&[]), the(&[])]),
        ("plain", Some(prompts(named)), [the(asked), the(told)]),
        ("passage", Some(prompts(json!({"passage": "passage: "}))), [the(&[]), the(told)]),
        ("none", Some(json!({}).to_string()), [the(&[]), the(&[])]),
    ] {
        let directory = directory(name, &weights);
        if let Some(file) = file {
            directory.write("config_sentence_transformers.json", file);
        }
        let model = Model::from_directory(directory.path()).unwrap();
        let mut scratch = Scratch::default();
        let vectors =
            [model.query_vector("the", &mut scratch), model.document_vector("the", &mut scratch)];
        for (vector, ids) in vectors.iter().zip(&expected) {
            let cosine = agreement(vector, &weights, ids, false);
            assert!(cosine > 0.999, "{name}: {cosine}");
        }
    }
}

#[test]
fn a_long_text_counts_as_far_as_the_model_reads() {
    let weights = weights();
    let long = "server ".repeat(1_000);
    for (longest, n) in [(None, 126), (Some(512), 126), (Some(10), 8)] {
        let directory = directory("long", &weights);
        if let Some(longest) = longest {
            directory
                .write("sentence_bert_config.json", json!({"max_seq_length": longest}).to_string());
        }
        let model = Model::from_directory(directory.path()).unwrap();
        let cosine = agreement(&query(&model, &long), &weights, &vec![11; n], false);
        assert!(cosine > 0.999, "{longest:?}: {cosine}");
        let told = model.contributions(&long, &query(&model, "server"), &mut Scratch::default());
        assert_eq!(told.len(), n);
    }
}

#[test]
fn words_are_told_by_what_they_add_to_the_cosine() {
    let directory = directory("words", &weights());
    let model = Model::from_directory(directory.path()).unwrap();
    let mut scratch = Scratch::default();
    let text = "the deployment uber";
    let other = model.document_vector("deployment", &mut scratch);
    let words = model.contributions(text, &other, &mut scratch);
    let mut named: Vec<&str> = words.iter().map(|word| &text[word.range.clone()]).collect();
    assert!(words.is_sorted_by(|a, b| a.share >= b.share));
    named.sort_unstable();
    assert_eq!(named, ["deployment", "the", "uber"]);
    // What is left is that of the two ends.
    let told: f32 = words.iter().map(|word| word.share).sum();
    let cosine = model.query_vector(text, &mut scratch).cosine(&other);
    assert!((cosine - told).abs() < 0.8 && told > 0.0, "{told} of {cosine}");
}
