//! Completion scripts, run by the shells that are installed.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use super::{place, write_skill};
use crate::binary::{Place, finish};

/// Tells whether a shell is installed, and reports if it is not.
fn has(shell: &str) -> bool {
    let there = Command::new(shell).arg("--version").output().is_ok();
    if !there {
        // The harness would capture the output of macros.
        let _ = writeln!(std::io::stderr(), "SKIPPED: there is no `{shell}` to complete with");
    }
    there
}

/// Prints Bash's completions for the words after the script.
const BASH: &str = r#"
    source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
    $(complete -p repertoire | sed 's/.*-F \([^ ]*\).*/\1/') "$1" "${!#}" "${*: -2:1}"
    printf '%s\n' "${COMPREPLY[@]}"
"#;

/// Prints fish's completions for a line.
const FISH: &str = "source $argv[1]; complete -C $argv[2]";

/// Returns the completions of `words`, the last of which is incomplete, by `shell` with the script in
/// `file`.
fn completed(place: &Place, shell: &str, file: &str, words: &[&str]) -> Vec<String> {
    let program = Path::new(env!("CARGO_BIN_EXE_repertoire"));
    let file = place.path().join(file);
    let mut command = Command::new(shell);
    if shell == "bash" {
        command.args(["-c", BASH, "bash"]).arg(file).arg(program).args(words);
    } else {
        command.args(["-c", FISH]).arg(file).arg(format!("repertoire {}", words.join(" ")));
    }
    command.current_dir(place.path());
    // Use the environment in which tests run the binary, which the script finds by its name.
    for (name, value) in place.command::<&str>([]).get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", program.parent().unwrap().display()));
    let lines = finish(command, b"").exits(0).stdout;
    let candidate = |line: &str| line.split('\t').next().unwrap().trim().to_owned();
    lines.lines().map(candidate).filter(|line| !line.is_empty()).collect()
}

fn assert_completes(shell: &str) {
    if !has(shell) {
        return;
    }
    let place = place();
    write_skill(&place, "skills/alpha/deep");
    write_skill(&place, ".sven/skills/branded");
    let script = place.run(["completions", shell]).exits(0).stdout;
    place.write("completions", script);
    let source = ["--source", "skills"];
    for (words, wanted) in [
        (&["show", ""][..], &["alpha", "alpha/deep", "beta"][..]),
        (&["show", "al"], &["alpha", "alpha/deep"]),
        (&["why", "be"], &["beta"]),
        (&["use", "alpha/"], &["alpha/deep"]),
        (&["tool", "list", "--skill", "be"], &["beta"]),
        (&["list", "--allow", "b"], &["beta"]),
        (&["sho"], &["show"]),
        (&["to"], &["tool"]),
        (&["comp"], &["completions"]),
        (&["show", "--verb"], &["--verbose"]),
    ] {
        let words: Vec<&str> = source.iter().chain(words).copied().collect();
        let mut found = completed(&place, shell, "completions", &words);
        found.sort();
        assert_eq!(found, wanted, "{shell}: {words:?}");
    }
    let found = completed(&place, shell, "completions", &["--brand", "sven", "show", "bran"]);
    assert_eq!(found, ["branded"], "{shell}");
}

#[test]
fn bash_completes_ids_of_skills() {
    assert_completes("bash");
}

#[test]
fn fish_completes_ids_of_skills() {
    assert_completes("fish");
}

#[test]
fn zsh_loads_its_script() {
    if !has("zsh") {
        return;
    }
    let place = place();
    let script = place.run(["completions", "zsh"]).exits(0).stdout;
    place.write("_repertoire", script);
    // Completing with keys needs a terminal, so call the same functions directly.
    let script = r#"
        _describe() { print -l -- ${(P)4}; }
        _arguments() { print generated; return 1; }
        compdef() { :; }
        source ./_repertoire
        words=("$@"); CURRENT=$#; _repertoire
    "#;
    for (words, wanted) in [
        (&["show", "al"][..], "alpha:Does alpha."),
        (&["show", ""], "alpha:Does alpha.\nbeta:Does beta."),
        (&["sho"], "generated"),
    ] {
        let mut command = Command::new("zsh");
        command.current_dir(place.path()).args(["-f", "-c", script, "zsh"]);
        command.arg(env!("CARGO_BIN_EXE_repertoire")).args(["--source", "skills"]).args(words);
        command.env("HOME", place.path());
        assert_eq!(finish(command, b"").stdout.trim(), wanted, "{words:?}");
    }
}
