//! The output of a plugin.

use std::io::{self, PipeReader, Read};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::locked;

/// The number of bytes that are kept of the end of the output.
const LAST_WORDS: usize = 4 << 10;

/// The standard output and standard error of a plugin: logged line by line, with the end kept.
pub(super) struct Output {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    tail: Vec<u8>,
    ended: bool,
}

impl Output {
    /// Starts a thread that reads until every process of the group has closed its end of the pipe.
    pub(super) fn follow(mut from: PipeReader, shown_as: String) -> io::Result<Arc<Self>> {
        let output = Arc::new(Self { state: Mutex::default(), ended: Condvar::new() });
        let shared = Arc::clone(&output);
        thread::Builder::new().name("toolset-output".to_owned()).spawn(move || {
            let mut buffer = [0; 4096];
            let mut line = Vec::new();
            loop {
                match from.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(n) => {
                        shared.keep(&buffer[..n]);
                        log_lines(&mut line, &buffer[..n], &shown_as);
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            log_line(&line, &shown_as);
            locked(&shared.state).ended = true;
            shared.ended.notify_all();
        })?;
        Ok(output)
    }

    fn keep(&self, bytes: &[u8]) {
        let tail = &mut locked(&self.state).tail;
        tail.extend_from_slice(bytes);
        if tail.len() > 2 * LAST_WORDS {
            tail.drain(..tail.len() - LAST_WORDS);
        }
    }

    /// Returns the end of the output. Waits at most this long for output that is on its way.
    pub(super) fn last_output(&self, at_most: Duration) -> String {
        let state = locked(&self.state);
        let waited = self.ended.wait_timeout_while(state, at_most, |state| !state.ended);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let start = state.tail.len().saturating_sub(LAST_WORDS);
        String::from_utf8_lossy(&state.tail[start..]).trim().to_owned()
    }
}

fn log_lines(line: &mut Vec<u8>, bytes: &[u8], shown_as: &str) {
    for part in bytes.split_inclusive(|byte| *byte == b'\n') {
        line.extend_from_slice(part);
        if part.ends_with(b"\n") || line.len() >= LAST_WORDS {
            log_line(line, shown_as);
            line.clear();
        }
    }
}

fn log_line(line: &[u8], shown_as: &str) {
    let text = String::from_utf8_lossy(line);
    if !text.trim().is_empty() {
        tracing::debug!(plugin = shown_as, "printed: {}", text.trim_end());
    }
}
