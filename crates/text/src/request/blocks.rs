//! Blocks in fences.

/// The number of bytes of one message that searches for an end may read in vain, so that a message of
/// nothing but beginnings is read in linear time.
pub(super) const MAX_WASTED: usize = 4 << 20;

/// Finds fenced blocks.
#[derive(Debug, Default)]
pub(super) struct Fences {
    wasted: usize,
}

impl Fences {
    /// Returns the length of the fenced block that `text` begins with. A fence that is never closed is
    /// none: the paste was cut, and what is below it may be the request.
    pub(super) fn block(&mut self, text: &str) -> Option<usize> {
        let marks = opened(text.lines().next()?)?;
        if self.wasted > MAX_WASTED {
            return None;
        }
        let mut len = 0;
        for (nth, line) in text.split_inclusive('\n').enumerate() {
            len += line.len();
            if nth == 0 {
                continue;
            }
            if closes(line, marks) {
                return Some(len);
            }
            // A fence with the name of a language closes nothing, so the one above was cut.
            if opened(line).is_some_and(|next| next.len() >= marks.len()) {
                break;
            }
        }
        self.wasted += len;
        None
    }
}

/// Returns the marks of the code fence that a line opens, also if it is the first thing in a list item.
fn opened(line: &str) -> Option<&str> {
    const BLANKS: [char; 2] = [' ', '\t'];
    let line = line.trim_start_matches(BLANKS);
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let item = match line.strip_prefix(['-', '*', '+']) {
        None if number.len() < line.len() => number.strip_prefix(['.', ')']),
        bullet => bullet,
    };
    let text = item.filter(|item| item.starts_with(BLANKS)).unwrap_or(line);
    let text = text.trim_start_matches(BLANKS);
    let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let marks = &text[..text.len() - text.trim_start_matches(mark).len()];
    // Back-ticks after it make it inline code.
    let is_fence = marks.len() >= 3 && !(mark == '`' && text[marks.len()..].contains('`'));
    is_fence.then_some(marks)
}

/// Tells whether a line closes the fence that `marks` opened.
fn closes(line: &str, marks: &str) -> bool {
    let text = line.trim();
    text.starts_with(marks) && text.trim_start_matches(&marks[..1]).is_empty()
}
