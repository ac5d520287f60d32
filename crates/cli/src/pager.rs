//! Paging of long lists at a terminal.

use std::io::{self, IsTerminal as _, Write as _};
use std::process::{Command, Stdio};

use crate::output::Output;
use crate::signals::leave_interrupts_to_child;

/// The program that pages, unless `PAGER` names another.
const PAGER: &str = "less";

/// The options of `less`: ends by itself if all fits on the screen, keeps colours, and leaves the text there.
const LESS: &str = "FRX";

/// Prints text for people as [`Output::human`] does: through a pager if it is longer than the terminal, and
/// somebody is there to turn pages. An empty `PAGER` turns that off.
pub(crate) fn print(text: &str, out: Output) -> io::Result<()> {
    let rows = terminal_size::terminal_size_of(io::stdout()).map(|(_, rows)| usize::from(rows.0));
    let is_long = rows.is_some_and(|rows| text.lines().count() >= rows);
    if !is_long || !io::stdin().is_terminal() || page(text, out).is_none() {
        return out.human(text);
    }
    Ok(())
}

/// Pipes `text` through the pager; `None` if there is none.
fn page(text: &str, out: Output) -> Option<()> {
    let pager = std::env::var("PAGER").unwrap_or_else(|_| PAGER.to_owned());
    let words = shlex::split(&pager)?;
    let (program, args) = words.split_first()?;
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", LESS);
    }
    leave_interrupts_to_child();
    let mut child = command.spawn().ok()?;
    let is_coloured = out.colors(&io::stdout());
    let plain = (!is_coloured).then(|| anstream::adapter::strip_str(text).to_string());
    if let Some(mut pipe) = child.stdin.take() {
        // Who leaves the pager early has seen enough.
        let _ = writeln!(pipe, "{}", plain.as_deref().unwrap_or(text).trim_end_matches('\n'));
    }
    let ended = child.wait().ok()?;
    // A shell says so with 127 if it does not find the program.
    (ended.code() != Some(127)).then_some(())
}
