//! Exports spans in batches, as the environment configures.

use std::time::Duration;

use anyhow::{Context as _, bail};
use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{Key, KeyValue};
use opentelemetry_otlp::{SpanExporter, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::Subscriber;
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::layer::Layer;
use tracing_subscriber::registry::LookupSpan;

use super::collector::Collector;
use super::first;
use crate::output::Output;

/// The time that sending the last spans may take.
const LAST_SPANS: Duration = Duration::from_secs(2);

/// The target, in the sense of `tracing`, of the spans to send: those of this crate.
const TARGET: &str = "repertoire";

const SERVICE_NAME: &str = "service.name";

/// The running export of traces.
pub(crate) struct Traces(SdkTracerProvider);

impl Traces {
    /// Starts to send traces to the collector at `endpoint`. A separate thread sends the spans in
    /// batches. If there are more spans than it can send, the newest are dropped.
    pub(super) fn begin(endpoint: &str, out: Output) -> anyhow::Result<Traces> {
        if endpoint.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("https:")) {
            bail!(
                "this program speaks no TLS to collectors; let a collector on this machine do it"
            );
        }
        let protocols = ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"];
        if let Some((variable, protocol)) = first(protocols).filter(|(_, is)| is != "http/protobuf")
        {
            bail!("`{variable}` is `{protocol}`, but this program speaks `http/protobuf` only");
        }
        let collector = Collector::new(out).context("no connection can be made")?;
        let exporter = SpanExporter::builder().with_http().with_http_client(collector).build()?;
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource())
            .build();
        Ok(Traces(provider))
    }

    /// Returns the layer that records the spans of the library. Events go to the log only: their
    /// texts may contain what must not be in a trace.
    pub(crate) fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'s> LookupSpan<'s>,
    {
        let is_ours = filter_fn(|metadata| {
            metadata.is_span()
                && *metadata.level() <= tracing::Level::INFO
                && metadata.target().starts_with(TARGET)
        });
        tracing_opentelemetry::layer()
            .with_tracer(self.0.tracer(TARGET))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false)
            .with_filter(is_ours.with_max_level_hint(LevelFilter::INFO))
    }

    /// Sends the last spans, which takes two seconds at most.
    pub(crate) fn finish(self) {
        // If this fails, the collector's client has already reported the reason.
        let _ = self.0.shutdown_with_timeout(LAST_SPANS);
    }
}

/// Returns the description of this process: its version, and the attributes that the environment
/// gives. If these name no service, the name is this program's own.
fn resource() -> Resource {
    let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    let detected = Resource::builder().with_attribute(version.clone()).build();
    let name = detected.get(&Key::from_static_str(SERVICE_NAME));
    if name.is_some_and(|name| !name.as_str().starts_with("unknown_service")) {
        return detected;
    }
    Resource::builder().with_attribute(version).with_service_name(TARGET).build()
}
