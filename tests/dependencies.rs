//! The library stays small for those who embed it, and knows nothing of the binary.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
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

/// A host need not have the program: what its user can do is an error's `remedy`, which the command
/// line words. A model is not told how to approve code either.
#[test]
fn no_text_of_the_library_names_a_command_of_the_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut dirs = vec![root.clone()];
    let mut n_files = 0;
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && path != root.join("cli") {
                dirs.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
                for line in code {
                    let named =
                        ["`repertoire ", "trust add", "`--"].iter().any(|it| line.contains(it));
                    // Fences of front matter are written in back-ticks, too.
                    assert!(!named || line.contains("`---"), "{}: {line}", path.display());
                }
                n_files += 1;
            }
        }
    }
    assert!(n_files > 100, "{n_files} files were read");
}
