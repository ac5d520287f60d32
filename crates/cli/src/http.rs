//! One request over HTTP/1.1, on a connection of its own.

use std::error::Error;

use http::header::HOST;
use http::uri::Authority;
use http::{HeaderValue, Request, Response, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// The reason why there is no answer.
pub(crate) type HttpError = Box<dyn Error + Send + Sync>;

/// Sends a request to the host of its address, and returns the answer. Fails if it has more than `max_answer` bytes.
pub(crate) async fn exchange(
    mut request: Request<Bytes>,
    max_answer: usize,
) -> Result<Response<Bytes>, HttpError> {
    let authority = request.uri().authority().ok_or("the address names no host")?.clone();
    let name = authority.host().trim_start_matches('[').trim_end_matches(']');
    let stream = TcpStream::connect((name, authority.port_u16().unwrap_or(80))).await?;
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await?;
    request.headers_mut().insert(HOST, HeaderValue::try_from(host_of(&authority))?);
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    *request.uri_mut() = path.parse::<Uri>()?;
    let answer = async {
        let (head, body) = sender.send_request(request.map(Full::new)).await?.into_parts();
        let body = Limited::new(body, max_answer).collect().await?.to_bytes();
        Ok::<_, HttpError>(Response::from_parts(head, body))
    };
    tokio::select! {
        answer = answer => answer,
        Err(error) = connection => Err(error.into()),
    }
}

/// Returns the host and the port of an address, without a user and a password.
pub(crate) fn host_of(authority: &Authority) -> String {
    match authority.port() {
        Some(port) => format!("{}:{port}", authority.host()),
        None => authority.host().to_owned(),
    }
}
