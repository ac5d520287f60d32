//! The files by which others install and use the program: manual pages, formulae, hooks, an action, and the
//! address of the repository in each package.
#![expect(clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::Command;

use granit_parser::{Event, Parser};
use toml_edit::DocumentMut;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The scalars of a YAML file, in their order.
fn scalars(path: &str) -> Vec<String> {
    let text = text(path);
    let events = Parser::new_from_str(&text).map(|event| event.unwrap().0);
    let scalars = events.filter_map(|event| match event {
        Event::Scalar(value, ..) => Some(value.to_string()),
        _ => None,
    });
    scalars.collect()
}

/// The scalar after the first one that is `key`.
fn value(path: &str, key: &str) -> String {
    let scalars = scalars(path);
    let at = scalars.iter().position(|scalar| scalar == key).unwrap();
    scalars[at + 1].clone()
}

fn repertoire(args: &[&str], here: &Path) -> std::process::Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_repertoire"));
    command.args(args).current_dir(here).env_clear().env("HOME", here).output().unwrap()
}

#[test]
fn a_release_has_a_manual_page_for_each_command_and_completions() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("repertoire");
    fs::copy(env!("CARGO_BIN_EXE_repertoire"), &program).unwrap();
    let script = root().join(".ci/pages");
    let ran = Command::new(script).arg(&program).env("HOME", dir.path()).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let share = dir.path().join("share");
    for (file, word) in [
        ("man/man1/repertoire.1", "disclose"),
        ("man/man1/repertoire-add.1", "owner/repo"),
        ("bash-completion/completions/repertoire", "_repertoire"),
        ("zsh/site-functions/_repertoire", "#compdef"),
        ("fish/vendor_completions.d/repertoire.fish", "complete"),
    ] {
        assert!(fs::read_to_string(share.join(file)).unwrap().contains(word), "{file}");
    }
}

#[test]
fn formula_manifest_and_installer_name_archives_of_the_release_with_their_sums() {
    let dist = tempfile::tempdir().unwrap();
    let version = value_of_workspace("version");
    let workflow = text(".github/workflows/release.yml");
    let targets = workflow.lines().filter_map(|line| Some(line.split_once("target: ")?.1));
    let targets: Vec<&str> = targets.filter_map(|rest| rest.strip_suffix(" }")).collect();
    assert!(targets.len() >= 5, "{targets:?}");
    let sums = targets.iter().enumerate().map(|(nth, target)| {
        let ending = if target.contains("windows") { "zip" } else { "tar.gz" };
        format!("{nth:064}  repertoire-v{version}-{target}.{ending}\n")
    });
    fs::write(dist.path().join("SHA256SUMS"), sums.collect::<String>()).unwrap();
    let url = "https://example.org/acme/repertoire";
    let script = root().join(".ci/formulae");
    let fill = || Command::new(&script).arg(url).arg(dist.path()).output().unwrap();
    let filled = fill();
    assert!(filled.status.success(), "{filled:?}");
    let read = |name: &str| fs::read_to_string(dist.path().join(name)).unwrap();
    let (formula, manifest) = (read("repertoire.rb"), read("repertoire.json"));
    let installer = read("install.sh");
    for (nth, target) in targets.iter().enumerate() {
        let (is_windows, is_static) = (target.contains("windows"), target.contains("musl"));
        let sum = format!("{nth:064}");
        assert_eq!(manifest.contains(&sum), is_windows, "{target}: {manifest}");
        assert_eq!(installer.contains(&sum), !is_windows, "{target}: {installer}");
        // Homebrew has a C library of its own.
        assert_eq!(formula.contains(&sum), !is_windows && !is_static, "{target}: {formula}");
        let archive = format!("{url}/releases/download/v{version}/repertoire-v{version}-{target}.");
        let of = if is_windows { &manifest } else { &formula };
        assert!(is_static || of.contains(&archive), "{target}: {of}");
    }
    serde_json::from_str::<serde_json::Value>(&manifest).unwrap();
    // A release without one of the archives is not published.
    fs::write(dist.path().join("SHA256SUMS"), "").unwrap();
    assert!(!fill().status.success());
}

fn value_of_workspace(key: &str) -> String {
    let manifest: DocumentMut = text("Cargo.toml").parse().unwrap();
    manifest["workspace"]["package"][key].as_str().unwrap().to_owned()
}

#[test]
fn every_package_gets_the_address_of_the_repository() {
    let (copy, url) = (tempfile::tempdir().unwrap(), "https://example.org/acme/repertoire");
    let published = text(".ci/rehearsal");
    let crates = fs::read_dir(root().join("crates")).unwrap();
    let crates = crates.map(|dir| format!("crates/{}", dir.unwrap().file_name().display()));
    let crates = crates.chain(["plugin-api", "plugin-api/macros", "."].map(str::to_owned));
    let manifests: Vec<String> = crates.map(|dir| format!("{dir}/Cargo.toml")).collect();
    let others = ["bindings/python/pyproject.toml", "bindings/node/package.json"];
    for file in manifests.iter().map(String::as_str).chain(others) {
        let to = copy.path().join(file);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(root().join(file), to).unwrap();
    }
    let status = Command::new(root().join(".ci/repository")).arg(url).arg(copy.path()).status();
    assert!(status.unwrap().success());
    let read = |file: &str| fs::read_to_string(copy.path().join(file)).unwrap();
    for file in &manifests {
        let manifest: DocumentMut = read(file).parse().unwrap();
        let package = &manifest["package"];
        let name = package["name"].as_str().unwrap();
        assert!(published.contains(name), "{name} is not published");
        assert_eq!(package["repository"].as_str(), Some(url), "{file}");
        assert_eq!(package["homepage"].as_str(), Some(url), "{file}");
    }
    let python: DocumentMut = read(others[0]).parse().unwrap();
    assert_eq!(python["project"]["name"].as_str(), Some("repertoire-skills"));
    assert_eq!(python["project"]["urls"]["Repository"].as_str(), Some(url));
    assert_eq!(python["tool"]["maturin"]["module-name"].as_str(), Some("repertoire._native"));
    let node: serde_json::Value = serde_json::from_str(&read(others[1])).unwrap();
    assert_eq!((&node["name"], &node["homepage"]), (&"repertoire".into(), &url.into()));
    assert_eq!(node["repository"]["url"], format!("git+{url}.git"));
}

#[test]
fn every_package_holds_both_licenses() {
    let crates = fs::read_dir(root().join("crates")).unwrap();
    let crates = crates.map(|dir| format!("crates/{}", dir.unwrap().file_name().display()));
    let others = ["plugin-api", "plugin-api/macros", "bindings/python"].map(str::to_owned);
    for dir in crates.chain(others) {
        for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
            assert_eq!(text(&format!("{dir}/{name}")), text(name), "{dir}/{name}");
        }
    }
    // npm packs no links: the scripts that make its packages copy the files.
    for script in ["build", "platform-package"] {
        let script = text(&format!("bindings/node/scripts/{script}.mjs"));
        assert!(script.contains("'LICENSE-APACHE', 'LICENSE-MIT'"), "{script}");
    }
    assert!(text("bindings/node/package.json").contains("\"LICENSE-*\""));
}

#[test]
fn npm_packages_of_platforms_name_the_repository_that_their_provenance_names() {
    let workflow = text(".github/workflows/bindings.yml");
    let job = workflow.split("\n  node:\n").nth(1).unwrap();
    let job = job.split("\n  publish-node:").next().unwrap();
    let at = |part: &str| job.find(part).unwrap_or_else(|| panic!("no {part} in the job"));
    assert!(at(".ci/repository") < at("platform-package.mjs"));
    let script = text("bindings/node/scripts/platform-package.mjs");
    assert!(script.contains("repository: main.repository"));
}

#[test]
fn the_hook_before_commits_checks_the_files_that_it_is_given() {
    let (file, home) = (".pre-commit-hooks.yaml", tempfile::tempdir().unwrap());
    let pattern = regex::Regex::new(&value(file, "files")).unwrap();
    for (path, wanted) in [("skills/a/SKILL.md", true), ("SKILL.md", true), ("a/MYSKILL.md", false)]
    {
        assert_eq!(pattern.is_match(path), wanted, "{path}");
    }
    let entry = value(file, "entry");
    let words: Vec<&str> = entry.split(' ').collect();
    assert_eq!(words[0], "repertoire");
    for (nth, (body, code)) in
        [("---\nname: a\ndescription: Writes a.\n---\nDo it.\n", 0), ("---\nname: [\n---\n", 1)]
            .into_iter()
            .enumerate()
    {
        let path = format!("skills/a{nth}/SKILL.md");
        fs::create_dir_all(home.path().join(&path).parent().unwrap()).unwrap();
        fs::write(home.path().join(&path), body).unwrap();
        let checked = repertoire(&[&words[1..], &[&path]].concat(), home.path());
        assert_eq!(checked.status.code(), Some(code), "{path}: {checked:?}");
    }
}

#[test]
fn the_action_runs_commands_that_exist_and_writes_sarif() {
    let (action, home) = (text("action.yml"), tempfile::tempdir().unwrap());
    assert!(scalars("action.yml").len() > 30);
    let line = action.lines().find(|line| line.contains("--format sarif")).unwrap();
    let command = line.trim().split(" >").next().unwrap().replace("\"$CHECKED\"", ".");
    let command = command.replace("\"$PROFILE\"", &value_of_input("profile"));
    let words: Vec<&str> = command.split(' ').collect();
    let checked = repertoire(&words[1..], home.path());
    let sarif: serde_json::Value = serde_json::from_slice(&checked.stdout).unwrap();
    assert_eq!(sarif["version"], "2.1.0", "{checked:?}");
    // It takes the archives that a release has.
    let workflow = text(".github/workflows/release.yml");
    let named = action.lines().filter_map(|line| Some(line.split_once(") target=")?.1));
    let named: Vec<&str> = named.filter_map(|rest| rest.split(' ').next()).collect();
    assert_eq!(named.len(), 4, "{named:?}");
    assert!(named.iter().all(|target| workflow.contains(&format!("target: {target} }}"))));
}

/// The default of an input of the action.
fn value_of_input(name: &str) -> String {
    let scalars = scalars("action.yml");
    let at = scalars.iter().position(|scalar| scalar == name).unwrap();
    let rest = &scalars[at..];
    rest[rest.iter().position(|scalar| scalar == "default").unwrap() + 1].clone()
}

#[test]
fn images_packages_and_releases_have_every_feature() {
    for (file, wanted) in [
        (".github/workflows/release.yml", "--package repertoire-cli --features full"),
        ("Dockerfile", "--path /src/crates/cli --features full"),
        ("flake.nix", "\"--package\" \"repertoire-cli\" \"--features\" \"full\""),
    ] {
        assert!(text(file).contains(wanted), "{file}");
    }
    let version = repertoire(&["-V"], root());
    let version = String::from_utf8(version.stdout).unwrap();
    assert!(version.starts_with(&format!("repertoire {} (", value_of_workspace("version"))));
}

#[test]
fn issues_have_forms_and_each_lock_file_is_kept_fresh() {
    for form in ["fault.yml", "skill.yml"] {
        let scalars = scalars(&format!(".github/ISSUE_TEMPLATE/{form}"));
        for key in ["name", "description", "body", "label"] {
            assert!(scalars.iter().any(|scalar| scalar == key), "{form} has no {key}");
        }
    }
    let updates = scalars(".github/dependabot.yml");
    let dirs = updates.windows(2).filter(|pair| pair[0] == "directory").map(|pair| &pair[1]);
    for dir in dirs {
        assert!(root().join(dir.trim_start_matches('/')).is_dir(), "{dir}");
    }
    for dir in ["/", "/bindings", "/fuzz", "/bindings/node"] {
        assert!(updates.iter().any(|scalar| scalar == dir), "{dir}");
    }
}
