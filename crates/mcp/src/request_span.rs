//! The tracing spans of requests: roots of their traces, or children of a span of the client.

use rmcp::model::ErrorData;
use rmcp::service::{RequestContext, RoleServer};
use tracing::{Instrument as _, Span};

use super::session_limit::Running;
use repertoire::spans;

/// Answers a request within a span of its own, and counts it among the running `calls`.
pub(super) async fn traced<T>(
    method: &'static str,
    calls: &Running,
    context: &RequestContext<RoleServer>,
    answer: impl Future<Output = Result<T, ErrorData>>,
) -> Result<T, ErrorData> {
    let _running = calls.begin();
    let span = spans::request(method);
    if span.is_disabled() {
        return answer.await;
    }
    continue_trace(&span, context);
    let answered = answer.instrument(span.clone()).await;
    if let Err(error) = &answered {
        span.record("error.type", error.code.0);
        span.record("otel.status_code", "ERROR");
    }
    answered
}

/// Makes a span part of the client's trace, which the `_meta` of the request names, or otherwise an HTTP
/// header.
#[cfg(feature = "otlp")]
fn continue_trace(span: &Span, context: &RequestContext<RoleServer>) {
    use opentelemetry::Context;
    use opentelemetry::propagation::TextMapPropagator as _;
    use opentelemetry_sdk::propagation::TraceContextPropagator;
    use tracing_opentelemetry::OpenTelemetrySpanExt as _;

    let given = if context.meta.get_traceparent().is_some() {
        let (parent, state) = (context.meta.get_traceparent(), context.meta.get_tracestate());
        Given { parent, state }
    } else {
        let parts = context.extensions.get::<http::request::Parts>();
        let header = |name| parts.and_then(|parts| parts.headers.get(name)?.to_str().ok());
        Given { parent: header(PARENT), state: header(STATE) }
    };
    if given.parent.is_some() {
        let parent = TraceContextPropagator::new().extract_with_context(&Context::new(), &given);
        // Fails if the host's subscriber has no OpenTelemetry layer.
        let _ = span.set_parent(parent);
    }
}

#[cfg(not(feature = "otlp"))]
fn continue_trace(_: &Span, _: &RequestContext<RoleServer>) {}

#[cfg(feature = "otlp")]
const PARENT: &str = "traceparent";
#[cfg(feature = "otlp")]
const STATE: &str = "tracestate";

/// The trace context that a client sent, as defined by W3C Trace Context.
#[cfg(feature = "otlp")]
struct Given<'a> {
    parent: Option<&'a str>,
    state: Option<&'a str>,
}

#[cfg(feature = "otlp")]
impl opentelemetry::propagation::Extractor for Given<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        match key {
            PARENT => self.parent,
            STATE => self.state,
            _ => None,
        }
    }

    fn keys(&self) -> Vec<&str> {
        vec![PARENT, STATE]
    }
}
