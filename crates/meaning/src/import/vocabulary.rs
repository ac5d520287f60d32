//! The pieces of a `tokenizer.json`, and the rules by which texts are cut into them.

use std::collections::HashSet;

use serde_json::Value;

use super::kind::{damaged, unsupported};
use super::writer::Rules;
use crate::error::Error;
use crate::layout::Tokenizer;

/// Costs are in 1/1024 nat.
const NAT: f64 = 1024.0;
/// A character without a piece costs as much more than the rarest piece, in nats.
const UNKNOWN: f64 = 10.0;

/// A piece as its tokenizer numbers it.
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) flag: bool,
    pub(super) cost: u16,
    pub(super) id: usize,
}

/// Parses a `tokenizer.json`.
pub(super) fn parse(bytes: &[u8]) -> Result<Value, Error> {
    serde_json::from_slice(bytes).map_err(|error| damaged(format!("not JSON: {error}")))
}

/// Reads a `tokenizer.json` with a `WordPiece` or Unigram model.
pub(super) fn read(file: &Value) -> Result<(Vec<Piece>, Rules), Error> {
    let special = special_pieces(file);
    let normalizers = kinds(&file["normalizer"]);
    let (mut pieces, mut rules) = match file["model"]["type"].as_str() {
        Some("WordPiece") => word_pieces(file)?,
        Some("Unigram") => unigram_pieces(file)?,
        other => {
            let name = other.unwrap_or("of no type");
            return Err(unsupported(format!("the tokenizer's model is {name}")));
        }
    };
    pieces.retain(|piece| {
        let name = if piece.flag { None } else { special.get(piece.text.as_str()) };
        name.is_none() && (1..=255).contains(&piece.text.len())
    });
    rules.folds_case |= normalizers.contains(&"Lowercase");
    Ok((pieces, rules))
}

/// The id of the first of these pieces that a `tokenizer.json` has, special ones included.
#[cfg(feature = "transformer")]
pub(super) fn id(file: &Value, names: &[&str]) -> Option<usize> {
    let vocabulary = &file["model"]["vocab"];
    let id_of = |name: &&str| match vocabulary.as_array() {
        Some(pieces) => pieces.iter().position(|piece| piece[0].as_str() == Some(name)),
        None => usize::try_from(vocabulary[name].as_u64()?).ok(),
    };
    names.iter().find_map(id_of)
}

/// The pieces that no text has: starts, ends, paddings.
fn special_pieces(file: &Value) -> HashSet<&str> {
    let added = file["added_tokens"].as_array().map(Vec::as_slice).unwrap_or_default();
    let special = added.iter().filter(|token| token["special"].as_bool() == Some(true));
    special.filter_map(|token| token["content"].as_str()).collect()
}

/// The types of a normalizer and of those in its sequence.
fn kinds(normalizer: &Value) -> Vec<&str> {
    let inner = normalizer["normalizers"].as_array().map(Vec::as_slice).unwrap_or_default();
    let all = std::iter::once(normalizer).chain(inner);
    all.filter_map(|one| one["type"].as_str()).collect()
}

fn word_pieces(file: &Value) -> Result<(Vec<Piece>, Rules), Error> {
    let vocabulary =
        file["model"]["vocab"].as_object().ok_or_else(|| unsupported("no vocabulary"))?;
    let prefix = file["model"]["continuing_subword_prefix"].as_str().unwrap_or("##");
    let pieces = vocabulary.iter().filter_map(|(text, id)| {
        let rest = text.strip_prefix(prefix).filter(|rest| !rest.is_empty());
        Some(Piece {
            text: rest.unwrap_or(text).to_owned(),
            flag: rest.is_some(),
            cost: 0,
            id: usize::try_from(id.as_u64()?).ok()?,
        })
    });
    let normalizer = &file["normalizer"];
    let folds_case = normalizer["lowercase"].as_bool().unwrap_or(false);
    let rules = Rules {
        tokenizer: Tokenizer::WordPiece,
        folds_case,
        // As in BERT: without a setting, accents go where upper case goes.
        strips_accents: normalizer["strip_accents"].as_bool().unwrap_or(folds_case),
        unknown: 0,
    };
    Ok((pieces.collect(), rules))
}

fn unigram_pieces(file: &Value) -> Result<(Vec<Piece>, Rules), Error> {
    let vocabulary =
        file["model"]["vocab"].as_array().ok_or_else(|| unsupported("no vocabulary"))?;
    let unknown = file["model"]["unk_id"].as_u64();
    let mut pieces = Vec::with_capacity(vocabulary.len());
    let mut most = 0.0_f64;
    for (id, entry) in vocabulary.iter().enumerate() {
        let (Some(text), Some(score)) = (entry[0].as_str(), entry[1].as_f64()) else {
            return Err(damaged(format!("piece {id} has no score")));
        };
        most = most.max(-score);
        if Some(id as u64) != unknown {
            let cost = units(-score).min(u32::from(u16::MAX)) as u16;
            pieces.push(Piece { text: text.to_owned(), flag: false, cost, id });
        }
    }
    let rules = Rules {
        tokenizer: Tokenizer::SentencePiece,
        folds_case: false,
        strips_accents: false,
        unknown: units(most + UNKNOWN),
    };
    Ok((pieces, rules))
}

/// A cost of so many nats in the unit of the file; 0 for one below 0.
#[expect(clippy::cast_sign_loss, reason = "a negative cost becomes 0")]
fn units(nats: f64) -> u32 {
    (nats * NAT).round() as u32
}
