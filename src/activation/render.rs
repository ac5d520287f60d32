//! Renders an activation as text for a model.

use std::fmt::{Display, Write as _};

use repertoire_text::invisible::without_invisible;

use super::Activation;
use crate::disclosure::{
    COMMANDS_NOTE, attribute, file_elements, file_list, one_line, path_text, xml_body, xml_text,
};

impl Activation {
    /// Renders plain text: the base directory, the instructions, and hints at the files that come with
    /// them. If a task was spawned, the text only names the task.
    pub fn to_text(&self) -> String {
        if let Some(task) = &self.task {
            return format!("Task {} was spawned for skill {}.", task.task_id, self.id);
        }
        let mut text = String::new();
        if let Some(dir) = &self.base_dir {
            let _ = writeln!(text, "Base directory: {}\n", path_text(dir));
        }
        if self.runs_no_commands {
            let _ = writeln!(text, "{COMMANDS_NOTE}\n");
        }
        let body = without_invisible(&self.content);
        let body = body.trim_matches(['\r', '\n']).trim_end();
        let _ = writeln!(text, "{body}");
        text += &file_list(&self.files, self.more_files, self.base_dir.is_some());
        let sub_skills = self.sub_skills.iter();
        let sub_skills = sub_skills
            .map(|sub| format!("- {}: {}", one_line(sub.id.as_str()), one_line(&sub.brief)));
        list(&mut text, "Sub-skills:", sub_skills);
        let required = self.required_skills.iter().map(|required| {
            let note = if required.is_missing { "missing" } else { &required.brief };
            format!("- {}: {}", one_line(&required.id), one_line(note))
        });
        list(&mut text, "Required skills, to be loaded too:", required);
        let knowledge = self.knowledge.iter().map(|document| {
            let title = document.title.iter().map(|title| format!(" ({})", one_line(title)));
            format!("- {}{}", one_line(&document.path), title.collect::<String>())
        });
        list(&mut text, "Worth reading:", knowledge);
        text.truncate(text.trim_end().len());
        text
    }

    /// Renders an XML element, `<skill_content command name>`. The text of the skill is escaped; instructions with
    /// markup are in a CDATA section, so that a model reads them as they are.
    pub fn to_xml(&self) -> String {
        let command = attribute("command", &format!("/{}", self.id));
        let mut xml = format!("<skill_content{command}{}", attribute("name", &self.name));
        if let Some(task) = &self.task {
            let id = attribute("task_id", &task.task_id);
            let _ = write!(xml, "{id}{}/>", attribute("status", task.status));
            return xml;
        }
        xml.push_str(">\n");
        if let Some(dir) = &self.base_dir {
            let _ = writeln!(xml, "{}", element("base_directory", &path_text(dir)));
        }
        if self.runs_no_commands {
            let _ = writeln!(xml, "{}", element("note", COMMANDS_NOTE));
        }
        let body = without_invisible(&self.content);
        let body = body.trim_matches(['\r', '\n']).trim_end();
        let _ = writeln!(xml, "<instructions>{}</instructions>", xml_body(body));
        xml += &file_elements(&self.files, self.more_files);
        let sub_skills = self.sub_skills.iter().map(|sub| {
            let id = attribute("id", sub.id.as_str());
            format!("<skill{id}>{}</skill>", xml_text(&one_line(&sub.brief)))
        });
        block(&mut xml, "sub_skills", sub_skills);
        let required = self.required_skills.iter().map(|required| {
            let id = attribute("id", &required.id);
            let missing =
                if required.is_missing { attribute("missing", "true") } else { String::new() };
            format!("<skill{id}{missing}>{}</skill>", xml_text(&one_line(&required.brief)))
        });
        block(&mut xml, "required_skills", required);
        let knowledge = self.knowledge.iter().map(|document| {
            let title = document.title.iter().map(|title| attribute("title", &one_line(title)));
            let (title, path) = (title.collect::<String>(), xml_text(&one_line(&document.path)));
            format!("<document{title}>{path}</document>")
        });
        block(&mut xml, "knowledge", knowledge);
        xml.push_str("</skill_content>");
        xml
    }
}

/// Adds a list with a heading, unless it is empty.
fn list(text: &mut String, heading: &str, lines: impl Iterator<Item = impl Display>) {
    let mut lines = lines.peekable();
    if lines.peek().is_some() {
        let _ = writeln!(text, "\n{heading}");
    }
    for line in lines {
        let _ = writeln!(text, "{line}");
    }
}

fn element(name: &str, content: &str) -> String {
    format!("<{name}>{}</{name}>", xml_text(content))
}

/// Adds an element that contains `elements`, unless there are none.
fn block(xml: &mut String, name: &str, elements: impl Iterator<Item = String>) {
    let mut elements = elements.peekable();
    if elements.peek().is_none() {
        return;
    }
    let _ = writeln!(xml, "<{name}>");
    for element in elements {
        let _ = writeln!(xml, "{element}");
    }
    let _ = writeln!(xml, "</{name}>");
}
