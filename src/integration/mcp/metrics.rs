//! Metrics of a server over HTTP, as text for Prometheus.
//!
//! Labels name tools, clients and status codes; never a message, a session, a skill or a token.

use std::fmt::{Display, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use data_encoding::HEXLOWER;
use http::StatusCode;
use sha2::{Digest as _, Sha256};

use super::clients::HttpClient;
use crate::catalog::{Audience, Catalog};
use crate::engine::{EngineCounts, SessionTools};
use crate::session::{STORE_BOUNDS, WatchedStore};

/// The upper bounds of the durations of calls, in microseconds.
const CALL_BOUNDS: [u64; 12] = [
    500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 500_000, 1_000_000, 5_000_000,
    30_000_000,
];

/// The tools by which calls are counted. The last one stands for those of toolsets, whose names are
/// those of skills.
const TOOLS: [&str; 5] =
    [SessionTools::USE_SKILL, "find_skills", "read_skill_file", "run_skill_script", "toolset"];

/// The hundreds of status codes.
const N_CLASSES: usize = 6;

/// The counters of a server.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    answers: [AtomicU64; N_CLASSES],
    calls: [Calls; TOOLS.len()],
    /// The fingerprint of each client's catalog, and the catalog, to know when it is another.
    versions: Mutex<Vec<(Weak<Catalog>, String)>>,
}

/// The calls of one tool.
#[derive(Debug, Default)]
struct Calls {
    failed: AtomicU64,
    micros: AtomicU64,
    took: [AtomicU64; CALL_BOUNDS.len() + 1],
}

impl Metrics {
    /// Counts an answer over HTTP.
    pub(super) fn note_answer(&self, status: StatusCode) {
        let class = usize::from(status.as_u16() / 100).min(N_CLASSES - 1);
        self.answers[class].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a call of a tool.
    pub(super) fn note_call(&self, tool: &str, duration: Duration, has_failed: bool) {
        let place = TOOLS.iter().position(|known| *known == tool).unwrap_or(TOOLS.len() - 1);
        let calls = &self.calls[place];
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let place = CALL_BOUNDS.partition_point(|bound| *bound < micros);
        calls.took[place].fetch_add(1, Ordering::Relaxed);
        calls.micros.fetch_add(micros, Ordering::Relaxed);
        calls.failed.fetch_add(u64::from(has_failed), Ordering::Relaxed);
    }

    /// Writes all metrics. Reads the skills of a catalog that is new, so that it may block.
    pub(super) fn write(
        &self,
        clients: &[Arc<HttpClient>],
        store: Option<&WatchedStore>,
        n_sessions: usize,
    ) -> String {
        let mut page = Page::default();
        page.head(
            "http_answers_total",
            "counter",
            "Answers over HTTP by the class of their status.",
        );
        for (class, count) in self.answers.iter().enumerate().skip(1) {
            page.line("http_answers_total", &[("code", &format!("{class}xx"))], read(count));
        }
        page.head("open_sessions", "gauge", "MCP sessions in the memory of this process.");
        page.line("open_sessions", &[], n_sessions);
        self.write_calls(&mut page);
        write_counts(&mut page, clients);
        self.write_catalogs(&mut page, clients);
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

    fn write_calls(&self, page: &mut Page) {
        page.head("tool_errors_total", "counter", "Calls of tools that failed.");
        for (tool, calls) in TOOLS.iter().zip(&self.calls) {
            page.line("tool_errors_total", &[("tool", tool)], read(&calls.failed));
        }
        page.head("tool_call_seconds", "histogram", "Duration of calls of tools.");
        for (tool, calls) in TOOLS.iter().zip(&self.calls) {
            let took: Vec<u64> = calls.took.iter().map(read).collect();
            let label = [("tool", *tool)];
            page.histogram("tool_call_seconds", &label, &CALL_BOUNDS, &took, read(&calls.micros));
        }
    }

    fn write_catalogs(&self, page: &mut Page, clients: &[Arc<HttpClient>]) {
        let catalogs: Vec<Arc<Catalog>> =
            clients.iter().map(|client| client.engine().catalog()).collect();
        page.head("skills", "gauge", "Skills that the models of a client can use.");
        for (client, catalog) in clients.iter().zip(&catalogs) {
            let n_skills = catalog.listed(Audience::Model).count();
            page.line("skills", &[("client", client.name())], n_skills);
        }
        page.head("catalog_info", "gauge", "The fingerprint of a client's catalog; always 1.");
        for (client, version) in clients.iter().zip(self.versions(&catalogs)) {
            page.line("catalog_info", &[("client", client.name()), ("version", &version)], 1);
        }
    }

    /// Returns the fingerprints of the catalogs.
    fn versions(&self, catalogs: &[Arc<Catalog>]) -> Vec<String> {
        let mut known = self.versions.lock().unwrap_or_else(PoisonError::into_inner);
        let versions = catalogs.iter().map(|catalog| {
            let is_same =
                |of: &Weak<Catalog>| of.upgrade().is_some_and(|of| Arc::ptr_eq(&of, catalog));
            let found = known.iter().find(|(of, _)| is_same(of));
            found.map_or_else(|| fingerprint(catalog), |(_, version)| version.clone())
        });
        let versions: Vec<String> = versions.collect();
        *known = catalogs.iter().map(Arc::downgrade).zip(versions.iter().cloned()).collect();
        versions
    }
}

/// Returns a fingerprint of a catalog, equal for equal skills in all processes of one program.
fn fingerprint(catalog: &Catalog) -> String {
    let mut hash = Sha256::new();
    for entry in catalog.listed(Audience::Model) {
        hash.update(entry.id.as_str());
        hash.update(entry.skill.manifest().to_json().to_string());
        // A body that cannot be read has no hash.
        hash.update(entry.skill.body_hash().unwrap_or_default().to_le_bytes());
    }
    HEXLOWER.encode(&hash.finalize()[..8])
}

/// Writes the counts of all engines together. Clients may share an engine.
fn write_counts(page: &mut Page, clients: &[Arc<HttpClient>]) {
    let is_first = |at: &usize| {
        let engine = clients[*at].engine();
        !clients[..*at].iter().any(|before| before.engine().is_clone_of(engine))
    };
    let engines = (0..clients.len()).filter(is_first).map(|at| clients[at].engine().counts());
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

fn read(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

/// A text of metrics in the making. All names begin with `repertoire_`.
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

    /// Writes the lines of a histogram: `took` are the numbers of calls between bounds, which are in
    /// microseconds.
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

/// Returns a label's value as the format has it.
fn escaped(value: &str) -> String {
    value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;
    use crate::integration::mcp::McpOptions;
    use crate::session::{MemoryStore, SessionStore as _};

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
        let store = WatchedStore::new(MemoryStore::default());
        store.state("secret-session").unwrap();
        let page = metrics.write(&clients, Some(&store), 3);
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
