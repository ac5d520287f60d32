//! Tables of prompts: comma-separated values, as in RFC 4180.
//!
//! The reader is strict where a guess could put text into the wrong column: a row must have as many
//! fields as the header, and a closing quote must end its field. A bad row is left out, and reading goes
//! on with the next one.

use serde_json::{Map, Value};

use super::case::{ACCEPTABLE, EXPECTED, FLAGS, FORBIDDEN, QUERY};
use super::fields::normal;

/// A row, with the byte offset where it begins.
#[derive(Debug, PartialEq)]
pub(super) struct Row {
    pub(super) at: usize,
    pub(super) fields: Result<Vec<String>, String>,
}

/// An iterator over the rows of `text`, which skips blank lines.
pub(super) struct Rows<'t> {
    text: &'t str,
    at: usize,
    separator: char,
}

impl<'t> Rows<'t> {
    pub(super) fn new(text: &'t str, separator: char) -> Rows<'t> {
        Rows { text, at: 0, separator }
    }

    /// The byte offset of the next separator or the end of the line.
    fn plain_end(&self) -> usize {
        let rest = &self.text[self.at..];
        let end = rest.find([self.separator, '\n', '\r']);
        end.map_or(self.text.len(), |end| self.at + end)
    }

    fn field(&mut self) -> Result<String, String> {
        if !self.text[self.at..].starts_with('"') {
            let start = self.at;
            self.at = self.plain_end();
            return Ok(self.text[start..self.at].to_owned());
        }
        let mut field = String::new();
        loop {
            let start = self.at + 1;
            let Some(length) = self.text[start..].find('"') else {
                self.at = self.text.len();
                return Err("a quote opens here and is never closed, so the rest of the file is \
                            left out: close it, and double each quote inside of a field"
                    .to_owned());
            };
            field.push_str(&self.text[start..start + length]);
            self.at = start + length + 1;
            if !self.text[self.at..].starts_with('"') {
                break;
            }
            field.push('"');
        }
        if self.at == self.plain_end() {
            return Ok(field);
        }
        let rest = &self.text[self.at..];
        self.at += rest.find(['\n', '\r']).unwrap_or(rest.len());
        Err("text follows a closing quote: double each quote inside of a field (`\"\"`)".to_owned())
    }

    fn row(&mut self) -> Result<Vec<String>, String> {
        let mut fields = Vec::new();
        loop {
            fields.push(self.field()?);
            match self.text[self.at..].chars().next() {
                Some(c) if c == self.separator => self.at += c.len_utf8(),
                _ => return Ok(fields),
            }
        }
    }
}

impl Iterator for Rows<'_> {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        loop {
            let rest = &self.text[self.at..];
            let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
            if !rest[..end].trim().is_empty() {
                break;
            }
            if end == rest.len() {
                return None;
            }
            self.at += end + 1;
        }
        let at = self.at;
        let fields = self.row();
        Some(Row { at, fields })
    }
}

/// The separator of the fields: a tab in `.tsv` files; otherwise a comma, or the semicolon that
/// spreadsheets use in languages with a decimal comma.
pub(super) fn separator(is_tsv: bool, text: &str) -> char {
    let header = text.lines().next().unwrap_or_default();
    match is_tsv {
        true => '\t',
        false if !header.contains(',') && header.contains(';') => ';',
        false => ',',
    }
}

/// A message on the columns that a header lacks, with how to add them; `None` if it lacks none.
pub(super) fn missing(header: &[String]) -> Option<String> {
    let has = |keys: &[&str]| header.iter().any(|key| keys.contains(&normal(key).as_str()));
    if !has(&QUERY) {
        let message = "the header has no `query`, `prompt` or `input`: name the columns in the \
                       first line, as in `prompt,should_trigger,skill`";
        return Some(message.to_owned());
    }
    (!has(&FLAGS) && !has(&EXPECTED)).then(|| {
        "the header does not say what is expected: add a column `should_trigger` or \
         `expected_skill`"
            .to_owned()
    })
}

/// Converts a row to a map from the names of its columns.
pub(super) fn entry(header: &[String], fields: &[String]) -> Result<Value, String> {
    if fields.len() != header.len() {
        return Err(format!(
            "the row has {} fields and the header {}: put a field that holds a separator, a quote \
             or a line break into quotes",
            fields.len(),
            header.len()
        ));
    }
    let mut map = Map::new();
    for (key, field) in header.iter().zip(fields) {
        let column = normal(key);
        let lists = [&EXPECTED[..], &FORBIDDEN, &ACCEPTABLE];
        let value = if FLAGS.contains(&column.as_str()) {
            flag(field)
        } else if lists.iter().any(|keys| keys.contains(&column.as_str())) {
            names(field)
        } else {
            field.as_str().into()
        };
        map.entry(key.trim()).or_insert(value);
    }
    Ok(Value::Object(map))
}

/// Parses a cell of a flag: true, false, or null if it is blank; other text stays text.
fn flag(field: &str) -> Value {
    match field.trim().to_ascii_lowercase().as_str() {
        "" => Value::Null,
        "true" | "yes" | "y" | "1" | "t" => true.into(),
        "false" | "no" | "n" | "0" | "f" => false.into(),
        other => other.into(),
    }
}

/// Parses a cell with the name of a skill, or with several names separated by `;`, `|` or commas.
fn names(field: &str) -> Value {
    // Names hold no white space; text that does is prose, and is not split.
    let names: Vec<&str> = field.split([';', '|', ',']).map(str::trim).collect();
    let is_list = names.len() > 1 && names.iter().all(|name| !name.contains(char::is_whitespace));
    if is_list { names.into() } else { field.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_as_they_are_written() {
        let cases: &[(&str, &[&[&str]])] = &[
            ("a,b\n1,2\n", &[&["a", "b"], &["1", "2"]]),
            ("a,b\r\n1,2", &[&["a", "b"], &["1", "2"]]),
            ("a\rb\r\r", &[&["a"], &["b"]]),
            ("\"a, b\",\"c\nd\"\n", &[&["a, b", "c\nd"]]),
            ("\"say \"\"hi\"\"\",\"\"\n", &[&["say \"hi\"", ""]]),
            ("a \"b\" c,\n", &[&["a \"b\" c", ""]]),
            ("\n \na\n\n,\n", &[&["a"], &["", ""]]),
            ("", &[]),
            ("\"\"", &[&[""]]),
            ("é,\"ü\"", &[&["é", "ü"]]),
        ];
        for (text, expected) in cases {
            let rows: Vec<Vec<String>> =
                Rows::new(text, ',').map(|row| row.fields.unwrap()).collect();
            assert_eq!(rows, *expected, "{text:?}");
        }
    }

    #[test]
    fn a_bad_row_is_left_out_and_the_next_one_read() {
        let text = "a,b\n\"x\" y,2\n3,4\n\"open,5\n6,7\n";
        let rows: Vec<Row> = Rows::new(text, ',').collect();
        let lines: Vec<usize> =
            rows.iter().map(|row| text[..row.at].matches('\n').count() + 1).collect();
        assert_eq!(lines, [1, 2, 3, 4]);
        assert!(rows[1].fields.as_ref().unwrap_err().contains("follows a closing quote"));
        assert_eq!(rows[2].fields, Ok(vec!["3".to_owned(), "4".to_owned()]));
        assert!(rows[3].fields.as_ref().unwrap_err().contains("never closed"));
    }

    #[test]
    fn cells_are_flags_or_names_by_their_column() {
        for (text, expected) in [
            ("Yes", Value::Bool(true)),
            (" 1 ", Value::Bool(true)),
            ("FALSE", Value::Bool(false)),
            ("", Value::Null),
            ("maybe", "maybe".into()),
        ] {
            assert_eq!(flag(text), expected, "{text}");
        }
        assert_eq!(names("a; b|c"), Value::from(vec!["a", "b", "c"]));
        assert_eq!(names("writes a file, then stops"), Value::from("writes a file, then stops"));
        for (text, expected) in [("a;b", ';'), ("a,b;c", ','), ("a", ',')] {
            assert_eq!(separator(false, text), expected, "{text}");
        }
        assert_eq!(separator(true, "a,b"), '\t');
    }
}
