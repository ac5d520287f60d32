//! A toolset that explores its own process. It is built in, not in a library.

use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use repertoire_plugin::host::Toolset as Opened;
use repertoire_plugin::prelude::*;

use super::super::{child, serving};
use super::MARK;

/// Not a test: a child process that has this toolset for every library.
#[test]
#[ignore = "the child of the other tests"]
fn child_main() {
    if std::env::args().any(|argument| argument == MARK) {
        child::run(|_| Ok(Box::new(|_, config| serving::made(Opened::of::<Prober>(config)))))
    }
}

#[arguments]
struct Named {
    name: String,
}

struct Prober;

impl Toolset for Prober {
    fn create(_: Value) -> ToolResult<Self> {
        Ok(Self)
    }

    fn tools(tools: &mut Tools<Self>) {
        tools.tool("read", "Reads.", |_, Named { name }, _| Ok(fs::read_to_string(name)?));
        tools.tool("write", "Writes.", |_, Named { name }, _| {
            fs::write(name, "written")?;
            Ok("written")
        });
        tools.tool("env", "Environment.", |_, _: NoArguments, _| {
            let lines = std::env::vars().map(|(name, value)| format!("{name}={value}"));
            Ok(lines.collect::<Vec<_>>().join("\n"))
        });
        tools.tool("threads", "Starts many threads.", |_, Named { name }, _| {
            let n: usize = name.parse()?;
            let (stop, stopped) = std::sync::mpsc::channel::<()>();
            let stopped = std::sync::Arc::new(std::sync::Mutex::new(stopped));
            let start = || {
                let stopped = std::sync::Arc::clone(&stopped);
                let wait = move || drop(stopped.lock().map(|stopped| stopped.recv()));
                std::thread::Builder::new().stack_size(16 << 10).spawn(wait)
            };
            let started = (0..n).map_while(|_| start().ok()).count();
            drop(stop);
            Ok(started.to_string())
        });
        tools.tool("limits", "Limits of the system.", |_, _: NoArguments, _| {
            Ok(fs::read_to_string("/proc/self/limits")?)
        });
        tools.tool("where", "Directories.", |_, _: NoArguments, cx| {
            let here = std::env::current_dir()?;
            Ok(format!("{} {}", here.display(), cx.skill_dir()?.display()))
        });
        tools.tool("stdin", "Reads the standard input.", |_, _: NoArguments, _| {
            Ok(std::io::read_to_string(std::io::stdin())?)
        });
        tools.tool("tcp", "Listens.", |_, _: NoArguments, _| {
            TcpListener::bind("127.0.0.1:0")?;
            Ok("listens")
        });
        tools.tool("udp", "Binds.", |_, _: NoArguments, _| {
            UdpSocket::bind("127.0.0.1:0")?;
            Ok("binds")
        });
        tools.tool("unix", "A pair.", |_, _: NoArguments, _| {
            UnixStream::pair()?;
            Ok("pair")
        });
        tools.tool("run", "Runs a program.", |_, Named { name }, _| {
            let output = Command::new("/bin/sh").args(["-c", &name]).output()?;
            let text = [output.stdout, output.stderr].concat();
            Ok(String::from_utf8(text)?)
        });
        tools.tool("start", "Leaves a program running.", |_, _: NoArguments, _| {
            Ok(Command::new("/bin/sleep").arg("1000").spawn()?.id().to_string())
        });
        tools.tool("start_and", "Starts a program, and does more.", |_, Named { name }, _| {
            Command::new("/bin/sleep").arg("1000").spawn()?;
            match name.as_str() {
                "exit" => std::process::exit(7),
                _ => loop {
                    std::thread::sleep(Duration::from_secs(1));
                },
            }
            #[expect(unreachable_code, reason = "the type of the answer")]
            Ok("")
        });
        tools.tool("escape", "Leaves the group.", |_, _: NoArguments, _| {
            Ok(Command::new("/bin/sleep").arg("1000").process_group(0).spawn()?.id().to_string())
        });
        tools.tool("signal", "Signals its parent.", |_, _: NoArguments, _| {
            let parent = rustix::process::getppid().ok_or("no parent")?;
            rustix::process::test_kill_process(parent)?;
            Ok("could")
        });
        tools.tool("ask", "Asks the host.", |_, Named { name }, cx| {
            Ok(cx.request(&name, Value::Null)?.to_string())
        });
        tools.tool("spin", "Works for ever.", |_, _: NoArguments, _| -> ToolResult<String> {
            loop {
                std::hint::black_box(1);
            }
        });
        tools.tool("late", "Says so when it is cancelled.", |_, _: NoArguments, cx| {
            while !cx.is_cancelled() {
                std::thread::sleep(Duration::from_millis(1));
            }
            Ok("done nevertheless")
        });
        tools.tool("deadline", "Stops at the deadline.", |_, _: NoArguments, cx| {
            loop {
                cx.check()?;
                std::thread::sleep(Duration::from_millis(1));
            }
            #[expect(unreachable_code, reason = "the type of the answer")]
            Ok("")
        });
        tools.tool("exit", "Exits.", |_, _: NoArguments, _| -> ToolResult<String> {
            std::process::exit(7)
        });
        tools.tool("sleep", "Sleeps 100 ms.", |_, _: NoArguments, _| {
            std::thread::sleep(Duration::from_millis(100));
            Ok("slept")
        });
    }
}
