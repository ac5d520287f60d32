//! Traces of a server, sent to the collector that the environment names.
//!
//! The variables are those of OpenTelemetry's specification. Without an endpoint nothing is sent.

#[cfg(feature = "otlp")]
mod collector;
#[cfg(feature = "otlp")]
mod export;

#[cfg(feature = "otlp")]
pub(crate) use export::Traces;

use crate::output::Output;

/// The variables with the address of a collector. The one for traces alone comes first.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

/// Returns the value of the first of these variables that is set and not empty, and its name.
fn first(names: [&'static str; 2]) -> Option<(&'static str, String)> {
    let mut values = names.iter().map(|name| (*name, std::env::var(name).unwrap_or_default()));
    values.find(|(_, value)| !value.is_empty())
}

/// Returns the name and the value of the variable with the address of the collector; `None` if there
/// is none, or traces are turned off.
fn endpoint() -> Option<(&'static str, String)> {
    let is = |name: &str, word: &str| {
        std::env::var(name).is_ok_and(|value| value.eq_ignore_ascii_case(word))
    };
    let is_off = is("OTEL_SDK_DISABLED", "true") || is("OTEL_TRACES_EXPORTER", "none");
    first(ENDPOINTS).filter(|_| !is_off)
}

/// Starts to collect and send traces, if the environment asks for that. If that fails, reports the
/// reason; the server then runs without traces.
#[cfg(feature = "otlp")]
pub(crate) fn begin(out: Output) -> Option<Traces> {
    let (variable, endpoint) = endpoint()?;
    let begun = Traces::begin(&endpoint, out);
    let tell = |error: &anyhow::Error| {
        // The address may hold a password.
        let error = error.to_string().replace(&endpoint, "…");
        out.note(&crate::sanitize::line(&format!(
            "no traces are sent, as `{variable}` asks: {error}"
        )));
    };
    begun.inspect_err(tell).ok()
}

/// Stands for traces in a build that cannot send any.
#[cfg(not(feature = "otlp"))]
pub(crate) enum Traces {}

#[cfg(not(feature = "otlp"))]
impl Traces {
    /// Never runs: there is no value of this type.
    pub(crate) fn finish(self) {
        match self {}
    }
}

/// Reports that this build sends no traces, if the environment asks for them.
#[cfg(not(feature = "otlp"))]
pub(crate) fn begin(out: Output) -> Option<Traces> {
    if let Some((variable, _)) = endpoint() {
        out.note(&format!(
            "no traces are sent, as `{variable}` asks: build this program with the feature `otlp`"
        ));
    }
    None
}
