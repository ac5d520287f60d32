//! Compares values, and shows them in messages.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// The most texts that a message lists.
const MAX_LISTED: usize = 20;
/// The most characters of a text that a message shows.
const MAX_SHOWN: usize = 60;

/// Tells whether a value has the type of this name.
pub(super) fn is_type(name: &Value, value: &Value) -> bool {
    match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::Number(number) if name == "integer" => float(number).fract() == 0.0,
        Value::Number(_) => name == "number",
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
    }
}

/// Returns the steps that comparing a value takes.
pub(super) fn size(value: &Value) -> usize {
    1 + match value {
        Value::String(text) => text.len() / 64,
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(map) => map.values().map(size).sum(),
        _ => 0,
    }
}

fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or_default()
}

pub(super) fn compare(a: &Number, b: &Number) -> Ordering {
    match (a.as_i128(), b.as_i128()) {
        (Some(a), Some(b)) => a.cmp(&b),
        // Numbers in JSON are finite.
        _ => float(a).partial_cmp(&float(b)).unwrap_or(Ordering::Equal),
    }
}

pub(super) fn is_multiple(number: &Number, divisor: &Number) -> bool {
    let (number, divisor) = (float(number), float(divisor));
    if divisor.fract() == 0.0 {
        return number % divisor == 0.0;
    }
    // Decimal fractions are not exact: 0.3 / 0.1 is 2.9999999999999996.
    let quotient = number / divisor;
    (quotient - quotient.round()).abs() <= 4.0 * f64::EPSILON * quotient.abs()
}

/// Returns `value` with whole floats of 64 bits as integers, so that equal numbers are equal values.
pub(super) fn canonical(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(canonical).collect(),
        Value::Object(map) => map.iter().map(|(k, v)| (k.clone(), canonical(v))).collect(),
        Value::Number(number) if number.is_f64() => {
            let whole = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < 2e19);
            let whole = whole.and_then(|float| Number::from_i128(float as i128));
            whole.map_or_else(|| value.clone(), Value::Number)
        }
        other => other.clone(),
    }
}

/// Returns a short form of a value, for messages.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) => Value::from(shorten(text)).to_string(),
        other => other.to_string(),
    }
}

/// Returns a list of texts in back-ticks, for messages.
pub(super) fn list<T: AsRef<str>>(texts: impl Iterator<Item = T>, separator: &str) -> String {
    let mut texts = texts.map(|text| format!("`{}`", shorten(text.as_ref())));
    let first = texts.by_ref().take(MAX_LISTED).collect::<Vec<_>>().join(separator);
    if texts.next().is_some() { first + ", …" } else { first }
}

pub(super) fn shorten(text: &str) -> String {
    let mut chars = text.chars();
    let first: String = chars.by_ref().take(MAX_SHOWN).collect();
    if chars.next().is_some() { first + "…" } else { first }
}
