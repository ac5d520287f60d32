//! The forms that values of settings of Claude Code have.

use serde_json::Value;

/// The form of a value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    /// `true` or `false`.
    Switch,
    Text,
    /// A text that is not empty.
    Filled,
    /// A time of day in 24 hours, such as `7:00`.
    Time,
    Number,
    Any,
    /// A number from the first to the second.
    Range(f64, f64),
    /// A number above the first, up to the second.
    Above(f64, f64),
    /// A whole number, at least this one.
    Integer(i64),
    /// One of these words, which blanks separate.
    Words(&'static str),
    List(&'static Form),
    /// A map from any names to values of one form.
    Map(&'static Form),
    /// A map with any values.
    Object,
    /// A map that may have these keys, and must have those with `!` at the end. It may have others.
    Keys(&'static [(&'static str, Form)]),
    Either(&'static [Form]),
}

/// Returns the name and the value of the innermost part of `value`, the setting `name`, that has another form.
pub(super) fn wrong(name: &str, form: Form, value: &Value) -> Option<(String, Value)> {
    let itself = || Some((name.to_owned(), value.clone()));
    match form {
        Form::List(form) => match value.as_array() {
            Some(list) => list.iter().find_map(|value| wrong(name, *form, value)),
            None => itself(),
        },
        Form::Map(form) => match value.as_object() {
            Some(map) => {
                map.iter().find_map(|(key, value)| wrong(&format!("{name}.{key}"), *form, value))
            }
            None => itself(),
        },
        Form::Keys(keys) => match value {
            Value::Object(_) => {
                keys.iter().find_map(|(key, form)| wrong_key(name, key, *form, value))
            }
            _ => itself(),
        },
        Form::Either(forms) => {
            if forms.iter().any(|form| wrong(name, *form, value).is_none()) {
                return None;
            }
            // A map is told by its part.
            let maps =
                forms.iter().filter(|form| matches!(form, Form::Keys(_)) && value.is_object());
            maps.into_iter().find_map(|form| wrong(name, *form, value)).or_else(itself)
        }
        _ if is_of(form, value) => None,
        _ => itself(),
    }
}

fn wrong_key(name: &str, key: &str, form: Form, map: &Value) -> Option<(String, Value)> {
    let (key, is_demanded) = key.strip_suffix('!').map_or((key, false), |key| (key, true));
    match map.get(key) {
        Some(value) => wrong(&format!("{name}.{key}"), form, value),
        // Told with the whole map, in which the key is missing.
        None => is_demanded.then(|| (name.to_owned(), map.clone())),
    }
}

/// Tells whether a value without parts has the form.
fn is_of(form: Form, value: &Value) -> bool {
    let number = value.as_f64();
    match form {
        Form::Switch => value.is_boolean(),
        Form::Text => value.is_string(),
        Form::Filled => value.as_str().is_some_and(|value| !value.is_empty()),
        Form::Time => value.as_str().is_some_and(is_time),
        Form::Number => number.is_some(),
        Form::Any => true,
        Form::Range(from, to) => number.is_some_and(|number| (from..=to).contains(&number)),
        Form::Above(from, to) => number.is_some_and(|number| number > from && number <= to),
        #[expect(clippy::cast_precision_loss, reason = "a small number, or the smallest")]
        Form::Integer(from) => {
            number.is_some_and(|number| number.fract() == 0.0 && number >= from as f64)
        }
        Form::Words(words) => {
            value.as_str().is_some_and(|value| words.split(' ').any(|word| word == value))
        }
        Form::Object => value.is_object(),
        Form::List(_) | Form::Map(_) | Form::Keys(_) | Form::Either(_) => false,
    }
}

fn is_time(text: &str) -> bool {
    let within = |digits: &str, end: u8| {
        digits.bytes().all(|byte| byte.is_ascii_digit())
            && digits.parse::<u8>().is_ok_and(|number| number < end)
    };
    text.split_once(':').is_some_and(|(hour, minute)| {
        hour.len() <= 2 && within(hour, 24) && minute.len() == 2 && within(minute, 60)
    })
}
