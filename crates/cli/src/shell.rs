//! Quoting for commands that are printed for the user to run in a shell.

/// Returns `text` as one word of a shell, quoted if necessary.
pub(crate) fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:@%+,=".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_the_shell_where_they_must_be() {
        for (text, wanted) in
            [("a/b.md", "a/b.md"), ("a b", "'a b'"), ("it's", "'it'\\''s'"), ("", "''")]
        {
            assert_eq!(quoted(text), wanted);
        }
    }
}
