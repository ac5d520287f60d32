//! What a running plugin and the client tell each other.

use std::pin::pin;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext, RoleServer};
use tokio::sync::mpsc;

use super::blocking;
use crate::engine::CallIo;
use crate::error::Error;

/// As much progress as waits for a client that reads slowly; what comes then is not told.
const MAX_WAITING: usize = 16;

/// Runs `call` on a thread that may block. The client hears of its progress, if it asked for that,
/// and can cancel it.
pub(super) async fn with_progress<T: Send + 'static>(
    context: &RequestContext<RoleServer>,
    tool: &str,
    call: impl FnOnce(CallIo<'_>) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let (sender, mut receiver) = mpsc::channel(MAX_WAITING);
    let token = context.meta.get_progress_token();
    let (cancelled, wants_progress) = (context.ct.clone(), token.is_some());
    let mut answer = pin!(blocking(tool, move || {
        let is_cancelled = || cancelled.is_cancelled();
        // Full, or nobody there any more: progress is worth no waiting.
        let report = |fraction: f64, message: &str| {
            let _ = sender.try_send((fraction, message.to_owned()));
        };
        let io = CallIo::default().cancelled_if(&is_cancelled);
        call(if wants_progress { io.progress(&report) } else { io })
    }));
    let mut teller = Teller { peer: &context.peer, token, told: f64::NEG_INFINITY };
    let answer = loop {
        tokio::select! {
            Some(step) = receiver.recv() => teller.tell(step).await,
            answer = &mut answer => break answer,
        }
    };
    while let Ok(step) = receiver.try_recv() {
        teller.tell(step).await;
    }
    answer?
}

struct Teller<'a> {
    peer: &'a Peer<RoleServer>,
    token: Option<ProgressToken>,
    /// The last fraction told: the protocol wants progress to increase.
    told: f64,
}

impl Teller<'_> {
    async fn tell(&mut self, (fraction, message): (f64, String)) {
        let Some(token) = self.token.clone().filter(|_| fraction > self.told) else { return };
        self.told = fraction;
        let mut progress = ProgressNotificationParam::new(token, fraction).with_total(1.0);
        if !message.is_empty() {
            progress = progress.with_message(message);
        }
        // A client that is gone does not miss it.
        let _ = self.peer.notify_progress(progress).await;
    }
}
