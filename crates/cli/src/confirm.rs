//! Questions to the user at a terminal.

use std::io::{self, BufRead as _, IsTerminal as _};

use crate::output::Output;

/// Asks the user at the terminal a question that is answered by yes or no. Without a terminal, there is
/// nobody to ask: the command line is the answer, and it says yes.
pub(crate) fn is_agreed(question: &str, out: Output) -> io::Result<bool> {
    if !io::stdin().is_terminal() {
        return Ok(true);
    }
    out.note(&format!("{question} (`y` or `n`)"));
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
