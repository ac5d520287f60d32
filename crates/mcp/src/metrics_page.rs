//! The metrics page of an HTTP server, as text for Prometheus.
//!
//! Labels name tools, clients and status codes; never a message, a session, a skill or a token.

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet, prometheus_text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;
use repertoire::catalog::{Audience, Catalog};
use repertoire::engine::EngineCounts;
use repertoire_sessions::{MeteredStore, STORE_BOUNDS};

use super::clients::HttpClient;
use super::metrics::{CALL_BOUNDS, Metrics};

/// Writes all metrics. May block, since it reads the skills of each catalog that is new.
pub(super) fn write(
    metrics: &Metrics,
    clients: &[Arc<HttpClient>],
    store: Option<&MeteredStore>,
    n_sessions: usize,
) -> String {
    let answers = metrics.answers();
    let answers = answers.map(|(class, count)| (labels([("code", &format!("{class}xx"))]), count));
    let mut page = Page(vec![
        counter("http_answers", "Answers over HTTP by the class of their status.", answers),
        gauge(
            "open_sessions",
            "MCP sessions in the memory of this process.",
            [(vec![], n_sessions)],
        ),
    ]);
    page.0.extend(calls(metrics));
    page.0.extend(counts(clients));
    page.0.extend(catalogs(metrics, clients));
    if let Some(store) = store {
        let counts = store.counts();
        let micros = u64::try_from(counts.total.as_micros()).unwrap_or(u64::MAX);
        let took = Value::histogram(&STORE_BOUNDS, &counts.took, micros);
        let failed = [(vec![], counts.failed)];
        page.0.push(counter("store_errors", "Failed calls of the session store.", failed));
        let help = "Duration of calls of the session store.";
        page.0.push(Metric { name: "store_call_seconds", help, values: vec![(vec![], took)] });
    }
    let mut registry = Registry::with_prefix("repertoire");
    registry.register_collector(Box::new(page));
    let mut text = String::new();
    // Writing to a `String` cannot fail.
    let _ = prometheus_text::encode(&mut text, &registry);
    text
}

fn calls(metrics: &Metrics) -> [Metric; 2] {
    let failed = metrics.calls().map(|(tool, calls)| (labels([("tool", tool)]), calls.failed()));
    let took = metrics.calls().map(|(tool, calls)| {
        let took = Value::histogram(&CALL_BOUNDS, &calls.took(), calls.micros());
        (labels([("tool", tool)]), took)
    });
    let help = "Duration of calls of tools.";
    [
        counter("tool_errors", "Calls of tools that failed.", failed),
        Metric { name: "tool_call_seconds", help, values: took.collect() },
    ]
}

fn catalogs(metrics: &Metrics, clients: &[Arc<HttpClient>]) -> [Metric; 2] {
    let catalogs: Vec<Arc<Catalog>> =
        clients.iter().map(|client| client.engine.catalog()).collect();
    let n_skills = clients.iter().zip(&catalogs).map(|(client, catalog)| {
        (labels([("client", &client.name)]), catalog.listed(Audience::Model).count())
    });
    let versions = metrics.versions(&catalogs);
    let versions = clients
        .iter()
        .zip(&versions)
        .map(|(client, version)| (labels([("client", &client.name), ("version", version)]), 1));
    [
        gauge("skills", "Skills that the models of a client can use.", n_skills),
        gauge("catalog_info", "The fingerprint of a client's catalog; always 1.", versions),
    ]
}

/// Returns the sums of the counts of all engines. An engine that clients share counts once.
fn counts(clients: &[Arc<HttpClient>]) -> Vec<Metric> {
    let is_first = |at: &usize| {
        let engine = &clients[*at].engine;
        !clients[..*at].iter().any(|before| before.engine.is_clone_of(engine))
    };
    let engines = (0..clients.len()).filter(is_first).map(|at| clients[at].engine.counts());
    let counts = engines.fold(EngineCounts::default(), EngineCounts::plus);
    let single = [
        ("queries", "Messages and searches that were answered.", counts.queries),
        ("skills_matched", "Skills that queries matched.", counts.matched),
        ("skills_vetoed", "Skills that an exclude kept from matching.", counts.vetoed),
        ("skills_used", "Skills loaded by name.", counts.used),
    ];
    let single = single.map(|(name, help, count)| counter(name, help, [(vec![], count)]));
    let shown = [("full", counts.full), ("line", counts.lines), ("count", counts.counted)];
    let shown = shown.map(|(tier, count)| (labels([("as", tier)]), count));
    let help = "Skills given in full, in a line, or counted.";
    single.into_iter().chain([counter("skills_shown", help, shown)]).collect()
}

/// The names and values of labels.
type Labels = Vec<(&'static str, String)>;

fn labels<const N: usize>(labels: [(&'static str, &str); N]) -> Labels {
    labels.map(|(name, value)| (name, value.to_owned())).into()
}

/// The metrics of one scrape.
#[derive(Debug)]
struct Page(Vec<Metric>);

/// A metric, with its value for each set of labels.
#[derive(Debug)]
struct Metric {
    name: &'static str,
    help: &'static str,
    values: Vec<(Labels, Value)>,
}

fn counter(
    name: &'static str,
    help: &'static str,
    values: impl IntoIterator<Item = (Labels, u64)>,
) -> Metric {
    let values = values.into_iter().map(|(labels, count)| (labels, Value::Counter(count)));
    Metric { name, help, values: values.collect() }
}

fn gauge(
    name: &'static str,
    help: &'static str,
    values: impl IntoIterator<Item = (Labels, usize)>,
) -> Metric {
    let values = values.into_iter().map(|(labels, n)| (labels, Value::Gauge(n)));
    Metric { name, help, values: values.collect() }
}

#[derive(Debug)]
enum Value {
    Counter(u64),
    Gauge(usize),
    /// `buckets` are the calls of at most so many seconds; `calls` has longer ones, too.
    Histogram {
        seconds: f64,
        calls: u64,
        buckets: Vec<(f64, u64)>,
    },
}

impl Value {
    /// Creates a histogram. `bounds` are in microseconds; `took` has the number of calls in each bucket.
    fn histogram(bounds: &[u64], took: &[u64], micros: u64) -> Value {
        let calls = took.iter().sum();
        let bounds = bounds.iter().map(|micros| seconds(*micros));
        let buckets = bounds.zip(took.iter().copied()).collect();
        Value::Histogram { seconds: seconds(micros), calls, buckets }
    }

    fn kind(&self) -> MetricType {
        match self {
            Value::Counter(_) => MetricType::Counter,
            Value::Gauge(_) => MetricType::Gauge,
            Value::Histogram { .. } => MetricType::Histogram,
        }
    }

    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        match self {
            Value::Counter(count) => encoder.encode_counter::<NoLabelSet, _, u64>(count, None),
            Value::Gauge(n) => encoder.encode_gauge(n),
            Value::Histogram { seconds, calls, buckets } => {
                encoder.encode_histogram::<NoLabelSet>(*seconds, *calls, buckets, None)
            }
        }
    }
}

impl Collector for Page {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for Metric { name, help, values } in &self.0 {
            let Some((_, first)) = values.first() else { continue };
            let mut metric = encoder.encode_descriptor(name, help, None, first.kind())?;
            for (labels, value) in values {
                value.encode(metric.encode_family(labels)?)?;
            }
        }
        Ok(())
    }
}

/// Converts microseconds to seconds.
#[expect(clippy::cast_precision_loss, reason = "sums stay below 2^53 microseconds, 285 years")]
fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http::StatusCode;

    use super::*;
    use crate::McpOptions;
    use repertoire::engine::Engine;
    use repertoire::session::{MemoryStore, SessionStore as _};

    #[test]
    fn metrics_count_calls_and_name_nobody() {
        let skill =
            "---\nname: review\ndescription: Reviews.\ntriggers: [a pull request]\n---\nLook.";
        let build = || Engine::builder().skill(skill.parse().unwrap()).build().unwrap();
        let (engine, other) = (build(), build());
        let client = |name: &str, token: &str, engine: &Engine| {
            Arc::new(HttpClient::new(name, token, engine, McpOptions::default()).unwrap())
        };
        let clients = [
            client("a\"b", "0123456789abcdef", &engine),
            client("c", "1123456789abcdef", &engine),
            client("d", "2123456789abcdef", &other),
        ];
        let session = engine.session("secret-session");
        engine.turn("secret words about a pull request", &session).run().unwrap();
        assert_eq!(other.find_skills("a pull request", 5).len(), 1);
        let metrics = Metrics::default();
        metrics.note_answer(StatusCode::UNAUTHORIZED);
        metrics.note_call("find_skills", Duration::from_micros(700), false);
        metrics.note_call("review_secret_tool", Duration::from_secs(60), true);
        let store = MeteredStore::new(MemoryStore::default());
        store.state("secret-session").unwrap();
        let page = write(&metrics, &clients, Some(&store), 3);
        for line in [
            "repertoire_http_answers_total{code=\"4xx\"} 1",
            "repertoire_open_sessions 3",
            "repertoire_queries_total 2",
            "repertoire_skills_matched_total 2",
            "repertoire_skills_shown_total{as=\"full\"} 1",
            "repertoire_skills_shown_total{as=\"line\"} 1",
            "repertoire_skills{client=\"a\\\"b\"} 1",
            "repertoire_tool_call_seconds_bucket{tool=\"find_skills\",le=\"0.0005\"} 0",
            "repertoire_tool_call_seconds_bucket{tool=\"find_skills\",le=\"0.001\"} 1",
            "repertoire_tool_call_seconds_bucket{tool=\"toolset\",le=\"30\"} 0",
            "repertoire_tool_call_seconds_bucket{tool=\"toolset\",le=\"+Inf\"} 1",
            "repertoire_tool_call_seconds_sum{tool=\"toolset\"} 60.0",
            "repertoire_tool_errors_total{tool=\"toolset\"} 1",
            "repertoire_store_call_seconds_count 1",
            "repertoire_store_errors_total 0",
        ] {
            assert!(page.lines().any(|given| given == line), "{line} not in\n{page}");
        }
        assert!(!page.contains("secret") && !page.contains("review"), "{page}");
        let versions: Vec<&str> =
            page.lines().filter_map(|line| line.split_once("version=")).map(|(_, v)| v).collect();
        assert!(versions.len() == 3 && versions.iter().all(|version| *version == versions[0]));
    }
}
