//! Records of conversations, kept in a file of JSON lines.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::Path;

use data_encoding::HEXLOWER;
use repertoire::skill::SkillId;
use repertoire::{Error, ErrorCode};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::model::{Call, Usage};
use super::way::Way;

/// The doings of one model with one message, sent in one way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Record {
    /// The name of the model and all that it got at the beginning, as 32 hexadecimal digits: a record is used again
    /// for the same, and for nothing else.
    pub key: String,
    /// The model: the command or the address by which it is reached.
    pub model: String,
    /// The way.
    pub way: Way,
    /// The message.
    pub query: String,
    /// The skills whose text the model got, in that order.
    pub loaded: Vec<SkillId>,
    /// The calls of tools, in order.
    pub calls: Vec<Call>,
    /// The answers to these calls, as 32 hexadecimal digits: if one would be another now, the record is not used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<String>,
    /// The last reply.
    pub reply: String,
    /// The tokens of all requests and of all replies: as the model counted them, or as the engine estimates them.
    pub tokens: Usage,
    /// The number of requests.
    pub turns: usize,
    /// The time that the model took.
    pub seconds: f64,
}

/// The opinion of a judge on a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Verdict {
    /// The key of the record with the reply.
    pub key: String,
    /// The judge: the command or the address by which it is reached.
    pub judge: String,
    /// The question that it was asked, as 32 hexadecimal digits: for another one, the verdict does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// True if the judge finds the reply good.
    pub is_good: bool,
}

/// A message that a model did not answer.
#[derive(Debug, Serialize, Deserialize)]
struct Failure {
    /// The model and the message, as 32 hexadecimal digits.
    failed: String,
    /// The reason.
    reason: String,
}

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Record(Record),
    Verdict(Verdict),
    Failure(Failure),
}

/// The records and verdicts so far. Those in a file are read when it is opened, and new ones are added to it at once.
#[derive(Debug, Default)]
pub struct Replies {
    records: BTreeMap<String, Record>,
    verdicts: BTreeMap<(String, String), Verdict>,
    failures: BTreeSet<String>,
    file: Option<File>,
}

impl Replies {
    /// Reads the records in a file, and keeps new ones there. The file is created if there is none.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::ExecutionError`] if the file cannot be opened, [`ErrorCode::InvalidParam`] if it holds something
    /// else. The last line may be cut, as a run that was ended leaves it: it is asked again.
    pub fn open(path: &Path) -> Result<Replies, Error> {
        let failed = |error: std::io::Error| {
            let message = format!("cannot keep replies in {}: {error}", path.display());
            Error::new(
                ErrorCode::ExecutionError,
                message,
                "name a file in a directory that you may write",
            )
        };
        let mut options = OpenOptions::new();
        let mut file = options.read(true).append(true).create(true).open(path).map_err(failed)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let mut replies = Replies::default();
        let mut lines = bytes.split(|byte| *byte == b'\n').enumerate().peekable();
        while let Some((number, line)) = lines.next() {
            let is_last = lines.peek().is_none();
            match serde_json::from_slice(line) {
                Ok(line) => replies.insert(line),
                Err(_) if line.is_empty() || is_last || is_cut(line) => {}
                Err(error) => {
                    let place = format!("{}:{}", path.display(), number + 1);
                    let message = format!("{place}: this is not a reply that was kept: {error}");
                    let help = "name a file that `--replies` wrote, or a new one";
                    return Err(Error::new(ErrorCode::InvalidParam, message, help));
                }
            }
        }
        if bytes.last().is_some_and(|last| *last != b'\n') {
            // What follows stands on a line of its own.
            file.write_all(b"\n").map_err(failed)?;
        }
        replies.file = Some(file);
        Ok(replies)
    }

    /// The record with a key.
    pub fn get(&self, key: &str) -> Option<&Record> {
        self.records.get(key)
    }

    /// The keys of all records.
    pub(super) fn keys(&self) -> BTreeSet<String> {
        self.records.keys().cloned().collect()
    }

    /// Tells whether a message, by the digits of [`Failure::failed`], failed when it was asked last.
    pub(super) fn has_failed(&self, message: &str) -> bool {
        self.failures.contains(message)
    }

    /// The verdict of a judge on the record with a key.
    pub fn verdict(&self, key: &str, judge: &str) -> Option<&Verdict> {
        self.verdicts.get(&(key.to_owned(), judge.to_owned()))
    }

    /// Keeps a record.
    pub(super) fn add(&mut self, record: Record) -> Result<(), Error> {
        self.keep(Line::Record(record))
    }

    /// Keeps a verdict.
    pub(super) fn add_verdict(&mut self, verdict: Verdict) -> Result<(), Error> {
        self.keep(Line::Verdict(verdict))
    }

    /// Notes that a message was not answered, so that the next run asks the others first.
    pub(super) fn add_failure(&mut self, failed: String, reason: String) -> Result<(), Error> {
        self.keep(Line::Failure(Failure { failed, reason }))
    }

    fn keep(&mut self, line: Line) -> Result<(), Error> {
        if let Some(file) = &mut self.file {
            let mut text = serde_json::to_vec(&line).map_err(|error| not_kept(&error))?;
            text.push(b'\n');
            file.write_all(&text).map_err(|error| not_kept(&error))?;
        }
        self.insert(line);
        Ok(())
    }

    fn insert(&mut self, line: Line) {
        match line {
            Line::Record(record) => drop(self.records.insert(record.key.clone(), record)),
            Line::Verdict(verdict) => {
                let key = (verdict.key.clone(), verdict.judge.clone());
                self.verdicts.insert(key, verdict);
            }
            Line::Failure(failure) => drop(self.failures.insert(failure.failed)),
        }
    }
}

/// Writes 32 hexadecimal digits that stand for some texts.
pub(super) fn digest(texts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    }
    HEXLOWER.encode(&hash.finalize()[..16])
}

/// Tells whether a line is the beginning of one that was not written to its end.
fn is_cut(line: &[u8]) -> bool {
    let is_incomplete = |error: serde_json::Error| error.is_eof();
    [&br#"{"key":"#[..], br#"{"failed":"#].iter().any(|start| line.starts_with(start))
        && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_err_and(is_incomplete)
}

fn not_kept(error: &dyn std::fmt::Display) -> Error {
    let message = format!("a reply cannot be kept: {error}");
    Error::new(
        ErrorCode::ExecutionError,
        message,
        "make room on the disk; what was kept is used by the next run",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(key: &str) -> Record {
        let (model, query, reply) = ("m".to_owned(), "q".to_owned(), "r".to_owned());
        let (loaded, calls, tokens) = (Vec::new(), Vec::new(), Usage { input: 3, output: 1 });
        Record {
            key: key.to_owned(),
            model,
            way: Way::List,
            query,
            loaded,
            calls,
            answers: None,
            reply,
            tokens,
            turns: 1,
            seconds: 0.5,
        }
    }

    #[test]
    fn a_run_that_was_ended_in_the_middle_of_a_line_loses_that_line_only() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("replies.jsonl");
        let mut replies = Replies::open(&path).unwrap();
        replies.add(record("a")).unwrap();
        let verdict = Verdict { key: "a".into(), judge: "j".into(), question: None, is_good: true };
        replies.add_verdict(verdict.clone()).unwrap();
        replies.add(record("b")).unwrap();
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 9]).unwrap();

        for _ in 0..2 {
            let mut replies = Replies::open(&path).unwrap();
            assert_eq!((replies.get("a"), replies.get("b")), (Some(&record("a")), None));
            assert_eq!(replies.verdict("a", "j"), Some(&verdict));
            replies.add(record("c")).unwrap();
            assert_eq!(Replies::open(&path).unwrap().get("c"), Some(&record("c")));
        }
    }

    #[test]
    fn a_file_without_its_last_newline_goes_on_on_a_line_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("replies.jsonl");
        Replies::open(&path).unwrap().add(record("a")).unwrap();
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, whole.trim_ascii_end()).unwrap();
        for key in ["b", "c"] {
            Replies::open(&path).unwrap().add(record(key)).unwrap();
        }
        let keys: Vec<_> = Replies::open(&path).unwrap().keys().into_iter().collect();
        assert_eq!(keys, ["a", "b", "c"]);
    }

    #[test]
    fn another_file_is_refused_and_left_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cases.jsonl");
        let text = "{\"query\": \"q\"}\n{\"query\": \"p\"}\n";
        std::fs::write(&path, text).unwrap();
        let error = Replies::open(&path).unwrap_err();
        assert!(error.message().contains("cases.jsonl:1"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}
