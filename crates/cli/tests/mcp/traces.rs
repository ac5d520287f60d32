//! Traces of the server, as a collector receives them.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::binary::{Place, Run, finish};
use crate::collector::{Collector, Span};
use crate::http::{Server, TOKEN, hello};
use crate::shared::Client;
use crate::{command, skills, trusted};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// Creates a directory with one skill.
fn one_skill() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("review")).unwrap();
    let text = "---\nname: review\ndescription: Reviews code.\ntriggers: [pull request]\n---\n\
                Review $ARGUMENTS.\n";
    fs::write(dir.path().join("review/SKILL.md"), text).unwrap();
    dir
}

/// Runs a server on standard streams that answers these tool calls, until its input ends.
fn run(place: &Place, skills: &Path, variables: &[(&str, &str)], calls: &[(&str, Value)]) -> Run {
    let mut input = format!(
        "{}\n{}\n",
        hello(),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
    );
    for (id, (tool, arguments)) in calls.iter().enumerate() {
        let params = json!({"name": tool, "arguments": arguments});
        let call =
            json!({"jsonrpc": "2.0", "id": id + 2, "method": "tools/call", "params": params});
        input.push_str(&call.to_string());
        input.push('\n');
    }
    let mut command = command(place, &["mcp", "--source"], &[skills]);
    command.envs(variables.iter().copied());
    let run = finish(command, input.as_bytes()).exits(0);
    assert_eq!(run.stdout.lines().count(), calls.len() + 1, "{run:?}");
    run
}

/// Returns the child spans of `parent`.
fn below<'s>(spans: &'s [Span], parent: &Span) -> Vec<&'s Span> {
    let children = spans.iter().filter(|span| span.parent == parent.id);
    let mut children: Vec<&Span> = children.collect();
    children.sort_by_key(|span| span.start);
    for child in &children {
        assert_eq!(child.trace, parent.trace);
        assert!(parent.start <= child.start && child.end <= parent.end, "{child:?} {parent:?}");
    }
    children
}

/// Returns the names of the child spans of `parent`, with the names of their own children in
/// parentheses.
fn tree(spans: &[Span], parent: &Span) -> String {
    let children = below(spans, parent);
    let names = children.iter().map(|child| match tree(spans, child) {
        inner if inner.is_empty() => child.name.clone(),
        inner => format!("{} ({inner})", child.name),
    });
    names.collect::<Vec<_>>().join(", ")
}

/// Returns the span of a tool call, and the span of its request.
fn call<'s>(spans: &'s [Span], tool: &str) -> (&'s Span, &'s Span) {
    let is_call = |span: &&Span| span.name == "tool" && span.fields["tool"] == tool;
    let call = spans.iter().find(is_call).unwrap_or_else(|| panic!("no {tool}: {spans:#?}"));
    let request = spans.iter().find(|span| span.id == call.parent).unwrap();
    assert_eq!((&*request.name, request.kind), ("tools/call", 2));
    (request, call)
}

/// Checks that the page on traces lists every span and every field.
fn check_page(spans: &[Span]) {
    let page = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("docs/traces.md");
    let page = fs::read_to_string(page).unwrap();
    for span in spans {
        let name = if span.kind == 2 { "mcp.request" } else { &span.name };
        let row = page.lines().find(|line| line.starts_with(&format!("| `{name}` |")));
        let row = row.unwrap_or_else(|| panic!("the page lacks `{name}`"));
        // Any span may fail, so the page does not repeat this field.
        for field in span.fields.keys().filter(|field| *field != "error.type") {
            assert!(row.contains(&format!("`{field}`")), "{row} lacks `{field}`");
        }
    }
}

#[test]
fn a_turn_is_a_trace_of_nested_spans_without_what_the_user_wrote() {
    let (collector, place, skills) = (Collector::start(), Place::new(), one_skill());
    let begun = Instant::now();
    let run = run(
        &place,
        skills.path(),
        &[("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.endpoint)],
        &[
            ("find_skills", json!({"query": "a pull request about hazelnuts"})),
            ("use_skill", json!({"skill": "review", "args": "the walnuts"})),
            ("read_skill_file", json!({"skill": "no-almonds", "path": "x"})),
        ],
    );
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!(run.stderr, "");
    assert!(collector.heads()[0].starts_with("POST /v1/traces "), "{:?}", collector.heads());
    let spans = collector.spans();
    check_page(&spans);

    let load = spans.iter().find(|span| span.name == "catalog.load").unwrap();
    assert_eq!((&*load.parent, &load.fields["skills"]), ("", &json!(1)));

    let (request, found) = call(&spans, "find_skills");
    assert_eq!(tree(&spans, request), "tool (session.read, search)");
    assert_eq!((&*request.parent, &request.fields["mcp.method.name"]), ("", &json!("tools/call")));
    let search = below(&spans, found)[1];
    assert_eq!(search.fields["lines"], "review");
    assert_eq!((&search.fields["matched"], &search.fields["vetoed"]), (&json!(1), &json!(0)));
    assert_eq!(search.fields["query.bytes"], 30);

    let (request, used) = call(&spans, "use_skill");
    assert_eq!(tree(&spans, request), "tool (activate (session.read, session.write))");
    assert_eq!(used.fields["skill"], "review");
    let activated = below(&spans, used)[0];
    assert_eq!(
        (&activated.fields["skill"], &activated.fields["audience"]),
        (&json!("review"), &json!("model"))
    );
    assert!(!used.has_failed && !request.has_failed);

    let (request, refused) = call(&spans, "read_skill_file");
    assert_eq!((&refused.fields["error.type"], refused.has_failed), (&json!("NOT_FOUND"), true));
    assert_eq!((&request.fields["error.type"], request.has_failed), (&json!("tool_error"), true));

    for word in ["hazelnut", "walnut", "almond", "Reviews code"] {
        assert!(!collector.holds(word), "a trace holds `{word}`");
    }
    assert!(spans.iter().all(|span| span.n_events == 0), "{spans:?}");
    assert!(spans.iter().all(|span| span.resource["service.name"] == "repertoire"));
}

#[test]
fn code_of_skills_has_spans_of_its_own() {
    let (collector, skills) = (Collector::start(), skills());
    let place = trusted(skills.path());
    run(
        &place,
        skills.path(),
        &[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &format!("{}/custom", collector.endpoint))],
        &[
            (
                "run_skill_script",
                json!({"skill": "slow", "script": "echo.sh", "args": ["walnuts"]}),
            ),
            ("hello_count", json!({"to": 2, "pause": 1})),
        ],
    );
    assert!(collector.heads()[0].starts_with("POST /custom "), "{:?}", collector.heads());
    let spans = collector.spans();
    check_page(&spans);
    let (_, script) = call(&spans, "run_skill_script");
    let script = below(&spans, script)[0];
    assert_eq!((&*script.name, &script.fields["skill"]), ("script", &json!("slow")));
    assert_eq!(
        (&script.fields["exit_code"], &script.fields["output.bytes"]),
        (&json!(0), &json!(13))
    );
    let (_, plugin) = call(&spans, "toolset");
    assert_eq!(plugin.fields["skill"], "hello");
    let called = below(&spans, plugin).into_iter().find(|span| span.name == "toolset").unwrap();
    assert_eq!(
        (&called.fields["skill"], &called.fields["tool"]),
        (&json!("hello"), &json!("count"))
    );
    assert!(!collector.holds("walnuts"));
}

#[test]
fn a_span_of_the_client_is_the_parent_of_its_turn() {
    let (collector, place, skills) = (Collector::start(), Place::new(), one_skill());
    let variables =
        [("OTEL_EXPORTER_OTLP_ENDPOINT", &*collector.endpoint), ("OTEL_BSP_SCHEDULE_DELAY", "50")];
    let (server, _) = Server::start_in(&place, skills.path(), &[], Some(TOKEN), &variables);
    let client = Client::begin(&server, TOKEN);
    let call = |meta: Value| {
        let params = json!({"name": "use_skill", "arguments": {"skill": "review"}, "_meta": meta});
        let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
        call.to_string()
    };
    let is_request =
        |trace: &'static str| move |span: &Span| span.name == "tools/call" && span.trace == trace;
    client.ask_with(&server, "POST", &call(json!({})), &[("traceparent", PARENT)]);
    let spans = collector.spans_with(is_request(TRACE));
    let request = spans.iter().find(|span| is_request(TRACE)(span)).unwrap();
    assert_eq!(request.parent, "b7ad6b7169203331");
    let tool = spans.iter().find(|span| span.name == "tool").unwrap();
    assert_eq!((&*tool.trace, &tool.parent), (TRACE, &request.id));

    // The context in the request's message takes precedence over that of the transport.
    let other = "ab42124a3c573678d4d8b21ba52df3bf";
    let meta = json!({"traceparent": format!("00-{other}-d21f7bc17caa5aba-01")});
    client.ask_with(&server, "POST", &call(meta), &[("traceparent", PARENT)]);
    let spans = collector.spans_with(is_request(other));
    let request = spans.iter().find(|span| is_request(other)(span)).unwrap();
    assert_eq!(request.parent, "d21f7bc17caa5aba");

    // One parent that is not recorded, and one that is invalid.
    let unrecorded = format!("00-{}-b7ad6b7169203331-00", "1".repeat(32));
    client.ask_with(&server, "POST", &call(json!({})), &[("traceparent", &unrecorded)]);
    client.ask_with(&server, "POST", &call(json!({})), &[("traceparent", "made up")]);
    let spans = collector.spans_with(|span| span.name == "tools/call" && span.parent.is_empty());
    assert!(spans.iter().all(|span| !span.trace.starts_with("1111")), "{spans:?}");
}

#[test]
fn the_last_spans_are_sent_when_a_signal_ends_the_server() {
    for signal in ["-TERM", "-INT"] {
        let (collector, place, skills) = (Collector::start(), Place::new(), one_skill());
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &*collector.endpoint),
            ("OTEL_BSP_SCHEDULE_DELAY", "600000"),
            ("OTEL_SERVICE_NAME", "skills-of-7"),
        ];
        let (server, _) = Server::start_in(&place, skills.path(), &[], Some(TOKEN), &variables);
        Client::begin(&server, TOKEN).call(&server, "use_skill", &json!({"skill": "review"}));
        assert_eq!(collector.spans().len(), 0);
        let notes = server.end(signal);
        assert_eq!(notes, Vec::<String>::new());
        let spans = collector.spans();
        call(&spans, "use_skill");
        assert!(spans.iter().all(|span| span.resource["service.name"] == "skills-of-7"));
    }
}

#[test]
fn a_collector_that_is_away_delays_neither_an_answer_nor_the_end() {
    let (place, skills) = (Place::new(), one_skill());
    // Nothing listens on the first address. The second accepts the request, but never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent_address = silent.local_addr().unwrap().to_string();
    for (address, told) in [("127.0.0.1:1", true), (&*silent_address, false)] {
        // The password must not be shown.
        let endpoint = format!("http://ann:secret@{address}");
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &*endpoint),
            ("OTEL_BSP_SCHEDULE_DELAY", "10"),
            ("OTEL_BSP_MAX_QUEUE_SIZE", "8"),
        ];
        let (server, seen) = Server::start_in(&place, skills.path(), &[], Some(TOKEN), &variables);
        let client = Client::begin(&server, TOKEN);
        let mut slowest = Duration::ZERO;
        for _ in 0..50 {
            let begun = Instant::now();
            client.call(&server, "use_skill", &json!({"skill": "review"}));
            slowest = slowest.max(begun.elapsed());
        }
        assert!(slowest < Duration::from_secs(2), "{slowest:?}");
        let begun = Instant::now();
        let notes = server.end("-TERM");
        // Two seconds, with a margin for a busy machine.
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        let line = format!("traces cannot be sent to {address}: ");
        assert!(notes.iter().all(|note| note.starts_with(&line)), "{notes:?}");
        // The first spans come from loading skills, before the server prints its address.
        let n_told = seen.iter().chain(&notes).filter(|note| note.starts_with(&line)).count();
        assert_eq!(n_told, usize::from(told), "{seen:?} {notes:?}");
    }
}

#[test]
fn nothing_is_sent_unless_the_environment_asks_for_it() {
    let (place, skills) = (Place::new(), one_skill());
    let calls = [("use_skill", json!({"skill": "review"}))];
    let collector = Collector::start();
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", &*collector.endpoint);
    for (variables, told) in [
        (&[][..], ""),
        (&[("OTEL_EXPORTER_OTLP_ENDPOINT", "")], ""),
        (&[endpoint, ("OTEL_SDK_DISABLED", "true")], ""),
        (&[endpoint, ("OTEL_TRACES_EXPORTER", "none")], ""),
        (&[endpoint, ("OTEL_TRACES_SAMPLER", "always_off")], ""),
        (
            &[endpoint, ("OTEL_TRACES_SAMPLER", "traceidratio"), ("OTEL_TRACES_SAMPLER_ARG", "0")],
            "",
        ),
        (
            &[endpoint, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")],
            "`OTEL_EXPORTER_OTLP_PROTOCOL` is `grpc`",
        ),
        (&[("OTEL_EXPORTER_OTLP_ENDPOINT", "https://localhost:4318")], "speaks no TLS"),
        (&[("OTEL_EXPORTER_OTLP_ENDPOINT", "no address")], "`OTEL_EXPORTER_OTLP_ENDPOINT` asks: "),
        (&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://ann:secret@no host")], "invalid endpoint '…'"),
    ] {
        let run = run(&place, skills.path(), variables, &calls);
        assert_eq!(run.stderr.lines().count(), usize::from(!told.is_empty()), "{run:?}");
        assert!(run.stderr.contains(told), "{variables:?}: {run:?}");
        assert!(!run.stderr.contains("secret"), "{run:?}");
    }
    assert_eq!(collector.spans().len(), 0);
}
