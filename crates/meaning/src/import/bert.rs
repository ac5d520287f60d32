//! Transformers of users, from a directory as sentence-transformers writes it.

use std::path::Path;

use serde_json::Value;

use super::kind::{damaged, json, unsupported};
use super::tensors::{Tensor, Tensors};
use super::vocabulary::{self, Piece};
use super::writer::{Entry, seal, write};
use super::{name, read};
use crate::error::Error;
use crate::transformer::{
    MAX_PIECES, MAX_PROMPT, Pooling, Shape, TRANSFORMER, Transformer, write_header, write_linear,
};

/// The prompts of models of the family e5, if their directory does not name any.
const E5_PROMPTS: [&str; 2] = ["query: ", "passage: "];

impl Transformer {
    /// Reads a sentence transformer of the BERT family: `config.json`, `tokenizer.json` with a `WordPiece` or Unigram
    /// model, and `model.safetensors`; where they exist, also `modules.json` with the pooling's `config.json`,
    /// `sentence_bert_config.json`, and `config_sentence_transformers.json` for the prompts of queries and documents.
    /// Weights become bytes. [`Transformer::to_bytes`] is the file that
    /// [`Model::open_file`](crate::Model::open_file) opens without this work.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`] for a file that cannot be read, [`ErrorKind::Damaged`] for one whose parts do not fit each
    /// other or with numbers that are not finite, [`ErrorKind::Unsupported`] for what makes the network another one.
    pub fn from_directory(directory: &Path) -> Result<Transformer, Error> {
        let path = directory.join("config.json");
        let config = json(&path)?;
        let hidden = size(&config, "hidden_size").map_err(|error| error.of(&path))?;
        let mut shape = shape(&config, directory)
            .and_then(|shape| shape.checked(hidden))
            .map_err(|error| error.of(&path))?;
        let tokenizer = directory.join("tokenizer.json");
        let (pieces, rules, special) =
            vocabulary(&read(&tokenizer)?).map_err(|error| error.of(&tokenizer))?;
        let model = directory.join("model.safetensors");
        let file = (|| {
            let mut weights = Weights { tensors: Tensors::open(&model)?, hidden };
            let rows = weights.rows("embeddings.word_embeddings.weight")?;
            let (mut file, unit) =
                write(entries(pieces, &rows, hidden)?, rules, &name(directory), TRANSFORMER);
            shape.row_unit = unit;
            file.resize(file.len().next_multiple_of(64), 0);
            shape.network_at = file.len();
            write_header(&mut file, &shape);
            for id in special {
                let row = rows.finite(id.saturating_mul(hidden), hidden);
                put(
                    &mut file,
                    &row.ok_or_else(|| damaged("a piece at the ends of texts has no row"))?,
                );
            }
            drop(rows);
            weights.write_network(&shape, &mut file)?;
            Ok(seal(file))
        })();
        Transformer::open(file.map_err(|error: Error| error.of(&model))?)
    }
}

/// A number of `config.json`.
fn size(config: &Value, key: &str) -> Result<usize, Error> {
    let number = config[key].as_u64().and_then(|number| usize::try_from(number).ok());
    number.ok_or_else(|| damaged(format!("`{key}` is not a number")))
}

/// The shape of the network, but for what is known when it is written.
fn shape(config: &Value, directory: &Path) -> Result<Shape, Error> {
    for (key, expected) in [("hidden_act", "gelu"), ("position_embedding_type", "absolute")] {
        if let Some(other) = config[key].as_str().filter(|of| *of != expected) {
            return Err(unsupported(format!("`{key}` is {other}, not {expected}")));
        }
    }
    let texts = json(&directory.join("sentence_bert_config.json"))?;
    let longest = texts["max_seq_length"].as_u64().and_then(|n| usize::try_from(n).ok());
    let positions = size(config, "max_position_embeddings")?.min(longest.unwrap_or(usize::MAX));
    Ok(Shape {
        layers: size(config, "num_hidden_layers")?,
        heads: size(config, "num_attention_heads")?,
        inner: size(config, "intermediate_size")?,
        positions: positions.min(MAX_PIECES),
        pooling: pooling(directory)?,
        epsilon: config["layer_norm_eps"].as_f64().unwrap_or(1e-12) as f32,
        row_unit: 0.0,
        network_at: 0,
        prompts: prompts(config, directory)?,
    })
}

/// The pooling that `modules.json` names; the mean without one, as sentence-transformers has it.
fn pooling(directory: &Path) -> Result<Pooling, Error> {
    let path = directory.join("modules.json");
    let modules = json(&path)?;
    let mut of_pooling = "1_Pooling";
    for module in modules.as_array().map(Vec::as_slice).unwrap_or_default() {
        let kind = module["type"].as_str().unwrap_or_default().rsplit('.').next();
        match kind.unwrap_or_default() {
            "Pooling" => of_pooling = module["path"].as_str().unwrap_or(of_pooling),
            "Transformer" | "Normalize" => {}
            other => {
                return Err(
                    unsupported(format!("a module `{other}` follows the transformer")).of(&path)
                );
            }
        }
    }
    // A path could lead out of the directory.
    let is_name =
        !of_pooling.is_empty() && !of_pooling.contains(['/', '\\', ':']) && of_pooling != "..";
    if !is_name {
        return Err(damaged(format!("`{of_pooling}` is not a directory of the model")).of(&path));
    }
    let path = directory.join(of_pooling).join("config.json");
    let config = json(&path)?;
    let mut modes = Vec::new();
    for (key, value) in config.as_object().into_iter().flatten() {
        match (key.strip_prefix("pooling_mode"), value) {
            (Some(mode), Value::Bool(true)) => modes.push(mode.trim_start_matches('_')),
            (Some(""), Value::String(mode)) => modes.push(mode),
            _ => {}
        }
    }
    match modes[..] {
        [] | ["mean_tokens" | "mean"] => Ok(Pooling::Mean),
        ["cls_token" | "cls"] => Ok(Pooling::First),
        _ => Err(unsupported(format!("the pooling is {}", modes.join(" and "))).of(&path)),
    }
}

/// The prompts of queries and of documents.
fn prompts(config: &Value, directory: &Path) -> Result<[String; 2], Error> {
    let path = directory.join("config_sentence_transformers.json");
    let prompts = &json(&path)?["prompts"];
    let named = |names: [&str; 2]| names.iter().find_map(|name| prompts[name].as_str());
    let told = [named(["query", "search_query"]), named(["document", "passage"])];
    let full_name = format!("{} {}", config["_name_or_path"], name(directory)).to_lowercase();
    let is_e5 = full_name.split(|c: char| !c.is_alphanumeric()).any(|word| word == "e5");
    let prompts = match told {
        [None, None] if is_e5 => E5_PROMPTS,
        told => told.map(Option::unwrap_or_default),
    };
    if prompts.iter().any(|prompt| prompt.len() > MAX_PROMPT || prompt.contains('\0')) {
        return Err(unsupported("a prompt is longer than 128 bytes").of(&path));
    }
    Ok(prompts.map(str::to_owned))
}

type Vocabulary = (Vec<Piece>, super::writer::Rules, [usize; 3]);

/// The pieces, the rule by which texts are cut, and the ids of the pieces at the start, at the end, and of what has no
/// piece.
fn vocabulary(bytes: &[u8]) -> Result<Vocabulary, Error> {
    let file = vocabulary::parse(bytes)?;
    let (pieces, rules) = vocabulary::read(&file)?;
    let special = [&["[CLS]", "<s>"][..], &["[SEP]", "</s>"], &["[UNK]", "<unk>"]];
    let mut ids = [0; 3];
    for (id, names) in ids.iter_mut().zip(special) {
        let found = vocabulary::id(&file, names);
        *id = found.ok_or_else(|| unsupported(format!("no piece {}", names.join(" or "))))?;
    }
    Ok((pieces, rules, ids))
}

fn entries(pieces: Vec<Piece>, rows: &Tensor, hidden: usize) -> Result<Vec<Entry>, Error> {
    let n_rows = rows.shape[0];
    let entry = |Piece { text, flag, cost, id }| {
        let row = rows.finite(id * hidden, hidden);
        let row = row.ok_or_else(|| damaged(format!("the row of `{text}` is not finite")))?;
        Ok(Entry { piece: text.into_bytes(), flag, cost, row })
    };
    let entries: Vec<Entry> = pieces
        .into_iter()
        .filter(|piece| piece.id < n_rows)
        .map(entry)
        .collect::<Result<_, Error>>()?;
    if entries.is_empty() {
        return Err(damaged("no piece of `tokenizer.json` has a row"));
    }
    Ok(entries)
}

fn put(file: &mut Vec<u8>, numbers: &[f32]) {
    file.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}

/// The tensors of a network with so many dimensions.
struct Weights {
    tensors: Tensors,
    hidden: usize,
}

impl Weights {
    fn tensor(&mut self, name: &str) -> Result<Tensor, Error> {
        let tensor = self.tensors.get(&[name, &format!("bert.{name}")])?;
        tensor.ok_or_else(|| unsupported(format!("no tensor `{name}`")))
    }

    /// A tensor with a row of all dimensions for each piece.
    fn rows(&mut self, name: &str) -> Result<Tensor, Error> {
        let tensor = self.tensor(name)?;
        if tensor.shape.len() == 2 && tensor.shape[1] == self.hidden {
            return Ok(tensor);
        }
        Err(damaged(format!("`{name}` does not have {} columns", self.hidden)))
    }

    /// The numbers of a tensor of this shape.
    fn numbers(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, Error> {
        let tensor = self.tensor(name)?;
        if tensor.shape != shape {
            return Err(damaged(format!(
                "`{name}` has the shape {:?}, not {shape:?}",
                tensor.shape
            )));
        }
        let numbers = tensor.finite(0, shape.iter().product());
        numbers.ok_or_else(|| damaged(format!("a number of `{name}` is not finite")))
    }

    fn norm(&mut self, name: &str, file: &mut Vec<u8>) -> Result<(), Error> {
        for part in ["weight", "bias"] {
            put(file, &self.numbers(&format!("{name}.{part}"), &[self.hidden])?);
        }
        Ok(())
    }

    /// Writes the maps with these names as one.
    fn linear(
        &mut self,
        names: &[String],
        inputs: usize,
        outputs: usize,
        file: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let (mut weights, mut bias) = (Vec::new(), Vec::new());
        for name in names {
            weights.extend(self.numbers(&format!("{name}.weight"), &[outputs, inputs])?);
            bias.extend(self.numbers(&format!("{name}.bias"), &[outputs])?);
        }
        write_linear(&weights, &bias, file);
        Ok(())
    }

    /// Writes what follows the rows of the pieces at the ends.
    fn write_network(&mut self, shape: &Shape, file: &mut Vec<u8>) -> Result<(), Error> {
        let hidden = self.hidden;
        let positions = self.rows("embeddings.position_embeddings.weight")?;
        let positions = positions.finite(0, shape.positions * hidden);
        let positions =
            positions.ok_or_else(|| damaged("a position has no row of finite numbers"))?;
        let shared = self.rows("embeddings.token_type_embeddings.weight")?.finite(0, hidden);
        let shared = shared
            .ok_or_else(|| damaged("the first type of pieces has no row of finite numbers"))?;
        let shared = shared.iter().cycle();
        put(file, &positions.iter().zip(shared).map(|(a, b)| a + b).collect::<Vec<f32>>());
        self.norm("embeddings.LayerNorm", file)?;
        for layer in 0..shape.layers {
            let of = |part: &str| format!("encoder.layer.{layer}.{part}");
            let mixed = ["query", "key", "value"].map(|part| of(&format!("attention.self.{part}")));
            self.linear(&mixed, hidden, hidden, file)?;
            self.linear(&[of("attention.output.dense")], hidden, hidden, file)?;
            self.norm(&of("attention.output.LayerNorm"), file)?;
            self.linear(&[of("intermediate.dense")], hidden, shape.inner, file)?;
            self.linear(&[of("output.dense")], shape.inner, hidden, file)?;
            self.norm(&of("output.LayerNorm"), file)?;
        }
        Ok(())
    }
}
