//! Passes the target triple and the compiler's version to the crate, which writes them into a plugin's
//! note.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo:rustc-env=REPERTOIRE_PLUGIN_TARGET={}", plain(&target));
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let version = Command::new(rustc).arg("--version").output().map(|output| output.stdout);
    let version = String::from_utf8_lossy(&version.unwrap_or_default()).into_owned();
    let version = version.trim().trim_start_matches("rustc ");
    println!("cargo:rustc-env=REPERTOIRE_PLUGIN_RUSTC={}", plain(version));
}

/// Keeps the characters that need no escape in a JSON string.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() && *c != '"' && *c != '\\').collect()
}
