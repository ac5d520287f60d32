//! The fields that close a skill: they restrict who may invoke it, and with which tools.
//!
//! Whoever writes such a field wants it to count, and nobody sees that it does not. So it counts inside of
//! other fields, too, such as `metadata`, and in a line that YAML does not read as a field; and of two
//! values, the one that closes. A value that cannot be read closes.

use std::ops::Range;

use super::extract::parsed;
use super::fields::{Reader, at_commas_of_tools, excerpt};
use super::keys::{CLOSING_KEYS, normalized};
use super::spanned::Spanned;
use super::yaml::{Node, Value};
use crate::diagnostic::Code;

/// The values of the fields that close a skill.
#[derive(Default)]
pub(super) struct Closing {
    /// True if only the user may invoke the skill.
    pub(super) disable_model: Option<Spanned<bool>>,
    /// False if the user may not invoke it.
    pub(super) user: Option<Spanned<bool>>,
    /// The tools that it may use.
    pub(super) tools: Option<Vec<Spanned<String>>>,
    /// The bytes of the file at which the keys begin.
    seen: Vec<usize>,
}

impl Closing {
    /// Reads the fields of the front matter with these `entries`, those among the entries that were `replaced` by
    /// later ones with the same key, and those of `lines` that are neither.
    pub(super) fn read(
        entries: &[(Node, Node)],
        replaced: &[(Node, Node)],
        lines: &[(Node, Node)],
        reader: &mut Reader<'_>,
    ) -> Closing {
        let mut closing = Closing::default();
        closing.read_map(entries, true, reader);
        closing.read_map(replaced, false, reader);
        for (key, value) in lines {
            let name = key.text().map(normalized).unwrap_or_default();
            let is_new = !closing.seen.contains(&key.span.start);
            if is_new && closing.read_field(&name, value, false, reader) {
                let line = excerpt(&reader.file[key.span.start..value.span.end]);
                let message =
                    format!("`{line}` counts although it is not a field as YAML reads it");
                let help =
                    "write it once, as `key: value`, on a line of its own that is not indented";
                reader.report(Code::RepairedYaml, key.span.clone(), message, help);
            }
        }
        closing
    }

    fn read_map(&mut self, entries: &[(Node, Node)], is_top: bool, reader: &mut Reader<'_>) {
        for (key, value) in entries {
            let name = key.text().map(normalized).unwrap_or_default();
            if CLOSING_KEYS.contains(&&*name) {
                self.seen.push(key.span.start);
            }
            match &value.value {
                // The schema of a field that has the same name.
                Value::Mapping(inner) if !is_top || !CLOSING_KEYS.contains(&&*name) => {
                    self.read_map(inner, false, reader);
                }
                _ => {
                    self.read_field(&name, value, is_top, reader);
                }
            }
        }
    }

    /// Reads one field, which opens nothing unless it `is_top`, at the top level. Tells whether it closes the
    /// skill.
    fn read_field(
        &mut self,
        name: &str,
        value: &Node,
        is_top: bool,
        reader: &mut Reader<'_>,
    ) -> bool {
        let closes_with = match name {
            "disable_model_invocation" | "user_invocable_only" => true,
            "allow_implicit_invocation" | "user_invocable" => false,
            "allowed_tools" if !value.is_null() && (is_top || self.tools.is_none()) => {
                self.tools = Some(reader.list(name, value, at_commas_of_tools));
                return true;
            }
            _ => return false,
        };
        let Some(flag) = reader.restriction(name, value, closes_with) else { return false };
        let closes = flag.value == closes_with;
        let (target, value) = match name {
            "user_invocable" => (&mut self.user, flag.value),
            _ => (&mut self.disable_model, flag.value == closes_with),
        };
        if closes || is_top && target.is_none() {
            *target = Some(Spanned { value, span: flag.span });
        }
        closes
    }
}

/// Returns the lines in the bytes `range` of `file` that are written like fields that close a skill, whatever
/// they are as YAML; `indented` ones, too, if wanted.
pub(super) fn lines(file: &str, range: Range<usize>, indented: bool) -> Vec<(Node, Node)> {
    let mut start = range.start;
    let lines = file[range].split_inclusive(['\n', '\r']).map(|line| {
        start += line.len();
        start - line.len()..start
    });
    let lines: Vec<Range<usize>> =
        lines.filter(|line| !file[line.clone()].trim().is_empty()).collect();
    let next = lines.iter().skip(1).map(Some).chain([None]);
    let field = |(line, next): (&Range<usize>, Option<&Range<usize>>)| {
        let is_followed_by_prose = next.is_some_and(|next| is_prose(&file[next.clone()]));
        let is_indented = file[line.clone()].starts_with([' ', '\t']);
        let counts = !is_followed_by_prose && (indented || !is_indented);
        counts.then(|| field(file, line.clone())).flatten()
    };
    lines.iter().zip(next).filter_map(field).collect()
}

/// Tells whether a line goes on with a sentence, so that the line above it is part of one.
fn is_prose(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with(char::is_alphanumeric) && !line.contains([':', '=', '：'])
}

/// Reads a line as a field that closes a skill, with `:` or `=` before a value of one word.
fn field(file: &str, line: Range<usize>) -> Option<(Node, Node)> {
    let written = file[line.clone()].trim_end();
    let content =
        written.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '?' | '{'));
    let start = line.start + written.len() - content.len();
    let end_of_key = content.find([':', '=', '：'])?;
    let key = content[..end_of_key].trim().trim_matches(['"', '\'', '`', '*']);
    let name = normalized(key);
    if !CLOSING_KEYS.contains(&&*name) {
        return None;
    }
    let rest = content[end_of_key..].trim_start_matches([':', '=', '：', '>', ' ', '\t', '`', '*']);
    let value_start = start + content.len() - rest.len();
    let value =
        rest.split(" #").next().unwrap_or_default().trim_end_matches([',', ';', '}', ' ', '\t']);
    let span = value_start..value_start + value.len();
    let is_tools = name == "allowed_tools";
    if !is_tools && (value.is_empty() || value.contains(char::is_whitespace)) {
        return None;
    }
    let scalar = |text: &str, span| Node {
        value: Value::Scalar { text: text.to_owned(), plain: false },
        span,
    };
    let value =
        if is_tools { parsed(file, span) } else { scalar(value.trim_matches(['"', '\'']), span) };
    Some((scalar(key, start..start + end_of_key), value))
}

#[cfg(test)]
mod tests {
    use crate::skill::{Manifest, Skill};

    fn manifest(text: &str) -> Manifest {
        text.parse::<Skill>().expect(text).manifest().clone()
    }

    #[test]
    fn a_field_that_closes_counts_wherever_it_stands() {
        for fields in [
            "disableModelInvocation: true",
            "DISABLE MODEL INVOCATION: True",
            "disable\u{2011}model\u{2011}invocation: yes",
            "userInvocableOnly: on",
            "allowImplicitInvocation: false",
            "policy: {allow_implicit_invocation: no}",
            "policy:\n  allow_implicit_invocation: never",
            "metadata: {disable-model-invocation: true}",
            "metadata:\n  repertoire:\n    user_invocable_only: true",
            "metadata: {acme: {userInvocableOnly: sure}}",
            "repertoire: {disable-model-invocation: true}",
            "acme: {disable-model-invocation: true, colour: red}",
            "  disable-model-invocation: true",
            "\tdisable-model-invocation: true",
            "disable-model-invocation= true",
            "disable-model-invocation = \"true\"",
            "disable-model-invocation:true",
            "disable-model-invocation：true",
            "- disable-model-invocation: true",
            "\"disable-model-invocation\": true,",
            "disable-model-invocation: true\ndisable-model-invocation: false",
            "disable-model-invocation: false\ndisableModelInvocation: true",
            "user_invocable_only: true\ndisable-model-invocation: false",
            "disable-model-invocation: false\nmetadata: {disable-model-invocation: true}",
            "disable-model-invocation: true\ndisable-model-invocation:",
            "brief_description: |\n  Rotates.\n  disable-model-invocation: true",
            "metadata: {disable-model-invocation: true, disable-model-invocation: false}",
            "metadata: {disable-model-invocation: false, disable-model-invocation: true}",
            "metadata: {a: {user_invocable_only: on, user_invocable_only: off}}",
            "metadata: {disable-model-invocation: true}\nmetadata: {x: 1}",
            "policy: {allow_implicit_invocation: no, allow_implicit_invocation: yes}",
            "\"disable-model-invocation\": true\n'disable-model-invocation': false",
            "? disable-model-invocation\n: true\n? disable-model-invocation\n: false",
        ] {
            let manifest = manifest(&format!("---\nname: a\ndescription: d\n{fields}\n---\nB\n"));
            assert!(manifest.is_model_invocation_disabled(), "{fields}");
            assert!(manifest.is_user_invocable(), "{fields}");
        }
        for fields in [
            "userInvocable: false",
            "User-Invocable: no",
            "metadata: {user-invocable: false}",
            "user-invocable= off",
            "  user-invocable: false",
            "user-invocable: false\nuser-invocable: true",
        ] {
            let manifest = manifest(&format!("---\nname: a\ndescription: d\n{fields}\n---\nB\n"));
            assert!(!manifest.is_user_invocable(), "{fields}");
            assert!(!manifest.is_model_invocation_disabled(), "{fields}");
        }
    }

    #[test]
    fn a_key_that_is_set_twice_is_a_finding_that_says_which_value_counts() {
        let restricts = "the value that restricts the skill is used";
        for (fields, used) in [
            ("metadata: {a: 1, a: 2}", "the last value is used"),
            ("metadata:\n  a: 1\n  a: 2", "the last value is used"),
            ("version: 1.0\nVersion: 2.0", "the last value is used"),
            ("allowed-tools: [Read]\nallowed-tools: [Bash]", "the last value is used"),
            ("metadata: {user-invocable: false, user-invocable: true}", restricts),
            ("disable-model-invocation: true\ndisable-model-invocation: false", restricts),
            ("disable-model-invocation: true\ndisableModelInvocation: false", restricts),
        ] {
            let text = format!("---\nname: a\ndescription: d\n{fields}\n---\nB\n");
            let loaded = crate::skill::load::load(&text, "");
            let messages: Vec<&str> = loaded.findings.iter().map(|of| &*of.message).collect();
            assert!(matches!(messages[..], [one] if one.ends_with(used)), "{fields}: {messages:?}");
        }
    }

    #[test]
    fn tools_are_limited_wherever_the_field_stands() {
        for (fields, tools) in [
            ("allowedTools: [Read, Grep]", &["Read", "Grep"][..]),
            ("ALLOWED TOOLS: Read Grep", &["Read", "Grep"]),
            ("metadata: {allowed-tools: [Read]}", &["Read"]),
            ("repertoire: {allowed_tools: Read}", &["Read"]),
            ("allowed-tools= Read, Grep", &["Read", "Grep"]),
            ("allowed-tools = [\"Read\", \"Grep\"]", &["Read", "Grep"]),
            ("  allowed-tools: Read", &["Read"]),
            ("  allowed-tools:\n    - Read", &[]),
            ("metadata: {allowed-tools: [Bash]}\nallowed-tools: Read", &["Read"]),
        ] {
            let manifest = manifest(&format!("---\nname: a\ndescription: d\n{fields}\n---\nB\n"));
            let found = manifest.allowed_tools.as_deref().expect(fields).iter();
            assert_eq!(found.map(|tool| &*tool.value).collect::<Vec<_>>(), tools, "{fields}");
        }
    }

    #[test]
    fn what_opens_or_only_speaks_of_such_a_field_closes_nothing() {
        for fields in [
            "disableModelInvocation: false",
            "disable-model-invocation:false",
            "disable-model-invocation= no",
            "disable-model-invocation: false\ndisable-model-invocation: off",
            "metadata: {disable-model-invocation: no, user-invocable: yes}",
            "policy: {allow_implicit_invocation: true}",
            "disable-model-invocations: true",
            "no-disable-model-invocation: true",
            "# disable-model-invocation: true",
            "brief_description: 'Set disable-model-invocation: true'",
            "inputs:\n  allowed_tools:\n    type: array",
            "brief_description: |\n  Write\n  disable-model-invocation: true\n  to hide a skill.",
            "brief_description: |\n  user-invocable: skills that the user starts",
            "inputs: {disable_model_invocation: {type: boolean}, allowed_tools: {type: array}}",
            "examples: {should: ['disable-model-invocation: true']}",
            "disableModelInvocation:",
            "allowedTools:",
        ] {
            let manifest = manifest(&format!("---\nname: a\ndescription: d\n{fields}\n---\nB\n"));
            assert!(!manifest.is_model_invocation_disabled(), "{fields}");
            assert!(manifest.is_user_invocable() && manifest.allowed_tools.is_none(), "{fields}");
        }
    }

    #[test]
    fn other_kinds_of_front_matter_close_as_well() {
        for text in [
            "+++\nname = \"a\"\ndisable-model-invocation = true\n+++\nBody\n",
            "---\rname: a\rdescription: d\rdisable-model-invocation: true\r---\rBody\r",
            "---\n{\"name\": \"a\", \"description\": \"d\", \"disableModelInvocation\": true}\n---\nB",
            "---\n{name: a, description: d, disableModelInvocation: true, disableModelInvocation: no}\n---\nB",
            "---\nname: a\ndescription: d\ndisableModelInvocation = true\n\n# Body\n",
            "```yaml\ndisableModelInvocation: true\n```\nBody\n",
        ] {
            assert!(
                Skill::parse(text, "")
                    .map_or(true, |skill| { skill.manifest().is_model_invocation_disabled() }),
                "{text}"
            );
        }
    }
}
