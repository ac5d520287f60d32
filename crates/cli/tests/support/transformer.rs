//! A sentence transformer of one layer that adds nothing, so that a text is the mean of its words.

use serde_json::{Map, Value, json};

const DIMENSIONS: usize = 16;
const POSITIONS: usize = 64;

/// Returns the files of a model to which the words in `near` mean the same, and those in `far` something else.
pub(crate) fn files(near: &[&str], far: &[&str]) -> [(&'static str, Vec<u8>); 3] {
    let words: Vec<&str> =
        ["[UNK]", "[CLS]", "[SEP]"].iter().chain(near).chain(far).copied().collect();
    let pieces: Map<String, Value> =
        words.iter().enumerate().map(|(id, word)| ((*word).to_owned(), json!(id))).collect();
    let special = words[..3].iter().map(|word| json!({"content": word, "special": true}));
    let tokenizer = json!({
        "added_tokens": special.collect::<Vec<_>>(),
        "normalizer": {"type": "BertNormalizer", "lowercase": true},
        "model": {"type": "WordPiece", "vocab": pieces},
    });
    let config = json!({
        "model_type": "bert", "hidden_size": DIMENSIONS, "num_hidden_layers": 1, "num_attention_heads": 2,
        "intermediate_size": DIMENSIONS, "hidden_act": "gelu", "max_position_embeddings": POSITIONS,
    });
    // All else is at 0, and a norm keeps it there.
    let row = |word: &&str| -> Vec<f32> {
        let axis = match () {
            () if near.contains(word) => Some(1),
            () if far.contains(word) => Some(2),
            () => None,
        };
        (0..DIMENSIONS).map(|at| f32::from(u8::from(axis == Some(at)))).collect()
    };
    let rows: Vec<f32> = words.iter().flat_map(row).collect();
    let (vector, zeros) = (&[DIMENSIONS][..], vec![0.0; DIMENSIONS * DIMENSIONS]);
    let mut tensors = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![words.len(), DIMENSIONS], rows),
        (
            "embeddings.position_embeddings.weight".to_owned(),
            vec![POSITIONS, DIMENSIONS],
            vec![0.0; POSITIONS * DIMENSIONS],
        ),
        (
            "embeddings.token_type_embeddings.weight".to_owned(),
            vec![2, DIMENSIONS],
            vec![0.0; 2 * DIMENSIONS],
        ),
    ];
    let attention = ["self.query", "self.key", "self.value", "output.dense"]
        .map(|of| format!("attention.{of}"));
    for part in attention.iter().map(String::as_str).chain(["intermediate.dense", "output.dense"]) {
        let name = format!("encoder.layer.0.{part}");
        tensors.push((format!("{name}.weight"), vec![DIMENSIONS, DIMENSIONS], zeros.clone()));
        tensors.push((format!("{name}.bias"), vector.to_vec(), vec![0.0; DIMENSIONS]));
    }
    for part in ["embeddings", "encoder.layer.0.attention.output", "encoder.layer.0.output"] {
        tensors.push((format!("{part}.LayerNorm.weight"), vector.to_vec(), vec![1.0; DIMENSIONS]));
        tensors.push((format!("{part}.LayerNorm.bias"), vector.to_vec(), vec![0.0; DIMENSIONS]));
    }
    let (mut index, mut data) = (Map::new(), Vec::new());
    for (name, shape, numbers) in tensors {
        let start = data.len();
        data.extend(numbers.iter().flat_map(|number: &f32| number.to_le_bytes()));
        index.insert(
            name,
            json!({"dtype": "F32", "shape": shape, "data_offsets": [start, data.len()]}),
        );
    }
    let index = Value::Object(index).to_string();
    let model = [&(index.len() as u64).to_le_bytes()[..], index.as_bytes(), &data].concat();
    [
        ("model.safetensors", model),
        ("tokenizer.json", tokenizer.to_string().into_bytes()),
        ("config.json", config.to_string().into_bytes()),
    ]
}
