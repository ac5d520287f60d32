//! The metrics page of an HTTP server, as text for Prometheus.
//!
//! Labels name tools, clients and status codes; never a message, a session, a skill or a token.

use std::fmt::{Display, Write as _};
use std::sync::Arc;

use super::clients::HttpClient;
use super::metrics::{CALL_BOUNDS, Metrics};
use repertoire::catalog::{Audience, Catalog};
use repertoire::engine::EngineCounts;
use repertoire_sessions::{MeteredStore, STORE_BOUNDS};

/// Writes all metrics. May block, since it reads the skills of each catalog that is new.
pub(super) fn write(
    metrics: &Metrics,
    clients: &[Arc<HttpClient>],
    store: Option<&MeteredStore>,
    n_sessions: usize,
) -> String {
    let mut page = Page::default();
    page.head("http_answers_total", "counter", "Answers over HTTP by the class of their status.");
    for (class, count) in metrics.answers() {
        page.line("http_answers_total", &[("code", &format!("{class}xx"))], count);
    }
    page.head("open_sessions", "gauge", "MCP sessions in the memory of this process.");
    page.line("open_sessions", &[], n_sessions);
    write_calls(&mut page, metrics);
    write_counts(&mut page, clients);
    write_catalogs(&mut page, metrics, clients);
    if let Some(store) = store {
        let counts = store.counts();
        page.head("store_errors_total", "counter", "Failed calls of the session store.");
        page.line("store_errors_total", &[], counts.failed);
        let micros = u64::try_from(counts.total.as_micros()).unwrap_or(u64::MAX);
        page.head("store_call_seconds", "histogram", "Duration of calls of the session store.");
        page.histogram("store_call_seconds", &[], &STORE_BOUNDS, &counts.took, micros);
    }
    page.0
}

fn write_calls(page: &mut Page, metrics: &Metrics) {
    page.head("tool_errors_total", "counter", "Calls of tools that failed.");
    for (tool, calls) in metrics.calls() {
        page.line("tool_errors_total", &[("tool", tool)], calls.failed());
    }
    page.head("tool_call_seconds", "histogram", "Duration of calls of tools.");
    for (tool, calls) in metrics.calls() {
        let (took, micros) = (calls.took(), calls.micros());
        page.histogram("tool_call_seconds", &[("tool", tool)], &CALL_BOUNDS, &took, micros);
    }
}

fn write_catalogs(page: &mut Page, metrics: &Metrics, clients: &[Arc<HttpClient>]) {
    let catalogs: Vec<Arc<Catalog>> =
        clients.iter().map(|client| client.engine.catalog()).collect();
    page.head("skills", "gauge", "Skills that the models of a client can use.");
    for (client, catalog) in clients.iter().zip(&catalogs) {
        let n_skills = catalog.listed(Audience::Model).count();
        page.line("skills", &[("client", &client.name)], n_skills);
    }
    page.head("catalog_info", "gauge", "The fingerprint of a client's catalog; always 1.");
    for (client, version) in clients.iter().zip(metrics.versions(&catalogs)) {
        page.line("catalog_info", &[("client", &client.name), ("version", &version)], 1);
    }
}

/// Writes the sums of the counts of all engines. An engine that clients share counts once.
fn write_counts(page: &mut Page, clients: &[Arc<HttpClient>]) {
    let is_first = |at: &usize| {
        let engine = &clients[*at].engine;
        !clients[..*at].iter().any(|before| before.engine.is_clone_of(engine))
    };
    let engines = (0..clients.len()).filter(is_first).map(|at| clients[at].engine.counts());
    let counts = engines.fold(EngineCounts::default(), EngineCounts::plus);
    for (name, help, count) in [
        ("queries_total", "Messages and searches that were answered.", counts.queries),
        ("skills_matched_total", "Skills that queries matched.", counts.matched),
        ("skills_vetoed_total", "Skills that an exclude kept from matching.", counts.vetoed),
        ("skills_used_total", "Skills loaded by name.", counts.used),
    ] {
        page.head(name, "counter", help);
        page.line(name, &[], count);
    }
    page.head("skills_shown_total", "counter", "Skills given in full, in a line, or counted.");
    for (tier, count) in [("full", counts.full), ("line", counts.lines), ("count", counts.counted)]
    {
        page.line("skills_shown_total", &[("as", tier)], count);
    }
}

/// The text of the page while it is written. All names start with `repertoire_`.
#[derive(Default)]
struct Page(String);

impl Page {
    /// Writes the type and the meaning of a metric, before its lines.
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a `String` cannot fail, here and below.
        let _ = writeln!(self.0, "# HELP repertoire_{name} {help}");
        let _ = writeln!(self.0, "# TYPE repertoire_{name} {kind}");
    }

    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let labels: Vec<String> =
            labels.iter().map(|(key, value)| format!("{key}=\"{}\"", escaped(value))).collect();
        let labels =
            if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.0, "repertoire_{name}{labels} {value}");
    }

    /// Writes the lines of a histogram. `bounds` are in microseconds; `took` has the number of calls in
    /// each bucket.
    fn histogram(
        &mut self,
        name: &str,
        labels: &[(&str, &str)],
        bounds: &[u64],
        took: &[u64],
        micros: u64,
    ) {
        let bounds = bounds.iter().map(|micros| seconds(*micros)).chain(["+Inf".to_owned()]);
        let mut sum = 0;
        for (bound, n_calls) in bounds.zip(took) {
            sum += n_calls;
            let labels: Vec<_> = labels.iter().copied().chain([("le", &*bound)]).collect();
            self.line(&format!("{name}_bucket"), &labels, sum);
        }
        self.line(&format!("{name}_sum"), labels, seconds(micros));
        self.line(&format!("{name}_count"), labels, sum);
    }
}

/// Returns microseconds as seconds, exactly.
fn seconds(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Escapes the value of a label for the Prometheus text format.
fn escaped(value: &str) -> String {
    value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n")
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
            "repertoire_tool_call_seconds_sum{tool=\"toolset\"} 60",
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
        assert_eq!(seconds(1_250_000), "1.25");
        assert_eq!(seconds(0), "0");
    }
}
