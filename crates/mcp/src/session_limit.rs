//! The limit of the sessions that are open in a process, and the choice of the one that makes room for
//! another. A client that opens many sessions pays with its own, so that it ends no call of another.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::transport::streamable_http_server::session::SessionId;

/// The number of things that are going on. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Running(Arc<AtomicUsize>);

impl Running {
    /// Counts one more until the guard is dropped.
    pub(super) fn begin(&self) -> RunningOne {
        self.0.fetch_add(1, Ordering::AcqRel);
        RunningOne(Arc::clone(&self.0))
    }

    fn is_any(&self) -> bool {
        self.0.load(Ordering::Acquire) > 0
    }
}

/// One thing that is going on.
#[derive(Debug)]
pub(super) struct RunningOne(Arc<AtomicUsize>);

impl Drop for RunningOne {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The sessions that are open or about to be opened, in the order of their last use.
#[derive(Debug)]
pub(super) struct SessionLimit {
    most: usize,
    by_use: Mutex<Vec<Entry>>,
}

#[derive(Debug)]
struct Entry {
    id: SessionId,
    /// A number of the client.
    client: usize,
    /// The calls of the session, which end with it.
    calls: Running,
    /// The requests that the SDK is accepting; one of them may open the session.
    requests: Running,
}

impl Entry {
    fn is_busy(&self) -> bool {
        self.calls.is_any() || self.requests.is_any()
    }
}

/// A session that may be used.
#[derive(Debug)]
pub(super) struct Admitted {
    /// The counter of the session's calls.
    pub(super) calls: Running,
    /// The session that must be closed to make room.
    pub(super) dropped: Option<SessionId>,
    /// The request that uses the session; the session is busy until this is dropped.
    pub(super) request: RunningOne,
}

impl SessionLimit {
    pub(super) fn new(most: usize) -> SessionLimit {
        SessionLimit { most: most.max(1), by_use: Mutex::default() }
    }

    /// Makes a session of `client` the most recently used one. If it is not open and there is no room for
    /// it, chooses one that goes. Returns `None` if none can go.
    pub(super) fn admit(
        &self,
        id: &SessionId,
        client: usize,
        is_open: impl Fn(&SessionId) -> bool,
    ) -> Option<Admitted> {
        let mut by_use = self.by_use();
        let mut dropped = None;
        let entry = if let Some(place) = by_use.iter().position(|known| known.id == *id) {
            by_use.remove(place)
        } else {
            if by_use.len() >= self.most {
                // The list still contains sessions that have ended or expired.
                by_use.retain(|known| known.requests.is_any() || is_open(&known.id));
            }
            if by_use.len() >= self.most {
                let place = one_to_drop(&by_use, client)?;
                dropped = Some(by_use.remove(place).id);
            }
            let (calls, requests) = (Running::default(), Running::default());
            Entry { id: id.clone(), client, calls, requests }
        };
        let (calls, request) = (entry.calls.clone(), entry.requests.begin());
        by_use.push(entry);
        Some(Admitted { calls, dropped, request })
    }

    fn by_use(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.by_use.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the place of the session that goes when `client` opens another: the least recently used idle
/// one of the client with the most sessions. A session with a running call goes only if all are busy, and
/// only for a client with fewer sessions.
fn one_to_drop(by_use: &[Entry], client: usize) -> Option<usize> {
    let mut n_sessions = HashMap::from([(client, 1)]);
    for entry in by_use {
        *n_sessions.entry(entry.client).or_default() += 1;
    }
    let (count, own) = (|entry: &Entry| n_sessions[&entry.client], n_sessions[&client]);
    let may_go = |entry: &Entry| {
        if entry.is_busy() { count(entry) > own } else { count(entry) >= own }
    };
    let candidates = by_use.iter().enumerate().filter(|(_, entry)| may_go(entry));
    let rank = |(place, entry): &(usize, &Entry)| (entry.is_busy(), Reverse(count(entry)), *place);
    candidates.min_by_key(rank).map(|(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = 8;

    /// Sessions that are written as their client and their number, such as `a0`.
    struct Trial {
        limit: SessionLimit,
        calls: Vec<RunningOne>,
    }

    impl Trial {
        fn new() -> Trial {
            Trial { limit: SessionLimit::new(MOST), calls: Vec::new() }
        }

        /// Uses a session. Returns the session that went, `-` if none did, or `refused`.
        fn open(&mut self, session: &str, has_call: bool) -> String {
            let client = usize::from(session.as_bytes()[0]);
            let Some(admitted) = self.limit.admit(&session.into(), client, |_| true) else {
                return "refused".to_owned();
            };
            if has_call {
                self.calls.push(admitted.calls.begin());
            }
            admitted.dropped.map_or_else(|| "-".to_owned(), |id| id.to_string())
        }
    }

    /// Each case opens sessions, those with `!` with a running call, and names what the last one costs.
    #[test]
    fn the_client_with_the_most_sessions_loses_its_oldest_idle_one() {
        for (sessions, cost) in [
            ("a0 a1 a2 a3 a4 a5 a6 a7", "-"),
            ("a0 a1 a2 a3 a4 a5 a6 a7 a8", "a0"),
            ("a0 a1 a2 a3 a4 a5 a6 a7 a0 a8", "a1"),
            ("a0! a1 a2 a3 a4 a5 a6 a7 a8", "a1"),
            ("b0! a1 a2 a3 a4 a5 a6 a7 a8", "a1"),
            ("b0 a1 a2 a3 a4 a5 a6 a7 a8", "a1"),
            ("b0 a1! a2! a3! a4! a5! a6! a7! a8", "refused"),
            ("b0 a1! a2! a3! a4! a5! a6! a7! b1", "b0"),
            ("b0! a1! a2! a3! a4! a5! a6! a7 b1", "a7"),
            ("a0! a1! a2! a3! a4! a5! a6! a7! a8", "refused"),
            ("a0! a1! a2! a3! a4! a5! a6! a7! b0", "a0"),
            ("a0! a1! a2! a3! a4! a5! a6! a7! a3", "-"),
            ("a0! a1! a2! a3! b0! b1! b2! b3! b4", "refused"),
            ("a0 b0 c0 d0 e0 f0 g0 h0 i0", "a0"),
            ("a0 b0 c0 d0 e0 f0 g0 h0 c1", "c0"),
            ("a0! b0! c0! d0! e0! f0! g0! h0! i0", "refused"),
        ] {
            let mut trial = Trial::new();
            let all = sessions.split(' ');
            let costs = all.map(|name| trial.open(name.trim_end_matches('!'), name.ends_with('!')));
            assert_eq!(costs.last().unwrap(), cost, "{sessions}");
        }
    }

    #[test]
    fn a_session_whose_call_ended_can_go() {
        let mut trial = Trial::new();
        for n in 0..MOST {
            trial.open(&format!("a{n}"), true);
        }
        assert_eq!(trial.open("a8", false), "refused");
        trial.calls.remove(5);
        assert_eq!(trial.open("a8", false), "a5");
    }

    #[test]
    fn sessions_that_ended_make_room_and_those_that_begin_do_not() {
        let limit = SessionLimit::new(MOST);
        let id = |n: usize| SessionId::from(n.to_string());
        let open = |n: usize| limit.admit(&id(n), 0, |known| *known == id(0));
        for n in 0..10 * MOST {
            assert_eq!(open(n).unwrap().dropped, None, "{n}");
        }
        assert!(limit.by_use().len() <= MOST);
        let begun: Vec<_> = (100..).map_while(open).collect();
        assert_eq!(begun.len(), MOST, "the idle one goes, and none that begins");
    }
}
