//! Programs and libraries from npm, installed once below the target directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// A package and its version.
pub(crate) type Package = (&'static str, &'static str);

/// The Node that programs run on. It comes from npm too, because some programs need a newer one than the
/// system has.
pub(crate) const NODE: Package = ("node", "24.21.0");

/// Tells whether npm is installed and its registry answers.
pub(crate) fn has_npm() -> bool {
    let named = format!("{}@{}", NODE.0, NODE.1);
    let output = Command::new("npm").args(["view", &named, "version"]).output();
    output.is_ok_and(|output| output.status.success() && !output.stdout.is_empty())
}

/// Returns the directory in which a package is installed, which is kept between runs.
fn dir_of((package, version): Package) -> PathBuf {
    let name = package.replace(['@', '/'], "_");
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("agents/{name}-{version}"))
}

/// Returns the directory of the modules of a package and its dependencies.
pub(crate) fn modules(package: Package) -> PathBuf {
    dir_of(package).join("node_modules")
}

/// Returns the directory of the programs of a package.
pub(crate) fn bin(package: Package) -> PathBuf {
    modules(package).join(".bin")
}

pub(crate) fn install(package: Package) {
    // Tests run as threads of one process, so install one package at a time.
    static INSTALLING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = dir_of(package);
    let done = dir.join("installed");
    if done.exists() {
        return;
    }
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("package.json"), "{}\n").unwrap();
    let args = ["install", "--no-audit", "--no-fund", "--loglevel=error"];
    let named = format!("{}@{}", package.0, package.1);
    let output = Command::new("npm").args(args).arg(&named).current_dir(&dir).output().unwrap();
    assert!(output.status.success(), "{named}: {}", String::from_utf8_lossy(&output.stderr));
    fs::write(done, "").unwrap();
}
