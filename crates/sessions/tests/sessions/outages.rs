//! Servers that are unreachable, slow, stopped and restarted.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use repertoire::session::{Session, SessionStore};
use repertoire::{Engine, ErrorCode, Skill, Source};
use repertoire_sessions::{FallbackStore, ServerOptions};

use super::processes::{at_once, killed_processes_lose_at_most_one_event};
use super::servers::{Kind, PASSWORD, Server, Stop, free_port};
use super::{record_use, stores, used};

/// Returns the servers that this machine has, one of each kind.
fn servers() -> Vec<Arc<Server>> {
    stores::SERVERS.iter().filter_map(|kind| Server::shared(*kind)).collect()
}

/// Starts servers that a test may stop, because no other test uses them. A killed Redis loses nothing only
/// with `appendfsync always`: otherwise it delays the writes of acknowledged events while its disk is slow.
fn own_servers() -> Vec<Server> {
    let settings = |kind| match kind {
        Kind::Postgres => &[][..],
        Kind::Redis => &["--appendfsync", "always"],
    };
    let servers = stores::SERVERS.iter();
    servers.filter_map(|kind| Server::new(*kind, settings(*kind))).collect()
}

fn open_with(url: &str, timeout: Duration) -> Arc<dyn SessionStore> {
    let mut options = ServerOptions::default();
    options.timeout = timeout;
    stores::open_with(url, options)
}

const SECOND: Duration = Duration::from_secs(1);

/// The least number of events that are recorded before, between and after two outages.
const MIN_EVENTS: u64 = 20;

/// Returns the number of writers, and the time between stops of the server and after them. By default,
/// and so in `CI`, these are 8 writers and one second; with `REPERTOIRE_SOAK_SECONDS`, 32 writers and a
/// quarter of that time.
fn writers_and_pause() -> (usize, Duration) {
    match std::env::var("REPERTOIRE_SOAK_SECONDS") {
        Ok(seconds) => (32, Duration::from_secs(seconds.parse().unwrap()) / 4),
        Err(_) => (8, SECOND),
    }
}

#[test]
fn writers_lose_nothing_while_a_slow_server_is_stopped_and_started_twice() {
    let (n_writers, pause) = writers_and_pause();
    for server in own_servers() {
        let url = server.fresh();
        let slow = delayed(&url);
        let store = open_with(&slow, 5 * SECOND);
        let (is_over, failed) = (AtomicBool::new(false), AtomicU64::new(0));
        let acknowledged = AtomicU64::new(0);
        let slowest = Mutex::new(Duration::ZERO);
        // Counts the acknowledged events, and those whose answer was lost, so that their fate is
        // unknown.
        let counts: Vec<(u64, u64)> = thread::scope(|scope| {
            let write = |n: usize| {
                let (mut told, mut unknown) = (0, 0);
                while !is_over.load(Ordering::Relaxed) {
                    // Half of the writers share a session.
                    let is_shared = n < n_writers / 2;
                    let session =
                        if is_shared { "shared".to_owned() } else { format!("writer {n}") };
                    let event = repertoire::session::Event::Used(&"git".into());
                    let began = Instant::now();
                    match store.record(&session, &event) {
                        Ok(_) => {
                            told += 1;
                            acknowledged.fetch_add(1, Ordering::Relaxed);
                            let mut slowest = slowest.lock().unwrap();
                            *slowest = began.elapsed().max(*slowest);
                        }
                        Err(error) => {
                            let message = error.message();
                            assert!(!message.contains(PASSWORD), "{message}");
                            failed.fetch_add(1, Ordering::Relaxed);
                            unknown += u64::from(message.contains("it may have been written"));
                            unknown += u64::from(error.code() == ErrorCode::Timeout);
                            thread::sleep(Duration::from_millis(5));
                        }
                    }
                }
                (told, unknown)
            };
            let writers: Vec<_> = (0..n_writers).map(|n| scope.spawn(move || write(n))).collect();
            // A busy machine gets more time.
            let wait_for_more = || {
                let (before, began) = (acknowledged.load(Ordering::Relaxed), Instant::now());
                thread::sleep(pause);
                while acknowledged.load(Ordering::Relaxed) < before + MIN_EVENTS
                    && began.elapsed() < pause + 60 * SECOND
                {
                    thread::sleep(SECOND / 20);
                }
            };
            for stop in [Stop::Gently, Stop::AtOnce] {
                wait_for_more();
                server.stop(stop);
                thread::sleep(SECOND / 2);
                server.start();
            }
            thread::sleep(pause);
            wait_for_more();
            is_over.store(true, Ordering::Relaxed);
            writers.into_iter().map(|writer| writer.join().unwrap()).collect()
        });
        let failed = failed.load(Ordering::Relaxed);
        assert!(failed > 16, "the server was never away");
        let again = stores::open(&url);
        let check = |session: &str, counts: &[(u64, u64)]| {
            let told: u64 = counts.iter().map(|(told, _)| told).sum();
            let unknown: u64 = counts.iter().map(|(_, unknown)| unknown).sum();
            let recorded = used(&*again, session);
            let range = told..=told + unknown;
            assert!(range.contains(&recorded), "{session}: {recorded} not in {range:?}");
            recorded
        };
        let (shared, own) = counts.split_at(n_writers / 2);
        let mut recorded = check("shared", shared);
        for (n, counts) in own.iter().enumerate() {
            let session = format!("writer {}", n_writers / 2 + n);
            recorded += check(&session, std::slice::from_ref(counts));
        }
        let told: u64 = counts.iter().map(|(told, _)| told).sum();
        assert!(told >= 3 * MIN_EVENTS, "{told} events prove nothing");
        let kind = url.split(':').next().unwrap();
        let slowest = slowest.into_inner().unwrap();
        let line =
            format!("| {kind} | {n_writers} | {told} | {recorded} | {failed} | {slowest:.1?} |\n");
        std::io::stderr().write_all(line.as_bytes()).unwrap();
    }
}

/// Returns the address of the same server behind a proxy that delays everything by 1 to 20 ms.
fn delayed(url: &str) -> String {
    let (before, port_and_name) = url.rsplit_once(':').unwrap();
    let (port, name) = port_and_name.split_once('/').unwrap();
    let server: u16 = port.parse().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for client in listener.incoming() {
            let client = client.unwrap();
            // Without a server, the proxy closes the client's connection, as the server would have
            // closed its own.
            let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { continue };
            for (from, to) in [(&client, &server), (&server, &client)] {
                let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                thread::spawn(move || pass_slowly(from, to));
            }
        }
    });
    format!("{before}:{proxy}/{name}")
}

/// Forwards what one side sends, each part after a short delay, until that side closes.
fn pass_slowly(mut from: TcpStream, mut to: TcpStream) {
    let mut part = [0; 16 * 1024];
    for n in 0_u64.. {
        let Ok(n_bytes @ 1..) = from.read(&mut part) else { break };
        thread::sleep(Duration::from_millis(1 + n * 7919 % 20));
        if to.write_all(&part[..n_bytes]).is_err() {
            break;
        }
    }
    for side in [&from, &to] {
        // The side may be closed already.
        let _ = side.shutdown(Shutdown::Both);
    }
}

#[test]
fn killed_writers_lose_at_most_the_event_they_were_recording() {
    for server in servers() {
        killed_processes_lose_at_most_one_event(&server.fresh(), || {});
    }
}

#[test]
fn processes_that_begin_a_store_at_once_and_share_a_session_lose_nothing() {
    for server in servers() {
        let url = server.fresh();
        at_once(12, "open and record", &url, || {});
        let store = stores::open(&url);
        assert_eq!(used(&*store, "all"), 240);
        let tallies = store.tallies(repertoire::session::Day::default()).unwrap();
        let counted: u64 = tallies.skills.iter().map(|tally| tally.counts.used).sum();
        assert_eq!((tallies.sessions, counted), (1, 240));
    }
}

#[test]
fn a_server_that_never_answers_costs_one_timeout_and_then_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    for url in stores::urls_at(port) {
        let time = SECOND / 2;
        let store = open_with(&url, time);
        let start = Instant::now();
        let error = store.state("a").unwrap_err();
        assert_eq!(error.code(), ErrorCode::Timeout, "{error}");
        assert!(error.message().contains("does not answer in time"), "{error}");
        // The timeout applies once, and not to each command of a handshake.
        assert!((time..2 * time).contains(&start.elapsed()), "{:?}", start.elapsed());
        let start = Instant::now();
        assert_eq!(store.state("a").unwrap_err().message(), error.message());
        assert!(start.elapsed() < Duration::from_millis(40), "{:?}", start.elapsed());
    }
}

#[test]
fn an_agent_answers_while_its_store_is_away_and_says_so_and_remembers_again() {
    for server in own_servers() {
        let url = server.fresh();
        server.stop(Stop::Gently);
        let told = Arc::new(Mutex::new(Vec::new()));
        let teller = Arc::clone(&told);
        let store = stores::open_with(&url, ServerOptions::default());
        let store = FallbackStore::new(store, move |error| {
            teller.lock().unwrap().push(format!("{error:#}"));
        });
        let skill =
            "---\nname: greet\ndescription: Greets people\ntriggers: [hello]\n---\nSay hello.\n";
        let engine = Engine::builder()
            .source(Source::memory(vec![Skill::parse(skill, "acme").unwrap()]))
            .session_store(store)
            .build()
            .unwrap();
        let say_hello = || {
            let session = engine.session("chat");
            let turn = engine.turn("hello there", &session).run().unwrap();
            turn.disclosure.full.contains(&"greet".into())
        };
        assert!(say_hello());
        assert!(!say_hello(), "the memory of this process remembers meanwhile");
        let lines = std::mem::take(&mut *told.lock().unwrap());
        assert!(lines.len() >= 2, "{lines:?}");
        for line in lines {
            assert!(line.contains("cannot") && line.contains("start the server"), "{line}");
            assert!(!line.contains(PASSWORD), "{line}");
        }
        server.start();
        let start = Instant::now();
        // Wait for the pause after a failure to pass.
        while stores::open(&url).state("chat").unwrap().skills.is_empty() {
            assert!(start.elapsed() < 20 * SECOND, "it did not connect again");
            thread::sleep(SECOND / 10);
            say_hello();
        }
        told.lock().unwrap().clear();
        assert!(!say_hello(), "the store remembers");
        assert_eq!(*told.lock().unwrap(), [""; 0]);
    }
}

#[test]
fn a_store_is_used_from_within_an_asynchronous_runtime() {
    for server in servers() {
        let store = stores::open(&server.fresh());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            record_use(&*store, "a", "git");
            assert_eq!(used(&*store, "a"), 1);
            drop(store);
        });
    }
}

#[test]
fn a_refused_connection_is_told_without_the_password() {
    for url in stores::urls_at(free_port()) {
        let session = Session::new("a", open_with(&url, SECOND));
        let error = session.record_use(&"git".into()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::ExecutionError);
        assert!(error.message().contains("Connection refused"), "{error}");
        assert!(!format!("{error:#} {error:?} {session:?}").contains(PASSWORD), "{error:?}");
    }
}
