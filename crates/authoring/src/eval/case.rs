//! A case: a prompt and the skills that are right for it, read from one entry of a file.

use serde::Serialize;
use serde_json::Value;

use super::fields::{Fields, kind, names};
use super::spellings::{MAYBE_PROSE, Role, normal, polarity, verdict};

/// A prompt with the skills that it should and should not fire, under the names that the file uses.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Case {
    /// The user's message.
    pub query: String,
    /// The skills that should fire.
    pub expected: Vec<String>,
    /// Skills that must not fire.
    pub forbidden: Vec<String>,
    /// Skills that may fire.
    pub acceptable: Vec<String>,
    /// The file with the prompt, under the name that the caller gave.
    pub file: String,
    /// The line where the prompt begins, from 1.
    pub line: usize,
}

/// A problem because of which an entry, or the rest of a file, is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Problem {
    /// The file, under the name that the caller gave.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The problem, and the correct form.
    pub message: String,
}

/// The context of an entry: what the maps around it say.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Context<'a> {
    /// The skill to which the prompts belong.
    pub(super) skill: Option<&'a str>,
    /// The answer to whether the skill should fire, unless an entry has its own.
    pub(super) fires: Option<bool>,
}

/// Reads an entry of a list: a map, or the text of a prompt that should fire the skill of its file.
pub(super) fn of_entry(entry: &Value, context: Context<'_>) -> Result<Case, String> {
    let Value::Object(map) = entry else {
        if let (Value::String(_), Some(skill)) = (entry, context.skill) {
            return of_prompt(entry, skill, context.fires.unwrap_or(true));
        }
        let kind = kind(entry);
        return Err(format!(
            "this is {kind}, not a map with a `query`: write \
             `{{\"query\": \"…\", \"expected_skill\": \"NAME\"}}`"
        ));
    };
    let fields = Fields::of(map);
    let mut case = Case {
        query: query(&fields)?,
        forbidden: all_names(&fields, Role::Forbidden)?,
        acceptable: all_names(&fields, Role::Acceptable)?,
        ..Case::default()
    };
    let several = several_skills(&fields, context)?;
    let skill = match several {
        Some(_) => None,
        None => own_skill(&fields)?.or_else(|| context.skill.map(str::to_owned)),
    };
    let flag = flag(&fields)?.or_else(|| verdict_in(&fields, Role::Expected, skill.is_some()));
    let expected = expected(&fields, flag.or(context.fires).is_some(), skill.is_some())?;
    let lists = Lists::of(&fields)?;
    case.forbidden.extend(lists.forbidden);
    let expected = expected.or(lists.expected).or(several);
    let kind = || verdict_in(&fields, Role::Kind, true).filter(|_| expected.is_none());
    let fires = flag.or(context.fires).or_else(kind);
    settle(&mut case, fires, expected, skill)?;
    match case.expected.iter().find(|name| case.forbidden.contains(name)) {
        Some(both) => {
            Err(format!("`{both}` is both expected and forbidden: remove one of the two"))
        }
        None => Ok(case),
    }
}

/// Sets the skills that should fire, and adds those that must not, from what an entry says: a flag, the
/// expected skills, and the skill to which it belongs.
fn settle(
    case: &mut Case,
    fires: Option<bool>,
    expected: Option<Vec<String>>,
    skill: Option<String>,
) -> Result<(), String> {
    match (fires, expected, skill) {
        (None, Some(expected), _) => case.expected = expected,
        // The first of several acceptable skills stands for the one that should fire.
        (None, None, _) if !case.acceptable.is_empty() => {
            case.expected = vec![case.acceptable.remove(0)];
        }
        (None, None, _) if !case.forbidden.is_empty() => {}
        (None, None, None) => {
            return Err("it does not say what is expected: add `should_trigger` (true or false), \
                        or `expected_skill` (a name, or null for none)"
                .to_owned());
        }
        (Some(true), Some(expected), _) if !expected.is_empty() => case.expected = expected,
        // Without a flag, too: prompts that are kept with a skill are mostly tests of that skill.
        (Some(true), _, Some(skill)) | (None, None, Some(skill)) => case.expected = vec![skill],
        (Some(false), expected, Some(skill)) => {
            // In a file about one skill, `expected` may just repeat that skill, although it should not
            // fire.
            case.expected = expected.unwrap_or_default();
            case.expected.retain(|expected| *expected != skill);
            case.forbidden.push(skill);
        }
        (Some(false), expected, None) => case.forbidden.extend(expected.unwrap_or_default()),
        (Some(true), _, None) => {
            return Err("it does not say which skill should fire: add `expected_skill`, name the \
                        skill of all prompts, keep the file below the directory of its skill, \
                        or name it after the skill"
                .to_owned());
        }
    }
    Ok(())
}

/// Reads an entry of a list of prompts that should fire `skill` (if `fires`) or should not.
pub(super) fn of_prompt(entry: &Value, skill: &str, fires: bool) -> Result<Case, String> {
    match entry {
        Value::Object(_) => of_entry(entry, Context { skill: Some(skill), fires: Some(fires) }),
        Value::String(text) => {
            let query = not_blank(text)?;
            let skill = vec![skill.to_owned()];
            let case = Case { query, ..Case::default() };
            Ok(if fires {
                Case { expected: skill, ..case }
            } else {
                Case { forbidden: skill, ..case }
            })
        }
        _ => {
            let kind = kind(entry);
            Err(format!("this is {kind}, not a prompt: write text, or a map with a `prompt`"))
        }
    }
}

/// Tells whether a map is an entry: it has a prompt and says what is expected.
pub(super) fn is_entry(fields: &Fields<'_>) -> bool {
    fields.first(Role::Prompt).is_some() && fields.say_what_is_expected()
}

/// The skills in the lists under `should_trigger` and `should_not_trigger` beside a prompt.
#[derive(Default)]
struct Lists {
    expected: Option<Vec<String>>,
    forbidden: Vec<String>,
}

impl Lists {
    fn of(fields: &Fields<'_>) -> Result<Lists, String> {
        let mut lists = Lists::default();
        for (key, value, fires) in fields.polarities().filter(|(_, value, _)| value.is_array()) {
            if fires {
                lists.expected.get_or_insert_default().extend(names(key, value)?);
            } else {
                lists.forbidden.extend(names(key, value)?);
            }
        }
        Ok(lists)
    }
}

/// The skills under `skill` if these are a list, or null for none where nothing around the entry names one.
fn several_skills(
    fields: &Fields<'_>,
    context: Context<'_>,
) -> Result<Option<Vec<String>>, String> {
    let is_said = fields.all(Role::Skill).any(|(_, value)| !value.is_null() && !value.is_array());
    let said = fields
        .all(Role::Skill)
        .find(|(_, value)| value.is_array() || context.skill.is_none() && context.fires.is_none());
    said.filter(|_| !is_said).map(|(key, value)| names(key, value)).transpose()
}

/// The skill to which a map says it belongs.
pub(super) fn own_skill(fields: &Fields<'_>) -> Result<Option<String>, String> {
    match fields.first(Role::Skill) {
        None => Ok(None),
        Some((_, Value::String(name))) => {
            Ok(Some(name.trim()).filter(|name| !name.is_empty()).map(str::to_owned))
        }
        Some((key, other)) => {
            Err(format!("`{key}` is {}, not a name: write the name of the skill", kind(other)))
        }
    }
}

fn query(fields: &Fields<'_>) -> Result<String, String> {
    match fields.first(Role::Prompt) {
        Some((_, Value::String(text))) => not_blank(text),
        Some((key, other)) => {
            Err(format!("`{key}` is {}, not text: write the prompt as text", kind(other)))
        }
        None => Err("it has no `query`, `prompt` or `input`: add what the user wrote".to_owned()),
    }
}

fn not_blank(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        Err("the prompt is blank: write what the user wrote, or remove the entry".to_owned())
    } else {
        Ok(text.to_owned())
    }
}

/// The answer to whether the skill should fire, if a key of the map asks that.
pub(super) fn flag(fields: &Fields<'_>) -> Result<Option<bool>, String> {
    let plain = fields.all(Role::Flag).map(|(key, value)| (key, value, true));
    let mut flags = plain.chain(fields.polarities());
    let Some((key, value, of_true)) =
        flags.find(|(_, value, _)| !value.is_null() && !value.is_array())
    else {
        return Ok(None);
    };
    let says = match value {
        Value::Bool(flag) => Some(*flag),
        Value::Number(number) => number.as_u64().filter(|n| *n <= 1).map(|n| n == 1),
        Value::String(text) => verdict(text),
        _ => None,
    };
    let says = says.ok_or_else(|| {
        format!(
            "`{key}` is {}, not true or false: write `true` if the skill should fire, else `false`",
            kind(value)
        )
    })?;
    Ok(Some(says == of_true))
}

/// The answer to whether the skill should fire, if a text under a key of `role` is one. Without a skill
/// that the answer is about, `route` and `positive` are names, while `do-not-route` names no skill.
fn verdict_in(fields: &Fields<'_>, role: Role, has_skill: bool) -> Option<bool> {
    let read = if role == Role::Kind { polarity_of } else { verdict };
    let mut says = fields.all(role).filter_map(|(_, value)| value.as_str().and_then(read));
    says.find(|fires| has_skill || !fires)
}

/// Reads a classification. Verbs alone say nothing there: the kind `route` is that of a test.
fn polarity_of(text: &str) -> Option<bool> {
    polarity(&normal(text))
}

/// The skills that should fire: an empty list if none should, `None` if the entry does not say.
/// `says_whether` tells that a flag applies to the entry, `has_skill` that it belongs to a skill.
fn expected(
    fields: &Fields<'_>,
    says_whether: bool,
    has_skill: bool,
) -> Result<Option<Vec<String>>, String> {
    // Entries about one skill often hold the expected answer in `expected`.
    let is_prose = |key: &str, value: &Value| {
        (says_whether || has_skill)
            && MAYBE_PROSE.contains(&&*normal(key))
            && value.as_str().is_some_and(|text| text.trim().contains(char::is_whitespace))
    };
    let is_verdict =
        |value: &Value| value.as_str().and_then(verdict).is_some_and(|fires| has_skill || !fires);
    let is_left_out = |key: &str, value: &Value| is_prose(key, value) || is_verdict(value);
    let mut expected = None;
    for (key, value) in fields.all(Role::Expected).filter(|(key, value)| !is_left_out(key, value)) {
        let names = names(key, value)?;
        if !names.is_empty() {
            return Ok(Some(names));
        }
        let says_other = value.as_object().is_some_and(|map| !map.is_empty());
        expected = expected.or_else(|| (!says_other).then_some(names));
    }
    Ok(expected)
}

fn all_names(fields: &Fields<'_>, role: Role) -> Result<Vec<String>, String> {
    let lists = fields.all(role).map(|(key, value)| names(key, value));
    Ok(lists.collect::<Result<Vec<_>, _>>()?.concat())
}
