//! A server of the fleet: this test program, started again.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use repertoire::{Engine, Source, WatchOptions};
use repertoire_mcp::{HttpClient, HttpOptions, McpOptions, serve_http};
use repertoire_sessions::{FallbackStore, MeteredStore, ServerOptions, open_url};

/// The token of all servers and agents.
pub(crate) const TOKEN: &str = "0123456789abcdef0123456789abcdef";

const SKILLS: &str = "REPERTOIRE_TEST_SKILLS";
const STORE: &str = "REPERTOIRE_TEST_STORE";

/// The prefix of the line with the address, because the test harness prints other lines.
const MARK: &str = "serving at ";

pub(crate) struct Process {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Process {
    pub(crate) fn start(skills: &Path, store: &str) -> Process {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "process::child", "--ignored", "--nocapture"])
            .env(SKILLS, skills)
            .env(STORE, store)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut addresses = lines
            .map_while(Result::ok)
            .filter_map(|line| line.rsplit_once(MARK)?.1.parse::<SocketAddr>().ok());
        let address = addresses.next().unwrap();
        Process { child, address }
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
#[ignore = "a process of the other test"]
fn child() {
    let (Ok(skills), Ok(url)) = (std::env::var(SKILLS), std::env::var(STORE)) else { return };
    let mut options = ServerOptions::default();
    options.timeout = Duration::from_secs(20);
    let store = MeteredStore::new(open_url(&url, options).unwrap());
    let fallback = FallbackStore::new(store.clone(), |error| panic!("{error:#}"));
    let engine =
        Engine::builder().source(Source::user(skills)).session_store(fallback).build().unwrap();
    let mut watching = WatchOptions::default();
    (watching.events, watching.poll) = (false, Duration::from_millis(100));
    let _watch = engine.watch(watching).unwrap();
    let client = HttpClient::new("agents", TOKEN, &engine, McpOptions::default()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let line = format!("{MARK}{}\n", listener.local_addr().unwrap());
    std::io::stdout().write_all(line.as_bytes()).unwrap();
    let mut options = HttpOptions::default();
    options.store = Some(store);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(serve_http(listener, vec![client], options)).unwrap();
}
