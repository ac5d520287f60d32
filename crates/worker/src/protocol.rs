//! The protocol between host and child: JSON in frames, each after its length as a little-endian `u32`.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::PathBuf;

use repertoire_plugin::{ToolOutput, ToolsetDescription};
use repertoire_system::network::Network;
use repertoire_system::sandbox::SandboxLevel;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::limits::Limits;

/// The largest frame, in bytes.
pub(super) const MAX_FRAME: usize = 64 << 20;

/// The size of one read and of the buffer kept between frames, in bytes.
const CHUNK: usize = 64 << 10;

/// The id of a call among those of one process; `0` is the loading of the library.
pub(super) type CallId = u64;

/// A message from the host to the child.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ToChild<'a> {
    /// The first message. It is sent only once.
    Load(Box<Load>),
    /// Makes a toolset, which is called `instance` in later messages, within `millis` milliseconds.
    Create { id: CallId, instance: u32, class: Cow<'a, str>, config: Cow<'a, Value>, millis: u64 },
    /// Calls a tool, which has `millis` milliseconds of time.
    Call { id: CallId, instance: u32, tool: Cow<'a, str>, arguments: Cow<'a, str>, millis: u64 },
    /// Confirms that the host has taken the listener, or says that it could not.
    Supervised { is_taken: bool },
    /// Asks a call to end soon.
    Cancel { id: CallId },
    /// Answers a request that a call made to the host.
    Answer { id: CallId, request: u64, result: Result<Value, Failure> },
}

/// The library to load or the server to run, and the rights to give up before that.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Load {
    /// The private copy of the library, or the directory with the private copies of a server.
    pub(super) library: OsString,
    /// The command line of an MCP server; `None` for a library.
    pub(super) server: Option<Vec<OsString>>,
    /// The author's file, for messages.
    pub(super) shown_as: OsString,
    pub(super) skill_dir: OsString,
    pub(super) scratch: OsString,
    pub(super) address_space: Option<u64>,
    pub(super) data: Option<u64>,
    pub(super) cpu_seconds: Option<u64>,
    pub(super) file_bytes: Option<u64>,
    pub(super) processes: Option<u64>,
    pub(super) network: Network,
    pub(super) read: Vec<OsString>,
    /// Directories that the process may read, and whose programs it may run.
    pub(super) run: Vec<OsString>,
    pub(super) write: Vec<OsString>,
}

impl Load {
    /// Creates a message with the values of `limits`. The paths of the plugin are left empty.
    pub(super) fn limited(limits: &Limits) -> Self {
        let absolute = |path: &PathBuf| {
            std::path::absolute(path).unwrap_or_else(|_| path.clone()).into_os_string()
        };
        Self {
            address_space: limits.address_space,
            cpu_seconds: limits.cpu_seconds,
            file_bytes: limits.file_bytes,
            processes: limits.processes_now(),
            network: limits.network.clone(),
            read: limits.read.iter().map(absolute).collect(),
            write: limits.write.iter().map(absolute).collect(),
            ..Self::default()
        }
    }

    /// The files and directories that the process may change.
    pub(super) fn writable(&self) -> Vec<PathBuf> {
        self.write.iter().chain([&self.scratch]).map(PathBuf::from).collect()
    }
}

/// A message from the child to the host.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ToHost {
    /// The process has a listener under this number, which the host takes and then confirms. Sent before any
    /// code of the library runs.
    Supervise { listener: i32 },
    /// The library is open.
    Ready { sandbox: SandboxLevel },
    /// The library cannot be opened, and the child ends.
    LoadFailed(Refusal),
    /// A toolset was made.
    Created { id: CallId, description: ToolsetDescription },
    /// A call succeeded.
    Done { id: CallId, output: ToolOutput },
    /// A call failed, or a toolset could not be made.
    Failed { id: CallId, failure: Failure },
    /// The arguments do not fit the tool's schema. `problems` lists the problems in one line.
    Unfit { id: CallId, problems: String },
    /// The child has children, at the end of a call and when no other runs.
    Left,
    /// The progress of a call.
    Progress { id: CallId, fraction: f64, message: String },
    /// A line for the host's log.
    Log { id: CallId, level: u8, message: String },
    /// A request to the host.
    Request { id: CallId, request: u64, method: String, params: Value },
}

/// The reason why the library cannot be opened, and the remedy.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Refusal {
    pub(super) message: String,
    pub(super) help: String,
}

/// A `ToolError`, as it is sent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Failure {
    /// The number of an `ErrorCode`.
    pub(super) code: u32,
    pub(super) message: String,
    /// The remedy; empty if the message says it.
    pub(super) help: String,
}

/// Returns the bytes of a frame, or the reason why the message cannot be framed.
pub(super) fn frame(message: &impl Serialize) -> Result<Vec<u8>, String> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message).map_err(|error| error.to_string())?;
    let length = bytes.len() - 4;
    if length > MAX_FRAME {
        let limit = MAX_FRAME >> 20;
        return Err(format!("{length} bytes of JSON are more than {limit} MiB"));
    }
    bytes[..4].copy_from_slice(&(length as u32).to_le_bytes());
    Ok(bytes)
}

/// Reads frames from a stream, usually with one `read` each.
pub(super) struct Frames<R> {
    from: R,
    buffer: Vec<u8>,
    /// The part of the buffer that was read and not yet handed out.
    pending: std::ops::Range<usize>,
}

impl<R: Read> Frames<R> {
    pub(super) fn new(from: R) -> Self {
        Self { from, buffer: vec![0; CHUNK], pending: 0..0 }
    }

    /// Returns the next frame; `None` at the end of the stream. It can be called again after
    /// `WouldBlock`.
    pub(super) fn next(&mut self) -> io::Result<Option<&[u8]>> {
        let length = loop {
            let have = self.pending.len();
            let mut needed = 4;
            if have >= 4 {
                let head = &self.buffer[self.pending.start..self.pending.start + 4];
                let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
                if length > MAX_FRAME {
                    let what = format!("a frame of {length} bytes");
                    return Err(io::Error::new(io::ErrorKind::InvalidData, what));
                }
                needed += length;
            }
            if have >= needed && have >= 4 {
                break needed;
            }
            if !self.fill(needed)? {
                return Ok(None);
            }
        };
        let start = self.pending.start;
        self.pending.start += length;
        Ok(Some(&self.buffer[start + 4..start + length]))
    }

    /// Reads once. Returns false at the end of the stream.
    fn fill(&mut self, needed: usize) -> io::Result<bool> {
        let have = self.pending.len();
        if self.pending.start > 0 {
            self.buffer.copy_within(self.pending.clone(), 0);
            self.pending = 0..have;
        }
        if have == 0 && self.buffer.len() > 16 * CHUNK {
            self.buffer = vec![0; CHUNK];
        }
        if have == self.buffer.len() || needed > self.buffer.len() {
            // Do not trust a length: allocate only in proportion to the bytes that have arrived.
            let room = needed.min((self.buffer.len() * 2).max(have + CHUNK)).max(CHUNK);
            if room > self.buffer.len() && have * 2 >= self.buffer.len() {
                self.buffer.resize(room, 0);
            }
        }
        loop {
            match self.from.read(&mut self.buffer[have..]) {
                Ok(0) => return Ok(false),
                Ok(n) => {
                    self.pending.end = have + n;
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that returns a few bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let n = self.0.len().min(self.1).min(to.len());
            to[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    #[test]
    fn frames_arrive_whole_however_they_are_cut() {
        let long = "x".repeat(3 * CHUNK);
        let texts = ["", "a", long.as_str(), "b", long.as_str(), long.as_str(), "c"];
        let bytes = texts.iter().flat_map(|text| frame(text).unwrap()).collect::<Vec<_>>();
        for step in [1, 3, 4, 5, 1000, CHUNK, usize::MAX] {
            let mut frames = Frames::new(Slow(&bytes, step));
            for text in texts {
                let found = frames.next().unwrap().unwrap();
                assert_eq!(serde_json::from_slice::<String>(found).unwrap(), text);
            }
            assert!(frames.next().unwrap().is_none());
        }
    }

    #[test]
    fn a_claim_of_length_takes_no_memory_and_too_much_is_an_error() {
        let claim = (MAX_FRAME as u32).to_le_bytes();
        let mut frames = Frames::new(Slow(&claim, 4));
        assert!(frames.next().unwrap().is_none());
        assert!(frames.buffer.len() <= 2 * CHUNK);
        let mut frames = Frames::new(Slow(&[0xff; 8], 8));
        assert_eq!(frames.next().unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
