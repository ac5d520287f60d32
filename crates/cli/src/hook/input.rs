//! The input of a hook: one JSON value. An agent may leave the pipe open after it (Claude Code on
//! Windows, Gemini CLI in Git Bash), so the end of the value ends the input.

use std::io::{self, ErrorKind, Read};

use repertoire::{Error, ErrorCode};

/// The maximum number of bytes read from an agent. After a tool call, the hook receives the tool's
/// output.
const LONGEST_INPUT: usize = 64 << 20;

/// The number of bytes requested at a time. A pipe of Linux holds as many.
const CHUNK: usize = 64 << 10;

/// Reads one JSON value from standard input, as text. Does not wait for anything after it.
pub(super) fn read() -> Result<String, Error> {
    let refuse = |code, message| Error::new(code, message, "let the agent run it");
    let bytes = read_value(io::stdin().lock(), LONGEST_INPUT).map_err(|error| {
        refuse(ErrorCode::ExecutionError, format!("cannot read standard input: {error}"))
    })?;
    if bytes.len() > LONGEST_INPUT {
        let message = format!("the input of the hook is longer than {LONGEST_INPUT} bytes");
        return Err(refuse(ErrorCode::InvalidParam, message));
    }
    // A message is answered even if a character of it was cut.
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Reads up to the end of the first JSON object or array, of other text as much as arrives first, and
/// at most a chunk more than `longest` bytes.
fn read_value(mut reader: impl Read, longest: usize) -> io::Result<Vec<u8>> {
    let (mut bytes, mut scanner) = (Vec::new(), Scanner::default());
    let mut chunk = vec![0; CHUNK];
    while bytes.len() <= longest {
        let n_read = match reader.read(&mut chunk) {
            Ok(0) => break,
            Ok(n_read) => n_read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let end = scanner.end(&chunk[..n_read]);
        bytes.extend_from_slice(&chunk[..end.unwrap_or(n_read)]);
        if end.is_some() {
            break;
        }
    }
    Ok(bytes)
}

/// Finds the end of a JSON value in text that arrives in pieces. Checks only brackets and strings; the
/// parser reports everything else.
#[derive(Default)]
struct Scanner {
    /// The number of open brackets.
    depth: usize,
    is_in_string: bool,
    /// True after a backslash in a string.
    is_escaped: bool,
}

impl Scanner {
    /// Returns the number of bytes of `piece` up to the end of the value; `None` if the value goes on.
    /// Text that is not an object or an array ends with the piece that it is in.
    fn end(&mut self, piece: &[u8]) -> Option<usize> {
        for (at, &byte) in piece.iter().enumerate() {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.is_in_string => self.is_escaped = true,
                b'"' if self.depth > 0 => self.is_in_string = !self.is_in_string,
                _ if self.is_in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' if self.depth > 0 => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                // A byte order mark may precede the value.
                b'\xef' | b'\xbb' | b'\xbf' => {}
                _ if self.depth == 0 && !byte.is_ascii_whitespace() => return Some(piece.len()),
                _ => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns its text a few bytes at a time, and fails if it is read after that.
    struct OpenPipe<'a>(std::slice::Chunks<'a, u8>);

    impl Read for OpenPipe<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let piece = self.0.next().ok_or_else(|| io::Error::other("nobody writes any more"))?;
            buffer[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }
    }

    #[test]
    fn a_value_is_read_without_waiting_for_the_end_of_the_stream() {
        for (text, value) in [
            (r#"{"a": 1}"#, r#"{"a": 1}"#),
            ("\u{feff} \n{\"a\": {}}\n{\"b\": 2}", "\u{feff} \n{\"a\": {}}"),
            (r#"{"a": "}\"]{\\"}x"#, r#"{"a": "}\"]{\\"}"#),
            (r#"[{"a": [1]}, 2] "#, r#"[{"a": [1]}, 2]"#),
            (r#"{"ä": "使"}"#, r#"{"ä": "使"}"#),
        ] {
            for n in 1..text.len() {
                let pipe = OpenPipe(text.as_bytes().chunks(n));
                let read = read_value(pipe, LONGEST_INPUT).unwrap();
                assert_eq!(String::from_utf8(read).unwrap(), value, "{n} bytes at a time");
            }
        }
    }

    #[test]
    fn anything_else_ends_with_what_arrives_or_with_the_stream() {
        for (text, value) in [("deploy it", "de"), ("\"{}\"", "\"{"), ("}", "}")] {
            let read = read_value(OpenPipe(text.as_bytes().chunks(2)), 99).unwrap();
            assert_eq!(String::from_utf8(read).unwrap(), value);
        }
        assert_eq!(read_value(io::empty(), 99).unwrap(), b"");
        assert_eq!(read_value(&b"{\"a\": [1"[..], 99).unwrap(), b"{\"a\": [1");
        assert_eq!(read_value(io::repeat(b'['), 99).unwrap().len(), CHUNK);
    }
}
