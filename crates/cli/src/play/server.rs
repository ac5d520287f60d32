//! The HTTP server on the loopback, for the page and its answers.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use repertoire::{Engine, Error, ErrorCode};
use repertoire_mcp::serve_loopback;
use tokio::sync::watch;

use super::answer::{Question, answer};

const HTML: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The maximum length of a question, in bytes; long messages are shortened in the middle anyway.
const MAX_QUESTION: usize = 4 * 1024 * 1024;

/// The time after which the server answers a page that waits for a change; the page then asks again.
const WAIT: Duration = Duration::from_secs(25);

/// The content security policy: the browser runs and shows only what this server serves, whatever a
/// skill's text contains.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The state that all connections share.
struct Site {
    /// `/TOKEN/`, the prefix of all paths.
    root: String,
    /// The port of this server.
    port: u16,
    engine: Engine,
    /// The number of changes of the catalog so far.
    changes: watch::Receiver<u64>,
}

/// Serves the page at `/PATH/` until there is an error.
pub(super) async fn serve(listener: TcpListener, path: &str, engine: Engine) -> Result<(), Error> {
    let (counter, changes) = watch::channel(0_u64);
    let _subscription = engine.subscribe(move |_| counter.send_modify(|change| *change += 1));
    let port = listener.local_addr().map_err(|error| {
        Error::new(ErrorCode::ExecutionError, format!("cannot serve HTTP: {error}"), "")
    })?;
    let port = port.port();
    let site = Arc::new(Site { root: format!("/{path}/"), port, engine, changes });
    serve_loopback(listener, move |request| respond(Arc::clone(&site), request)).await
}

impl Site {
    /// Tells whether a request names this server as its only host, and comes from its own page or
    /// from no page. In a *DNS rebinding* attack, the page of another site names that site.
    fn is_asked_by_itself<B>(&self, request: &Request<B>) -> bool {
        let names = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{}", self.port));
        let is_ours =
            |host: &[u8]| names.iter().any(|name| host.eq_ignore_ascii_case(name.as_bytes()));
        let is_page =
            |origin: &HeaderValue| origin.as_bytes().strip_prefix(b"http://").is_some_and(is_ours);
        let mut hosts = request.headers().get_all(header::HOST).iter();
        let is_host = hosts.next().is_some_and(|host| is_ours(host.as_bytes()));
        is_host
            && hosts.next().is_none()
            && request.uri().authority().is_none()
            && request.headers().get_all(header::ORIGIN).iter().all(is_page)
    }
}

async fn respond(site: Arc<Site>, request: Request<Incoming>) -> Response<Full<Bytes>> {
    if !site.is_asked_by_itself(&request) {
        return refusal(StatusCode::FORBIDDEN, "this page answers itself, at the printed address");
    }
    let path = request.uri().path().strip_prefix(&site.root).map(str::to_owned);
    match (request.method(), path.as_deref()) {
        (&Method::GET, Some("")) => page("text/html; charset=utf-8", HTML),
        (&Method::GET, Some("page.css")) => page("text/css; charset=utf-8", STYLE),
        (&Method::GET, Some("page.js")) => page("text/javascript; charset=utf-8", SCRIPT),
        (&Method::GET, Some("changes")) => changes(&site, request.uri().query()).await,
        (&Method::POST, Some("ask")) => ask(site, request.into_body()).await,
        _ => refusal(StatusCode::NOT_FOUND, "nothing is here; use the address that was printed"),
    }
}

/// Answers once the number of changes differs from the one that `query` names, or after `WAIT`.
async fn changes(site: &Site, query: Option<&str>) -> Response<Full<Bytes>> {
    let known = query.and_then(|query| query.strip_prefix("after=")?.parse::<u64>().ok());
    let mut changes = site.changes.clone();
    let waited = tokio::time::timeout(WAIT, changes.wait_for(|now| Some(*now) != known)).await;
    drop(waited);
    let now = *changes.borrow();
    json(&serde_json::json!({ "change": now }))
}

async fn ask(site: Arc<Site>, body: Incoming) -> Response<Full<Bytes>> {
    let body = match Limited::new(body, MAX_QUESTION).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) => return refusal(StatusCode::PAYLOAD_TOO_LARGE, &error.to_string()),
    };
    let question: Question = match serde_json::from_slice(&body) {
        Ok(question) => question,
        Err(error) => return refusal(StatusCode::BAD_REQUEST, &error.to_string()),
    };
    // Answering may block: the first answer reads the body of every skill.
    let answered = tokio::task::spawn_blocking(move || answer(&site.engine, &question)).await;
    match answered {
        Ok(Ok(answer)) => json(&answer),
        Ok(Err(error)) => refusal(StatusCode::BAD_REQUEST, &error.to_string()),
        Err(error) => refusal(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
    }
}

fn json(value: &impl serde::Serialize) -> Response<Full<Bytes>> {
    match serde_json::to_vec(value) {
        Ok(text) => response(StatusCode::OK, "application/json", text.into()),
        Err(error) => refusal(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
    }
}

fn page(media_type: &'static str, text: &'static str) -> Response<Full<Bytes>> {
    response(StatusCode::OK, media_type, Bytes::from_static(text.as_bytes()))
}

fn refusal(status: StatusCode, why: &str) -> Response<Full<Bytes>> {
    response(status, "text/plain; charset=utf-8", format!("{why}\n").into())
}

fn response(status: StatusCode, media_type: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    for (name, value) in [
        (header::CONTENT_TYPE, media_type),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
