//! A retriever of the host: functions of the façade that score skills.

use std::sync::{Mutex, MutexGuard, PoisonError};

use repertoire_bindings::repertoire::Error;
use repertoire_bindings::repertoire::matcher::{Candidate, Levels, Retriever};
use serde_json::{Value, json};

use crate::host::{self, Asker};

/// The name of the retriever in error messages.
const RETRIEVER: &str = "the retriever";

/// Asks the façade for scores. The façade keeps the candidates, so that a message does not bring them again.
#[derive(Debug)]
pub(crate) struct HostRetriever {
    host: u32,
    /// The way to the façade for threads of the engine, such as the one that watches files.
    asker: Asker,
    prepared: Mutex<Prepared>,
}

/// The skills for which the façade was prepared.
#[derive(Debug, Clone, Copy, Default)]
struct Prepared {
    /// The address of the engine's list, which stays where it is as long as the engine ranks it.
    place: usize,
    /// The number under which the façade keeps the list.
    number: u64,
    levels: Option<Levels>,
}

impl HostRetriever {
    pub(crate) fn new(host: u32) -> HostRetriever {
        HostRetriever { host, asker: Asker::of_call(), prepared: Mutex::default() }
    }

    fn prepared(&self) -> MutexGuard<'_, Prepared> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask<T>(
        &self,
        kind: &str,
        payload: &Value,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<T, Error> {
        self.asker.within(|| host::asked_or(self.host, kind, RETRIEVER, payload, read))
    }
}

impl Retriever for HostRetriever {
    fn prepare(&self, candidates: &[Candidate]) -> Result<(), Error> {
        let number = self.prepared().number + 1;
        let payload = json!({"number": number, "candidates": records(candidates)});
        let levels = self.ask("prepare", &payload, |answer| match answer {
            Value::Null => Some(None),
            levels => {
                let (floor, enough) = (number_of(&levels["floor"])?, number_of(&levels["enough"])?);
                Some(Some(Levels { floor, enough }))
            }
        })?;
        *self.prepared() = Prepared { place: candidates.as_ptr().addr(), number, levels };
        Ok(())
    }

    fn rank(&self, message: &str, candidates: &[Candidate]) -> Result<Vec<f32>, Error> {
        let Prepared { place, number, .. } = *self.prepared();
        let payload = if place == candidates.as_ptr().addr() {
            json!({"message": message, "number": number})
        } else {
            // A call that began before the catalog changed.
            json!({"message": message, "candidates": records(candidates)})
        };
        let read = |answer: &Value| answer.as_array()?.iter().map(number_of).collect();
        self.ask("rank", &payload, read)
    }

    fn levels(&self) -> Option<Levels> {
        self.prepared().levels
    }
}

#[expect(clippy::cast_possible_truncation, reason = "scores are estimates")]
fn number_of(value: &Value) -> Option<f32> {
    value.as_f64().map(|number| number as f32)
}

fn records(candidates: &[Candidate]) -> Vec<Value> {
    let record = |candidate: &Candidate| {
        let Candidate { id, name, description, when_to_use, headings, body, .. } = candidate;
        json!({
            "id": id, "name": name, "description": description, "whenToUse": when_to_use,
            "headings": headings, "body": body,
        })
    };
    candidates.iter().map(record).collect()
}
