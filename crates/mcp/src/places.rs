//! The connections of an HTTP server: those that wait for a request, and those that are answered. Each
//! client's share of the answers is limited by the others', and there is always room for a new connection.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// The part of all connections that is kept for requests that nobody answers yet, such as `/health`.
const KEPT: usize = 8;

/// The connections of a server. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Places {
    state: Arc<Mutex<State>>,
    max_answers: usize,
}

#[derive(Debug, Default)]
struct State {
    /// The number of connections and of answers so far.
    n_begun: u64,
    /// The connections whose client has not sent a complete request yet, in the order in which they began
    /// to wait. A new connection without room replaces the first, so that clients with incomplete requests
    /// cannot block others.
    waiting: BTreeMap<u64, CancellationToken>,
    /// The connections with an answer that is being computed or sent.
    answers: HashMap<u64, Busy>,
}

#[derive(Debug)]
struct Busy {
    owner: Owner,
    since: u64,
    closed: CancellationToken,
}

/// The client that gets an answer.
#[derive(Debug, Clone, Copy, Default)]
struct Owner {
    /// A number of the client; `None` if it has no token.
    client: Option<usize>,
    /// True if the answer is a stream of notifications, which its client opens again.
    is_stream: bool,
}

impl Places {
    pub(super) fn new(max_connections: usize) -> Places {
        let kept = max_connections.div_ceil(KEPT);
        Places { state: Arc::default(), max_answers: (max_connections - kept).max(1) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a waiting connection. Returns its key, and the token that closes it.
    pub(super) fn enter(&self) -> (u64, CancellationToken) {
        let closed = CancellationToken::new();
        let mut state = self.state();
        let place = state.next();
        state.waiting.insert(place, closed.clone());
        (place, closed)
    }

    pub(super) fn leave(&self, place: u64) {
        let mut state = self.state();
        state.waiting.remove(&place);
        state.answers.remove(&place);
    }

    /// Closes the connection that has waited longest for a request. There always is one, unless the limit
    /// of connections is one.
    pub(super) fn close_longest_waiting(&self) {
        if let Some((_, longest)) = self.state().waiting.pop_first() {
            longest.cancel();
        }
    }

    /// Marks a connection as answered. If there are too many answers, closes one.
    fn answer(&self, place: u64, owner: Owner) {
        let mut state = self.state();
        let Some(closed) = state.waiting.remove(&place) else { return };
        let since = state.next();
        state.answers.insert(place, Busy { owner, since, closed });
        if state.answers.len() > self.max_answers {
            state.close_one_of_the_greediest();
        }
    }

    /// Marks a connection as waiting for its next request.
    fn wait(&self, place: u64) {
        let mut state = self.state();
        if let Some(Busy { closed, .. }) = state.answers.remove(&place) {
            state.waiting.insert(place, closed);
        }
    }
}

impl State {
    fn next(&mut self) -> u64 {
        self.n_begun += 1;
        self.n_begun
    }

    /// Closes the oldest stream of the client with the most answers, or its oldest answer if it has no
    /// streams. Those without a token count as the greediest.
    fn close_one_of_the_greediest(&mut self) {
        let mut n_answers: HashMap<Option<usize>, usize> = HashMap::new();
        for busy in self.answers.values() {
            *n_answers.entry(busy.owner.client).or_default() += 1;
        }
        let greed = |busy: &Busy| match busy.owner.client {
            None => usize::MAX,
            client => n_answers.get(&client).copied().unwrap_or_default(),
        };
        let rank = |(_, busy): &(&u64, &Busy)| {
            (std::cmp::Reverse(greed(busy)), !busy.owner.is_stream, busy.since)
        };
        if let Some(place) = self.answers.iter().min_by_key(rank).map(|(place, _)| *place)
            && let Some(busy) = self.answers.remove(&place)
        {
            tracing::debug!("a stream was closed to make room for another client");
            busy.closed.cancel();
        }
    }
}

/// An answer that is being computed or sent. The connection waits for its next request once this is
/// dropped.
#[derive(Debug)]
pub(super) struct Answering {
    places: Places,
    place: u64,
    owner: Mutex<Owner>,
}

impl Answering {
    pub(super) fn new(places: Places, place: u64) -> Answering {
        Answering { places, place, owner: Mutex::default() }
    }

    /// Marks the connection as no longer waiting.
    pub(super) fn begin(&self) {
        let owner = *self.owner.lock().unwrap_or_else(PoisonError::into_inner);
        self.places.answer(self.place, owner);
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.places.wait(self.place);
    }
}

/// A request extension by which the handler reports whose the request is, and that it has arrived.
#[derive(Debug, Clone)]
pub(super) struct Whole(Arc<Answering>);

impl Whole {
    pub(super) fn new(answering: &Arc<Answering>) -> Whole {
        Whole(Arc::clone(answering))
    }

    /// Reports the client whose token the request has, by any number of it, and whether the answer is a
    /// stream of notifications.
    pub(super) fn belongs_to(&self, client: usize, is_stream: bool) {
        let owner = Owner { client: Some(client), is_stream };
        *self.0.owner.lock().unwrap_or_else(PoisonError::into_inner) = owner;
    }

    /// Marks the request as complete: the answer needs nothing more from the client, so the
    /// connection is not closed to make room for new ones.
    pub(super) fn arrived(&self) {
        self.0.begin();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Opens an answer of a client. Returns its connection.
    fn open(
        places: &Places,
        client: usize,
        is_stream: bool,
    ) -> (Arc<Answering>, CancellationToken) {
        let (place, closed) = places.enter();
        let answering = Arc::new(Answering::new(places.clone(), place));
        let whole = Whole::new(&answering);
        whole.belongs_to(client, is_stream);
        whole.arrived();
        (answering, closed)
    }

    #[test]
    fn the_oldest_stream_of_the_greediest_client_makes_room() {
        let places = Places::new(16);
        let call = open(&places, 1, false);
        let greedy: Vec<_> = (0..13).map(|_| open(&places, 1, true)).collect();
        assert!(greedy.iter().all(|(_, closed)| !closed.is_cancelled()));
        let others: Vec<_> = (0..7).map(|_| open(&places, 2, true)).collect();
        let n_closed = |all: &[(_, CancellationToken)]| {
            all.iter().filter(|(_, closed)| closed.is_cancelled()).count()
        };
        assert_eq!((n_closed(&greedy), n_closed(&others)), (7, 0));
        assert!(greedy[..7].iter().all(|(_, closed)| closed.is_cancelled()), "the oldest first");
        assert!(!call.1.is_cancelled(), "a call is not a stream");
        // From here on, both have as much, and each new stream costs its own client one.
        let more: Vec<_> = (0..3).map(|_| open(&places, 2, true)).collect();
        assert_eq!((n_closed(&greedy), n_closed(&others), n_closed(&more)), (7, 3, 0));
    }

    #[test]
    fn an_answer_without_a_token_closes_none_of_a_client() {
        let places = Places::new(8);
        let streams: Vec<_> = (0..7).map(|_| open(&places, 1, true)).collect();
        let (place, closed) = places.enter();
        Answering::new(places.clone(), place).begin();
        assert!(streams.iter().all(|(_, closed)| !closed.is_cancelled()));
        assert!(closed.is_cancelled());
    }

    #[test]
    fn a_connection_that_was_answered_waits_again() {
        let places = Places::new(2);
        let (answering, closed) = open(&places, 1, false);
        places.close_longest_waiting();
        assert!(!closed.is_cancelled());
        drop(answering);
        places.close_longest_waiting();
        assert!(closed.is_cancelled());
    }
}
