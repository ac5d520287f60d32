//! Batches of messages, which exist only in protocol 2025-03-26.
//!
//! The response to a batch is one batch, which is sent once every request in it has an answer.

use std::collections::VecDeque;

use rmcp::model::{ClientNotification, ClientRequest, JsonRpcMessage, ProtocolVersion, RequestId};
use rmcp::model::{ErrorCode, ServerResult};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use serde_json::Value;

use super::message::{self, Refusal};

type Received = RxJsonRpcMessage<RoleServer>;
type Sent = TxJsonRpcMessage<RoleServer>;

/// The maximum number of messages in a batch.
const MAX_MESSAGES: usize = 1000;

/// Tells whether clients of this protocol may send batches.
pub(super) fn are_in(version: &ProtocolVersion) -> bool {
    *version == ProtocolVersion::V_2025_03_26
}

/// Splits a batch into the texts of its messages. Returns `None` if `text` is not a JSON array.
pub(super) fn split(text: &[u8]) -> Option<Result<Vec<Vec<u8>>, Refusal>> {
    if text.trim_ascii_start().first() != Some(&b'[') {
        return None;
    }
    // If the text is not JSON, the caller reads it as a single message and reports that error.
    let messages: Vec<Value> = serde_json::from_slice(text).ok()?;
    if messages.is_empty() {
        return Some(Err(refused("an empty batch has nothing to answer".to_owned(), None)));
    }
    if messages.len() > MAX_MESSAGES {
        let why = format!("a batch of more than {MAX_MESSAGES} messages is refused");
        return Some(Err(refused(why, None)));
    }
    Some(Ok(messages.iter().map(|message| message.to_string().into_bytes()).collect()))
}

/// Parses the messages of a batch, each to `None` if it is an unknown notification. Refuses a request
/// whose id another request of the batch has, or one for which `is_open` returns true, since there
/// would be only one answer to both.
pub(super) fn read_all<'m>(
    messages: &'m [Vec<u8>],
    is_open: impl Fn(&RequestId) -> bool + 'm,
) -> impl Iterator<Item = Result<Option<Received>, Refusal>> + 'm {
    let mut ids = Vec::new();
    messages.iter().map(move |text| {
        let message = read(text)?;
        if let Some(JsonRpcMessage::Request(request)) = &message {
            let id = request.id.clone();
            if ids.contains(&id) || is_open(&id) {
                return Err(refused("another request has this id".to_owned(), Some(id)));
            }
            ids.push(id);
        }
        Ok(message)
    })
}

/// Parses one message of a batch. Returns `None` for an unknown notification.
fn read(text: &[u8]) -> Result<Option<Received>, Refusal> {
    let message = message::read(text)?;
    if let Some(JsonRpcMessage::Request(request)) = &message
        && matches!(request.request, ClientRequest::InitializeRequest(_))
    {
        let why = "`initialize` is not sent in a batch".to_owned();
        return Err(refused(why, Some(request.id.clone())));
    }
    Ok(message)
}

fn refused(why: String, id: Option<RequestId>) -> Refusal {
    Refusal::new(ErrorCode::INVALID_REQUEST, why, id)
}

/// The unanswered batches of a client.
#[derive(Debug, Default)]
pub(super) struct Batches {
    /// True once the client has negotiated a protocol with batches.
    pub(super) are_taken: bool,
    open: Vec<Batch>,
    /// The messages of batches that [`next`](Batches::next) has not returned yet.
    ready: VecDeque<Received>,
}

#[derive(Debug, Default)]
struct Batch {
    waiting: Vec<RequestId>,
    answers: Vec<Value>,
}

/// The decision on how to send an answer.
#[derive(Debug, PartialEq)]
pub(super) enum Answered {
    /// Send it by itself: its request was not in a batch.
    Alone,
    /// Hold it back until the other answers of its batch are there.
    Kept,
    /// Send all these answers, because the batch is complete now.
    With(Vec<Value>),
}

impl Batches {
    /// Opens a batch. Returns its answers at once if none of its requests needs one from the server.
    pub(super) fn open(&mut self, messages: &[Vec<u8>]) -> Option<Vec<Value>> {
        let mut batch = Batch::default();
        let open = &self.open;
        let is_open = |id: &RequestId| open.iter().any(|batch| batch.waiting.contains(id));
        for message in read_all(messages, is_open) {
            match message {
                Ok(Some(message)) => {
                    if let JsonRpcMessage::Request(request) = &message {
                        batch.waiting.push(request.id.clone());
                    }
                    self.ready.push_back(message);
                }
                Ok(None) => {}
                Err(refusal) => batch.refuse(&refusal),
            }
        }
        if batch.waiting.is_empty() {
            return (!batch.answers.is_empty()).then_some(batch.answers);
        }
        self.open.push(batch);
        None
    }

    /// Returns the next message of a batch.
    pub(super) fn next(&mut self) -> Option<Received> {
        self.ready.pop_front()
    }

    /// Records the cancellation of a request, if `message` is one: the request gets no answer.
    /// Returns the answers of its batch if that is now complete.
    pub(super) fn note_cancelled(&mut self, message: &Received) -> Option<Vec<Value>> {
        let JsonRpcMessage::Notification(notification) = message else { return None };
        let ClientNotification::CancelledNotification(cancelled) = &notification.notification
        else {
            return None;
        };
        let place = self.take(cancelled.params.request_id.as_ref()?)?;
        self.complete(place).filter(|answers| !answers.is_empty())
    }

    /// Records a message that the server sends: the answer to a request, or the negotiated protocol.
    pub(super) fn note_sent(&mut self, message: &Sent) -> Answered {
        let id = match message {
            JsonRpcMessage::Response(response) => {
                if let ServerResult::InitializeResult(agreed) = &response.result {
                    self.are_taken = are_in(&agreed.protocol_version);
                }
                Some(&response.id)
            }
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        let Some(place) = id.and_then(|id| self.take(id)) else { return Answered::Alone };
        self.open[place].answers.extend(serde_json::to_value(message));
        self.complete(place).map_or(Answered::Kept, Answered::With)
    }

    /// Returns the answers of all incomplete batches. Called once the client is gone.
    pub(super) fn left(&mut self) -> impl Iterator<Item = Vec<Value>> {
        self.open.drain(..).map(|batch| batch.answers).filter(|answers| !answers.is_empty())
    }

    /// Returns the index of the batch that waits for the answer to this request, and stops waiting for
    /// it.
    fn take(&mut self, id: &RequestId) -> Option<usize> {
        let place = self.open.iter().position(|batch| batch.waiting.contains(id))?;
        self.open[place].waiting.retain(|waiting| waiting != id);
        Some(place)
    }

    fn complete(&mut self, place: usize) -> Option<Vec<Value>> {
        let is_complete = self.open[place].waiting.is_empty();
        is_complete.then(|| self.open.remove(place).answers)
    }
}

impl Batch {
    fn refuse(&mut self, refusal: &Refusal) {
        tracing::warn!(why = refusal.why(), "a part of a batch is not a message");
        self.answers.extend(serde_json::to_value(refusal));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn opened(batches: &mut Batches, batch: &Value) -> Option<Vec<Value>> {
        batches.open(&split(batch.to_string().as_bytes()).unwrap().unwrap())
    }

    fn ping(id: u64) -> Value {
        json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
    }

    fn pong(id: u32) -> Sent {
        JsonRpcMessage::response(ServerResult::empty(()), RequestId::Number(id.into()))
    }

    #[test]
    fn a_batch_is_answered_when_all_of_it_is() {
        let mut batches = Batches::default();
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(opened(&mut batches, &json!([ping(1), initialized, 7, ping(2)])), None);
        assert_eq!(opened(&mut batches, &json!([ping(3)])), None);
        let n_messages = std::iter::from_fn(|| batches.next()).count();
        assert_eq!(n_messages, 4);
        assert_eq!(batches.note_sent(&pong(9)), Answered::Alone);
        assert_eq!(batches.note_sent(&pong(2)), Answered::Kept);
        let Answered::With(answers) = batches.note_sent(&pong(3)) else { panic!() };
        assert_eq!(answers.len(), 1);
        let Answered::With(answers) = batches.note_sent(&pong(1)) else { panic!() };
        let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
        assert_eq!(ids, [&json!(null), &json!(2), &json!(1)]);
        assert_eq!(batches.note_sent(&pong(1)), Answered::Alone);
    }

    #[test]
    fn cancelled_requests_are_not_waited_for() {
        let cancel = |id: u64| {
            let params = json!({"requestId": id});
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
        };
        let read = |message: &Value| read(message.to_string().as_bytes()).unwrap().unwrap();
        let mut batches = Batches::default();
        assert_eq!(opened(&mut batches, &json!([ping(1), ping(2)])), None);
        assert_eq!(batches.note_cancelled(&read(&cancel(5))), None);
        assert_eq!(batches.note_sent(&pong(1)), Answered::Kept);
        assert_eq!(batches.note_cancelled(&read(&cancel(2))).unwrap().len(), 1);
        assert_eq!(opened(&mut batches, &json!([ping(1)])), None);
        assert_eq!(batches.note_cancelled(&read(&cancel(1))), None);
        assert_eq!(batches.left().count(), 0);
    }

    #[test]
    fn what_cannot_be_in_a_batch_is_answered_in_it() {
        let params = json!({"protocolVersion": "2025-03-26", "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"}});
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
        for (batch, ids) in
            [(json!([hello]), json!([1])), (json!([[], {}, {"id": 4}]), json!([null, null, 4]))]
        {
            let answers = opened(&mut Batches::default(), &batch).unwrap();
            assert!(answers.iter().all(|answer| answer["error"]["code"] == -32600), "{answers:?}");
            assert_eq!(answers.iter().map(|answer| answer["id"].clone()).collect::<Value>(), ids);
        }
        let mut batches = Batches::default();
        assert_eq!(opened(&mut batches, &json!([ping(1), ping(1)])), None);
        let Answered::With(answers) = batches.note_sent(&pong(1)) else { panic!() };
        assert_eq!(answers.len(), 2);
        for (text, why) in [("[]", "empty"), (&format!("[{}0]", "0,".repeat(1000)), "1000")] {
            let refusal = split(text.as_bytes()).unwrap().unwrap_err();
            assert!(refusal.why().contains(why), "{text}");
        }
        assert!(split(b"{}").is_none() && split(b"[").is_none() && split(b"").is_none());
    }
}
