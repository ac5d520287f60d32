//! A retriever of the host: a Python function or object that scores skills.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use repertoire_bindings::repertoire::Error;
use repertoire_bindings::repertoire::matcher::{
    Candidate as EngineCandidate, Levels, Retriever as EngineRetriever,
};

use crate::error::fallible_callback;
use crate::record::record;

/// The name of the retriever in error messages.
const RETRIEVER: &str = "the retriever";

record! {
    /// A skill that a retriever may rank.
    Candidate {
        /// Its id.
        id: String,
        /// Its name.
        name: String,
        /// Its description.
        description: String,
        /// Its `when_to_use`; may be empty.
        when_to_use: String,
        /// The headings of its body, in their order.
        headings: Vec<String>,
        /// Its body; empty if it cannot be read.
        body: String,
    }
}

impl From<&EngineCandidate> for Candidate {
    fn from(candidate: &EngineCandidate) -> Candidate {
        let EngineCandidate { id, name, description, when_to_use, headings, body, .. } =
            candidate.clone();
        Candidate { id: id.to_string(), name, description, when_to_use, headings, body }
    }
}

/// A function that scores skills, or an object with `rank`, and optionally `prepare` and `levels`.
#[derive(Debug)]
pub(crate) struct Retriever {
    host: Py<PyAny>,
    prepared: Mutex<Option<Prepared>>,
}

/// The skills for which the host was prepared.
#[derive(Debug)]
struct Prepared {
    /// The address of the engine's list, which stays where it is as long as the engine ranks it.
    place: usize,
    /// The same list in Python, which is passed to the host with each message.
    candidates: Py<PyTuple>,
    levels: Option<Levels>,
}

impl Retriever {
    pub(crate) fn new(host: Py<PyAny>) -> Retriever {
        Retriever { host, prepared: Mutex::default() }
    }

    /// Returns the candidates in Python. They are converted once, unless an engine still answers with an earlier
    /// catalog.
    fn candidates(&self, py: Python<'_>, list: &[EngineCandidate]) -> PyResult<Py<PyTuple>> {
        let prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let known = prepared.as_ref().filter(|known| known.place == list.as_ptr().addr());
        if let Some(known) = known {
            return Ok(known.candidates.clone_ref(py));
        }
        drop(prepared);
        in_python(py, list)
    }
}

impl EngineRetriever for Retriever {
    fn prepare(&self, candidates: &[EngineCandidate]) -> Result<(), Error> {
        fallible_callback(RETRIEVER, |py| {
            let list = in_python(py, candidates)?;
            let host = self.host.bind(py);
            if let Some(prepare) = host.getattr_opt("prepare")? {
                prepare.call1((&list,))?;
            }
            let levels = host.getattr_opt("levels")?.filter(|levels| !levels.is_none());
            let levels = levels.as_ref().map(levels_of).transpose()?;
            let place = candidates.as_ptr().addr();
            let prepared = Prepared { place, candidates: list, levels };
            *self.prepared.lock().unwrap_or_else(PoisonError::into_inner) = Some(prepared);
            Ok(())
        })
    }

    fn rank(&self, message: &str, candidates: &[EngineCandidate]) -> Result<Vec<f32>, Error> {
        fallible_callback(RETRIEVER, |py| {
            let list = self.candidates(py, candidates)?;
            let host = self.host.bind(py);
            let scores = match host.getattr_opt("rank")? {
                Some(rank) => rank.call1((message, list))?,
                None => host.call1((message, list))?,
            };
            scores_of(&scores, candidates)
        })
    }

    fn levels(&self) -> Option<Levels> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?.levels
    }
}

fn in_python(py: Python<'_>, list: &[EngineCandidate]) -> PyResult<Py<PyTuple>> {
    let records = list.iter().map(|candidate| Py::new(py, Candidate::from(candidate)));
    Ok(PyTuple::new(py, records.collect::<PyResult<Vec<_>>>()?)?.unbind())
}

fn levels_of(levels: &Bound<'_, PyAny>) -> PyResult<Levels> {
    let (floor, enough) = levels.extract::<(f32, f32)>().map_err(|_| {
        let message = format!("`levels` is a pair of numbers, floor and enough, not {levels}");
        PyTypeError::new_err(message)
    })?;
    if floor.is_finite() && enough.is_finite() {
        return Ok(Levels { floor, enough });
    }
    Err(PyValueError::new_err(format!("`levels` must be finite, not {levels}")))
}

fn scores_of(scores: &Bound<'_, PyAny>, candidates: &[EngineCandidate]) -> PyResult<Vec<f32>> {
    let wanted = "return a number for each candidate, in their order";
    let list = scores.extract::<Vec<f32>>().map_err(|error| {
        PyTypeError::new_err(format!("the scores are not a list of numbers ({error}): {wanted}"))
    })?;
    if list.len() != candidates.len() {
        let (n_scores, n) = (list.len(), candidates.len());
        let message = format!("{n_scores} scores for {n} candidates: {wanted}");
        return Err(PyValueError::new_err(message));
    }
    match list.iter().position(|score| !score.is_finite()) {
        None => Ok(list),
        Some(place) => Err(PyValueError::new_err(format!(
            "the score of `{}` is {}, which is not finite: {wanted}",
            candidates[place].id, list[place]
        ))),
    }
}
