//! The parser of TOML values into values of settings.

use std::ops::Range;
use std::time::Duration;

use data_encoding::BASE64;
use serde_json::{Map, Value as Json};
use toml_edit::{Item, TableLike, Value as TomlValue};

use super::schema::{Show, Value};
use repertoire::diagnostic::Code;
use repertoire::disclosure::{Budget, RelevanceMargin};

/// The maximum time in a setting, in seconds: a year.
const MAX_SECONDS: f64 = 365.0 * 24.0 * 60.0 * 60.0;

/// The maximum length of the name of a model, in bytes.
const MAX_MODEL_NAME: usize = 64;

/// The reason why a value is not accepted.
pub(super) struct Problem {
    pub(super) code: Code,
    pub(super) message: String,
    pub(super) help: String,
    pub(super) span: Option<Range<usize>>,
}

impl Problem {
    pub(super) fn new(code: Code, message: impl Into<String>, help: impl Into<String>) -> Problem {
        Problem { code, message: message.into(), help: help.into(), span: None }
    }

    pub(super) fn at(mut self, value: &TomlValue) -> Problem {
        self.span = value.span();
        self
    }
}

pub(super) fn kind_of(item: &Item) -> &'static str {
    match item {
        Item::Value(value) => kind_of_value(value),
        Item::ArrayOfTables(_) => "a list of tables",
        _ => "a table",
    }
}

pub(super) fn kind_of_value(value: &TomlValue) -> &'static str {
    match value {
        TomlValue::String(_) => "a text",
        TomlValue::Integer(_) => "a whole number",
        TomlValue::Float(_) => "a number",
        TomlValue::Boolean(_) => "true or false",
        TomlValue::Datetime(_) => "a date",
        TomlValue::Array(_) => "a list",
        TomlValue::InlineTable(_) => "a table",
    }
}

#[expect(clippy::cast_precision_loss, reason = "no setting takes a number that large")]
pub(super) fn number(item: &Item) -> Option<f64> {
    item.as_float().or_else(|| item.as_integer().map(|n| n as f64))
}

/// Parses a time: a number of seconds, or a text with a unit. It must be above zero and at least
/// `least`. Returns `None` for a value of the wrong kind.
pub(super) fn time(item: &Item, least: Duration) -> Option<Result<Value, Problem>> {
    let seconds = match item.as_str() {
        Some(text) => with_unit(text.trim()),
        None => Some(number(item)?),
    };
    let seconds = seconds.filter(|n| (0.0..=MAX_SECONDS).contains(n));
    let time = seconds.and_then(|n| Duration::try_from_secs_f64(n).ok());
    let time = time.filter(|time| !time.is_zero() && *time >= least);
    Some(time.map(Value::Seconds).ok_or_else(|| {
        let least = match least.as_secs() {
            0 => "above zero".to_owned(),
            seconds => format!("at least {seconds} seconds"),
        };
        let message = format!("the time must be {least}, and at most a year");
        let help = "write a number of seconds, such as `2.5`, or a text such as `\"15m\"`";
        Problem::new(Code::InvalidValue, message, help)
    }))
}

/// Parses a time such as `90s`, `15m`, `2h` or `1d`, in seconds.
fn with_unit(text: &str) -> Option<f64> {
    let units = [("s", 1.0), ("m", 60.0), ("h", 3600.0), ("d", 86_400.0)];
    let (number, seconds) =
        units.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)))?;
    // `f64` would also accept `1e3` and `inf`.
    let is_plain = number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    number.parse::<f64>().ok().filter(|_| is_plain).map(|number| number * seconds)
}

/// Parses a budget. Returns `None` for a value of the wrong kind.
pub(super) fn budget(item: &Item) -> Option<Result<Value, Problem>> {
    let text = match (item.as_integer(), item.as_str()) {
        (Some(n_characters), _) => n_characters.to_string(),
        (None, text) => text?.trim().to_owned(),
    };
    // Check only the form, with any size of the window: the real size is another setting.
    Some(match Budget::parse(&text, Some(1)) {
        Ok(_) => Ok(Value::Budget(text)),
        Err(error) => Err(Problem::new(Code::InvalidValue, error.message(), error.help())),
    })
}

/// Parses a margin of relevance. Returns `None` for a value of the wrong kind.
pub(super) fn margin(item: &Item) -> Option<Result<Value, Problem>> {
    let mut margin = RelevanceMargin::default();
    if let Some(is_on) = item.as_bool() {
        return Some(Ok(Value::Margin(is_on.then_some(margin))));
    }
    let wrong = |message: String| {
        let help = "write a table such as `{ worth = 1.6, lead = 0.9, words = 2 }`";
        Some(Err(Problem::new(Code::WrongType, message, help)))
    };
    for (key, item) in item.as_table_like()?.iter() {
        #[expect(clippy::cast_possible_truncation, reason = "a margin has few digits")]
        let number = number(item).map(|n| n as f32).filter(|n| *n >= 0.0 && n.is_finite());
        let count = item.as_integer().and_then(|n| usize::try_from(n).ok());
        let set = match key {
            "worth" => number.map(|n| margin.worth = n).ok_or("a number"),
            "lead" => number.map(|n| margin.lead = n).ok_or("a number"),
            "words" => count.map(|n| margin.words = n).ok_or("a whole number"),
            _ => return wrong(format!("there is no key `{key}` in this table")),
        };
        if let Err(kind) = set {
            return wrong(format!("`{key}` must be {kind} of at least 0"));
        }
    }
    Some(Ok(Value::Margin(Some(margin))))
}

pub(super) fn json_of_table(table: &dyn TableLike) -> Map<String, Json> {
    table.iter().map(|(key, item)| (key.to_owned(), json_of(item))).collect()
}

fn json_of(item: &Item) -> Json {
    match item {
        Item::None => Json::Null,
        Item::Value(value) => json_of_value(value),
        Item::Table(table) => Json::Object(json_of_table(table)),
        Item::ArrayOfTables(tables) => {
            tables.iter().map(|table| Json::Object(json_of_table(table))).collect()
        }
    }
}

fn json_of_value(value: &TomlValue) -> Json {
    match value {
        TomlValue::String(text) => text.value().as_str().into(),
        TomlValue::Integer(n) => (*n.value()).into(),
        TomlValue::Float(n) => (*n.value()).into(),
        TomlValue::Boolean(is_true) => (*is_true.value()).into(),
        TomlValue::Datetime(time) => time.value().to_string().into(),
        TomlValue::Array(array) => array.iter().map(json_of_value).collect(),
        TomlValue::InlineTable(table) => Json::Object(json_of_table(table)),
    }
}

/// Tells whether a text has the form of a `minisign` public key: in Base64, the name of the algorithm
/// (`Ed`), the id of the key in eight bytes, and an Ed25519 key.
pub(super) fn is_public_key(text: &str) -> bool {
    BASE64.decode(text.as_bytes()).is_ok_and(|bytes| bytes.len() == 42 && bytes.starts_with(b"Ed"))
}

/// Tells whether a text can be the name of a model of meaning, and so of a file.
pub(super) fn is_model_name(name: &str) -> bool {
    let is_legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.len() <= MAX_MODEL_NAME
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(is_legal)
}

/// Reads the table `show`, in the order of the file. A value that is not a text is kept as it is written, to be
/// reported.
pub(super) fn shown(table: &dyn TableLike) -> Vec<Show> {
    let mut shown = Vec::new();
    for (skills, item) in table.iter() {
        let (skills, of_agent) = (skills.to_owned(), item.as_table_like());
        if let Some(of_agent) = of_agent {
            let of_agent = of_agent.iter().map(|(name, item)| Show {
                agent: Some(skills.clone()),
                skills: name.to_owned(),
                value: item.as_str().map_or_else(|| item.to_string(), str::to_owned),
            });
            shown.extend(of_agent);
        } else {
            let value = item.as_str().map_or_else(|| item.to_string(), str::to_owned);
            shown.push(Show { agent: None, skills, value });
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_in_a_margin_is_named() {
        for (table, wanted) in [
            ("{ worth = -1 }", "`worth` must be"),
            ("{ worth = 1, lead = \"x\" }", "`lead` must be"),
            ("{ words = 0.5 }", "`words` must be"),
            ("{ worth = 1, x = 1 }", "no key `x`"),
        ] {
            let problem = margin(&table.parse().unwrap()).unwrap().unwrap_err();
            assert!(problem.message.contains(wanted), "{table}: {}", problem.message);
        }
    }

    #[test]
    fn keys_are_known_by_their_form() {
        let key = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
        assert!(is_public_key(key));
        for text in ["", "RWQ", &key[1..], &key.replace("RWQ", "AAA"), &format!("{key} ")] {
            assert!(!is_public_key(text), "{text}");
        }
    }
}
