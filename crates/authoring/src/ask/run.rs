//! The run: each message, in each way, by as many conversations at once as wanted.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use data_encoding::HEXLOWER;
use repertoire::{Engine, Error};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::conversation::{Conversation, converse};
use super::model::Model;
use super::record::{Record, Replies};
use super::text::request_text;
use super::way::Way;
use crate::eval::{Case, Judge, Problem};

/// A run ends if so many conversations fail one after the other: the model cannot be reached.
const FAILURES_IN_A_ROW: usize = 3;

/// The settings of a run that sends messages to a model.
#[derive(Debug, Clone)]
pub struct Asking<'a> {
    /// The name of the model: records of another one are not used.
    pub model_name: &'a str,
    /// The ways, in the order of the report.
    pub ways: &'a [Way],
    /// The number of conversations at once, at least 1.
    pub jobs: usize,
    /// No conversation begins when this number of tokens is used by this run.
    pub max_tokens: Option<usize>,
}

/// The result of a run.
#[derive(Debug, Default)]
pub struct Asked {
    /// Each message that was asked in every way, with a record for each way, in their order.
    pub(super) rows: Vec<Row>,
    /// The conversations that failed.
    pub failed: Vec<Unanswered>,
    /// The cases that name a skill which the catalog does not have.
    pub problems: Vec<Problem>,
    /// The number of messages that were not asked in every way, because they failed, or there were no more tokens.
    pub left: usize,
    /// The number of conversations that were not led again, as their records were kept.
    pub reused: usize,
}

impl Asked {
    /// The number of replies that count.
    pub fn replies(&self) -> usize {
        self.rows.iter().map(|row| row.records.len()).sum()
    }
}

/// A message with its records.
#[derive(Debug)]
pub(super) struct Row {
    /// The skills that are right for it.
    pub(super) judge: Judge,
    /// A record for each way.
    pub(super) records: Vec<Record>,
    /// The verdict on each record, if there is one.
    pub(super) verdicts: Vec<Option<bool>>,
}

/// A conversation that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Unanswered {
    /// The file with the message.
    pub file: String,
    /// Its line, from 1.
    pub line: usize,
    /// The way in which it was sent.
    pub way: Way,
    /// The reason.
    pub reason: String,
}

/// Chooses `n` of the cases. The same messages are chosen each time, and a larger `n` adds to them, so that their
/// records are used again.
pub fn sample(mut cases: Vec<Case>, n: usize) -> Vec<Case> {
    cases.sort_by_cached_key(|case| digest(&[&case.query]));
    cases.truncate(n);
    cases
}

/// The state that the conversations of a run share.
struct Shared<'a> {
    engine: &'a Engine,
    asking: &'a Asking<'a>,
    model: &'a dyn Model,
    replies: Mutex<&'a mut Replies>,
    /// The tokens used so far.
    used: AtomicUsize,
    reused: AtomicUsize,
    in_a_row: AtomicUsize,
    failed: Mutex<Vec<Unanswered>>,
}

impl Asking<'_> {
    /// Sends each case to `model` in each way; records that `replies` has are used instead. Calls `each` after every
    /// case.
    ///
    /// # Errors
    ///
    /// If a reply cannot be kept. A model that fails is not an error: see [`Asked::failed`].
    pub fn run(
        &self,
        engine: &Engine,
        cases: &[Case],
        model: &dyn Model,
        replies: &mut Replies,
        each: impl Fn() + Sync,
    ) -> Result<Asked, Error> {
        let mut asked = Asked::default();
        let mut messages = Vec::new();
        for case in cases {
            match Judge::of_model(engine, case) {
                Ok(Some(judge)) => messages.push((case, judge)),
                Ok(None) => each(),
                Err(message) => {
                    let Case { file, line, .. } = case;
                    asked.problems.push(Problem { file: file.clone(), line: *line, message });
                }
            }
        }
        let shared = Shared {
            engine,
            asking: self,
            model,
            replies: Mutex::new(replies),
            used: AtomicUsize::new(0),
            reused: AtomicUsize::new(0),
            in_a_row: AtomicUsize::new(0),
            failed: Mutex::default(),
        };
        let answers = shared.all(&messages, &each)?;
        asked.reused = shared.reused.into_inner();
        asked.failed = shared.failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        asked.failed.sort_by(|a, b| (&a.file, a.line, a.way).cmp(&(&b.file, b.line, b.way)));
        for ((_, judge), records) in messages.into_iter().zip(answers) {
            match records {
                Some(records) => {
                    let verdicts = vec![None; records.len()];
                    asked.rows.push(Row { judge, records, verdicts });
                }
                None => asked.left += 1,
            }
        }
        Ok(asked)
    }
}

impl Shared<'_> {
    /// The records of each message; `None` if it was not asked in every way.
    fn all(
        &self,
        messages: &[(&Case, Judge)],
        each: &(impl Fn() + Sync),
    ) -> Result<Vec<Option<Vec<Record>>>, Error> {
        let next = AtomicUsize::new(0);
        let answers: Vec<_> = messages.iter().map(|_| Mutex::new(None)).collect();
        let work = || -> Result<(), Error> {
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let (Some((case, _)), Some(answer)) = (messages.get(place), answers.get(place))
                else {
                    return Ok(());
                };
                *locked(answer) = self.in_each_way(case)?;
                each();
            }
        };
        thread::scope(|scope| {
            let workers: Vec<_> = (0..self.asking.jobs.max(1)).map(|_| scope.spawn(work)).collect();
            workers
                .into_iter()
                .try_for_each(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)))
        })?;
        Ok(answers.iter().map(|answer| locked(answer).take()).collect())
    }

    /// The records of one message, in the order of the ways; `None` if one is missing.
    fn in_each_way(&self, case: &Case) -> Result<Option<Vec<Record>>, Error> {
        let records = self.asking.ways.iter().map(|way| self.record(case, *way));
        Ok(records.collect::<Result<Vec<_>, _>>()?.into_iter().collect())
    }

    /// The record of one message in one way: a kept one, or that of a new conversation.
    fn record(&self, case: &Case, way: Way) -> Result<Option<Record>, Error> {
        // A session of its own, which nothing else has used.
        let session = self
            .engine
            .session(&format!("ask/{way}/{}", digest(&[&case.file, &case.line.to_string()])));
        let opening = way.open(self.engine, &session, &case.query)?;
        let key = digest(&[self.asking.model_name, way.as_str(), &request_text(&opening.request)]);
        if let Some(kept) = locked(&self.replies).get(&key) {
            self.reused.fetch_add(1, Ordering::Relaxed);
            return Ok(Some(kept.clone()));
        }
        let is_out_of_tokens = |limit| self.used.load(Ordering::Relaxed) >= limit;
        let is_away = self.in_a_row.load(Ordering::Relaxed) >= FAILURES_IN_A_ROW;
        if is_away || self.asking.max_tokens.is_some_and(is_out_of_tokens) {
            return Ok(None);
        }
        match converse(self.engine, way, opening, self.model) {
            Ok(conversation) => {
                self.in_a_row.store(0, Ordering::Relaxed);
                self.used.fetch_add(
                    conversation.tokens.input + conversation.tokens.output,
                    Ordering::Relaxed,
                );
                let record = self.recorded(conversation, key, way, &case.query);
                locked(&self.replies).add(record.clone())?;
                Ok(Some(record))
            }
            Err(reason) => {
                self.in_a_row.fetch_add(1, Ordering::Relaxed);
                let (file, line) = (case.file.clone(), case.line);
                locked(&self.failed).push(Unanswered { file, line, way, reason });
                Ok(None)
            }
        }
    }

    fn recorded(&self, conversation: Conversation, key: String, way: Way, query: &str) -> Record {
        let Conversation { loaded, calls, reply, tokens, turns, seconds } = conversation;
        let (model, query) = (self.asking.model_name.to_owned(), query.to_owned());
        Record { key, model, way, query, loaded, calls, reply, tokens, turns, seconds }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// 32 hexadecimal digits that stand for some texts.
fn digest(texts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    }
    HEXLOWER.encode(&hash.finalize()[..16])
}
