//! Starts this test program as a process that can be killed, in one of the roles of the faults.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use repertoire::session::{Event, SessionStore as _};
use repertoire_sessions::SqliteStore;

use crate::{Run, clocks, disks};

const ROLE: &str = "REPERTOIRE_SOAK_ROLE";
const PLACE: &str = "REPERTOIRE_SOAK_PLACE";
const SESSION: &str = "REPERTOIRE_SOAK_SESSION";
const MILLIS: &str = "REPERTOIRE_SOAK_MILLIS";
const SEED: &str = "REPERTOIRE_SOAK_CHILD_SEED";

/// The prefix of each line for the parent, because the test harness prints other lines.
const MARK: &str = "told: ";

/// Returns the command line of a process in a role, as arguments for a program that starts it.
pub(crate) fn arguments() -> Vec<String> {
    let program = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
    let mut arguments = vec![program];
    arguments.extend(["--exact", "child", "--ignored", "--nocapture"].map(str::to_owned));
    arguments
}

/// Sets the role of the process that `command` starts.
pub(crate) fn cast(command: &mut Command, role: &str, place: &Path, session: &str, run: Run) {
    let millis = run.left().as_millis().to_string();
    command.env(ROLE, role).env(PLACE, place).env(SESSION, session).env(MILLIS, millis);
    command.env(SEED, run.seed.to_string());
    command.stdin(Stdio::null()).stdout(Stdio::piped());
}

/// Starts this program in a role.
pub(crate) fn start(role: &str, place: &Path, session: &str, run: Run) -> Child {
    let arguments = arguments();
    let mut command = Command::new(&arguments[0]);
    command.args(&arguments[1..]);
    cast(&mut command, role, place, session, run);
    command.spawn().unwrap()
}

/// Iterates over the lines that a process in a role reports, until it ends.
pub(crate) fn heard(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    // The harness prints its own text before the first report, on the same line.
    lines.filter_map(|line| Some(line.rsplit_once(MARK)?.1.to_owned()))
}

/// Reports a line to the parent.
pub(crate) fn tell(line: &str) {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{MARK}{line}").unwrap();
    stdout.flush().unwrap();
}

/// Plays the role that the parent set. Returns at once if there is none.
pub(crate) fn play() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let number = |name| std::env::var(name).unwrap().parse::<u64>().unwrap();
    let place = PathBuf::from(std::env::var_os(PLACE).unwrap());
    let deadline = Instant::now() + Duration::from_millis(number(MILLIS));
    let run = Run { deadline, seed: number(SEED) };
    match role.as_str() {
        "writer" => write(&place, &std::env::var(SESSION).unwrap(), run),
        "full disk" => disks::fill(&place, run),
        "limit of files" => disks::limit(&place, run),
        "clock" => clocks::jump(&place, run),
        role => panic!("no role {role}"),
    }
}

/// Records uses until this process is killed, and reports each.
fn write(place: &Path, session: &str, run: Run) {
    let store = SqliteStore::open(place).unwrap();
    for n in 1_u64.. {
        store.record(session, &Event::Used(&"git".into())).unwrap();
        tell(&n.to_string());
        if !run.goes_on() {
            break;
        }
    }
}
