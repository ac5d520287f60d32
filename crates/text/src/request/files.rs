//! Files that an agent wrote into the message because it names them: Gemini CLI and Qwen Code put the content of
//! `@NOTES.md` below the request. Other agents keep it apart, so that it says as little here as there.

/// The start of the line above such content.
const START: &str = "--- Content from ";
/// The start of the line below it.
const END: &str = "--- End of ";
/// The end of both lines.
const CLOSE: &str = " ---";

/// Returns the length of the block of files that `text` begins with. It goes to the last line that ends one, as a file
/// may have such a line itself, or to the end of the text.
pub(super) fn block(text: &str) -> Option<usize> {
    let line = text.split('\n').next().unwrap_or(text);
    let what = line.trim_end().strip_prefix(START)?.strip_suffix(CLOSE)?;
    if what != "referenced files" && !what.starts_with("MCP resource ") {
        return None;
    }
    let last = text.rmatch_indices(END).find_map(|(at, _)| {
        let line = text[at..].split_inclusive('\n').next()?;
        let is_line = at == 0 || text[..at].ends_with('\n');
        (is_line && line.trim_end().ends_with(CLOSE)).then_some(at + line.len())
    });
    Some(last.unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::block;

    #[test]
    fn files_end_where_the_last_of_them_does() {
        let files = "--- Content from referenced files ---\nContent from @a.md:\nShip it.\n--- End of content ---\n";
        let resource =
            "--- Content from MCP resource x [1] ---\nShip it.\n--- End of MCP resource x [1] ---";
        for (text, expected) in [
            (files.to_owned(), Some(files.len())),
            (format!("{files}And now?"), Some(files.len())),
            (format!("{resource}\nAnd now?"), Some(resource.len() + 1)),
            (format!("{files}{files}And now?"), Some(2 * files.len())),
            (files.replace("--- End of content ---\n", ""), Some(files.len() - 23)),
            ("--- Content from referenced files ---".to_owned(), Some(37)),
            ("--- Content from my notes ---\nShip it.".to_owned(), None),
            ("Content from referenced files".to_owned(), None),
            (String::new(), None),
        ] {
            assert_eq!(block(&text), expected, "{text}");
        }
    }
}
