//! Real servers for the tests of session stores, on free ports of the loopback interface. Each has its
//! own directory, and ends when the last test that uses it ends.

use std::fs;
use std::io::Write as _;
use std::net::TcpStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

pub(crate) use ports::free_port;

#[path = "ports.rs"]
mod ports;

/// Servers refuse to run as root, so run them as the user `nobody`; this is its uid on all current
/// systems.
const NOBODY: u32 = 65534;

/// The password of the databases. No message may contain it.
pub(crate) const PASSWORD: &str = "s3cret";

/// The signal that ends a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// An orderly end: `SIGTERM`, or `SIGINT` for `PostgreSQL`.
    Gently,
    /// An end at once: `SIGKILL`, or `SIGQUIT` for `PostgreSQL`, which then also ends its children.
    AtOnce,
}

/// A server: its data, and its process while it runs.
pub(crate) struct Server {
    dir: TempDir,
    port: u16,
    kind: Kind,
    settings: Vec<String>,
    process: Mutex<Option<Child>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Postgres,
    Redis,
}

static POSTGRES: Mutex<Weak<Server>> = Mutex::new(Weak::new());
static REDIS: Mutex<Weak<Server>> = Mutex::new(Weak::new());

impl Server {
    /// Returns the server that the tests of this process share. If the machine has no such program,
    /// reports this and returns `None`, or fails if `CI` is set.
    pub(crate) fn shared(kind: Kind) -> Option<Arc<Server>> {
        let slot = match kind {
            Kind::Postgres => &POSTGRES,
            Kind::Redis => &REDIS,
        };
        let mut slot = slot.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(server) = slot.upgrade() {
            return Some(server);
        }
        let server = Arc::new(Server::new(kind, &[])?);
        *slot = Arc::downgrade(&server);
        Some(server)
    }

    /// Starts a server for one test, with these settings. `ssl=on` gives it a self-signed certificate
    /// for `localhost`.
    pub(crate) fn new(kind: Kind, settings: &[&str]) -> Option<Server> {
        let Some(program) = kind.program() else {
            assert!(std::env::var_os("CI").is_none(), "there is no {kind:?}");
            let line = format!("SKIPPED: there is no {kind:?} server\n");
            let _ = std::io::stderr().write_all(line.as_bytes());
            return None;
        };
        let dir = tempfile::tempdir().unwrap();
        if is_root() {
            std::os::unix::fs::chown(dir.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        kind.prepare(&program, dir.path());
        if settings.contains(&"ssl=on") {
            certify(&dir.path().join("data"));
        }
        if settings.contains(&"--tls-cert-file") {
            certify(dir.path());
        }
        let settings = settings.iter().map(ToString::to_string).collect();
        let server = Server { dir, port: free_port(), kind, settings, process: Mutex::new(None) };
        server.start();
        Some(server)
    }

    /// Starts the server, and waits until it answers.
    pub(crate) fn start(&self) {
        let mut process = self.process.lock().unwrap();
        assert!(process.is_none(), "it runs already");
        let program = self.kind.program().unwrap();
        // The shell ends the server when this process is gone, in whatever way it ended.
        let script = r#""$@" & read -r signal; kill "-${signal:-KILL}" $!; wait $!"#;
        let mut command = Command::new("sh");
        command.args(["-c", script, "sh"]).arg(program);
        command.args(self.kind.arguments(self.dir.path(), self.port, &self.settings));
        let log = fs::OpenOptions::new().create(true).append(true).open(self.log()).unwrap();
        command.stdin(Stdio::piped()).stdout(log.try_clone().unwrap()).stderr(log);
        as_nobody(&mut command);
        *process = Some(command.spawn().unwrap());
        drop(process);
        let start = Instant::now();
        while !self.is_ready() {
            let log = fs::read_to_string(self.log()).unwrap();
            assert!(start.elapsed() < Duration::from_secs(60), "no answer: {log}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Stops the server, and waits until it has ended.
    pub(crate) fn stop(&self, how: Stop) {
        let Some(mut process) = self.process.lock().unwrap().take() else { return };
        let mut stdin = process.stdin.take().unwrap();
        stdin.write_all(self.kind.signal(how).as_bytes()).unwrap();
        drop(stdin);
        process.wait().unwrap();
    }

    /// Returns the address of a database that no other test uses.
    pub(crate) fn fresh(&self) -> String {
        static N: AtomicUsize = AtomicUsize::new(1);
        let n = N.fetch_add(1, Ordering::Relaxed);
        match self.kind {
            Kind::Postgres => {
                self.sql("postgres", &format!("CREATE DATABASE test_{n}"));
                self.url(&format!("test_{n}"))
            }
            Kind::Redis => self.url(&n.to_string()),
        }
    }

    /// Returns the address of the database `name`.
    pub(crate) fn url(&self, name: &str) -> String {
        match self.kind {
            Kind::Postgres => format!("postgres://ann:{PASSWORD}@127.0.0.1:{}/{name}", self.port),
            Kind::Redis => format!("redis://:{PASSWORD}@127.0.0.1:{}/{name}", self.port),
        }
    }

    /// Returns the directory of the server.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Runs statements in the database `name`, and returns the first column of the rows.
    pub(crate) fn sql(&self, name: &str, sql: &str) -> Vec<String> {
        sql_at(&self.url(name), sql).unwrap()
    }

    fn log(&self) -> PathBuf {
        self.dir.path().join("log")
    }

    fn is_ready(&self) -> bool {
        match self.kind {
            Kind::Postgres => {
                TcpStream::connect(("127.0.0.1", self.port)).is_ok()
                    && sql_at(&self.url("postgres"), "SELECT 1").is_ok()
            }
            Kind::Redis => redis_at(&self.url("0"), &["PING"]).is_ok(),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop(Stop::AtOnce);
    }
}

impl Kind {
    fn program(self) -> Option<PathBuf> {
        match self {
            Kind::Postgres => {
                let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
                let installed = versions.map(|dir| dir.unwrap().path().join("bin/postgres"));
                which::which("postgres").ok().or_else(|| installed.filter(|it| it.exists()).max())
            }
            Kind::Redis => {
                which::which("redis-server").or_else(|_| which::which("valkey-server")).ok()
            }
        }
    }

    /// Creates the data of a server.
    fn prepare(self, program: &Path, dir: &Path) {
        match self {
            Kind::Redis => {}
            Kind::Postgres => {
                let password = dir.join("password");
                fs::write(&password, PASSWORD).unwrap();
                let mut command =
                    Command::new(program.canonicalize().unwrap().with_file_name("initdb"));
                command.args([
                    "--no-sync", "--username=ann", "--auth=scram-sha-256", "--encoding=UTF8",
                ]);
                command.args(["--locale=C", "--pwfile"]).arg(password);
                command.arg("--pgdata").arg(dir.join("data"));
                as_nobody(&mut command);
                let output = command.output().unwrap();
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            }
        }
    }

    fn arguments(self, dir: &Path, port: u16, settings: &[String]) -> Vec<String> {
        match self {
            Kind::Postgres => {
                let dir = dir.display();
                let mut arguments = vec!["-D".to_owned(), format!("{dir}/data")];
                arguments.extend(["-p".to_owned(), port.to_string()]);
                // Without `fsync` data is lost only if the machine stops, which does not happen here.
                for setting in ["listen_addresses=127.0.0.1", "max_connections=200", "fsync=off"] {
                    arguments.extend(["-c".to_owned(), setting.to_owned()]);
                }
                arguments.extend(["-c".to_owned(), format!("unix_socket_directories={dir}")]);
                // The last value of a setting wins, so these come last.
                arguments.extend(settings.iter().flat_map(|it| ["-c".to_owned(), it.clone()]));
                arguments
            }
            Kind::Redis => {
                let (dir, port) = (dir.display().to_string(), port.to_string());
                let mut arguments = vec!["--port", &port, "--dir", &dir, "--bind", "127.0.0.1"];
                arguments.extend(["--requirepass", PASSWORD, "--databases", "1000"]);
                arguments.extend(["--appendonly", "yes", "--save", ""]);
                arguments.extend(settings.iter().map(String::as_str));
                arguments.into_iter().map(str::to_owned).collect()
            }
        }
    }

    fn signal(self, how: Stop) -> &'static str {
        match (self, how) {
            (Kind::Postgres, Stop::Gently) => "INT\n",
            (Kind::Postgres, Stop::AtOnce) => "QUIT\n",
            (Kind::Redis, Stop::Gently) => "TERM\n",
            (Kind::Redis, Stop::AtOnce) => "KILL\n",
        }
    }
}

/// Runs statements in a database, and returns the first column of the rows.
#[cfg(feature = "postgres")]
pub(crate) fn sql_at(url: &str, sql: &str) -> Result<Vec<String>, tokio_postgres::Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await?;
        tokio::spawn(connection);
        let messages = client.simple_query(sql).await?;
        let first = |message| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        };
        Ok(messages.into_iter().filter_map(first).collect())
    })
}

/// Runs a Redis command in a database, and returns its reply.
#[cfg(feature = "redis")]
pub(crate) fn redis_at(url: &str, words: &[&str]) -> Result<redis::Value, redis::RedisError> {
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]).query(&mut redis::Client::open(url)?.get_connection()?)
}

#[cfg(not(feature = "redis"))]
fn redis_at(_: &str, _: &[&str]) -> Result<(), ()> {
    unreachable!("without the feature no test asks for Redis")
}

/// Stands in for the function of the same name; never called.
#[cfg(not(feature = "postgres"))]
fn sql_at(_: &str, _: &str) -> Result<Vec<String>, ()> {
    unreachable!("without the feature no test asks for PostgreSQL")
}

/// Writes the key and the certificate of a server to `dir`.
fn certify(dir: &Path) {
    let config = dir.join("openssl.cnf");
    let text = "[req]\ndistinguished_name = dn\nx509_extensions = v3\nprompt = no\n\
        [dn]\nCN = localhost\n[v3]\nsubjectAltName = DNS:localhost\n\
        basicConstraints = critical, CA:FALSE\n";
    fs::write(&config, text).unwrap();
    let mut command = Command::new("openssl");
    command.args(["req", "-x509", "-nodes", "-days", "2", "-newkey", "ec"]);
    command.args(["-pkeyopt", "ec_paramgen_curve:prime256v1", "-config"]).arg(config);
    command.arg("-keyout").arg(dir.join("server.key")).arg("-out").arg(dir.join("server.crt"));
    as_nobody(&mut command);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0)
}

fn as_nobody(command: &mut Command) {
    command.current_dir("/");
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
}
