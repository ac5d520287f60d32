//! The console commands of the README and of two other pages print the output that is shown there.
//! Their Rust blocks are doc tests of the crate.

use std::io::Write as _;
use std::process::{Command, Stdio};

/// The pages whose `console` blocks are run.
const PAGES: [&str; 3] = [
    include_str!("../../../../README.md"),
    include_str!("../../../../docs/getting-started.md"),
    include_str!("../../../../docs/embedding.md"),
];

/// A command of a `console` block, and its output.
struct Example {
    command: String,
    output: String,
}

fn examples(markdown: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    for block in markdown.split("```console\n").skip(1) {
        for line in block.split("```").next().unwrap().lines() {
            match line.strip_prefix("$ ") {
                Some(command) => {
                    examples.push(Example { command: command.to_owned(), output: String::new() });
                }
                None => examples.last_mut().unwrap().output.extend([line, "\n"]),
            }
        }
    }
    examples
}

/// Runs `repertoire ARGS`, without the skills of the user who runs the test.
fn run(args: &[String], input: &str) -> (bool, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_repertoire"))
        .args(args)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .env("HOME", env!("CARGO_TARGET_TMPDIR"))
        .env_remove("XDG_STATE_HOME")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn commands_print_the_documented_output() {
    let mut n_run = 0;
    for Example { command, output } in PAGES.into_iter().flat_map(examples) {
        let (input, command) = match command.split_once(" | ") {
            Some((echo, command)) => {
                (format!("{}\n", shlex::split(echo).unwrap()[1]), command.to_owned())
            }
            None => (String::new(), command),
        };
        let words = shlex::split(&command).unwrap();
        let known: Vec<&str> = words.iter().map(String::as_str).collect();
        match known[..] {
            ["cargo", "run", "--", ..] => {
                let (succeeded, printed) = run(&words[3..], &input);
                assert!(succeeded, "{command}");
                // The command pads tables with blanks that a page does not show.
                let printed: String =
                    printed.lines().flat_map(|line| [line.trim_end(), "\n"]).collect();
                match output.strip_suffix("…\n") {
                    Some(head) => assert!(printed.starts_with(head), "{command}: {printed}"),
                    None => assert_eq!(printed, output, "{command}"),
                }
                n_run += 1;
            }
            // `.ci/run` runs these commands; the first one is this test run, and the others build.
            ["cargo", "test", "--workspace"]
            | ["cargo", "install", "--path", "crates/cli"]
            | ["cargo", "build", "--package", "hello-toolset"]
            | ["cargo", "run", "-p", "repertoire", "--example", "embed" | "roles", ..]
            | ["cargo", "run", "-p", "agent-loop"] => {}
            _ => panic!("nothing tests `{command}`"),
        }
    }
    assert!(n_run >= 8, "{n_run} commands were run");
}

#[test]
fn the_page_on_first_steps_has_all_commands() {
    let page = PAGES[1];
    let (succeeded, help) = run(&["--help".to_owned()], "");
    assert!(succeeded);
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| `repertoire ")).collect();
    let commands = help.lines().filter_map(|line| line.strip_prefix("  ")?.split("  ").next());
    let commands: Vec<&str> = commands
        .filter(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase()))
        .collect();
    assert!(commands.len() > 30, "{commands:?}");
    for name in commands {
        let is_named = |row: &&str| {
            let words = row.split(['`', ' ', '|', ',']);
            words.map(|word| word.trim_end_matches('\\')).any(|word| word == name)
        };
        assert!(rows.iter().any(is_named), "`{name}` has no row");
    }
}
