//! Lines of code and data, told from sentences by their tokens.
//!
//! A sentence is mostly words; a line of code is mostly words with signs in them. Names, paths, numbers and
//! addresses stand in both and count for neither.

use super::entries::begins_with;
use crate::boundary::char_boundary;

/// Tells whether a line is code or data. `follows` is true below a line that is.
pub(super) fn is_code(line: &str, follows: bool) -> bool {
    let text = line.trim();
    if text.ends_with(" \\")
        || is_comment(line, text)
        || is_markup(text)
        || is_pair(text)
        || is_assigned(text)
        || is_blob(text)
    {
        return true;
    }
    let is_indented = line.starts_with("    ") || line.starts_with('\t');
    let Tally { words, names, odd } = Tally::of(text);
    let ends =
        text.ends_with(['{', '}', '[', '(', '\\']) || text.ends_with("},") || text.ends_with("],");
    let first = text.split([' ', '(', ':']).next().unwrap_or_default();
    let is_short = words <= 2 && !text.contains([',', ':']);
    let is_statement =
        odd > 0 || follows || is_short || KEYWORDS.contains(&first) || CAPITALS.contains(&first);
    let ends_statement =
        text.ends_with(';') && !text.starts_with(['-', '*', '+', '•']) && is_statement;
    if is_definition(first, text) {
        return true;
    }
    let is_sentence = text.ends_with(['.', '?', '!']);
    let begins = KEYWORDS.contains(&first) && !is_sentence;
    let opens_block = text.ends_with(':') && words <= 2 && BLOCKS.contains(&first)
        || ["else:", "try:", "finally:"].contains(&text)
        || text.ends_with("; do")
        || text.ends_with("; then");
    odd > words
        || opens_block
        || ends_statement
        || ends && (odd > 0 || words <= 2)
        || begins && words <= 3 && (follows || names + odd > 0)
        || STATEMENTS.contains(&first) && words <= 2 && !is_sentence
        || is_indented && (follows || odd > 0)
        || follows && words <= 1
}

/// Words that begin a line in some programming language.
#[rustfmt::skip]
const KEYWORDS: [&str; 44] = [
    "import", "from", "using", "package", "use", "include", "require", "return", "else", "elif", "end",
    "begin", "pass", "break", "continue", "try", "except", "finally", "catch", "const", "let", "var", "fn",
    "func", "def", "class", "struct", "enum", "impl", "pub", "mod", "static", "public", "private", "void",
    "int", "if", "for", "while", "async", "await", "export", "interface", "type",
];

/// Tells whether a line begins the definition of a class, a module or a function, or gives the type of one:
/// `class Refund < Record`, `defmodule Shop do`, `data class Refund(val total: Int)`, `issue :: Order -> Refund`.
fn is_definition(first: &str, text: &str) -> bool {
    let has_call = || text.contains('(') && !text.contains(" (") && text.ends_with([')', '{', '=']);
    let n_words = || text.split_whitespace().count();
    match first {
        "class" => {
            text.contains(" < ") && n_words() == 4 || text.contains(" extends ") && n_words() < 6
        }
        "def" | "defp" | "defmodule" => text.ends_with(" do"),
        "describe" | "test" => text[first.len()..].starts_with(" \"") && text.ends_with(" do"),
        "data" | "fun" | "override" | "sealed" => {
            begins_with(text, &["data class ", "fun ", "override fun ", "sealed class "])
                && has_call()
        }
        _ => {
            let has_type = text[first.len()..].starts_with(" :: ");
            has_type && (text.contains(" -> ") || n_words() < 5)
        }
    }
}

/// Words that begin a line of one or two words in some programming language.
const STATEMENTS: [&str; 4] = ["import", "package", "return", "def"];

/// Words that begin a line which ends with a colon, above a block of Python.
const BLOCKS: [&str; 4] = ["class", "def", "elif", "except"];

/// Words in capitals that begin a line of SQL or of a Dockerfile.
#[rustfmt::skip]
const CAPITALS: [&str; 33] = [
    "SELECT", "FROM", "WHERE", "JOIN", "LEFT", "RIGHT", "INNER", "OUTER", "GROUP", "ORDER", "HAVING",
    "LIMIT", "UNION", "INSERT", "VALUES", "UPDATE", "SET", "DELETE", "CREATE", "ALTER", "WITH", "AND", "OR",
    "RUN", "COPY", "WORKDIR", "CMD", "ENTRYPOINT", "EXPOSE", "ENV", "ARG", "VOLUME", "USER",
];

/// Words that begin a line of a query in lower case.
const QUERY: [&str; 10] =
    ["select", "from", "where", "join", "left", "inner", "group", "order", "having", "limit"];

/// Tells whether a line names a column with its table: `c.name`.
fn has_column(line: &str) -> bool {
    line.split([' ', ',', '(', ')', '=']).any(|word| {
        word.split_once('.').is_some_and(|(table, column)| {
            !table.is_empty() && column.starts_with(|c: char| c.is_ascii_lowercase() || c == '*')
        })
    })
}

/// Tells whether two adjacent lines are steps of a scenario in Gherkin, which are indented.
pub(super) fn are_steps(above: &str, below: &str) -> bool {
    const STEPS: [&str; 8] = [
        "Scenario:", "Scenario Outline:", "Background:", "Given ", "When ", "Then ", "And ", "But ",
    ];
    let is_step = |line: &str| line.starts_with("  ") && begins_with(line.trim_start(), &STEPS);
    is_step(below) && (is_step(above) || above.starts_with("Feature: "))
}

/// Returns how many lines a list of Lisp has that begins with the first of `lines` and goes on below it, indented, with
/// another one inside; 0 if there is none.
pub(super) fn n_of_list<'t>(mut lines: impl Iterator<Item = &'t str>) -> usize {
    let count = |line: &str, mark: [u8; 2]| line.bytes().filter(|byte| mark.contains(byte)).count();
    let Some(first) = lines.next() else { return 0 };
    let head = first.strip_prefix('(').unwrap_or_default();
    if !head.starts_with(|c: char| c.is_ascii_alphabetic() || "-+*/<>=".contains(c)) {
        return 0;
    }
    let (mut n_opened, mut n_closed) = (count(first, *b"(["), count(first, *b")]"));
    if n_opened <= n_closed {
        return 0;
    }
    for (nth, line) in lines.enumerate() {
        if !line.starts_with([' ', '\t']) || line.trim().is_empty() {
            return 0;
        }
        n_opened += count(line, *b"([");
        n_closed += count(line, *b")]");
        if n_opened <= n_closed {
            return if n_opened > 1 { nth + 2 } else { 0 };
        }
    }
    0
}

/// Tells whether a line is a list of Lisp as a whole.
pub(super) fn is_list(line: &str) -> bool {
    let text = line.trim();
    text.starts_with('(') && text.ends_with(')')
}

/// Tells whether two adjacent lines are statements of SQL or of a Dockerfile, or a rule of a makefile.
pub(super) fn are_statements(above: &str, below: &str) -> bool {
    let begins =
        |line: &str| CAPITALS.contains(&line.split_whitespace().next().unwrap_or_default());
    let has_signs = |line: &str| {
        let Tally { names, odd, .. } = Tally::of(line);
        names + odd > 0
    };
    // People write "select" and "from" in lower case, too, but no names with signs beside them.
    let is_clause = |line: &str, words: &[&str]| {
        words.contains(&line.split_whitespace().next().unwrap_or_default())
    };
    let is_query = is_clause(above, &QUERY) && is_clause(below, &QUERY[1..]);
    let has_odd = |line: &str| Tally::of(line).odd > 0;
    let selects = above.starts_with("select ") && has_column(above);
    if is_query && (selects || has_odd(above) || has_odd(below)) {
        return true;
    }
    // With a capital, as in `Note: it fails`, it is a person's heading.
    let is_target = || {
        let name = above.split([':', ' ']).next().unwrap_or_default();
        let is_name = name.starts_with(|c: char| c.is_ascii() && !c.is_ascii_uppercase());
        is_name && name.is_ascii() && above[name.len()..].starts_with(':')
    };
    begins(above) && begins(below) && (has_signs(above) || has_signs(below))
        || below.starts_with('\t') && !above.starts_with('\t') && is_target()
}

/// Tells whether a line is a key with or without a value, or an item of one word, as in YAML: `  name: x`, `- x`.
pub(super) fn is_member(line: &str) -> bool {
    let text = line.trim();
    let item = text.strip_prefix("- ");
    let text = item.unwrap_or(text);
    if item.is_some() && !text.contains(' ') {
        return true;
    }
    let Some((key, value)) = text.split_once(':') else { return false };
    let is_key = |c: char| c.is_ascii_alphanumeric() || "_-./\"'$".contains(c);
    !key.is_empty() && key.chars().all(is_key) && (value.is_empty() || value.starts_with(' '))
}

/// Tells whether a line is a key in lower case with a value of one word, as in YAML: `replicas: 3`. People write
/// capitals, items, or more words.
pub(super) fn is_setting(line: &str) -> bool {
    let Some((key, value)) = line.trim_end().split_once(": ") else { return false };
    key.starts_with(|c: char| c.is_ascii_lowercase())
        && !value.trim().is_empty()
        && !value.trim().contains(' ')
}

/// Tells whether a line gives a name a value: `name = "deploy"`, `replicas = 3`.
fn is_assigned(text: &str) -> bool {
    if !text.as_bytes().contains(&b'=') {
        return false;
    }
    let Some((name, value)) = text.split_once(" = ") else { return false };
    let is_value = value.starts_with(['"', '\'', '[', '{'])
        || value == "true"
        || value == "false"
        || value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    !name.contains(' ') && is_value
}

/// Tells whether a line is one very long word: text in base64, a hash, an address.
fn is_blob(text: &str) -> bool {
    const MIN_BYTES: usize = 60;
    text.len() >= MIN_BYTES && text.is_ascii() && !text.contains(' ')
}

/// The marks of comments and the like at the start of a line.
#[rustfmt::skip]
const COMMENTS: [&str; 14] = [
    "//", "/*", "*/", "<!--", "-->", "#!", "#[", "#include", "#define", "\"\"\"", "'''", "--[[", "%%", "@@",
];

fn is_comment(line: &str, text: &str) -> bool {
    // ` * text` in a block comment; `* text` without a blank before it is an item of a list.
    let is_inside = line.starts_with([' ', '\t'])
        && (text.starts_with("* ") && !line.starts_with("  * ") || text == "*");
    is_inside || begins_with(text, &COMMENTS)
}

/// Tells whether a line is a tag of HTML or XML, or begins and ends with one.
fn is_markup(text: &str) -> bool {
    let after = text.strip_prefix('<').unwrap_or_default();
    after.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'))
        && text.ends_with('>')
}

/// Tells whether a line is a member of JSON, or begins with one: `"status": "open",`, `[{"id": 1}]`.
fn is_pair(text: &str) -> bool {
    let inside = text.trim_start_matches(['[', '{', ' ']);
    let name = inside.strip_prefix('"').and_then(|rest| rest.split_once('"'));
    name.is_some_and(|(_, after)| after.trim_start().starts_with(':'))
}

/// The number of tokens of a line, by what they look like.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tally {
    /// Letters alone, with the punctuation of sentences.
    pub(super) words: usize,
    /// Names, paths, addresses, numbers.
    names: usize,
    /// Everything else: signs, and words with signs in them.
    odd: usize,
}

/// The number of bytes of a long line that tell what it is.
const TELLING: usize = 1_000;

impl Tally {
    pub(super) fn of(text: &str) -> Tally {
        let text = &text[..char_boundary(text, text.len().min(TELLING))];
        let mut tally = Tally::default();
        for token in text.split_whitespace() {
            let word = token.trim_start_matches(opens_word).trim_end_matches(closes_word);
            if word.is_empty() {
                let is_sign = token.contains(['=', '{', '}', '[', ']', '|', '&', ';', '(', ')']);
                tally.odd += usize::from(is_sign);
            } else if word.chars().all(is_of_word) {
                tally.words += 1 + n_unspaced(word) / 2;
            } else if word.contains("://") || word.starts_with('`') || word.chars().all(is_of_name)
            {
                tally.names += 1;
            } else {
                tally.odd += 1;
            }
        }
        tally
    }
}

/// The number of characters of scripts whose words stand without blanks.
fn n_unspaced(word: &str) -> usize {
    if word.is_ascii() { 0 } else { word.chars().filter(|&c| c >= '\u{e00}').count() }
}

fn opens_word(c: char) -> bool {
    matches!(c, '(' | '"' | '\'' | '[' | '*' | '_' | '<' | '-') || is_mark(c)
}

fn closes_word(c: char) -> bool {
    matches!(c, ')' | '"' | '\'' | ']' | '*' | '_' | '>' | ',' | '.' | ':' | '!' | '?' | ';')
        || is_mark(c)
}

/// Tells whether `c` is punctuation beyond ASCII, or an emoji.
fn is_mark(c: char) -> bool {
    !c.is_ascii() && !c.is_alphanumeric()
}

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '\'' | '-') || !c.is_ascii()
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || !c.is_ascii() || "./_-:@#~\\+%$€,`'".contains(c)
}
