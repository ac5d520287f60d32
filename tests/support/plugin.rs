//! Builds plugins with cargo, in the same way as their authors.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use serde_json::Value;

/// Runs `cargo ARGS…` in `dir`, and returns cargo's messages about `target`.
pub(crate) fn built(dir: &Path, args: &[&str], target: &str) -> Vec<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let (subcommand, more) = args.split_first().unwrap();
    let mut command = Command::new(cargo);
    command.args([subcommand, "--message-format=json"]).args(more);
    let output = command.current_dir(dir).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let messages = String::from_utf8(output.stdout).unwrap();
    let messages = messages.lines().filter_map(|line| line.parse::<Value>().ok());
    let messages = messages.filter(|message| message["target"]["name"] == *target);
    messages.collect()
}

/// Returns the path of the library of `package`, built in `dir` by `cargo ARGS…`.
pub(crate) fn library(dir: &Path, args: &[&str], package: &str) -> PathBuf {
    let messages = built(dir, args, &package.replace('-', "_"));
    let mut files =
        messages.iter().flat_map(|m| m["filenames"].as_array().cloned().unwrap_or_default());
    let is_library = |file: &&str| file.ends_with(std::env::consts::DLL_SUFFIX);
    files.find_map(|file| file.as_str().filter(is_library).map(PathBuf::from)).unwrap()
}

/// Returns the path of the library of a package of this workspace, which is built once.
pub(crate) fn of_workspace(package: &str) -> PathBuf {
    static BUILT: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    let build = || {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = manifest.ancestors().find(|dir| dir.join("plugin-api").is_dir()).unwrap();
        library(root, &["build", "--locked", "--lib", "-p", package], package)
    };
    BUILT.lock().unwrap().entry(package.to_owned()).or_insert_with(build).clone()
}
