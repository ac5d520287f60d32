//! Runs work on threads that may block, and converts errors to those of the protocol.

use rmcp::model::ErrorData;
use serde_json::json;
use tracing::Span;

use repertoire::disclosure::model_text;
use repertoire::{Error, ErrorCode};

/// Runs `work` on a thread that may block, within the current span. A panic becomes an error that names
/// `what`.
pub(super) async fn blocking<T: Send + 'static>(
    what: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    let span = Span::current();
    tokio::task::spawn_blocking(move || span.in_scope(work)).await.map_err(|_| {
        let message = format!("`{what}` panicked");
        Error::new(ErrorCode::InternalError, message, "report this to the host's author")
    })
}

/// Converts an error to a protocol error, for requests whose results cannot contain an error.
pub(super) fn protocol_error(error: &Error) -> ErrorData {
    let message = match error.help() {
        "" => error.message().to_owned(),
        help => format!("{}; {help}", error.message()),
    };
    let message = model_text(&message).into_owned();
    let data = Some(json!({"code": error.code().as_str()}));
    match error.code() {
        ErrorCode::InternalError
        | ErrorCode::ExecutionError
        | ErrorCode::Timeout
        | ErrorCode::Cancelled => ErrorData::internal_error(message, data),
        _ => ErrorData::invalid_params(message, data),
    }
}
