//! Describes how a process ended.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use rustix::process::Signal;

/// Describes how a process ended, in a phrase.
pub fn describe_exit(status: ExitStatus) -> String {
    let Some(number) = status.signal() else {
        return format!("exit code {}", status.code().unwrap_or(-1));
    };
    let name = signal_name(number);
    let hint = match name {
        "SIGXCPU" => ": it used up its processor time",
        "SIGXFSZ" => ": it wrote too large a file",
        _ => "",
    };
    format!("killed by signal {number} ({name}){hint}")
}

fn signal_name(number: i32) -> &'static str {
    let names = [
        (Signal::ABORT, "SIGABRT"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::BUS, "SIGBUS"),
        (Signal::KILL, "SIGKILL"),
        (Signal::TERM, "SIGTERM"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::FPE, "SIGFPE"),
        (Signal::INT, "SIGINT"),
        (Signal::HUP, "SIGHUP"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::XCPU, "SIGXCPU"),
        (Signal::XFSZ, "SIGXFSZ"),
        (Signal::SYS, "SIGSYS"),
    ];
    let known = names.iter().find(|(signal, _)| signal.as_raw() == number);
    known.map_or("unknown", |(_, name)| name)
}
