//! Commands on a terminal of 60 columns and 20 rows: questions, choices, widths and pages.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::{assert_contains, assert_lacks};
use crate::binary::Place;

/// The time in which everything must appear; a debug build on a busy machine is slow.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command that runs on a terminal.
struct Session {
    child: std::process::Child,
    main: File,
    /// The text that the command wrote so far.
    told: Arc<Mutex<String>>,
}

impl Session {
    fn start(mut command: Command) -> Session {
        let flags = rustix::pty::OpenptFlags::RDWR | rustix::pty::OpenptFlags::NOCTTY;
        let main = rustix::pty::openpt(flags).unwrap();
        rustix::pty::unlockpt(&main).unwrap();
        let path = rustix::pty::ptsname(&main, Vec::new()).unwrap().into_string().unwrap();
        let main = File::from(main);
        let open = || File::options().read(true).write(true).open(&path).unwrap();
        let sized = Command::new("stty").args(["cols", "60", "rows", "20"]).stdin(open()).status();
        assert!(sized.unwrap().success());
        command.env("TERM", "xterm-256color").env_remove("PAGER").env_remove("LESS");
        let child = command.stdin(open()).stdout(open()).stderr(open()).spawn().unwrap();
        // The command keeps the other side of the terminal open.
        drop(command);
        let told = Arc::new(Mutex::new(String::new()));
        let (mut reader, heard) = (main.try_clone().unwrap(), Arc::clone(&told));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n @ 1..) = reader.read(&mut bytes) {
                *heard.lock().unwrap() += &String::from_utf8_lossy(&bytes[..n]);
            }
        });
        Session { child, main, told }
    }

    fn told(&self) -> String {
        self.told.lock().unwrap().clone()
    }

    /// Waits until the command has written `text`.
    fn wait_for(&self, text: &str) {
        let start = Instant::now();
        while !self.told().contains(text) {
            assert!(start.elapsed() < PATIENCE, "`{text}` is not in:\n{}", self.told());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn press(&mut self, keys: &str) {
        self.main.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for the end, and returns the exit code and all that was written.
    fn end(mut self) -> (i32, String) {
        let start = Instant::now();
        let code = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status.code().unwrap();
            }
            assert!(start.elapsed() < PATIENCE, "it still runs:\n{}", self.told());
            std::thread::sleep(Duration::from_millis(20));
        };
        std::thread::sleep(Duration::from_millis(100));
        (code, self.told())
    }
}

/// Returns a source with `n` skills.
fn source(n: usize) -> Place {
    let place = Place::new();
    for i in 0..n {
        let id = format!("skill-{i:02}");
        let text = format!("---\nname: {id}\ndescription: Does thing {i}.\n---\nDo it.\n");
        place.write(&format!("from/skills/{id}/SKILL.md"), text);
    }
    place
}

#[test]
fn the_skills_of_a_large_source_are_chosen() {
    let place = source(8);
    let mut add = Session::start(place.command(["add", "./from", "--name", "some"]));
    add.wait_for("skill-07");
    // The second and the fourth.
    add.press("\x1b[B \x1b[B\x1b[B \r");
    let (code, told) = add.end();
    assert_eq!(code, 0, "{told}");
    let config =
        std::fs::read_to_string(place.path().join("home/.repertoire/config.toml")).unwrap();
    assert_contains(&config, &["skill-01", "skill-03"]);
    assert_lacks(&config, &["skill-00", "skill-02", "skill-07"]);

    // Who leaves the choice gets nothing; few skills, and `--all`, are no question.
    let mut add = Session::start(place.command(["add", "./from", "--name", "none"]));
    add.wait_for("skill-07");
    add.press("\x1b");
    assert_contains(&add.end().1, &["nothing is added"]);
    for (n, args) in [(3, &["add", "./from", "--name", "x"][..]), (8, &["add", "./from", "--all"])]
    {
        let place = source(n);
        let (code, told) = Session::start(place.command(args)).end();
        assert_eq!(code, 0, "{told}");
        assert_contains(&told, &["skill-02"]);
    }
}

#[test]
fn init_asks_which_agents_and_for_a_name() {
    let place = Place::new();
    place.write("home/.gemini/settings.json", "{}");
    place.write("home/.claude/settings.json", "{}");
    place.write("project/x", "");
    let mut command = place.command(["init"]);
    command.current_dir(place.path().join("project")).env("PATH", "");
    let mut init = Session::start(command);
    init.wait_for("Gemini CLI");
    // Claude Code is unmarked.
    init.press(" \r");
    init.wait_for("Name of your first skill");
    init.press("\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08my-words\r");
    let (code, told) = init.end();
    assert_eq!(code, 0, "{told}");
    let home = place.path().join("home");
    assert!(home.join(".repertoire/skills/my-words/SKILL.md").exists(), "{told}");
    let hooks = |path: &str| std::fs::read_to_string(home.join(path)).unwrap().contains("hooks");
    assert!(!hooks(".claude/settings.json") && hooks(".gemini/settings.json"), "{told}");
}

#[test]
fn patterns_are_cut_to_the_width_of_the_terminal() {
    let place = Place::new();
    let pattern = format!("alpha (one|{})", "two|three|four|".repeat(30) + "five");
    let text =
        format!("---\nname: a\ndescription: D.\ntriggers: {{patterns: ['{pattern}']}}\n---\nX\n");
    place.write("skills/a/SKILL.md", text);
    for args in [&["show", "a"][..], &["match", "please alpha four now"]] {
        let mut command = place.command(args.iter().chain(&["--source", "skills"]));
        command.env("NO_COLOR", "1");
        let (code, told) = Session::start(command).end();
        assert_eq!(code, 0, "{told}");
        let long: Vec<&str> = told.lines().filter(|line| line.contains("alpha (one|")).collect();
        assert!(!long.is_empty(), "{told}");
        for line in long {
            assert!(line.trim_end().chars().count() <= 60 && line.contains('…'), "{line}");
        }
        let piped = place.run(args.iter().chain(&["--source", "skills"])).exits(0).stdout;
        assert_contains(&piped, &[&pattern]);
    }
}

#[test]
fn a_long_list_is_paged_and_a_short_one_is_not() {
    for (n, is_paged) in [(40, true), (3, false)] {
        let place = source(n);
        let mut command = place.command(["list", "--source", "from/skills"]);
        command.env("NO_COLOR", "1").env("PATH", "/usr/bin:/bin");
        let mut list = Session::start(command);
        if is_paged {
            list.wait_for("skill-10");
            list.press("q");
        }
        let (code, told) = list.end();
        assert_eq!(code, 0, "{told}");
        assert_eq!(!told.contains(&format!("skill-{:02}", n - 1)), is_paged, "{told}");
    }
    // Nobody turns pages where there is no terminal.
    let place = source(40);
    let piped = place.run(["list", "--source", "from/skills"]).exits(0);
    assert_contains(&piped.stdout, &["skill-39"]);
}

#[test]
fn a_server_that_is_typed_says_for_whom_it_waits() {
    for (command, told) in [("mcp", "`repertoire mcp install AGENT`"), ("lsp", "an editor starts")]
    {
        let place = Place::new();
        let mut server = Session::start(place.command([command]));
        server.wait_for(told);
        server.press("\x04");
        server.end();
    }
}
