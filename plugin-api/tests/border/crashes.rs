//! Crashes that cannot be caught at the border. They are the reason why hosts run plugins in a child
//! process.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};

use repertoire_plugin::FakeHost;

use super::{FAILING, create, open};

const TOOL: &str = "REPERTOIRE_TEST_TOOL";

/// Calls a tool of the failing plugin in another process, and returns that process's exit status and
/// standard error.
fn outcome(tool: &str) -> (ExitStatus, String) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crashes::child", "--ignored", "--nocapture"])
        .env(TOOL, tool)
        .output()
        .unwrap();
    (output.status, String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
#[ignore = "ends this process; the other tests of the file start it"]
fn child() {
    let Ok(tool) = std::env::var(TOOL) else { return };
    let failing = create(&open(&FAILING), "FailingToolset");
    let _ = failing.call(&tool, "{}", &FakeHost::new());
}

#[test]
fn a_crash_ends_the_process_that_calls() {
    let signal = |tool: &str| outcome(tool).0.signal();
    assert_eq!(signal("panic"), None, "a panic does not");
    assert_eq!(signal("segfault"), Some(11));
    assert_eq!(signal("abort"), Some(6));
    assert_eq!(signal("double_panic"), Some(6));
    assert_eq!(outcome("exit").0.code(), Some(3));
    let (status, last_words) = outcome("overflow");
    assert_eq!(status.signal(), Some(6));
    assert!(last_words.contains("overflowed its stack"), "{last_words}");
    let (status, last_words) = outcome("print");
    assert!(status.success());
    assert!(last_words.contains("last words of a plugin"), "{last_words}");
}
