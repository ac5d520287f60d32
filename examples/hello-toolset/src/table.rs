//! The table of greetings, read from the skill's Markdown.

use crate::Politeness;

/// The mark that stands for the form to the left.
const SAME: &str = "—";

/// Greetings by language.
pub(crate) struct Table(Vec<Language>);

/// The greetings of one language.
pub(crate) struct Language {
    pub(crate) name: String,
    /// Casual, neutral, formal.
    by_politeness: [String; 3],
    /// Morning, afternoon, evening, where the language has such forms.
    by_hour: Option<[String; 3]>,
    pub(crate) note: String,
}

impl Table {
    /// Reads the two tables of a Markdown text: rows of five cells are the forms by politeness and
    /// a note, rows of four those by hour.
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

    /// The language with this name, in any letter case and without what is in brackets.
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
    /// The form for this politeness; by the hour, if one is given and the greeting is not casual.
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

/// The cells of a row; `None` for a line that is not a row, and for the line below the head.
fn cells(line: &str) -> Option<Vec<&str>> {
    let row = line.strip_prefix("| ")?.trim_end().strip_suffix('|')?;
    Some(row.split('|').map(str::trim).collect())
}

/// The cells with the form to the left in place of each dash.
fn filled(cells: [&str; 3]) -> [String; 3] {
    let mut form = "";
    cells.map(|cell| {
        if cell != SAME {
            form = cell;
        }
        form.to_owned()
    })
}
