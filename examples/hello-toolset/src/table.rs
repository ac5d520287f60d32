//! The table of greetings, read from the skill's Markdown.

use crate::Politeness;

/// The mark that means "the same as the form to the left".
const SAME: &str = "—";

/// Greetings by language.
pub(crate) struct Table(Vec<Language>);

/// The greetings of one language.
pub(crate) struct Language {
    pub(crate) name: String,
    /// The casual, neutral and formal forms.
    by_politeness: [String; 3],
    /// The forms for morning, afternoon and evening, if the language has them.
    by_hour: Option<[String; 3]>,
    pub(crate) note: String,
}

impl Table {
    /// Reads the two tables of a Markdown text. Rows of five cells hold the forms by politeness and a
    /// note; rows of four cells hold the forms by hour.
    pub(crate) fn read(markdown: &str) -> Table {
        let mut languages: Vec<Language> = Vec::new();
        for row in markdown.lines().filter_map(cells) {
            match row.as_slice() {
                ["language", ..] => {}
                [name, casual, neutral, formal, note] => languages.push(Language {
                    name: (*name).to_owned(),
                    by_politeness: filled([casual, neutral, formal]),
                    by_hour: None,
                    note: note.replace('*', ""),
                }),
                [name, morning, afternoon, evening] => {
                    let of_name = languages.iter_mut().find(|language| language.name == *name);
                    if let Some(language) = of_name {
                        language.by_hour = Some(filled([morning, afternoon, evening]));
                    }
                }
                _ => {}
            }
        }
        Table(languages)
    }

    /// Finds a language by its name, ignoring letter case; the part of the name in brackets may be
    /// missing.
    pub(crate) fn find(&self, name: &str) -> Option<&Language> {
        let wanted = name.trim().to_lowercase();
        let is_it = |language: &&Language| {
            let full = language.name.to_lowercase();
            full == wanted || full.split(" (").next() == Some(&*wanted)
        };
        self.0.iter().find(is_it)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|language| language.name.as_str())
    }
}

impl Language {
    /// Returns the form for a politeness. If an hour is given and the greeting is not casual, the form
    /// for the hour is preferred.
    pub(crate) fn form(&self, politeness: Politeness, hour: Option<u8>) -> &str {
        let [casual, neutral, formal] = &self.by_politeness;
        let by_hour = self.by_hour.as_ref().zip(hour).map(|(forms, hour)| match hour {
            5..=11 => &forms[0],
            12..=17 => &forms[1],
            _ => &forms[2],
        });
        match politeness {
            Politeness::Casual => casual,
            Politeness::Neutral => by_hour.unwrap_or(neutral),
            Politeness::Formal => by_hour.unwrap_or(formal),
        }
    }
}

/// Returns the cells of a table row; `None` for other lines, and for the line below the header.
fn cells(line: &str) -> Option<Vec<&str>> {
    let row = line.strip_prefix("| ")?.trim_end().strip_suffix('|')?;
    Some(row.split('|').map(str::trim).collect())
}

/// Replaces each dash by the form to its left.
fn filled(cells: [&str; 3]) -> [String; 3] {
    let mut form = "";
    cells.map(|cell| {
        if cell != SAME {
            form = cell;
        }
        form.to_owned()
    })
}
