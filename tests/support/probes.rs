//! Probes that try to break out of a sandbox: their targets outside, and the checks that none got
//! through. The program itself is `system_calls.py` with `probes.py` in this directory.

use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The Python program that tries to get out.
pub(crate) const PROGRAM: &str =
    concat!(include_str!("system_calls.py"), include_str!("probes.py"));

/// The variable that is set when a test has been restarted as another user.
const AS_ANOTHER: &str = "REPERTOIRE_TEST_AS_ANOTHER";
/// The uid of the user `nobody`, on all current systems.
const NOBODY: &str = "65534";

/// A file, sockets and a process outside of the sandbox, all of which exist and answer.
pub(crate) struct Outside {
    dir: TempDir,
    segment: Segment,
    /// Kept open, so that the terminal stays.
    terminal: Option<(std::fs::File, String)>,
    victim: Child,
    abstract_name: String,
    port: u16,
    _listening: (UnixListener, UnixListener, UnixDatagram, TcpListener, UdpSocket),
}

/// Memory of this process, which the probes try to read.
static SECRET: [u8; 8] = *b"a secret";

impl Outside {
    pub(crate) fn new() -> Outside {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "of the user").unwrap();
        let abstract_name = format!("repertoire-probe-{}-{:p}", std::process::id(), &dir);
        let address = SocketAddr::from_abstract_name(&abstract_name).unwrap();
        let (tcp, udp, port) = Outside::tcp_and_udp();
        let listening = (
            UnixListener::bind(dir.path().join("stream")).unwrap(),
            UnixListener::bind_addr(&address).unwrap(),
            UnixDatagram::bind(dir.path().join("datagrams")).unwrap(),
            tcp,
            udp,
        );
        let victim = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap();
        let (segment, terminal) = (Segment::new(), terminal());
        Outside { dir, segment, terminal, victim, abstract_name, port, _listening: listening }
    }

    /// Listens by TCP and UDP at one port.
    fn tcp_and_udp() -> (TcpListener, UdpSocket, u16) {
        // Another program may have the port of the one by the other.
        loop {
            let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = tcp.local_addr().unwrap().port();
            if let Ok(udp) = UdpSocket::bind(("127.0.0.1", port)) {
                return (tcp, udp, port);
            }
        }
    }

    /// Returns the argument of the program: the targets, the numbers of the system calls that are
    /// allowed, and whether reading and the network are closed, too.
    pub(crate) fn aim(
        &self,
        calls: &[u32],
        reads_are_closed: bool,
        network_is_closed: bool,
    ) -> Value {
        json!({
            "host": std::process::id(),
            "address": SECRET.as_ptr().addr(),
            "victim": self.victim.id(),
            "outside": self.dir.path(),
            "stream": self.dir.path().join("stream"),
            "datagrams": self.dir.path().join("datagrams"),
            "abstract": self.abstract_name,
            "port": self.port,
            "segment": self.segment.key,
            "terminal": self.terminal.as_ref().map_or("/dev/console", |(_, path)| path),
            "calls": calls,
            "reads_are_closed": reads_are_closed,
            "network_is_closed": network_is_closed,
        })
    }

    /// Asserts that every probe was tried and none got through.
    pub(crate) fn assert_shut(mut self, printed: &str) {
        let lines: Vec<&str> = printed.lines().collect();
        assert!(lines.len() >= 700, "{printed}");
        let open = lines.iter().filter(|line| !line.contains(": closed (")).collect::<Vec<_>>();
        assert!(open.is_empty(), "{open:#?}\nof {printed}");
        let kept = std::fs::read_to_string(self.dir.path().join("file")).unwrap();
        assert_eq!(kept, "of the user");
        assert_eq!(self.victim.try_wait().unwrap(), None, "the other process was ended");
    }
}

/// A segment of System V shared memory, as other programs of the user have.
struct Segment {
    key: u32,
}

impl Segment {
    fn new() -> Segment {
        let key = 0x5245_0000 | (std::process::id() & 0xffff);
        let made = Segment::perl(&format!("shmget({key}, 4096, 01600) // exit 1"));
        assert!(made, "no segment of shared memory can be made");
        Segment { key }
    }

    /// Runs a line of Perl, which every system with git has.
    fn perl(line: &str) -> bool {
        Command::new("perl").args(["-e", line]).status().is_ok_and(|status| status.success())
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        Segment::perl(&format!("shmctl(shmget({}, 0, 0), 0, 0)", self.key));
    }
}

/// A terminal of this user, with the path by which it is opened; `None` where none can be made.
fn terminal() -> Option<(std::fs::File, String)> {
    let flags = rustix::pty::OpenptFlags::RDWR | rustix::pty::OpenptFlags::NOCTTY;
    let main = rustix::pty::openpt(flags).ok()?;
    rustix::pty::unlockpt(&main).ok()?;
    let path = rustix::pty::ptsname(&main, Vec::new()).ok()?.into_string().ok()?;
    Some((main.into(), path))
}

impl Drop for Outside {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }
}

/// If this process is root, runs the test `name` of this program again as another user, once. If that
/// is not possible, reports the reason.
pub(crate) fn again_as_another(name: &str, say: impl Fn(&str)) {
    let is_root = std::os::unix::fs::MetadataExt::uid(&Path::new("/proc/self").metadata().unwrap());
    if is_root != 0 || std::env::var_os(AS_ANOTHER).is_some() {
        return;
    }
    let as_nobody = |program: &Path| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]).arg(program);
        command.env("TMPDIR", "/tmp").env("HOME", "/").env(AS_ANOTHER, "1").current_dir("/");
        command.stdin(Stdio::null());
        command
    };
    if !as_nobody(Path::new("true")).status().is_ok_and(|status| status.success()) {
        return say("SKIPPED: no `setpriv` that makes another user of root");
    }
    let program = std::env::current_exe().unwrap();
    let mut command = as_nobody(&program);
    command.args(["--exact", name, "--nocapture"]);
    let output = match command.output() {
        Ok(output) if output.status.code() != Some(126) && output.status.code() != Some(127) => {
            output
        }
        _ => return say("SKIPPED: another user cannot run this program where it is"),
    };
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(output.status.success() && text.contains("1 passed"), "as another user: {text}");
}
