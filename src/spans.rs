//! The spans for traces of an engine's work: their names and fields. `docs/traces.md` lists them.
//!
//! A field is a number, a code, or a name from a skill's files. None holds a message, arguments, the
//! text of a skill, or a session's id. A span without a listener allocates nothing.

use std::fmt::Display;

use tracing::field::Empty;
use tracing::{Span, info_span};

use crate::error::{Error, ErrorCode};

/// The answer to a message.
pub fn turn(message: &str) -> Span {
    info_span!(
        "turn",
        message.bytes = int(message.len()),
        tier = Empty,
        matched = Empty,
        vetoed = Empty,
        ranked = Empty,
        relevance = Empty,
        nearest.skill = Empty,
        nearest.worth = Empty,
        nearest.lead = Empty,
        nearest.lacking = Empty,
        full = Empty,
        lines = Empty,
        counted = Empty,
        command = Empty,
        text.bytes = Empty,
        "error.type" = Empty,
        otel.status_code = Empty,
    )
}

/// A search for skills.
pub fn search(query: &str) -> Span {
    info_span!(
        "search",
        query.bytes = int(query.len()),
        matched = Empty,
        vetoed = Empty,
        lines = Empty,
    )
}

/// A skill loaded by name.
pub fn activate(skill: &str, audience: &'static str) -> Span {
    info_span!(
        "activate",
        skill,
        audience,
        text.bytes = Empty,
        "error.type" = Empty,
        otel.status_code = Empty,
    )
}

/// A read of a session's history.
pub fn session_read() -> Span {
    info_span!(
        "session.read",
        skills = Empty,
        fallback = Empty,
        "error.type" = Empty,
        otel.status_code = Empty,
    )
}

/// A write to a session's history.
pub fn session_write(n_events: usize) -> Span {
    info_span!(
        "session.write",
        events = int(n_events),
        fallback = Empty,
        "error.type" = Empty,
        otel.status_code = Empty,
    )
}

/// A call of a tool by a model.
pub fn tool(tool: &'static str) -> Span {
    info_span!(
        "tool",
        tool,
        skill = Empty,
        answer.bytes = Empty,
        "error.type" = Empty,
        otel.status_code = Empty,
    )
}

/// A call of a toolset's code.
#[cfg(feature = "toolsets")]
pub fn toolset(skill: &str, tool: &str) -> Span {
    info_span!(
        "toolset",
        skill,
        tool,
        output.bytes = Empty,
        "error.type" = Empty,
        otel.status_code = Empty,
    )
}

/// A run of a skill's script.
#[cfg(feature = "scripts")]
pub fn script(skill: &str) -> Span {
    info_span!(
        "script",
        skill,
        exit_code = Empty,
        output.bytes = Empty,
        "error.type" = Empty,
        otel.status_code = Empty,
    )
}

/// The first load of the sources.
pub fn load() -> Span {
    info_span!(
        "catalog.load",
        skills = Empty,
        findings = Empty,
        snapshot = Empty,
        "error.type" = Empty,
        otel.status_code = Empty,
    )
}

/// A load of what changed in the sources.
pub fn reload() -> Span {
    info_span!(
        "catalog.reload",
        added = Empty,
        changed = Empty,
        removed = Empty,
        kept = Empty,
        "error.type" = Empty,
        otel.status_code = Empty,
    )
}

/// A fetch of a source's files.
pub fn fetch() -> Span {
    info_span!("fetch", files = Empty, "error.type" = Empty, otel.status_code = Empty)
}

/// An update of a source by its name in the configuration.
pub fn update(source: &str) -> Span {
    info_span!(
        "source.update",
        source,
        status = Empty,
        "error.type" = Empty,
        otel.status_code = Empty,
    )
}

/// A request of an MCP client. It is the root span of a trace, unless the client passed the context of
/// its own trace. Traces show it under the name of the method.
pub fn request(method: &'static str) -> Span {
    info_span!(
        parent: None,
        "mcp.request",
        otel.name = method,
        otel.kind = "server",
        mcp.method.name = method,
        "error.type" = Empty,
        otel.status_code = Empty,
    )
}

/// Runs `work` in `span`. If it fails, records the code of the error in the span.
pub fn within<T>(span: &Span, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let done = span.in_scope(work);
    if let Err(error) = &done {
        fail(span, error.code());
    }
    done
}

/// Records in `span` that its work failed with `code`.
pub fn fail(span: &Span, code: ErrorCode) {
    span.record("error.type", code.as_str());
    span.record("otel.status_code", "ERROR");
}

/// Converts a count to the integer type of trace fields.
pub fn int(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Joins names into the text of one field.
pub fn list(names: &[impl Display]) -> String {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    names.join(", ")
}
