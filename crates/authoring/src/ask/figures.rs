//! The figures of a run.

#![expect(clippy::cast_precision_loss, reason = "numbers of tokens and turns")]

use serde::Serialize;

use super::bootstrap::{Interval, interval, mean};
use super::record::Record;
use super::run::{Asked, Row, Unanswered, Unjudged};
use super::way::Way;
use crate::eval::{Judge, Problem, UserOnly};

/// The report of a run. Serialises to the output of `repertoire eval --ask … --json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AskReport {
    /// The number of messages that were asked in every way: those that count.
    pub messages: usize,
    /// The number of messages that were not.
    pub left: usize,
    /// The number of conversations whose records were kept from an earlier run.
    pub reused: usize,
    /// The figures of each way.
    pub ways: Vec<WayFigures>,
    /// The differences of the last way from each of the others, message by message: one is real if its
    /// interval does not hold 0.
    pub differences: Vec<WayFigures>,
    /// The conversations that failed.
    pub failed: Vec<Unanswered>,
    /// The cases that name a skill which the catalog does not have.
    pub problems: Vec<Problem>,
    /// The skills that only the user may invoke, with the number of messages that expect them.
    pub user_only: Vec<UserOnly>,
    /// The replies without a verdict, if a judge was put over them.
    pub unjudged: Option<Unjudged>,
}

/// The figures of one way; the [module](super) explains what is counted. `None` is a share of nothing.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WayFigures {
    /// The way.
    pub way: Way,
    /// Share of the messages for a skill that load it.
    pub right: Option<Figure>,
    /// Share of the messages for a skill that load a wrong one.
    pub wrong: Option<Figure>,
    /// Share of the messages for a skill that load none.
    pub never: Option<Figure>,
    /// Share of the messages for no skill that load one which they must not.
    pub needless: Option<Figure>,
    /// Share of the judged replies that are good.
    pub good: Option<Figure>,
    /// Tokens of all requests, the mean over messages.
    pub input: Option<Figure>,
    /// Tokens of all replies, the mean over messages.
    pub output: Option<Figure>,
    /// Requests, the mean over messages.
    pub turns: Option<Figure>,
    /// Seconds that the model took, the mean over messages.
    pub seconds: Option<Figure>,
}

/// A mean with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Figure {
    /// The mean; shares are from 0 to 1.
    pub mean: f64,
    /// Its interval.
    pub interval: Interval,
    /// The number of messages.
    pub messages: usize,
}

/// One figure of one message: `None` if it does not count for it.
type Measure = fn(&Judge, &Record, Option<bool>) -> Option<f64>;

impl AskReport {
    /// Computes the figures of a run in the ways `ways`, which are those of its records.
    pub fn new(asked: Asked, ways: &[Way]) -> AskReport {
        let Asked { rows, failed, problems, left, reused, user_only, unjudged } = asked;
        let of_way = |place: usize| move |row: &Row, measure: Measure| row.value(place, measure);
        let last = ways.len().saturating_sub(1);
        let difference = |place: usize| {
            move |row: &Row, measure: Measure| {
                Some(row.value(last, measure)? - row.value(place, measure)?)
            }
        };
        let all = ways.iter().enumerate();
        let others = all.clone().take(last);
        AskReport {
            messages: rows.len(),
            left,
            reused,
            ways: all.map(|(place, way)| WayFigures::new(*way, &rows, of_way(place))).collect(),
            differences: others
                .map(|(place, way)| WayFigures::new(*way, &rows, difference(place)))
                .collect(),
            failed,
            problems,
            user_only,
            unjudged,
        }
    }
}

impl WayFigures {
    fn new(way: Way, rows: &[Row], value: impl Fn(&Row, Measure) -> Option<f64>) -> WayFigures {
        let figure = |measure: Measure| {
            let values: Vec<f64> = rows.iter().filter_map(|row| value(row, measure)).collect();
            let (mean, interval) = (mean(&values)?, interval(&values)?);
            Some(Figure { mean, interval, messages: values.len() })
        };
        WayFigures {
            way,
            right: figure(|judge, record, _| {
                for_skill(judge, record.loaded.iter().any(|id| judge.expected.contains(id)))
            }),
            wrong: figure(|judge, record, _| for_skill(judge, has_wrong(judge, record))),
            never: figure(|judge, record, _| for_skill(judge, record.loaded.is_empty())),
            needless: figure(|judge, record, _| {
                judge.expected.is_empty().then(|| share(has_wrong(judge, record)))
            }),
            good: figure(|_, _, verdict| verdict.map(share)),
            input: figure(|_, record, _| Some(record.tokens.input as f64)),
            output: figure(|_, record, _| Some(record.tokens.output as f64)),
            turns: figure(|_, record, _| Some(record.turns as f64)),
            seconds: figure(|_, record, _| Some(record.seconds)),
        }
    }
}

impl Row {
    fn value(&self, place: usize, measure: Measure) -> Option<f64> {
        let verdict = self.verdicts.get(place).copied().flatten();
        measure(&self.judge, self.records.get(place)?, verdict)
    }
}

fn for_skill(judge: &Judge, is_so: bool) -> Option<f64> {
    (!judge.expected.is_empty()).then(|| share(is_so))
}

fn share(is_so: bool) -> f64 {
    f64::from(u8::from(is_so))
}

fn has_wrong(judge: &Judge, record: &Record) -> bool {
    record.loaded.iter().any(|id| judge.verdict(id) == Some(false))
}
