//! Tests of workers whose child process is this test program.

#[path = "../../../../tests/support/attributes.rs"]
mod attributes;
mod behaviour;
#[path = "../../../../tests/support/plugin.rs"]
mod build;
mod failures;
mod prober;
#[path = "../../../../tests/support/probes.rs"]
mod probes;
mod sandboxed;
#[path = "../../../../tests/support/services.rs"]
mod services;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use repertoire_plugin::FakeHost;
use serde_json::{Value, json};

use super::{Code, HostProgram, Limits, Worker, WorkerError, WorkerState};

/// An argument of the child, which tells it from a run of all tests.
const MARK: &str = "repertoire-toolset-host";

/// Not a test: the child process, when this program is started by [`this_program`].
#[test]
#[ignore = "the child of the other tests"]
fn child_main() {
    if std::env::args().any(|argument| argument == MARK) {
        super::main()
    }
}

/// Returns this program as a host program that runs the test `test` of this module.
fn this_program(test: &str) -> HostProgram {
    let (_, module) = module_path!().split_once("::").unwrap();
    let name = format!("{module}::{test}");
    let args = [name.as_str(), MARK, "--exact", "--ignored", "--nocapture"];
    HostProgram {
        program: std::env::current_exe().unwrap(),
        args: args.iter().map(OsString::from).collect(),
    }
}

/// A worker, the directory of its skill, and shorthands to use them.
struct Fixture {
    worker: Worker,
    skill: tempfile::TempDir,
}

impl Fixture {
    fn new(program: HostProgram, library: PathBuf, limits: Limits) -> Self {
        let skill = tempfile::tempdir().unwrap();
        std::fs::write(skill.path().join("SKILL.md"), "hello").unwrap();
        let shown_as = PathBuf::from("/skills/demo/demo.so");
        let code = Code::Library(library);
        let worker = Worker::new(program, code, shown_as, skill.path().to_owned(), limits);
        Self { worker, skill }
    }

    fn hello() -> Self {
        Self::new(this_program("child_main"), build::of_workspace("calls-toolset"), short())
    }

    fn failing() -> Self {
        Self::new(this_program("child_main"), build::of_workspace("failing-toolset"), short())
    }

    /// A worker with a toolset that explores its own process; see [`prober`].
    fn prober(limits: Limits) -> Self {
        Self::new(this_program("prober::child_main"), "/no/such.so".into(), limits)
    }

    fn greet(&self, name: &str) -> Result<String, WorkerError> {
        let arguments = json!({"name": name}).to_string();
        let output = self.worker.call(
            "HelloToolset",
            &json!({}),
            "greet",
            &arguments,
            &|_| true,
            &FakeHost::new(),
        );
        output.map(|output| output.output)
    }

    fn fail(&self, tool: &str) -> Result<String, WorkerError> {
        let output =
            self.worker.call("FailingToolset", &json!({}), tool, "{}", &|_| true, &FakeHost::new());
        output.map(|output| output.output)
    }

    fn probe(&self, tool: &str, arguments: &Value) -> Result<String, WorkerError> {
        let host = FakeHost::new().with_answer("color", json!("green"));
        let arguments = arguments.to_string();
        let output = self.worker.call("Prober", &Value::Null, tool, &arguments, &|_| true, &host);
        output.map(|output| output.output)
    }

    /// The id of the process, which must be running.
    fn pid(&self) -> u32 {
        match self.worker.state() {
            WorkerState::Running { pid, .. } => pid,
            state => panic!("{state:?}"),
        }
    }
}

/// Limits that fail fast.
fn short() -> Limits {
    Limits {
        call_timeout: Duration::from_secs(20),
        grace: Duration::from_secs(1),
        address_space: Some(512 << 20),
        ..Limits::default()
    }
}

/// The processes of a group, without those that only wait to be reaped.
fn group(id: u32) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let in_group = |pid: &u32| {
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
        let Some((_, rest)) = stat.rsplit_once(") ") else { return false };
        let fields = rest.split(' ').collect::<Vec<_>>();
        fields[0] != "Z" && fields[2] == id.to_string()
    };
    numbers.filter(in_group).collect()
}

/// Waits until all processes of a group have ended.
fn assert_gone(id: u32) {
    let patience = Instant::now() + Duration::from_secs(30);
    while !group(id).is_empty() {
        assert!(Instant::now() < patience, "left of group {id}: {:?}", group(id));
        std::thread::sleep(Duration::from_millis(5));
    }
}
