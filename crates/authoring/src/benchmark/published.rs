//! The content of a benchmark's files, and what of it is measured.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;

use repertoire::{Error, ErrorCode};

use super::files::{At, Row};
use super::notes::{NoteKind, Notes};
use super::{Benchmark, Candidate, Judged};

/// A request, with its id if the benchmark gives it one.
pub(super) struct Request {
    pub(super) id: Option<String>,
    pub(super) judged: Judged,
    pub(super) at: At,
}

/// The rows of the files, in their order.
pub(super) struct Published {
    pub(super) skills: Vec<Row<Candidate>>,
    pub(super) requests: Vec<Request>,
}

impl Published {
    /// Takes each skill and each request once, and leaves out requests that cannot be scored.
    pub(super) fn measured(self, dir: &Path, layout: &str) -> Result<Benchmark, Error> {
        let mut notes = Notes::default();
        let n_read = (self.requests.len(), self.skills.len());
        let (skills, places) = each_skill_once(self.skills, &mut notes);
        let requests = each_request_once(self.requests, &mut notes);
        let requests =
            requests.into_iter().filter(|request| is_scored(request, &places, &mut notes));
        let requests: Vec<Judged> = requests.map(|request| request.judged).collect();
        if requests.is_empty() {
            let message = format!(
                "no request of {} names a skill that is there; requests read: {}, skills read: {}",
                dir.display(),
                n_read.0,
                n_read.1
            );
            return Err(Error::new(ErrorCode::InvalidParam, message, layout));
        }
        Ok(Benchmark { skills: skills.into(), requests, notes })
    }
}

/// The skills with different ids, the first of each, and the place of each id among them.
fn each_skill_once(
    rows: Vec<Row<Candidate>>,
    notes: &mut Notes,
) -> (Vec<Candidate>, HashMap<String, usize>) {
    let mut skills: Vec<Candidate> = Vec::with_capacity(rows.len());
    let mut places = HashMap::with_capacity(rows.len());
    for Row { value: skill, at } in rows {
        match places.entry(skill.id.clone()) {
            Entry::Vacant(entry) => {
                entry.insert(skills.len());
                skills.push(skill);
            }
            Entry::Occupied(entry) => {
                let is_same = skills[*entry.get()] == skill;
                let kind = if is_same { NoteKind::RepeatedSkill } else { NoteKind::AmbiguousSkill };
                notes.add(kind, || format!("`{}` ({at})", skill.id));
            }
        }
    }
    (skills, places)
}

/// The requests without those that repeat the id, the text and the right skills of an earlier one.
fn each_request_once(all: Vec<Request>, notes: &mut Notes) -> Vec<Request> {
    let mut requests: Vec<Request> = Vec::with_capacity(all.len());
    let mut places: HashMap<String, Vec<usize>> = HashMap::new();
    for request in all {
        if let Some(id) = &request.id {
            let same_id = places.entry(id.clone()).or_default();
            if same_id.iter().any(|place| requests[*place].judged == request.judged) {
                notes.add(NoteKind::RepeatedRequest, || request.at.to_string());
                continue;
            }
            same_id.push(requests.len());
        }
        requests.push(request);
    }
    requests
}

/// Tells whether one of the right skills of a request is there.
fn is_scored(request: &Request, skills: &HashMap<String, usize>, notes: &mut Notes) -> bool {
    let Request { judged: Judged { right, .. }, at, .. } = request;
    let Some(missing) = right.iter().find(|id| !skills.contains_key(*id)) else {
        if right.is_empty() {
            notes.add(NoteKind::UnjudgedRequest, || at.to_string());
        }
        return !right.is_empty();
    };
    let is_scored = right.iter().any(|id| skills.contains_key(id));
    let kind = if is_scored { NoteKind::PartialRequest } else { NoteKind::UnscoredRequest };
    notes.add(kind, || format!("`{missing}` ({at})"));
    is_scored
}
