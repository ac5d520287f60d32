//! Runs the scripts of `tests/fixtures/browser` in a headless Chromium.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

/// Runs a script of `tests/fixtures/browser`. Without Node or Chromium, reports that the test was
/// skipped, or fails if `CI` is set.
pub(crate) fn run(script: &str, args: &[&OsStr]) {
    let chromium = std::env::var_os("CHROMIUM").unwrap_or_else(|| "chromium".into());
    let missing =
        [OsStr::new("node"), &chromium].into_iter().find(|program| which::which(program).is_err());
    if let Some(program) = missing {
        assert!(std::env::var_os("CI").is_none(), "{} must be there", program.display());
        crate::support::say(&format!("SKIPPED: {script} needs {}", program.display()));
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/browser").join(script);
    let mut command = Command::new("node");
    command.arg(script).args(args);
    if let Some(pictures) = std::env::var_os("REPERTOIRE_PICTURES") {
        command.arg(pictures);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}
