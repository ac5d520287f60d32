//! Directories and files of transformers that are broken, hostile, or of another network.

use std::fs;

use repertoire_meaning::{ErrorKind, Model, Scratch, Transformer};
use serde_json::{Value, json};

use crate::directory::Directory;
use crate::transformer::{HIDDEN, TEXTS, Weight, config, directory, query, weights};

/// The kind of fault, and the file that is named.
fn refusal(directory: &Directory) -> (ErrorKind, String) {
    let error = Model::from_directory(directory.path()).unwrap_err();
    assert!(!error.to_string().is_empty() && !error.help().is_empty());
    let name = error.path().unwrap().file_name().unwrap().to_string_lossy().into_owned();
    (error.kind(), name)
}

#[test]
fn what_is_another_network_is_refused_with_the_file_that_says_so() {
    let weights = weights();
    let with = |file: &str, content: String| {
        let directory = directory("other", &weights);
        directory.write(file, content);
        refusal(&directory)
    };
    let changed = |key: &str, value: Value| {
        let mut config = config();
        config[key] = value;
        with("config.json", config.to_string())
    };
    for (key, value, kind) in [
        ("model_type", json!("mpnet"), ErrorKind::Unsupported),
        ("model_type", Value::Null, ErrorKind::Unsupported),
        ("hidden_act", json!("relu"), ErrorKind::Unsupported),
        ("position_embedding_type", json!("relative_key"), ErrorKind::Unsupported),
        ("num_hidden_layers", json!(0), ErrorKind::Unsupported),
        ("num_hidden_layers", json!(1_000_000_000_u64), ErrorKind::Unsupported),
        ("num_hidden_layers", json!("two"), ErrorKind::Damaged),
        ("num_attention_heads", json!(5), ErrorKind::Unsupported),
        ("num_attention_heads", json!(0), ErrorKind::Unsupported),
        ("intermediate_size", json!(u64::MAX), ErrorKind::Unsupported),
        ("hidden_size", json!(24), ErrorKind::Unsupported),
        ("hidden_size", json!(1_024), ErrorKind::Unsupported),
        ("hidden_size", json!(-1), ErrorKind::Damaged),
        ("max_position_embeddings", json!(2), ErrorKind::Unsupported),
        ("layer_norm_eps", json!(-1.0), ErrorKind::Unsupported),
    ] {
        assert_eq!(changed(key, value.clone()), (kind, "config.json".to_owned()), "{key}: {value}");
    }
    for (key, value) in [
        ("num_hidden_layers", json!(3)),
        ("intermediate_size", json!(64)),
        ("hidden_size", json!(64)),
    ] {
        let (_, file) = changed(key, value.clone());
        assert_eq!(file, "model.safetensors", "{key}: {value}");
    }
    let dense = json!([{"type": "sentence_transformers.models.Dense", "path": "2_Dense"}]);
    let outside = json!([{"type": "sentence_transformers.models.Pooling", "path": "../1_Pooling"}]);
    for (file, content, kind, named) in [
        ("modules.json", dense.to_string(), ErrorKind::Unsupported, "modules.json"),
        ("modules.json", outside.to_string(), ErrorKind::Damaged, "modules.json"),
        (
            "1_Pooling/config.json",
            json!({"pooling_mode_max_tokens": true}).to_string(),
            ErrorKind::Unsupported,
            "config.json",
        ),
        ("1_Pooling/config.json", "{".to_owned(), ErrorKind::Damaged, "config.json"),
        (
            "config_sentence_transformers.json",
            json!({"prompts": {"query": "x".repeat(200)}}).to_string(),
            ErrorKind::Unsupported,
            "config_sentence_transformers.json",
        ),
        (
            "tokenizer.json",
            json!({"model": {"type": "BPE", "vocab": {}}}).to_string(),
            ErrorKind::Unsupported,
            "tokenizer.json",
        ),
        (
            "tokenizer.json",
            json!({"model": {"type": "WordPiece", "vocab": {"a": 0}}}).to_string(),
            ErrorKind::Unsupported,
            "tokenizer.json",
        ),
        ("model.safetensors", String::new(), ErrorKind::Damaged, "model.safetensors"),
    ] {
        assert_eq!(with(file, content.clone()), (kind, named.to_owned()), "{file}: {content}");
    }
}

#[test]
fn tensors_that_do_not_fit_are_refused() {
    let good = weights();
    let refused = |change: &dyn Fn(&mut Weight)| {
        for at in 0..good.len() {
            let mut weights = good.clone();
            change(&mut weights[at]);
            let name = weights[at].0.clone();
            let (_, file) = refusal(&directory("tensor", &weights));
            assert_eq!(file, "model.safetensors", "{name}");
        }
    };
    refused(&|tensor| tensor.0.push('x'));
    // Rows that no text needs are not read.
    refused(&|tensor| {
        let at = tensor.2.len() / 2 - 1;
        tensor.2[at] = f32::NAN;
    });
    refused(&|tensor| {
        // A column or a number less.
        *tensor.1.last_mut().unwrap() -= 1;
        tensor.2.truncate(tensor.1.iter().product());
    });
}

#[test]
fn a_file_larger_than_it_may_be_is_refused_without_reading_it() {
    let directory = directory("large", &weights());
    let path = directory.path().join("model.safetensors");
    let index = json!({"embeddings.word_embeddings.weight": {
        "dtype": "F32", "shape": [1_u64 << 33, HIDDEN], "data_offsets": [0, 1_u64 << 40],
    }});
    let index = index.to_string();
    fs::write(&path, [&(index.len() as u64).to_le_bytes()[..], index.as_bytes()].concat()).unwrap();
    // A file with holes: it takes no room.
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(8 + index.len() as u64 + (1 << 40)).unwrap();
    assert_eq!(refusal(&directory), (ErrorKind::Unsupported, "model.safetensors".to_owned()));
    let path = directory.path().join("x.model");
    fs::write(&path, b"RPTBERT1").unwrap();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(Model::open_file(&path).unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn a_damaged_file_is_an_error_or_gives_finite_vectors() {
    let directory = directory("damaged", &weights());
    let bytes = Transformer::from_directory(directory.path()).unwrap().to_bytes().unwrap();
    let path = directory.path().join("x.model");
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = move |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 11) as usize % below
    };
    let mut n_opened = 0;
    for round in 0..400 {
        let mut damaged = bytes.clone();
        for _ in 0..=round % 8 {
            // Every second one in the header, where numbers are.
            let below = if round % 2 == 0 { 192 } else { damaged.len() };
            let at = 8 + next(below - 8);
            damaged[at] = next(256) as u8;
        }
        if round % 16 == 0 {
            damaged.truncate(next(bytes.len()));
        }
        fs::write(&path, damaged).unwrap();
        let Ok(model) = Model::open_file(&path) else { continue };
        n_opened += 1;
        for (text, _) in TEXTS {
            let vector = query(&model, text);
            assert!(vector.values().iter().all(|value| value.is_finite()), "{round}: {text}");
            model.contributions(text, &vector, &mut Scratch::default());
        }
    }
    assert!(n_opened > 100, "{n_opened}");
}
