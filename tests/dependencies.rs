//! The library stays small for those who embed it.

use std::collections::BTreeSet;
use std::process::Command;

#[test]
fn the_library_needs_few_crates_and_none_of_the_binary() {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--edges", "normal", "--no-default-features", "--prefix", "none"])
        .args(["--package", "repertoire", "--locked", "--format", "{p}"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).unwrap();
    let crates: BTreeSet<&str> =
        tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
    for unwanted in ["clap", "tokio", "rmcp", "anyhow", "indicatif"] {
        assert!(!crates.contains(unwanted), "the library needs {unwanted}");
    }
    assert!((10..60).contains(&crates.len()), "{} crates: {crates:?}", crates.len());
}
