//! HTTP responses that do not come from the SDK.

use std::convert::Infallible;

use http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderValue, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;

use super::clients::Refused;
use super::message::Refusal;

/// An HTTP response, whether it comes from the SDK or from this module.
pub(super) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// The response to a request without a valid token, as RFC 6750 defines it.
pub(super) fn unauthorized(refused: Refused) -> Answer {
    let mut answer = plain(StatusCode::UNAUTHORIZED, "send `Authorization: Bearer TOKEN`\n");
    let challenge = match refused {
        Refused::NoToken => r#"Bearer realm="repertoire""#,
        Refused::WrongToken => r#"Bearer realm="repertoire", error="invalid_token""#,
    };
    answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    answer
}

/// The response to a body that is not a valid message.
pub(super) fn no_message(status: StatusCode, refusal: &Refusal) -> Answer {
    tracing::warn!(why = refusal.why(), "a body is not a message");
    let body = serde_json::to_vec(refusal).unwrap_or_default();
    let mut answer = Response::new(Full::new(Bytes::from(body)).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

/// A response with plain text.
pub(super) fn plain(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *answer.status_mut() = status;
    answer
}
