//! Renders disclosures as Markdown, XML or JSON. Text of skills is escaped for the format as far as it could
//! pass for a part of the disclosure itself.

mod body;
mod fences;
mod xml;

use std::borrow::{Borrow, Cow};
use std::path::Path;
use std::str::FromStr;

use repertoire_text::invisible::without_invisible;
use serde_json::json;

use super::shorten::{one_line, path_line};
use crate::catalog::Entry;
use crate::catalog::files::BundledFiles;
use crate::error::{Error, choose};
use crate::skill::placeholder::{ARGUMENTS, Directories, has_commands, with_directories};
use body::push_markdown_body;
pub(super) use body::without_headings;
use xml::quoted;
pub(crate) use xml::{attribute, xml_body, xml_text};

/// The format of prompt text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Format {
    /// Headings and lists.
    #[default]
    Markdown,
    /// Elements; text escaped, bodies with markup in CDATA sections.
    Xml,
    /// One object.
    Json,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 3] = [Format::Markdown, Format::Xml, Format::Json];

    /// The name of the format, as on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Markdown => "markdown",
            Format::Xml => "xml",
            Format::Json => "json",
        }
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(text: &str) -> Result<Format, Error> {
        choose("a format of prompt text", text, &Format::ALL, Format::as_str)
    }
}

/// Renders the files that come with a skill as a list under a heading, and `more` as their number;
/// nothing if there are none.
pub(crate) fn file_list(files: &[String], more: usize, has_dir: bool) -> String {
    let files = files.iter().map(|file| format!("- {}\n", one_line(file)));
    let more = (more > 0).then(|| format!("[{more} more]\n"));
    let lines: String = files.chain(more).collect();
    let place = if has_dir { "in the base directory" } else { "of the skill" };
    if lines.is_empty() { lines } else { format!("\nFiles {place}:\n{lines}") }
}

/// Renders the files that come with a skill as an element; nothing if there are none.
pub(crate) fn file_elements(files: &[String], more: usize) -> String {
    if files.is_empty() && more == 0 {
        return String::new();
    }
    let more = if more > 0 { attribute("more", &more.to_string()) } else { String::new() };
    let files = files.iter().map(|file| format!("<file>{}</file>\n", xml_text(&one_line(file))));
    format!("<files{more}>\n{}</files>\n", files.collect::<String>())
}

/// The note that explains the placeholder for arguments. A disclosure keeps the placeholder, as there is
/// no command: the message takes the place of the arguments.
pub(crate) const ARGUMENTS_NOTE: &str = "$ARGUMENTS stands for what the user asks for.";

/// The note about commands in a body, whose output other agents insert.
pub(crate) const COMMANDS_NOTE: &str =
    "Commands written as !`command` were not run: run those whose output is needed.";

/// The statement about skills that are not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Remainder {
    /// The number of skills, none of which is shown.
    OnlyThese(usize),
    /// The number of further skills.
    More(usize),
    /// The number of skills shown in full, and the number of all skills.
    Shown { n_full: usize, n_all: usize },
}

impl Format {
    /// Renders a skill in full.
    pub(super) fn full(self, entry: &Entry, body: &str) -> String {
        let id = entry.id.as_str();
        let name = entry.skill.name();
        let dir = entry.skill.dir().map(path_text);
        let body = without_invisible(body);
        let directories = entry.skill.dir().map(|dir| Directories::of(dir, &body, path_text));
        let body = with_directories(&body, directories.as_ref());
        let body = body.trim_matches(['\r', '\n']).trim_end();
        let notes = [
            body.contains(ARGUMENTS).then_some(ARGUMENTS_NOTE),
            has_commands(body).then_some(COMMANDS_NOTE),
        ];
        let notes: Vec<&str> = notes.into_iter().flatten().collect();
        let note = (!notes.is_empty()).then(|| notes.join("\n"));
        let BundledFiles { files, more, .. } = BundledFiles::of(&entry.skill);
        match self {
            Format::Markdown => {
                let mut text = String::with_capacity(body.len() + 256);
                text.extend(["## Skill: ", &markdown_line(id), "\n"]);
                if let Some(dir) = &dir {
                    text.extend(["\nBase directory: ", dir, "\n"]);
                }
                if let Some(note) = note {
                    text.extend(["\n", &note, "\n"]);
                }
                if !body.is_empty() {
                    text.push('\n');
                    push_markdown_body(body, &mut text);
                    text.push('\n');
                }
                text += &file_list(&files, more, dir.is_some());
                text.truncate(text.trim_end().len());
                text
            }
            Format::Xml => {
                let dir = dir.map_or_else(String::new, |dir| quoted("base_dir", &dir));
                let (id, name) = (attribute("id", id), attribute("name", name));
                let note = note.map_or_else(String::new, |note| attribute("note", &note));
                let files = file_elements(&files, more);
                format!("<skill{id}{name}{dir}{note}>{}{files}</skill>", xml_body(body))
            }
            Format::Json => {
                let (id, name) = (one_line(id), one_line(name));
                let mut skill = json!({"id": id, "name": name, "base_dir": dir, "content": body});
                if let Some(note) = note {
                    skill["note"] = note.into();
                }
                if !files.is_empty() {
                    skill["files"] = files.iter().map(|file| one_line(file)).collect();
                    skill["more_files"] = more.into();
                }
                skill.to_string()
            }
        }
    }

    /// Renders a skill in one line: its id, its name if that is not a part of the id, and a description.
    pub(super) fn line(self, entry: &Entry, description: &str, location: Option<&str>) -> String {
        let id = entry.id.as_str();
        let name = Some(entry.skill.name()).filter(|name| !id.split('/').any(|part| part == *name));
        match self {
            Format::Markdown => {
                let mut line = String::with_capacity(id.len() + description.len() + 64);
                line.extend(["- ", &markdown_line(id)]);
                if let Some(name) = name {
                    line.extend([" (", &markdown_line(name), ")"]);
                }
                if !description.is_empty() {
                    line.extend([": ", &markdown_line(description)]);
                }
                if let Some(location) = location {
                    line.extend([" (file: ", &path_line(location), ")"]);
                }
                line
            }
            Format::Xml => {
                let mut attributes = attribute("id", id);
                if let Some(name) = name {
                    attributes += &attribute("name", name);
                }
                if let Some(location) = location {
                    attributes += &quoted("location", &path_line(location));
                }
                format!("<skill{attributes}>{}</skill>", xml_text(&one_line(description)))
            }
            Format::Json => {
                let mut object = json!({"id": one_line(id), "description": one_line(description)});
                if let Some(name) = name {
                    object["name"] = one_line(name).into();
                }
                if let Some(location) = location {
                    object["location"] = path_line(location).into();
                }
                object.to_string()
            }
        }
    }

    /// Renders the catalog prompt from its lines, a sentence about how to load a skill, and a note about
    /// shortened and omitted skills.
    pub(super) fn catalog(
        self,
        lines: &[String],
        how_to_load: Option<&str>,
        note: Option<&str>,
    ) -> String {
        let list = self.document(&[], lines, how_to_load, None);
        let Some(note) = note else { return list };
        match self {
            Format::Markdown if list.is_empty() => format!("[{note}]"),
            Format::Markdown => format!("{list}\n[{note}]"),
            Format::Xml => {
                let list = list.strip_suffix("</skills>").unwrap_or("<skills>\n");
                format!("{list}<note>{note}</note>\n</skills>")
            }
            Format::Json => {
                let members =
                    list.strip_suffix('}').map_or("{".to_owned(), |list| format!("{list},"));
                format!("{members}\"note\":{}}}", json!(note))
            }
        }
    }

    /// Joins the rendered parts into the whole text.
    pub(super) fn document<S: Borrow<str>>(
        self,
        full: &[S],
        registry: &[S],
        how_to_load: Option<&str>,
        remainder: Option<Remainder>,
    ) -> String {
        let mut blocks: Vec<Cow<'_, str>> = Vec::new();
        match self {
            Format::Markdown => {
                blocks.extend(full.iter().map(|text| Cow::Borrowed(text.borrow())));
                if !registry.is_empty() {
                    blocks.push("## Available skills".into());
                    blocks.extend(how_to_load.map(markdown_line));
                    blocks.push(registry.join("\n").into());
                }
                blocks.extend(remainder.map(|of| of.sentence().into()));
                blocks.join("\n\n")
            }
            Format::Xml => {
                blocks.extend(full.iter().map(|text| Cow::Borrowed(text.borrow())));
                if !registry.is_empty() {
                    let lines = registry.join("\n");
                    let load =
                        how_to_load.map_or_else(String::new, |how| attribute("how_to_load", how));
                    let list = format!("<available_skills{load}>\n{lines}\n</available_skills>");
                    blocks.push(list.into());
                }
                blocks.extend(remainder.map(|of| of.element().into()));
                if blocks.is_empty() {
                    return String::new();
                }
                format!("<skills>\n{}\n</skills>", blocks.join("\n"))
            }
            Format::Json => {
                if full.is_empty() && registry.is_empty() && remainder.is_none() {
                    return String::new();
                }
                if !full.is_empty() {
                    blocks.push(format!("\"skills\":[{}]", full.join(",")).into());
                }
                if !registry.is_empty() {
                    let load = how_to_load.map(|how| format!("\"how_to_load\":{}", json!(how)));
                    blocks.extend(load.map(Cow::from));
                    blocks.push(format!("\"available_skills\":[{}]", registry.join(",")).into());
                }
                blocks.extend(remainder.map(|of| of.members().into()));
                format!("{{{}}}", blocks.join(","))
            }
        }
    }
}

impl Remainder {
    fn sentence(self) -> String {
        match self {
            Remainder::OnlyThese(1) => "[1 skill available]".to_owned(),
            Remainder::OnlyThese(n) => format!("[{n} skills available]"),
            Remainder::More(1) => "[1 more skill available]".to_owned(),
            Remainder::More(n) => format!("[{n} more skills available]"),
            Remainder::Shown { n_full, n_all } => {
                format!("[{n_full} of {n_all} skills shown in full]")
            }
        }
    }

    fn element(self) -> String {
        match self {
            Remainder::OnlyThese(n) => format!("<skills_available count=\"{n}\"/>"),
            Remainder::More(n) => format!("<more_skills_available count=\"{n}\"/>"),
            Remainder::Shown { n_full, n_all } => {
                format!("<skills_shown_in_full count=\"{n_full}\" of=\"{n_all}\"/>")
            }
        }
    }

    fn members(self) -> String {
        match self {
            Remainder::OnlyThese(n) => format!("\"skills_available\":{n}"),
            Remainder::More(n) => format!("\"more_skills_available\":{n}"),
            Remainder::Shown { n_full, n_all } => {
                format!("\"skills_shown_in_full\":{n_full},\"of\":{n_all}")
            }
        }
    }
}

/// Puts `text` on one line of Markdown, escaped so that it starts no element of its own.
fn markdown_line(text: &str) -> Cow<'_, str> {
    let text = one_line(text);
    // Without branches, so that the compiler can vectorise it.
    if !text.bytes().fold(false, |any, byte| any | matches!(byte, b'\\' | b'<' | b'[')) {
        return text;
    }
    let mut line = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if matches!(c, '\\' | '<' | '[') {
            line.push('\\');
        }
        line.push(c);
    }
    Cow::Owned(line)
}

/// Returns the absolute path of a directory, as text on one line.
pub(crate) fn path_text(dir: &Path) -> String {
    path_line(&std::path::absolute(dir).as_deref().unwrap_or(dir).display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_cannot_leave_its_line() {
        assert_eq!(
            markdown_line("a\n## Skill: b <x> [1 more] \\"),
            r"a ## Skill: b \<x> \[1 more] \\"
        );
    }
}
