//! Builds plugins with cargo.

use std::path::{Path, PathBuf};
use std::process::Command;

use repertoire_plugin::serde_json::Value;

/// Builds a plugin of this workspace, in the profile of the tests, and returns the path of its library.
pub(crate) fn library(package: &str) -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let profile = if cfg!(debug_assertions) { "dev" } else { "release" };
    let output = Command::new(cargo)
        .args([
            "build", "--locked", "--lib", "--message-format=json", "--profile", profile, "-p",
            package,
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let messages = String::from_utf8(output.stdout).unwrap();
    let messages = messages.lines().filter_map(|line| line.parse::<Value>().ok());
    let library_name = package.replace('-', "_");
    let files = messages
        .filter(|message| message["reason"] == "compiler-artifact")
        .filter(|message| message["target"]["name"] == *library_name)
        .flat_map(|message| message["filenames"].as_array().cloned().unwrap_or_default());
    let mut files = files.filter_map(|file| file.as_str().map(PathBuf::from));
    let is_library =
        |file: &PathBuf| file.extension().is_some_and(|e| e == std::env::consts::DLL_EXTENSION);
    files.find(is_library).unwrap()
}

/// Writes a copy of a library in which every `from` is replaced by `to`, which has the same length.
pub(crate) fn patched(library: &Path, to_file: &Path, from: &[u8], to: &[u8]) {
    assert_eq!(from.len(), to.len());
    let mut bytes = std::fs::read(library).unwrap();
    let at: Vec<_> =
        bytes.windows(from.len()).enumerate().filter(|(_, w)| *w == from).map(|(i, _)| i).collect();
    assert!(!at.is_empty(), "{from:?} is not in {}", library.display());
    for at in at {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
    std::fs::write(to_file, bytes).unwrap();
}
