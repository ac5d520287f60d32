//! Detects a line that an MCP server prints in place of its first message.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::oneshot;

/// The longest part of a line that is kept, in bytes.
const MAX_LINE: usize = 200;

/// The time in which a program that printed something else must begin to speak the protocol.
const AFTER_STRAY: Duration = Duration::from_secs(5);

/// Waits until a server has begun to speak the protocol. If the server prints another line first, it
/// has a few more seconds: other clients ignore such a line, so some servers print one.
///
/// Fails with that line, as the reason of an error, if the server says nothing else.
pub async fn begun<T>(
    serving: impl Future<Output = T>,
    stray: oneshot::Receiver<String>,
) -> Result<T, String> {
    let mut serving = std::pin::pin!(serving);
    let line = tokio::select! {
        served = &mut serving => return Ok(served),
        Ok(line) = stray => line,
    };
    tokio::time::timeout(AFTER_STRAY, serving)
        .await
        .map_err(|_| format!("it prints `{}`", line.escape_debug()))
}

/// A stream that reports its first line if that is not JSON. The bytes that are read are unchanged.
pub struct FirstLine<R> {
    inner: R,
    /// The beginning of the first line, without leading blanks and blank lines.
    line: Vec<u8>,
    /// `None` once the first line is known.
    report: Option<oneshot::Sender<String>>,
}

impl<R> FirstLine<R> {
    /// Watches `inner`. The receiver gets the first line, or an error if the line is JSON.
    pub fn new(inner: R) -> (FirstLine<R>, oneshot::Receiver<String>) {
        let (report, stray) = oneshot::channel();
        (FirstLine { inner, line: Vec::new(), report: Some(report) }, stray)
    }

    fn look_at(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            match byte {
                _ if self.line.is_empty() && byte.is_ascii_whitespace() => continue,
                b'{' | b'[' if self.line.is_empty() => self.report = None,
                b'\n' => {
                    let line = String::from_utf8_lossy(&self.line).trim_end().to_owned();
                    // The receiver may be gone already.
                    let _ = self.report.take().map(|report| report.send(line));
                }
                _ if self.line.len() < MAX_LINE => self.line.push(byte),
                _ => {}
            }
            if self.report.is_none() {
                return;
            }
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for FirstLine<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let n_before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        if self.report.is_some() {
            self.look_at(&buffer.filled()[n_before..]);
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line that is reported for a stream of these pieces.
    fn reported(pieces: &[&str]) -> Option<String> {
        let (mut stream, mut stray) = FirstLine::new(io::empty());
        for piece in pieces {
            stream.look_at(piece.as_bytes());
        }
        stray.try_recv().ok()
    }

    #[test]
    fn only_a_first_line_that_is_not_json_is_reported() {
        let said = |text: &str| Some(text.to_owned());
        assert_eq!(reported(&["Server ", "is up\r\n{}\n"]), said("Server is up"));
        assert_eq!(reported(&["\n  \n", "up\n"]), said("up"));
        assert_eq!(reported(&[" {\"id\": 1}\nup\n"]), None);
        assert_eq!(reported(&["no line"]), None);
        assert_eq!(reported(&["x".repeat(1000).as_str(), "\n"]), said(&"x".repeat(MAX_LINE)));
    }
}
