//! Archives from servers that attack, or that stop in the middle: the last good state stays.

use std::fs;
use std::io::Write as _;
use std::net::TcpStream;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use repertoire::catalog::Scope;
use repertoire::{Engine, Error, ErrorCode};
use repertoire_config::{Config, ConfigPlace, FetchSettings};
use repertoire_fetch::{Fetcher, SourceList, UpdateOptions};
use rustix::process::Signal;
use tempfile::TempDir;

use crate::archive_https::tar_gz;
use crate::binary::Place;
use crate::hostile::small;
use crate::signals::{end, scratch, start};
use crate::web::{Web, answer};

/// An attack over the connection of a client that asks for a newer archive.
type Attack = fn(&mut TcpStream) -> std::io::Result<()>;

fn forever(mut step: impl FnMut() -> std::io::Result<()>) -> std::io::Result<()> {
    loop {
        step()?;
    }
}

/// The attacks, each with the code of the error.
const ATTACKS: [(&str, Attack, ErrorCode); 8] = [
    ("silence", |_| hang(), ErrorCode::Timeout),
    (
        "a header that never ends",
        |stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\nX: ")?;
            forever(|| stream.write_all(b"x").map(|()| pause(20)))
        },
        ErrorCode::Timeout,
    ),
    (
        "a body that comes slowly",
        |stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")?;
            forever(|| stream.write_all(b"x").map(|()| pause(20)))
        },
        ErrorCode::Timeout,
    ),
    (
        "less than it says",
        |stream| stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nx"),
        ErrorCode::ExecutionError,
    ),
    (
        "ten gigabytes, as it says",
        |stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10737418240\r\n\r\n")?;
            forever(|| stream.write_all(&[0; 1 << 16]))
        },
        ErrorCode::InvalidParam,
    ),
    (
        "an endless body",
        |stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
            forever(|| stream.write_all(&[0; 1 << 16]))
        },
        ErrorCode::InvalidParam,
    ),
    (
        "endless pieces",
        |stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")?;
            forever(|| {
                stream.write_all(b"10000\r\n")?;
                stream.write_all(&[0; 1 << 16])?;
                stream.write_all(b"\r\n")
            })
        },
        ErrorCode::InvalidParam,
    ),
    (
        "something else than HTTP",
        |stream| stream.write_all(b"hello\r\n\r\n"),
        ErrorCode::ExecutionError,
    ),
];

/// Sleeps for ever without answering.
fn hang() -> std::io::Result<()> {
    forever(|| {
        pause(1000);
        Ok(())
    })
}

fn pause(milliseconds: u64) {
    std::thread::sleep(Duration::from_millis(milliseconds));
}

#[test]
fn a_server_that_is_slow_lies_or_never_ends_leaves_the_last_good_state() {
    for (what, attack, code) in ATTACKS {
        let (home, cache) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let is_good = Arc::new(Mutex::new(true));
        let good = Arc::clone(&is_good);
        let web = Web::start(move |_, stream| {
            let is_good = *good.lock().unwrap();
            if is_good {
                answer(stream, "200 OK", "", &tar_gz("With care.\n"))
            } else {
                attack(stream)
            }
        });
        let mut limits = small();
        let fetcher = Fetcher::new(cache.path()).limits(limits);
        let list = SourceList::new(&fetcher, Scope::User, home.path(), "acme");
        let source = web.url("kit.tar.gz");
        let settings = FetchSettings { source, ..FetchSettings::default() };
        list.add(Some("kit"), &settings, Path::new(".")).unwrap();

        *is_good.lock().unwrap() = false;
        limits.time = Duration::from_millis(if code == ErrorCode::Timeout { 300 } else { 20_000 });
        let hasty = Fetcher::new(cache.path()).limits(limits);
        let list = SourceList::new(&hasty, Scope::User, home.path(), "acme");
        let begin = Instant::now();
        let error: Error = list.update("kit", UpdateOptions::default()).unwrap_err();
        assert_eq!(error.code(), code, "{what}: {error}");
        assert!(begin.elapsed() < Duration::from_secs(10), "{what}: {:?}", begin.elapsed());
        let left = fs::read_dir(cache.path().join("scratch")).unwrap().count();
        assert_eq!(left, 0, "{what}: received bytes are left");

        web.requests();
        let config = Config::load(&ConfigPlace {
            home: Some(home.path().to_owned()),
            project: home.path().to_owned(),
            working_dir: home.path().to_owned(),
            brand: "acme".to_owned(),
        });
        let config = fetcher.apply(config);
        assert_eq!(config.diagnostics()[0].code.as_str(), "source-stale", "{what}");
        let engine = config.apply(Engine::builder()).build().unwrap();
        assert_eq!(engine.disclose("deploy it").full, ["deploy"], "{what}");
        assert!(web.requests().is_empty(), "an engine asks no server");
    }
}

#[test]
fn a_signal_ends_a_download_and_leaves_nothing() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let place = Place::new();
        let (sender, begun) = std::sync::mpsc::sync_channel(1);
        let web = Web::start(move |_, stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nx")?;
            let _ = sender.send(());
            hang()
        });
        let child = start(&place, &["add", &web.url("kit.tar.gz")]);
        begun.recv_timeout(Duration::from_secs(20)).unwrap();
        assert_eq!(end(child, signal), Some(code));
        assert!(scratch(&place).is_empty());
        assert!(!place.path().join("home/.repertoire/config.toml").exists());
    }
}
