//! The files of a release: workflows, archives of the binary, and the places where `cargo binstall`
//! looks for them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use granit_parser::{Event, Parser};
use toml_edit::DocumentMut;

pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn manifest(path: &str) -> DocumentMut {
    fs::read_to_string(root().join(path)).unwrap().parse().unwrap()
}

pub(crate) fn version() -> String {
    manifest("Cargo.toml")["workspace"]["package"]["version"].as_str().unwrap().to_owned()
}

pub(crate) fn archive(built: &Path, target: &str, out: &Path) -> String {
    let script = root().join(".ci/archive");
    let status = Command::new(script).arg(built).arg(target).arg(out).status().unwrap();
    assert!(status.success(), "{target}");
    let names = fs::read_dir(out).unwrap().map(|entry| entry.unwrap().file_name());
    let names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    assert_eq!(names.len(), 1, "{names:?}");
    names[0].clone()
}

/// Returns the targets for which a release is built.
pub(crate) fn targets() -> Vec<String> {
    let workflow = fs::read_to_string(root().join(".github/workflows/release.yml")).unwrap();
    let rows = workflow.lines().filter_map(|line| line.trim().strip_prefix("- { os: "));
    let targets = rows.map(|row| {
        let target = row.split_once("target: ").unwrap().1;
        target.trim_end_matches([' ', '}']).to_owned()
    });
    targets.collect()
}

/// Returns a field of the metadata for `cargo binstall`, filled in for `target`.
fn for_binstall(field: &str, target: &str) -> String {
    let manifest = manifest("crates/cli/Cargo.toml");
    let metadata = &manifest["package"]["metadata"]["binstall"];
    let own = metadata["overrides"].get(target).and_then(|own| own.get(field));
    let mut text = own.unwrap_or(&metadata[field]).as_str().unwrap().to_owned();
    let ending = if target.contains("windows") { ".exe" } else { "" };
    for (name, value) in [
        ("repo", "https://example.com/repertoire"),
        ("version", &version()),
        ("name", "repertoire"),
        ("bin", "repertoire"),
        ("binary-ext", ending),
        ("target", target),
    ] {
        text = text.replace(&format!("{{ {name} }}"), value);
    }
    assert!(!text.contains('{'), "{text}");
    text
}

#[test]
fn binstall_finds_the_archive_of_each_target_and_the_binary_in_it() {
    let targets = targets();
    assert!(targets.len() >= 5, "{targets:?}");
    let built = tempfile::tempdir().unwrap();
    for name in ["repertoire", "repertoire.exe"] {
        fs::write(built.path().join(name), "binary").unwrap();
    }
    for target in targets {
        let out = tempfile::tempdir().unwrap();
        let name = archive(built.path(), &target, out.path());
        let url = for_binstall("pkg-url", &target);
        let tag = version();
        let wanted = format!("https://example.com/repertoire/releases/download/v{tag}/{name}");
        assert_eq!(url, wanted);
        let (program, list) = match for_binstall("pkg-fmt", &target).as_str() {
            "zip" => ("unzip", "-Z1"),
            _ => ("tar", "-tzf"),
        };
        // `unzip` is not installed on every machine.
        let Ok(listed) = Command::new(program).arg(list).arg(out.path().join(&name)).output()
        else {
            continue;
        };
        let listed = String::from_utf8(listed.stdout).unwrap();
        let binary = for_binstall("bin-dir", &target);
        assert!(listed.lines().any(|line| line == binary), "{binary} is not in {listed}");
    }
}

#[test]
fn an_unpacked_binary_has_the_bundled_skills_wherever_it_is() {
    let (built, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(built.path().join("repertoire"), "").unwrap();
    let name = archive(built.path(), "x86_64-unknown-linux-gnu", out.path());
    let unpacked = Command::new("tar").arg("-xzf").arg(&name).current_dir(out.path()).status();
    assert!(unpacked.unwrap().success());
    let root = out.path().join(name.strip_suffix(".tar.gz").unwrap());
    for page in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        assert!(root.join(page).is_file(), "{page}");
    }
    // Replace the placeholder from above with the real binary, which was not packed because a debug
    // build is large.
    let binary = root.join("bin/repertoire");
    fs::remove_file(&binary).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_repertoire"), &binary).unwrap();
    let home = tempfile::tempdir().unwrap();
    let listed = Command::new(binary)
        .args(["show", "commit-message", "--json"])
        .current_dir(home.path())
        .env_clear()
        .env("HOME", home.path())
        .output()
        .unwrap();
    let shown: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    let path = PathBuf::from(shown["path"].as_str().unwrap()).canonicalize().unwrap();
    let data = home.path().join(".local/share/repertoire").canonicalize().unwrap();
    assert!(path.starts_with(&data), "{} is not in {}", path.display(), data.display());
}

#[test]
fn workflows_are_yaml_whose_jobs_need_jobs_and_run_scripts_that_exist() {
    let dir = root().join(".github/workflows");
    let mut n_scripts = 0;
    let mut n_workflows = 0;
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let mut n_values = 0;
        for event in Parser::new_from_str(&text) {
            let (event, _) = event.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            n_values += usize::from(matches!(event, Event::Scalar(..)));
        }
        assert!(n_values > 10, "{} values in {}", n_values, path.display());
        let jobs = jobs(&text);
        for needed in jobs.values().flatten() {
            assert!(jobs.contains_key(needed), "no job {needed} in {}", path.display());
        }
        for script in text.split(".ci/").skip(1) {
            let name: String = script.chars().take_while(char::is_ascii_alphabetic).collect();
            assert!(root().join(".ci").join(&name).is_file(), "no script .ci/{name}");
            n_scripts += 1;
        }
        n_workflows += 1;
    }
    assert!(n_workflows >= 3 && n_scripts >= 2, "{n_workflows} workflows, {n_scripts} scripts");
}

/// Returns the jobs of a workflow, each with the jobs that it needs.
fn jobs(workflow: &str) -> BTreeMap<String, Vec<String>> {
    let (_, jobs) = workflow.split_once("\njobs:\n").unwrap();
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut last = String::new();
    for line in jobs.lines() {
        let name = line.strip_prefix("  ").filter(|rest| !rest.starts_with([' ', '#']));
        if let Some(name) = name.and_then(|name| name.strip_suffix(':')) {
            name.clone_into(&mut last);
            found.entry(last.clone()).or_default();
        } else if let Some(needs) = line.trim().strip_prefix("needs: ") {
            let names = needs.trim_matches(['[', ']']).split(", ").map(str::to_owned);
            found.entry(last.clone()).or_default().extend(names);
        }
    }
    found
}
