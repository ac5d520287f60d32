//! Questions to the user at a terminal.

use std::io::{self, BufRead as _, IsTerminal as _};

use repertoire::{Error, ErrorCode};

use crate::output::Output;

/// Tells whether a person can be asked: there is a terminal, and the output is meant for people.
pub(crate) fn can_ask(out: Output) -> bool {
    !out.json && io::stdin().is_terminal()
}

/// Asks the user at the terminal a question that is answered by yes or no. `is_given` is a yes on the
/// command line, after which there is no question.
///
/// Fails with `CONSENT_REQUIRED` if nobody can be asked: silence is not a yes.
pub(crate) fn is_agreed(question: &str, is_given: bool, out: Output) -> anyhow::Result<bool> {
    if is_given {
        return Ok(true);
    }
    if !can_ask(out) {
        let message = format!("nobody can answer the question: {question}");
        let help = "answer it at a terminal, without `--json`, or say yes with `--yes`";
        return Err(Error::new(ErrorCode::ConsentRequired, message, help).into());
    }
    out.note(&format!("{question} (`y` or `n`)"));
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
