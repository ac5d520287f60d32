//! The dependencies of the library: they are few, and the library does not depend on the binary.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::sources::rust_files;

/// Returns the dependencies that are compiled into what is shipped, one on each line.
fn tree(args: &[&str]) -> String {
    cargo_tree(&[&["--edges", "normal"], args].concat())
}

fn cargo_tree(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--prefix", "none", "--locked"])
        .args(args)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_library_needs_few_crates_and_none_of_the_binary() {
    let tree = tree(&["--package", "repertoire", "--format", "{p}"]);
    let crates: BTreeSet<&str> =
        tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
    for unwanted in ["clap", "tokio", "rmcp", "hyper", "rusqlite"] {
        assert!(!crates.contains(unwanted), "the library needs {unwanted}");
    }
    assert!((10..=50).contains(&crates.len()), "{} crates: {crates:?}", crates.len());
}

#[test]
fn tests_need_no_feature_of_a_dependency_that_the_program_has_not_and_so_build_none_anew() {
    // A crate may be built both for the program and, with other features, for build scripts.
    let features = |edges: &str| {
        let tree = cargo_tree(&["--edges", edges, "--no-dedupe", "--format", "{p}\t{f}"]);
        let mut features: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (name, of) in tree.lines().filter_map(|line| line.split_once('\t')) {
            features.entry(name.to_owned()).or_default().insert(of.to_owned());
        }
        features
    };
    let (program, tests) = (features("normal,build"), features("normal,build,dev"));
    assert!(tests.len() > program.len() && program.len() > 100, "{}", program.len());
    for (name, features) in &program {
        assert_eq!(tests.get(name), Some(features), "{name} is built twice");
    }
}

/// Tells whether the `allowed` licences satisfy a licence expression: of each group of alternatives, at
/// least one must be allowed.
fn is_met(expression: &str, allowed: &[&str]) -> bool {
    let plain = expression.replace(['(', ')'], "").replace('/', " OR ");
    plain.split(" AND ").all(|group| group.split(" OR ").any(|one| allowed.contains(&one.trim())))
}

/// Returns the licences that `deny.toml` allows for every crate, and those that it allows for single
/// crates.
fn allowed_licences() -> (Vec<String>, Vec<(String, String)>) {
    let text = fs::read_to_string(
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("deny.toml"),
    )
    .unwrap();
    let quoted = |line: &str| line.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    let all: Vec<String> =
        text.lines().find(|line| line.starts_with("allow = [")).map(quoted).unwrap();
    let exceptions = text.lines().filter(|line| line.trim_start().starts_with("{ crate = "));
    let exceptions = exceptions.map(|line| {
        let parts: Vec<String> = quoted(line);
        (parts[0].clone(), parts[1].clone())
    });
    (all, exceptions.collect())
}

/// Makes the same check as `cargo deny check licenses`, which is not installed on every machine.
#[test]
fn every_dependency_has_a_licence_that_is_allowed() {
    let (all, exceptions) = allowed_licences();
    let tree = tree(&["--workspace", "--all-features", "--target", "all", "--format", "{p} @ {l}"]);
    let mut used = BTreeSet::new();
    let mut crates = BTreeSet::new();
    for line in tree.lines().filter(|line| !line.is_empty()) {
        let (package, licence) = line.rsplit_once(" @ ").unwrap();
        let name = package.split(' ').next().unwrap();
        let licence = licence.trim_end_matches(" (*)");
        let excepted = exceptions.iter().filter(|(of, _)| of == name).map(|(_, licence)| licence);
        let allowed: Vec<&str> = all.iter().chain(excepted).map(String::as_str).collect();
        // A package of this workspace that is never published.
        if licence.is_empty() && package.contains("(/") {
            continue;
        }
        assert!(is_met(licence, &allowed), "{name} is licensed under `{licence}`");
        used.extend(exceptions.iter().filter(|(of, _)| of == name).map(|(of, _)| of));
        crates.insert(name);
    }
    assert!(crates.len() > 100, "{crates:?}");
    assert_eq!(used.len(), exceptions.len(), "an exception is of no use: {exceptions:?}");
}

/// A host may not have the command-line program, so an error's `remedy` says what the user can do, and
/// the command line puts it into words. A model is not told how to approve code either.
#[test]
fn no_text_of_the_library_names_a_command_of_the_program() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("src");
    let is_text = |path: &PathBuf| !path.ends_with("tests.rs");
    let files = rust_files(&root).into_iter().filter(is_text);
    let mut n_files = 0;
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for line in code {
            let named = ["`repertoire ", "trust add", "`--"].iter().any(|it| line.contains(it));
            // Fences of front matter also appear in back-ticks.
            assert!(!named || line.contains("`---"), "{}: {line}", path.display());
        }
        n_files += 1;
    }
    assert!(n_files > 100, "{n_files} files were read");
}

/// Returns the crates of a `Cargo.lock`, with their versions.
fn locked(dir: &str) -> BTreeSet<(String, String)> {
    let path =
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(dir).join("Cargo.lock");
    let text = fs::read_to_string(path).unwrap();
    let field = |block: &str, name: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix(&format!("{name} = ")));
        line.map(|value| value.trim_matches('"').to_owned())
    };
    let crates = text.split("[[package]]").skip(1);
    crates.map(|of| (field(of, "name").unwrap(), field(of, "version").unwrap())).collect()
}

#[test]
fn packages_and_fuzz_targets_have_the_versions_that_the_library_is_tested_with() {
    let tested = locked("");
    let is_known = |name: &str| tested.iter().any(|(known, _)| known == name);
    for dir in ["bindings", "fuzz"] {
        let all = locked(dir);
        let other: Vec<_> = all.difference(&tested).filter(|(name, _)| is_known(name)).collect();
        assert!(
            other.is_empty(),
            "{dir}/Cargo.lock has other versions: copy the root's `Cargo.lock` there, and run \
             `cargo metadata`: {other:?}"
        );
    }
}
