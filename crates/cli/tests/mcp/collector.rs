//! A trace collector on the loopback interface. It reads protocol buffers with its own code, so that
//! what the server sends is checked against the OTLP specification and not against the crates that
//! wrote it.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use serde_json::{Value, json};

use crate::LONG;

/// A span that the collector received.
#[derive(Debug, Clone, Default)]
pub(crate) struct Span {
    pub(crate) trace: String,
    pub(crate) id: String,
    pub(crate) parent: String,
    pub(crate) name: String,
    /// The kind: 1 is internal, 2 is server.
    pub(crate) kind: u64,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) fields: BTreeMap<String, Value>,
    pub(crate) n_events: usize,
    pub(crate) has_failed: bool,
    /// The attributes of the process that sent the span.
    pub(crate) resource: BTreeMap<String, Value>,
}

#[derive(Default)]
struct Arrived {
    spans: Vec<Span>,
    bodies: Vec<Vec<u8>>,
    heads: Vec<String>,
}

/// A running collector.
pub(crate) struct Collector {
    /// The address, in the form of `OTEL_EXPORTER_OTLP_ENDPOINT`.
    pub(crate) endpoint: String,
    arrived: Arc<Mutex<Arrived>>,
}

impl Collector {
    pub(crate) fn start() -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let arrived = Arc::<Mutex<Arrived>>::default();
        let kept = Arc::clone(&arrived);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                take(stream.unwrap(), &kept);
            }
        });
        Collector { endpoint, arrived }
    }

    /// Returns the spans received so far.
    pub(crate) fn spans(&self) -> Vec<Span> {
        self.arrived.lock().unwrap().spans.clone()
    }

    /// Waits until one of the spans is `wanted`, and returns all spans.
    pub(crate) fn spans_with(&self, wanted: impl Fn(&Span) -> bool) -> Vec<Span> {
        let begun = Instant::now();
        loop {
            let spans = self.spans();
            if spans.iter().any(&wanted) {
                return spans;
            }
            assert!(begun.elapsed() < LONG / 2, "it does not come: {spans:#?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Returns the heads of the requests.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.arrived.lock().unwrap().heads.clone()
    }

    /// Tells whether any request body contains `text`.
    pub(crate) fn holds(&self, text: &str) -> bool {
        let arrived = self.arrived.lock().unwrap();
        let holds = |body: &Vec<u8>| body.windows(text.len()).any(|part| part == text.as_bytes());
        arrived.bodies.iter().any(holds)
    }
}

/// Receives one request, and answers it.
fn take(stream: TcpStream, kept: &Mutex<Arrived>) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).unwrap() == 0 {
            return;
        }
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-length").then(|| value.parse().unwrap())
    });
    let mut body = vec![0; length.unwrap()];
    reader.read_exact(&mut body).unwrap();
    let mut arrived = kept.lock().unwrap();
    arrived.spans.extend(spans(&body));
    arrived.bodies.push(body);
    arrived.heads.push(head);
    drop(arrived);
    let answer =
        "HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\r\n";
    reader.into_inner().write_all(answer.as_bytes()).unwrap();
}

/// A value in the wire format of protocol buffers.
enum Wire<'b> {
    Number(u64),
    Bytes(&'b [u8]),
}

impl<'b> Wire<'b> {
    fn bytes(&self) -> &'b [u8] {
        match self {
            Wire::Bytes(bytes) => bytes,
            Wire::Number(number) => panic!("{number} is not a text or message"),
        }
    }

    fn number(&self) -> u64 {
        match self {
            Wire::Number(number) => *number,
            Wire::Bytes(bytes) => panic!("{bytes:?} is not a number"),
        }
    }

    fn text(&self) -> String {
        String::from_utf8(self.bytes().to_vec()).unwrap()
    }

    fn hex(&self) -> String {
        HEXLOWER.encode(self.bytes())
    }
}

/// Parses the fields of a message, each with its number.
fn fields(mut message: &[u8]) -> Vec<(u64, Wire<'_>)> {
    let mut fields = Vec::new();
    while !message.is_empty() {
        let tag = varint(&mut message);
        let value = match tag & 7 {
            0 => Wire::Number(varint(&mut message)),
            1 => Wire::Number(u64::from_le_bytes(part(&mut message, 8).try_into().unwrap())),
            2 => {
                let length = varint(&mut message);
                Wire::Bytes(part(&mut message, usize::try_from(length).unwrap()))
            }
            5 => Wire::Number(u32::from_le_bytes(part(&mut message, 4).try_into().unwrap()).into()),
            kind => panic!("there is no kind {kind} of fields"),
        };
        fields.push((tag >> 3, value));
    }
    fields
}

fn part<'b>(message: &mut &'b [u8], length: usize) -> &'b [u8] {
    let (part, rest) = message.split_at(length);
    *message = rest;
    part
}

fn varint(message: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let byte = part(message, 1)[0];
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    value
}

/// Parses an attribute: a string, a boolean or an integer.
fn attribute(message: &[u8]) -> (String, Value) {
    let mut attribute = (String::new(), Value::Null);
    for (number, value) in fields(message) {
        match number {
            1 => attribute.0 = value.text(),
            2 => {
                let (kind, value) = fields(value.bytes()).pop().unwrap();
                attribute.1 = match kind {
                    1 => json!(value.text()),
                    2 => json!(value.number() == 1),
                    3 => json!(value.number().cast_signed()),
                    _ => panic!("{} has a value of kind {kind}", attribute.0),
                };
            }
            _ => {}
        }
    }
    attribute
}

/// Parses the spans in an `ExportTraceServiceRequest`.
fn spans(body: &[u8]) -> Vec<Span> {
    let mut spans = Vec::new();
    for (_, of_process) in fields(body) {
        let mut resource = BTreeMap::new();
        for (number, value) in fields(of_process.bytes()) {
            let parts = fields(value.bytes());
            if number == 1 {
                let attributes = parts.iter().filter(|(number, _)| *number == 1);
                resource.extend(attributes.map(|(_, value)| attribute(value.bytes())));
                continue;
            }
            let in_scope = parts.iter().filter(|(of, _)| number == 2 && *of == 2);
            spans.extend(in_scope.map(|(_, span)| read_span(span.bytes())));
        }
        for span in &mut spans {
            span.resource.clone_from(&resource);
        }
    }
    spans
}

fn read_span(message: &[u8]) -> Span {
    let mut span = Span::default();
    for (number, value) in fields(message) {
        match number {
            1 => span.trace = value.hex(),
            2 => span.id = value.hex(),
            4 => span.parent = value.hex(),
            5 => span.name = value.text(),
            6 => span.kind = value.number(),
            7 => span.start = value.number(),
            8 => span.end = value.number(),
            9 => span.fields.extend([attribute(value.bytes())]),
            11 => span.n_events += 1,
            15 => {
                let status = fields(value.bytes());
                span.has_failed = status.iter().any(|(of, code)| *of == 3 && code.number() == 2);
            }
            _ => {}
        }
    }
    span
}
