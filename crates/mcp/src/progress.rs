//! Reports the progress of a running call to the client, and lets the client cancel the call.

use std::collections::VecDeque;
use std::pin::pin;
use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext, RoleServer};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::blocking::blocking;
use super::closing::Closing;
use repertoire::Error;
use repertoire::disclosure::model_text;
use repertoire::engine::CallIo;

/// The maximum number of progress steps that wait for a slow client. Further steps are dropped.
const MAX_WAITING: usize = 16;

/// Runs `call` on a thread that may block. The client can cancel the call, and is sent its progress if
/// it asked for that. The call is also cancelled when `closing` says so.
pub(super) async fn with_progress<T: Send + 'static>(
    closing: &Closing,
    context: &RequestContext<RoleServer>,
    tool: &str,
    call: impl FnOnce(CallIo<'_>) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let (sender, mut receiver) = mpsc::channel(MAX_WAITING);
    let token = context.meta.get_progress_token();
    let (cancelled, stopped) = (context.ct.clone(), closing.stopped());
    let wants_progress = token.is_some();
    let mut answer = pin!(blocking(tool, move || {
        let is_cancelled = || cancelled.is_cancelled() || stopped.is_cancelled();
        // If the queue is full or closed, the step is dropped: a call must not wait for its progress.
        let report = |fraction: f64, message: &str| {
            let _ = sender.try_send((fraction, message.to_owned()));
        };
        let io = CallIo::default().cancelled_if(&is_cancelled);
        call(if wants_progress { io.progress(&report) } else { io })
    }));
    let mut teller = Teller::new(&context.peer, token);
    let answer = loop {
        tokio::select! {
            Some(step) = receiver.recv() => teller.tell(step).await,
            () = teller.is_due() => teller.tell_waiting().await,
            answer = &mut answer => break answer,
        }
    };
    while let Ok(step) = receiver.try_recv() {
        teller.tell(step).await;
    }
    answer?
}

/// The maximum number of steps that are sent in any second.
const PER_SECOND: usize = 10;

type Step = (f64, String);

struct Teller<'a> {
    peer: &'a Peer<RoleServer>,
    token: Option<ProgressToken>,
    /// The last fraction sent: the protocol requires progress to increase.
    told: f64,
    /// The times at which the last steps were sent; at most [`PER_SECOND`].
    times: VecDeque<Instant>,
    /// The newest step that could not be sent yet.
    waiting: Option<Step>,
}

impl<'a> Teller<'a> {
    fn new(peer: &'a Peer<RoleServer>, token: Option<ProgressToken>) -> Teller<'a> {
        let times = VecDeque::with_capacity(PER_SECOND);
        Teller { peer, token, told: f64::NEG_INFINITY, times, waiting: None }
    }

    /// Returns the time at which the next step may be sent; `None` if it may be sent now.
    fn next(&self) -> Option<Instant> {
        let is_full = self.times.len() == PER_SECOND;
        let first = self.times.front().filter(|_| is_full);
        first.map(|first| *first + Duration::from_secs(1))
    }

    /// Waits until the waiting step may be sent; for ever if there is none.
    async fn is_due(&self) {
        match (&self.waiting, self.next()) {
            (Some(_), Some(next)) => tokio::time::sleep_until(next).await,
            (Some(_), None) => {}
            (None, _) => std::future::pending().await,
        }
    }

    async fn tell_waiting(&mut self) {
        if let Some(step) = self.waiting.take() {
            self.tell(step).await;
        }
    }

    /// Sends a step. If too many were sent in the last second, keeps it until it may be sent; a newer
    /// step replaces it.
    async fn tell(&mut self, (fraction, message): Step) {
        let Some(token) = self.token.clone().filter(|_| fraction > self.told) else { return };
        let now = Instant::now();
        if self.next().is_some_and(|next| now < next) {
            self.waiting = Some((fraction, message));
            return;
        }
        self.waiting = None;
        if self.times.len() == PER_SECOND {
            self.times.pop_front();
        }
        self.times.push_back(now);
        self.told = fraction;
        let mut progress = ProgressNotificationParam::new(token, fraction).with_total(1.0);
        if !message.is_empty() {
            progress = progress.with_message(model_text(&message));
        }
        // If the send fails, the client is gone, and does not miss the step.
        let _ = self.peer.notify_progress(progress).await;
    }
}
