//! The run: each message, in each way, by as many conversations at once as wanted.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use repertoire::skill::SkillId;
use repertoire::{Engine, Error};
use serde::Serialize;

use super::conversation::{Conversation, answers_to, converse};
use super::model::Model;
use super::record::{Record, Replies, digest};
use super::text::request_text;
use super::way::{Opening, Way};
use crate::eval::{Case, Judge, Problem, UserOnly};

/// A run ends if so many messages fail one after the other: the model cannot be reached.
pub(super) const FAILURES_IN_A_ROW: usize = 3;

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
    /// The number of conversations that were not led again, as an earlier run has kept their records.
    pub reused: usize,
    /// The skills that only the user may invoke, with the number of cases that expect them: one that expects no other
    /// is not asked.
    pub user_only: Vec<UserOnly>,
    /// The replies without a verdict, if a judge was put over them.
    pub unjudged: Option<Unjudged>,
}

/// Replies on which a judge gave no verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Unjudged {
    /// Their number.
    pub replies: usize,
    /// The reason for the first of them.
    pub reason: String,
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

/// Chooses `n` of the cases that count; those that do not are kept, so that a run tells of them. The same messages are
/// chosen each time, and a larger `n` adds to them, so that their records are used again.
pub fn sample(engine: &Engine, cases: Vec<Case>, n: usize) -> Vec<Case> {
    let counts = |case: &Case| matches!(Judge::of_model(engine, case), Ok((Some(_), _)));
    let (mut chosen, others): (Vec<Case>, Vec<Case>) = cases.into_iter().partition(counts);
    chosen.sort_by_cached_key(|case| digest(&[&case.query]));
    chosen.truncate(n);
    chosen.extend(others);
    chosen
}

/// The state that the conversations of a run share.
struct Shared<'a> {
    engine: &'a Engine,
    asking: &'a Asking<'a>,
    model: &'a dyn Model,
    replies: Mutex<&'a mut Replies>,
    /// The tokens used so far.
    used: AtomicUsize,
    /// The keys of the records of earlier runs.
    kept: BTreeSet<String>,
    reused: AtomicUsize,
    in_a_row: Mutex<InARow>,
    failed: Mutex<Vec<Unanswered>>,
}

/// The failures since the model last answered.
#[derive(Debug, Default)]
struct InARow {
    n: usize,
    /// The time of the last one. What failed at the same time, with other jobs, tells nothing more.
    last: Option<Instant>,
}

impl InARow {
    /// Counts the failure of a conversation that began at `start`.
    fn count(&mut self, start: Instant) {
        if self.last.is_none_or(|last| last <= start) {
            self.n += 1;
            self.last = Some(Instant::now());
        }
    }
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
        let mut user_only: BTreeMap<SkillId, usize> = BTreeMap::new();
        for case in cases {
            match Judge::of_model(engine, case) {
                Ok((judge, exempt)) => {
                    for id in exempt {
                        *user_only.entry(id).or_default() += 1;
                    }
                    match judge {
                        Some(judge) => messages.push((case, judge)),
                        None => each(),
                    }
                }
                Err(message) => {
                    let Case { file, line, .. } = case;
                    asked.problems.push(Problem { file: file.clone(), line: *line, message });
                }
            }
        }
        asked.user_only = UserOnly::all(user_only);
        // What failed the last time comes last, so that it keeps no other message from being asked.
        messages.sort_by_key(|(case, _)| replies.has_failed(&self.digest_of(case)));
        let shared = Shared {
            engine,
            asking: self,
            model,
            kept: replies.keys(),
            replies: Mutex::new(replies),
            used: AtomicUsize::new(0),
            reused: AtomicUsize::new(0),
            in_a_row: Mutex::default(),
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

    /// Stands for a message that this model gets.
    fn digest_of(&self, case: &Case) -> String {
        digest(&[self.model_name, &case.query])
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

    /// The records of one message, in the order of the ways; `None` if one is missing. The message does not count
    /// then, so it is not asked in the ways that follow.
    fn in_each_way(&self, case: &Case) -> Result<Option<Vec<Record>>, Error> {
        let mut records = Vec::new();
        for way in self.asking.ways {
            let Some(record) = self.record(case, *way)? else { return Ok(None) };
            records.push(record);
        }
        Ok(Some(records))
    }

    /// The beginning of a conversation in a session that nothing else has used.
    fn open(&self, case: &Case, way: Way, again: &str) -> Result<Opening, Error> {
        let place = digest(&[&case.file, &case.line.to_string()]);
        let session = self.engine.session(&format!("ask/{way}/{place}{again}"));
        way.open(self.engine, &session, &case.query)
    }

    /// The record of one message in one way: a kept one, or that of a new conversation.
    fn record(&self, case: &Case, way: Way) -> Result<Option<Record>, Error> {
        let mut opening = self.open(case, way, "")?;
        let key = digest(&[self.asking.model_name, way.as_str(), &request_text(&opening.request)]);
        let kept = locked(&self.replies).get(&key).cloned();
        if let Some(kept) = kept {
            let answers = answers_to(&kept.calls, self.engine, way, &opening);
            if kept.answers.is_none() || kept.answers == answers {
                let is_earlier = self.kept.contains(&key);
                self.reused.fetch_add(usize::from(is_earlier), Ordering::Relaxed);
                return Ok(Some(kept));
            }
            opening = self.open(case, way, "/again")?;
        }
        let is_out_of_tokens = |limit| self.used.load(Ordering::Relaxed) >= limit;
        let is_away = locked(&self.in_a_row).n >= FAILURES_IN_A_ROW;
        if is_away || self.asking.max_tokens.is_some_and(is_out_of_tokens) {
            return Ok(None);
        }
        let start = Instant::now();
        match converse(self.engine, way, opening, self.model) {
            Ok(conversation) => {
                locked(&self.in_a_row).n = 0;
                self.used.fetch_add(
                    conversation.tokens.input + conversation.tokens.output,
                    Ordering::Relaxed,
                );
                let record = self.recorded(conversation, key, way, &case.query);
                locked(&self.replies).add(record.clone())?;
                Ok(Some(record))
            }
            Err(reason) => {
                locked(&self.in_a_row).count(start);
                let digest = self.asking.digest_of(case);
                locked(&self.replies).add_failure(digest, reason.clone())?;
                let (file, line) = (case.file.clone(), case.line);
                locked(&self.failed).push(Unanswered { file, line, way, reason });
                Ok(None)
            }
        }
    }

    fn recorded(&self, conversation: Conversation, key: String, way: Way, query: &str) -> Record {
        let answers = conversation.digest_of_answers();
        let Conversation { loaded, calls, reply, tokens, turns, seconds, .. } = conversation;
        let (model, query) = (self.asking.model_name.to_owned(), query.to_owned());
        Record { key, model, way, query, loaded, calls, answers, reply, tokens, turns, seconds }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
