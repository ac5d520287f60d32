//! Converts errors of the client into problems, by the way in which they are handled.

use ::redis::{ErrorKind, RedisError, ServerErrorKind};

use crate::server::{Cause, Problem};

/// Returns the reason why a call failed.
pub(super) fn problem(error: &RedisError) -> Problem {
    if error.is_timeout() {
        return Problem::Late;
    }
    let text = error.to_string();
    let is = |code: &str| error.code() == Some(code) || text.contains(code);
    if is("WRONGTYPE") {
        let why = "a key `repertoire:*` is of another program, and stays unchanged".to_owned();
        return Problem::Refused { why, help: "name another database" };
    }
    let help = if error.kind() == ErrorKind::AuthenticationFailed || is("WRONGPASS") || is("NOAUTH")
    {
        Some("correct the user and the password of its address")
    } else if is("NOPERM") {
        Some(
            "grant the user the keys `repertoire:*`, and the commands of scripts, texts and hashes",
        )
    } else if is("READONLY") {
        Some("name the primary server")
    } else if is("OOM ") {
        Some("give the server more memory")
    } else if is("MISCONF") {
        Some("make room on the disk of the server")
    } else if is("MOVED") || is("CROSSSLOT") {
        Some("name a server that is not a cluster")
    } else {
        None
    };
    let cause = Cause { why: text.replace('\n', " "), help, source: Box::new(error.clone()) };
    match error.kind() {
        ErrorKind::Io => Problem::Broken(cause),
        ErrorKind::Server(ServerErrorKind::BusyLoading | ServerErrorKind::MasterDown) => {
            Problem::Unreachable(cause)
        }
        _ if error.is_connection_dropped() || error.is_unrecoverable_error() => {
            Problem::Broken(cause)
        }
        _ => Problem::Failed(cause),
    }
}
