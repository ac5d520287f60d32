//! The one module that prints. Data goes to standard output, all else to standard error.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::io::{self, IsTerminal as _, Write as _};

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use dialoguer::console::truncate_str;
use serde::Serialize;

use crate::args::{Color, Common};
use crate::failure::Failure;
use crate::sanitize;

/// The style of names: an id, a path, a heading.
pub(crate) const NAME: Style = Style::new().bold();
/// The style of less important text.
pub(crate) const DIM: Style = Style::new().dimmed();
/// The style of success.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// The style of warnings.
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// The style of errors.
pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
/// The style of remedies.
pub(crate) const HELP: Style = AnsiColor::Cyan.on_default();

/// The minimum number of columns to which a text is cut.
const MIN_COLUMNS: usize = 16;

/// A buffer for text that people read. The caller styles the text, and sanitises what others wrote.
#[derive(Debug, Default)]
pub(crate) struct Page(String);

impl Page {
    /// Adds a line.
    pub(crate) fn line(&mut self, line: fmt::Arguments<'_>) {
        // Writing to a `String` cannot fail.
        let _ = writeln!(self.0, "{line}");
    }

    /// Adds a text unchanged.
    pub(crate) fn push(&mut self, text: &str) {
        self.0 += text;
    }

    /// The text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// The JSON envelope of an error.
#[derive(Serialize)]
struct Envelope<'a> {
    status: &'static str,
    error: &'a Failure,
}

/// Returns `text` in a style.
pub(crate) fn styled(style: Style, text: impl fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Forwards the output of a script to the same streams of this process. Control characters are
/// escaped only if the stream is a terminal.
#[derive(Debug, Default)]
pub(crate) struct OutputForwarder {
    /// The first bytes of an incomplete character, for standard output and for standard error.
    begun: [Vec<u8>; 2],
}

impl OutputForwarder {
    /// Writes `bytes` to standard output if `is_stdout`, otherwise to standard error.
    pub(crate) fn pass(&mut self, is_stdout: bool, bytes: &[u8]) {
        // Writing fails if nobody reads the stream any more; the script need not know.
        let _ = if is_stdout {
            write(io::stdout().lock(), &mut self.begun[0], bytes)
        } else {
            write(io::stderr().lock(), &mut self.begun[1], bytes)
        };
    }

    /// Writes a replacement character (U+FFFD) for each character that stayed incomplete.
    pub(crate) fn end(&mut self) {
        for (begun, is_stdout) in std::mem::take(&mut self.begun).iter().zip([true, false]) {
            if !begun.is_empty() {
                self.pass(is_stdout, "\u{fffd}".as_bytes());
            }
        }
    }
}

fn write(mut stream: impl RawStream, begun: &mut Vec<u8>, bytes: &[u8]) -> io::Result<()> {
    if stream.is_terminal() {
        stream.write_all(sanitize::text(&whole(begun, bytes)).as_bytes())?;
    } else {
        stream.write_all(bytes)?;
    }
    stream.flush()
}

/// Returns `begun` and `bytes` as text. The bytes of an incomplete character at the end are kept in
/// `begun`.
fn whole(begun: &mut Vec<u8>, bytes: &[u8]) -> String {
    begun.extend_from_slice(bytes);
    let n_open = match begun.utf8_chunks().last() {
        Some(chunk)
            if std::str::from_utf8(chunk.invalid()).is_err_and(|e| e.error_len().is_none()) =>
        {
            chunk.invalid().len()
        }
        _ => 0,
    };
    let open = begun.split_off(begun.len() - n_open);
    let text = String::from_utf8_lossy(begun).into_owned();
    *begun = open;
    text
}

/// The destination and the form of output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    pub(crate) json: bool,
    pub(crate) color: ColorChoice,
    pub(crate) verbose: bool,
}

impl Output {
    /// Returns the output that a command line asks for.
    pub(crate) fn of(common: &Common) -> Output {
        let color = match common.color {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        };
        Output { json: common.json, color, verbose: common.verbose > 0 }
    }

    /// Prints text for people, which the caller has styled and sanitised, and a line feed at its end.
    pub(crate) fn human(self, text: &str) -> io::Result<()> {
        let mut stream = AutoStream::new(io::stdout().lock(), self.color);
        let printed = writeln!(stream, "{}", text.trim_end_matches('\n'));
        unless_closed(printed.and_then(|()| stream.flush()))
    }

    /// Prints text for a prompt unchanged, followed by a line feed; prints nothing if the text is
    /// empty. Control characters are escaped only on a terminal.
    pub(crate) fn exact(text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let mut stream = io::stdout().lock();
        let printed = if stream.is_terminal() {
            writeln!(stream, "{}", sanitize::text(text))
        } else {
            writeln!(stream, "{text}")
        };
        unless_closed(printed.and_then(|()| stream.flush()))
    }

    /// Prints one JSON value: on one line, or indented on a terminal.
    pub(crate) fn json(value: &impl Serialize) -> io::Result<()> {
        let mut stream = io::stdout().lock();
        let printed = if stream.is_terminal() {
            let text = serde_json::to_string_pretty(value)?;
            writeln!(stream, "{}", sanitize::json(&text))
        } else {
            writeln!(stream, "{}", serde_json::to_string(value)?)
        };
        unless_closed(printed.and_then(|()| stream.flush()))
    }

    /// Prints a message for the user on standard error. The caller has styled and sanitised it.
    pub(crate) fn note(self, text: &str) {
        let mut stream = AutoStream::new(io::stderr().lock(), self.color);
        // If this fails, there is nobody left to tell.
        let _ = writeln!(stream, "{}", text.trim_end_matches('\n'));
    }

    /// Prints a message for somebody who started a server at a terminal, where it waits for a program. Nothing is
    /// printed where a program started it.
    pub(crate) fn note_to_typist(self, text: &str) {
        if io::stdin().is_terminal() {
            self.note(text);
        }
    }

    /// Reports an error that ended a command: on standard error and, with `--json`, also as an
    /// envelope on standard output.
    pub(crate) fn failure(self, failure: &Failure) -> io::Result<()> {
        self.tell(failure, !self.json);
        if self.json {
            Output::json(&Envelope { status: "error", error: failure })?;
        }
        Ok(())
    }

    /// Reports an error that does not end the command, on standard error.
    pub(crate) fn partial_failure(self, failure: &Failure) {
        self.tell(failure, true);
    }

    fn tell(self, Failure { code, message, help }: &Failure, with_help: bool) {
        let title = styled(ERROR, format_args!("error[{code}]"));
        self.note(&format!("{title}: {}", sanitize::line(message)));
        if with_help && !help.is_empty() {
            self.note(&format!("{}: {}", styled(HELP, "help"), sanitize::line(help)));
        }
    }

    /// Tells whether text for people is coloured on `stream`.
    pub(crate) fn colors(self, stream: &impl RawStream) -> bool {
        let choice = match self.color {
            ColorChoice::Auto => AutoStream::choice(stream),
            choice => choice,
        };
        choice != ColorChoice::Never
    }

    /// Returns the width of the terminal in columns; `None` if standard output is not a terminal.
    pub(crate) fn width() -> Option<u16> {
        terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0)
    }

    /// Returns `text`, which stands behind `n_before` columns of its line, cut to the width of the terminal;
    /// unchanged if standard output is not a terminal.
    pub(crate) fn fitted(text: &str, n_before: usize) -> Cow<'_, str> {
        let width = Output::width().map_or(usize::MAX, usize::from);
        // A part that is too short says nothing; a line that wraps is better then.
        truncate_str(text, width.saturating_sub(n_before).max(MIN_COLUMNS), "…")
    }

    /// Tells whether optional messages may be printed on standard error: it is a terminal, or
    /// `--verbose` is given.
    pub(crate) fn is_talkative(self) -> bool {
        self.verbose || io::stderr().is_terminal()
    }
}

/// Returns `printed`, but no error if the process that reads the output has closed the pipe: the command
/// goes on, so that its exit code tells what it found.
fn unless_closed(printed: io::Result<()>) -> io::Result<()> {
    match printed {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => {
            let message = format!("cannot write to standard output: {error}");
            Err(io::Error::new(error.kind(), message))
        }
        Ok(()) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::whole;

    #[test]
    fn a_character_in_pieces_is_shown_as_one() {
        let text = "aé€😀z";
        for size in 1..=text.len() {
            let mut begun = Vec::new();
            let pieces = text.as_bytes().chunks(size).map(|piece| whole(&mut begun, piece));
            assert_eq!(pieces.collect::<String>(), text, "in pieces of {size}");
            assert!(begun.is_empty());
        }
        let mut begun = Vec::new();
        assert_eq!(whole(&mut begun, b"a\xffb\xe2\x82"), "a\u{fffd}b");
        assert_eq!(whole(&mut begun, b"x\xe2"), "\u{fffd}x");
        assert_eq!(begun, b"\xe2");
    }
}
