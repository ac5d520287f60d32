//! Times, for people: `cargo test --release -p repertoire-plugin --features host -- --ignored
//! --nocapture --test-threads 1`.
#![expect(clippy::print_stdout, reason = "it is what they are for")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use repertoire_plugin::host::{Library, PluginNote};
use repertoire_plugin::prelude::*;
use repertoire_plugin::{Host, serde_json};

use super::{FAILING, HELLO, create, open};

struct Silent;
impl Host for Silent {}

/// What a host without plugins would have: a trait object that does the same JSON work.
trait Direct {
    fn call(&self, arguments: &str, host: &dyn Host) -> ToolResult;
}

struct Greet;

/// What `greet` takes.
#[arguments]
struct Arguments {
    name: String,
    times: Option<u32>,
}

impl Direct for Greet {
    fn call(&self, arguments: &str, _: &dyn Host) -> ToolResult {
        let Arguments { name, times } = serde_json::from_str(arguments)?;
        let times = times.unwrap_or(1).min(100) as usize;
        let text = vec![format!("Hello, {name}!"); times].join("\n");
        Ok(ToolOutput::text(text).title(format!("Greeted {name}")).meta("times", times))
    }
}

/// The median of many runs, and the best.
fn time(what: &str, runs: usize, per_run: u32, mut run: impl FnMut()) {
    let mut times: Vec<Duration> = (0..runs)
        .map(|_| {
            let begin = Instant::now();
            for _ in 0..per_run {
                run();
            }
            begin.elapsed() / per_run
        })
        .collect();
    times.sort_unstable();
    println!("{what:40} median {:>10.2?}, best {:>10.2?}", times[runs / 2], times[0]);
}

#[test]
#[ignore = "measures; says nothing about right or wrong"]
fn times() {
    let dir = tempfile::tempdir().unwrap();
    let mut number = 0;
    let bytes = std::fs::read(&*HELLO).unwrap();
    println!("{:40} {} KiB", "size of the library", bytes.len() / 1024);
    time("note, from bytes", 50, 1, || {
        black_box(PluginNote::parse(&bytes, &HELLO).unwrap());
    });
    time("copy, note, open", 50, 1, || {
        number += 1;
        let path = dir.path().join(format!("a{number}.so"));
        std::fs::write(&path, &bytes).unwrap();
        open(&path);
    });
    let mut paths: Vec<_> =
        (0..50).map(|number| dir.path().join(format!("b{number}.so"))).collect();
    for path in &paths {
        std::fs::write(path, &bytes).unwrap();
    }
    let note = PluginNote::parse(&bytes, &HELLO).unwrap();
    time("open, note known", 50, 1, || {
        let options =
            repertoire_plugin::host::OpenOptions { note: Some(note.clone()), ..Default::default() };
        Library::open_with(paths.pop().unwrap(), options).unwrap();
    });
    let library = open(&HELLO);
    time("create, describe", 50, 10, || {
        black_box(create(&library, "HelloToolset"));
    });

    let hello = create(&library, "HelloToolset");
    let failing = create(&open(&FAILING), "FailingToolset");
    let direct: Box<dyn Direct> = black_box(Box::new(Greet));
    let arguments = r#"{"name": "Ada", "times": 2}"#;
    time("greet, a trait object", 101, 1000, || {
        black_box(direct.call(black_box(arguments), &Silent).unwrap());
    });
    time("greet, through the border", 101, 1000, || {
        black_box(hello.call("greet", black_box(arguments), &Silent).unwrap());
    });
    time("no work, through the border", 101, 1000, || {
        black_box(failing.call("noop", "{}", &Silent).unwrap());
    });
    time("64 KiB, through the border", 101, 100, || {
        black_box(failing.call("big", "{}", &Silent).unwrap());
    });
    time("a panic, through the border", 101, 100, || {
        black_box(failing.call("panic", "{}", &Silent).unwrap_err());
    });
}
