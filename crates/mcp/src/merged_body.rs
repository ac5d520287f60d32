//! Merges several streams of server-sent events into one.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use http_body_util::combinators::BoxBody;
use hyper::body::{Body, Bytes, Frame};

/// Bodies whose frames are sent as they arrive. The SDK sends each event as one frame, so that events
/// are never mixed.
pub(super) struct MergedBody(pub(super) Vec<BoxBody<Bytes, Infallible>>);

impl Body for MergedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let mut place = 0;
        while let Some(body) = self.0.get_mut(place) {
            match Pin::new(body).poll_frame(context) {
                Poll::Ready(Some(frame)) => {
                    // Round robin: another body goes first next time.
                    self.0[place..].rotate_left(1);
                    return Poll::Ready(Some(frame));
                }
                Poll::Ready(None) => drop(self.0.remove(place)),
                Poll::Pending => place += 1,
            }
        }
        if self.0.is_empty() { Poll::Ready(None) } else { Poll::Pending }
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::{BodyExt as _, Empty, Full};

    use super::*;

    #[tokio::test]
    async fn all_frames_of_all_bodies_are_sent() {
        let bodies = vec![
            Full::new(Bytes::from_static(b"data: 1\n\n")).boxed(),
            Empty::new().boxed(),
            Full::new(Bytes::from_static(b"data: 2\n\n")).boxed(),
        ];
        let sent = MergedBody(bodies).collect().await.unwrap().to_bytes();
        assert_eq!(sent, "data: 1\n\ndata: 2\n\n");
        assert!(MergedBody(Vec::new()).collect().await.unwrap().to_bytes().is_empty());
    }
}
