//! The forms in which a skill, or a list of skills, is written.
//!
//! | form | means |
//! |---|---|
//! | `id`, path of the directory or file, unique name | the skill |
//! | `/id`, `$id`, `@id` | the skill, as in a message |
//! | `plugin:id` | the skill `plugin/id`, else `id` |
//! | any letter case, `_`, a blank or another dash for `-`, invisible characters | the skill, if no other one is meant literally |
//! | `` `id` ``, `"id"`, `id.`, `the id skill`, `Skill(id)`, `skill://id`, `[id](…)`, `id.md` | the skill, as in prose and in code |
//! | `skills/id`, `skills/id/SKILL.md`, `plugin/id` | the only skill with this id or name |
//! | `skills\id` | the same with `/`, if nothing has a `\` in its name |
//! | `acme-*` | in a list: all skills with such an id or name |
//! | `a, b` | in a list: both, if no skill has this name |

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use repertoire_text::compared;

use super::{Entry, is_skill_file};
use crate::skill::{SkillId, is_comma};

/// The readings of `written`, the most literal one first.
pub(crate) fn readings(written: &str) -> impl Iterator<Item = Cow<'_, str>> {
    readings_as_written(written).chain(inside(written).into_iter().flat_map(readings_as_written))
}

/// Returns the name inside of `written`, if that has more than the name.
fn inside(written: &str) -> Option<&str> {
    let inside = unwrapped(written);
    (inside != written.trim()).then_some(inside)
}

fn readings_as_written(written: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let (literal, bare, plugin) = parts(written);
    let qualified = plugin.map(|(plugin, id)| Cow::Owned(format!("{plugin}/{id}")));
    let plain = plugin.map(|(_, id)| Cow::Borrowed(id));
    [literal, bare].map(Cow::Borrowed).into_iter().chain(qualified).chain(plain)
}

/// Returns `written` without white space around it, also without its sigil, and that split into a plugin
/// and an id.
fn parts(written: &str) -> (&str, &str, Option<(&str, &str)>) {
    let literal = written.trim();
    let bare = literal.strip_prefix(['/', '$', '@']).unwrap_or(literal).trim_end_matches('/');
    let plugin = bare.rsplit_once(':').filter(|(plugin, id)| !plugin.is_empty() && !id.is_empty());
    (literal, bare, plugin)
}

/// Returns the name in `written` without what people and models put around it in prose, code and addresses.
fn unwrapped(written: &str) -> &str {
    const AROUND: &[char] =
        &['`', '"', '\'', '“', '”', '„', '‘', '’', '«', '»', '「', '」', '*', '<', '>', '[', ']'];
    const ENDS: &[char] = &['.', ':', ',', ';', '!', '?'];
    const BEFORE: [&str; 7] = ["skill://", "skill:", "skill ", "/skill ", "/skills ", "the ", "#"];
    let mut name = written.trim();
    loop {
        let before = name;
        // A link may be bold, in code, or end a sentence.
        let bare = name.trim_matches(['*', '`', '_']).trim_end_matches(ENDS);
        let link = bare.strip_prefix('[').and_then(|link| link.split_once("]("));
        name = link.filter(|(_, to)| to.ends_with(')')).map_or(name, |(text, _)| text);
        name = name.trim_matches(AROUND).trim_end_matches(ENDS).trim();
        for start in BEFORE {
            name = without_start(name, start).unwrap_or(name).trim_start();
        }
        let call = without_start(name, "skill(").and_then(|inside| inside.strip_suffix(')'));
        name = call.or_else(|| without_end(name, " skill")).unwrap_or(name);
        let is_file = !name.contains(['/', '\\']) && !is_skill_file(name.as_ref());
        name = without_end(name, ".md").filter(|_| is_file).unwrap_or(name);
        if name == before {
            return name;
        }
    }
}

fn without_start<'t>(text: &'t str, start: &str) -> Option<&'t str> {
    let (head, rest) = text.split_at_checked(start.len())?;
    head.eq_ignore_ascii_case(start).then_some(rest)
}

fn without_end<'t>(text: &'t str, end: &str) -> Option<&'t str> {
    let (rest, tail) = text.split_at_checked(text.len().checked_sub(end.len())?)?;
    tail.eq_ignore_ascii_case(end).then_some(rest)
}

/// Returns the last name of the relative path `written`: `x` of `skills/x/SKILL.md` and `acme/x`.
fn last_name(written: &str) -> Option<&str> {
    let written = unwrapped(written);
    let (_, path, _) = parts(written);
    let is_relative = !path.starts_with('/') && path == written.trim_end_matches('/');
    let (dir, name) = path.rsplit_once('/').filter(|_| is_relative)?;
    if is_skill_file(name.as_ref()) { dir.rsplit('/').next() } else { Some(name) }
}

/// The skills that a written form means.
pub(super) struct Meant<'a> {
    pub(super) entries: Vec<&'a Entry>,
    /// True if they are meant by a path: skills of several sources may have the same one.
    pub(super) by_path: bool,
}

/// Returns those of `entries` that `written` means: by the first of its [readings] that is an id, a path
/// or a name, else by one in another letter case; else the only one with the name at the end of a path.
/// Several have the same name, or the same path.
pub(super) fn meant<'a>(entries: &[&'a Entry], written: &str) -> Meant<'a> {
    let found = meant_as_written(entries, written);
    if found.entries.is_empty() && written.contains('\\') {
        return meant_as_written(entries, &written.replace('\\', "/"));
    }
    found
}

fn meant_as_written<'a>(entries: &[&'a Entry], written: &str) -> Meant<'a> {
    let found = meant_by(entries, &readings_as_written(written).collect::<Vec<_>>());
    let found = found
        .or_else(|| meant_by(entries, &readings_as_written(inside(written)?).collect::<Vec<_>>()));
    let at_end = || meant_by(entries, &[Cow::Borrowed(last_name(written)?)]);
    let only = || at_end().filter(|found| found.entries.len() == 1 && !found.by_path);
    found.or_else(only).unwrap_or(Meant { entries: Vec::new(), by_path: false })
}

fn meant_by<'a>(entries: &[&'a Entry], readings: &[Cow<'_, str>]) -> Option<Meant<'a>> {
    let matching = |is_meant: &dyn Fn(&Entry) -> bool| {
        let found: Vec<&Entry> = entries.iter().copied().filter(|entry| is_meant(entry)).collect();
        (!found.is_empty()).then_some(found)
    };
    for reading in readings.iter().filter(|reading| !reading.is_empty()) {
        let path = Path::new(&**reading);
        let by_id = || Some((matching(&|entry| entry.id == **reading)?, false));
        let by_path = || Some((matching(&|entry| answers_to_path(entry, path))?, true));
        let by_name = || Some((matching(&|entry| entry.skill.name() == *reading)?, false));
        if let Some((entries, by_path)) = by_id().or_else(by_path).or_else(by_name) {
            return Some(Meant { entries, by_path });
        }
    }
    let entries = readings.iter().map(|reading| compared(reading)).find_map(|reading| {
        matching(&|entry| compared(entry.id.as_str()) == reading)
            .or_else(|| matching(&|entry| compared(entry.skill.name()) == reading))
    })?;
    Some(Meant { entries, by_path: false })
}

/// The skills that lists name.
pub(super) struct Named<'a> {
    entries: Vec<&'a Entry>,
    ids: BTreeMap<&'a str, &'a SkillId>,
}

impl<'a> Named<'a> {
    pub(super) fn new(entries: impl Iterator<Item = &'a Entry>) -> Named<'a> {
        let entries: Vec<&Entry> = entries.collect();
        let ids = entries.iter().map(|entry| (entry.id.as_str(), &entry.id)).collect();
        Named { entries, ids }
    }

    /// Returns the skills that `written`, the name of one skill, means; several if they have the same name.
    pub(super) fn entries_of(&self, written: &str) -> Vec<&'a Entry> {
        meant(&self.entries, written).entries
    }

    /// Returns the ids of the skills that `written`, an entry of a list, names.
    pub(super) fn ids(&self, written: &str) -> BTreeSet<SkillId> {
        if let Some(id) = self.ids.get(written).copied() {
            return BTreeSet::from([id.clone()]);
        }
        let named = match patterns(written) {
            None => meant(&self.entries, written).entries,
            Some(patterns) => {
                let is_named = |entry: &&&Entry| {
                    let names = [entry.id.as_str(), entry.skill.name()];
                    patterns.iter().any(|pattern| names.iter().any(|name| is_like(name, pattern)))
                };
                self.entries.iter().filter(is_named).copied().collect()
            }
        };
        if named.is_empty() && written.contains(is_comma) {
            return written.split(is_comma).flat_map(|one| self.ids(one)).collect();
        }
        named.into_iter().map(|entry| entry.id.clone()).collect()
    }
}

/// Tells whether `written`, an entry of a list, may name a skill that has one of `names`.
pub fn may_name(written: &str, names: &[&str]) -> bool {
    match patterns(written) {
        Some(patterns) => {
            patterns.iter().any(|pattern| names.iter().any(|name| is_like(name, pattern)))
        }
        None => readings(written).any(|reading| {
            let reading = compared(&reading);
            names.iter().any(|name| compared(name) == reading)
        }),
    }
}

/// Returns the readings of `written` as a pattern; `None` if it is not one. `plugin:*` is not `*`: it
/// would name the skills of all plugins.
fn patterns(written: &str) -> Option<Vec<Cow<'_, str>>> {
    let (literal, bare, plugin) = parts(written);
    if !literal.contains('*') {
        return None;
    }
    Some(match plugin {
        Some((plugin, id)) => vec![Cow::Owned(format!("{plugin}/{id}"))],
        None => vec![Cow::Borrowed(literal), Cow::Borrowed(bare)],
    })
}

/// Tells whether `name` matches `pattern`, in which `*` stands for any text, in any letter case.
pub(super) fn is_like(name: &str, pattern: &str) -> bool {
    let (name, pattern) = (name.to_lowercase(), pattern.to_lowercase());
    let Some((start, rest)) = pattern.split_once('*') else { return name == pattern };
    let Some(mut left) = name.strip_prefix(start) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return left.ends_with(part);
        }
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    true
}

/// Tells whether `path` is that of the skill's directory or file: relative to the source's root, beginning
/// with the root as the source gives it, or absolute.
fn answers_to_path(entry: &Entry, path: &Path) -> bool {
    let dir = match path.file_name() {
        Some(name) if is_skill_file(name) => path.parent().unwrap_or(path),
        _ => path,
    };
    is_below_root(dir, &entry.relative_path)
        || entry.skill.dir_location().is_some_and(|known| leads_to(dir, known))
}

/// Tells whether `path` is `relative`, the path of a directory from the root of its source.
pub(super) fn is_below_root(path: &Path, relative: &str) -> bool {
    !relative.is_empty() && without_dot(path) == Path::new(relative)
}

/// Tells whether `path` is `known`, a path as its source gives it, or the absolute form of it: a relative
/// `known` is read from the working directory.
pub(super) fn leads_to(path: &Path, known: &Path) -> bool {
    let plain = without_dot(known);
    without_dot(path) == plain
        || path.ends_with(plain) && std::path::absolute(known).is_ok_and(|known| known == path)
}

fn without_dot(path: &Path) -> &Path {
    path.strip_prefix(".").unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read_from_literal_to_plain() {
        let all = |written| readings(written).map(Cow::into_owned).collect::<Vec<_>>();
        assert_eq!(all(" tdd "), ["tdd", "tdd"]);
        assert_eq!(all("$tdd/"), ["$tdd/", "tdd"]);
        assert_eq!(all("/kit:tdd"), ["/kit:tdd", "kit:tdd", "kit/tdd", "tdd"]);
        assert_eq!(all(":tdd"), [":tdd", ":tdd"]);
        assert_eq!(all(""), ["", ""]);
        assert_eq!(all("`/tdd`."), ["`/tdd`.", "`/tdd`.", "/tdd", "tdd"]);
    }

    #[test]
    fn names_are_taken_out_of_prose_and_code() {
        for written in [
            "`tdd`",
            "\"tdd\"",
            "'tdd'",
            "“tdd”",
            "**tdd**",
            "<tdd>",
            "[tdd]",
            "tdd.",
            "tdd:",
            "tdd,",
            "tdd skill",
            "the tdd skill",
            "The `tdd` Skill.",
            "skill tdd",
            "Skill(tdd)",
            "skill(\"tdd\")",
            "skill://tdd",
            "skill:tdd",
            "#tdd",
            "/skill tdd",
            "/skills `tdd`",
            "[tdd](skills/tdd/SKILL.md)",
            "**[tdd](../tdd/SKILL.md)**",
            "[`tdd`](tdd).",
            "tdd.md",
            "`tdd.MD`",
            " tdd!\n",
        ] {
            assert_eq!(unwrapped(written), "tdd", "{written}");
        }
        for written in ["tdd-skill", "/tdd", "kit:tdd", "skills", "", "skill-creator"] {
            assert_eq!(unwrapped(written), written);
        }
        for (written, name) in [
            ("skills/tdd", Some("tdd")),
            ("skills/tdd/SKILL.md", Some("tdd")),
            ("`.claude/skills/tdd/SKILL.md`", Some("tdd")),
            ("acme/tdd", Some("tdd")),
            ("acme/tdd/", Some("tdd")),
            ("/tmp/tdd", None),
            ("$acme/tdd", None),
            ("tdd", None),
            ("tdd/", None),
        ] {
            assert_eq!(last_name(written), name, "{written}");
        }
    }

    #[test]
    fn a_star_stands_for_any_text() {
        for (name, pattern, wanted) in [
            ("acme-mail", "acme-mail", true),
            ("acme-mail", "Acme-Mail", true),
            ("acme-mail", "acme", false),
            ("acme-mail", "acme-*", true),
            ("acme-mail", "*-mail", true),
            ("acme-mail", "a*-*l", true),
            ("acme-mail", "*", true),
            ("acme-mail", "acme-mail*", true),
            ("acme-mail", "*x*", false),
            ("aba", "ab*ba", false),
            ("", "*", true),
        ] {
            assert_eq!(is_like(name, pattern), wanted, "{name} {pattern}");
        }
    }

    #[test]
    fn a_pattern_of_a_plugin_stays_in_it() {
        for (written, names, wanted) in [
            ("kit:*", &["kit/tdd"][..], true),
            ("kit:*", &["tdd"], false),
            ("/acme-*", &["Acme-Doc"], true),
            ("kit:tdd", &["tdd"], true),
            ("$Code_Review", &["code-review"], true),
            ("tdd", &["bdd"], false),
        ] {
            assert_eq!(may_name(written, names), wanted, "{written} {names:?}");
        }
    }
}
