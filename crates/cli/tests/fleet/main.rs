//! Three MCP servers behind one address, with sessions in `PostgreSQL`. Agents take turns while the
//! catalog is updated ten times and one server is killed. Every answer must be correct, and none may be
//! lost.
//!
//! To print the table of `docs/scale.md`, run `REPERTOIRE_FLEET_TURNS=10000 cargo test
//! --features postgres --test fleet -- --nocapture`.
#![cfg(all(unix, feature = "postgres"))]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod agent;
mod process;
mod proxy;
#[path = "../../../../tests/support/servers.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod servers;
mod versions;

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use agent::{Agent, Turn};
use process::Process;
use proxy::Proxy;
use servers::{Kind, Server};
use versions::Versions;

const N_PROCESSES: usize = 3;
const N_UPDATES: usize = 10;
const N_AGENTS: usize = 8;

/// The longest time after which an update must be in every answer. Servers look for changes every 100
/// ms; the rest is a margin for a machine that is busy with other tests.
const WITHIN: Duration = Duration::from_secs(3);

#[test]
fn every_turn_of_a_fleet_is_answered_rightly_while_skills_change_and_a_process_is_killed() {
    let Some(server) = Server::shared(Kind::Postgres) else { return };
    let turns = std::env::var("REPERTOIRE_FLEET_TURNS").ok();
    let n_turns: usize = turns.map_or(500, |turns| turns.parse().unwrap());
    let versions = Versions::new();
    let store = server.fresh();
    let mut processes: Vec<Process> =
        (0..N_PROCESSES).map(|_| Process::start(versions.dir(), &store)).collect();
    let proxy = Proxy::start(processes.iter().map(|process| process.address).collect());

    let (next, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let began = Instant::now();
    let took: Vec<Turn> = thread::scope(|scope| {
        let play = || {
            let mut agent = Agent::new(proxy.address);
            let mut turns = Vec::new();
            while next.fetch_add(1, Ordering::Relaxed) < n_turns {
                turns.push(agent.turn(&versions, WITHIN));
            }
            turns
        };
        let agents: Vec<_> = (0..N_AGENTS).map(|_| scope.spawn(play)).collect();
        scope.spawn(|| {
            for update in 1..=N_UPDATES {
                let at = n_turns * update / (N_UPDATES + 1);
                while next.load(Ordering::Relaxed) < at && !is_over.load(Ordering::Relaxed) {
                    thread::sleep(Duration::from_millis(2));
                }
                versions.update();
                if update == N_UPDATES / 2 {
                    processes[0].kill();
                }
            }
        });
        let turns = agents.into_iter().flat_map(|agent| agent.join().unwrap()).collect();
        is_over.store(true, Ordering::Relaxed);
        turns
    });
    let elapsed = began.elapsed();

    assert_eq!(took.len(), n_turns, "a turn was lost");
    assert_eq!(versions.newest(), N_UPDATES + 1);
    let full = took.iter().filter(|turn| turn.is_full).count();
    assert!(full > N_UPDATES && full < n_turns, "{full} of {n_turns} in full prove nothing");
    // In the end, both remaining servers must provide the newest skills.
    thread::sleep(WITHIN);
    let mut agent = Agent::new(proxy.address);
    for _ in 0..2 * N_PROCESSES {
        agent.turn(&versions, Duration::ZERO);
    }
    report(&took, elapsed, &proxy);
}

/// Prints the figures of a run.
fn report(took: &[Turn], elapsed: Duration, proxy: &Proxy) {
    let mut times: Vec<Duration> = took.iter().map(|turn| turn.took).collect();
    times.sort_unstable();
    let (p50, p99) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    let full = took.iter().filter(|turn| turn.is_full).count();
    let behind = took.iter().map(|turn| turn.behind).max().unwrap_or_default();
    let (requests, retries) = (proxy.requests(), proxy.retries());
    let text = format!(
        "| turns | {} in {elapsed:.1?} |\n| answered in full, from memory | {full}, {} |\n\
         | requests, sent again | {requests}, {retries} |\n| a turn, median and 99 % | {p50:.1?}, \
         {p99:.1?} |\n| oldest answer behind an update | {behind:.0?} |\n",
        took.len(),
        took.len() - full,
    );
    std::io::stderr().write_all(text.as_bytes()).unwrap();
}
