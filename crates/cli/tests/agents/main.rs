//! Real agent programs with the hooks of this repository. The model is a server on the loopback
//! interface that records the requests. Needs npm, and some 1.5 GB below `target` for the programs.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

#[path = "../support/binary.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod binary;
#[path = "../../src/live"]
mod live {
    //! The model and the programs, shared with `repertoire doctor --live`.
    pub(crate) mod model;
    pub(crate) mod programs;
    pub(crate) mod protocol;
}
mod many;
#[path = "../support/npm.rs"]
mod npm;
mod programs;
mod recording;
#[path = "../support/trial.rs"]
mod trial;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use binary::Place;
use live::model::Model;
use live::protocol::Protocol;
use programs::{AGENTS, Agent};
use recording::Recording;
use serde_json::Value;
use trial::{BODY, FILE_BODY, NATIVE_BODY};

/// Texts to look for in requests, in addition to those of the project.
const LIST: &str = "- release-notes: Writes release notes from what was merged.";
const NATIVE_LINE: &str = "verse: use this skill: ";

/// The deadline of hooks, in seconds, which is generous: the test checks what reaches the model, not the speed
/// of a debug build on a busy machine.
const DEADLINE: &str = "300";

/// The checks, in the order of the matrix's columns.
const CELLS: [&str; 12] = [
    "list", "matching message", "resume", "second match", "its own skill", "unrelated", "by file",
    "compaction", "uninstall", "MCP list", "MCP call", "package",
];

/// A cell of the matrix: `Some(true)` if the behaviour is right, `None` if the agent has a limit that the
/// page names; and what the test saw.
type Cell = (Option<bool>, String);

/// The page that contains the matrix, and the lines before and after it.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/agents.md");
const FROM: &str = "<!-- matrix: written by crates/cli/tests/agents -->\n";
const TO: &str = "<!-- end of the matrix -->\n";

/// Installs the programs once, and returns true if they are available.
fn are_installed() -> bool {
    static INSTALLED: LazyLock<bool> = LazyLock::new(|| {
        if std::env::var_os("REPERTOIRE_AGENTS").is_none() {
            eprintln!(
                "SKIPPED: the real agents are run by `.ci/full agents`, or with `REPERTOIRE_AGENTS=all`"
            );
            return false;
        }
        if !npm::has_npm() {
            eprintln!("SKIPPED: there is no npm, or no registry, to install the real agents from");
            return false;
        }
        chosen().for_each(Agent::install_program);
        true
    });
    *INSTALLED
}

/// Returns the agents that `REPERTOIRE_AGENTS` names, or else all of them.
fn chosen() -> impl Iterator<Item = &'static Agent> {
    let named = std::env::var("REPERTOIRE_AGENTS").unwrap_or_default();
    let is_any = AGENTS.iter().any(|agent| named.contains(agent.program.agent));
    AGENTS.iter().filter(move |agent| !is_any || named.contains(agent.program.agent))
}

#[test]
fn doctor_says_what_reaches_the_model_of_each_agent() {
    if !are_installed() {
        return;
    }
    let place = Place::new();
    for agent in chosen() {
        let run = live(&place, agent, place.path());
        assert!(run.stdout.contains(agent.version), "{}", run.stdout);
        let (apart, _) = run.stdout.split_once("here, with a copy").unwrap();
        assert_eq!(apart.matches("  yes ").count(), 5, "{}", run.stdout);
    }
}

/// Runs `doctor --live` for `agent` in `dir`.
fn live(place: &Place, agent: &Agent, dir: &Path) -> binary::Run {
    let mut command = place.command(["doctor", "--live", agent.program.agent]);
    command.env("PATH", agent.path()).current_dir(dir);
    binary::finish(command, b"")
}

#[test]
fn doctor_says_what_an_agent_gets_where_its_user_starts_it() {
    let claude_code = &AGENTS[0];
    if !are_installed() || !chosen().any(|agent| agent.program.agent == "claude-code") {
        return;
    }
    for (dir, settings, lines) in [
        ("p", "{}", ["  yes the list of skills", "2 listed, 0 off"]),
        (
            "p",
            r#"{"skillOverrides": {"verse": "off"}}"#,
            ["1 listed, 1 off", "  yes silence about skills that it does not list"],
        ),
        ("p", r#"{"disableAllHooks": true}"#, ["  no  the list of skills", "`disableAllHooks`"]),
        ("p/sub", "{}", ["  no  the list of skills", "Claude Code does not read "]),
    ] {
        let place = Place::new();
        for name in ["verse", "prose"] {
            let text = format!("---\nname: {name}\ndescription: Writes {name}.\n---\nBody.\n");
            place.write(&format!("p/.claude/skills/{name}/SKILL.md"), text);
        }
        place.write("p/.git/HEAD", "");
        place.write("p/sub/x", "");
        let mut install = place.command(["hook", "install", "claude-code", "--project"]);
        install.current_dir(place.path().join("p"));
        binary::finish(install, b"").exits(0);
        place.write("p/.claude/settings.local.json", settings);
        let run = live(&place, claude_code, &place.path().join(dir));
        let (_, here) = run.stdout.split_once("here, with a copy").unwrap();
        for line in lines {
            assert!(here.contains(line), "{settings} in {dir}: {}", run.stdout);
        }
    }
}

#[test]
fn what_reaches_the_model_is_what_it_should() {
    if !are_installed() {
        return;
    }
    let mut matrix =
        format!("| agent | {} |\n|---|{}\n", CELLS.join(" | "), "---|".repeat(CELLS.len()));
    let mut wrong = Vec::new();
    // Agents mostly wait, so running them all at once takes a third of the time.
    let conversations: Vec<_> = std::thread::scope(|scope| {
        let running: Vec<_> = chosen().map(|agent| scope.spawn(move || converse(agent))).collect();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    });
    for (agent, (cells, recording)) in chosen().zip(&conversations) {
        let _ = write!(matrix, "| {} {} |", agent.program.title, agent.version);
        for (cell, (is_right, requests)) in CELLS.iter().zip(cells) {
            matrix.push_str(match is_right {
                Some(true) => " ✓ |",
                Some(false) => " ✗ |",
                None => " – |",
            });
            if *is_right == Some(false) {
                let title = agent.program.title;
                wrong.push(format!("{title} {}, {cell}: {requests}", agent.version));
            }
        }
        matrix.push('\n');
        wrong.extend(recording.differs(agent));
    }
    eprintln!("{matrix}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    if conversations.len() < AGENTS.len() {
        return;
    }
    let page = fs::read_to_string(PAGE).unwrap();
    let (before, rest) = page.split_once(FROM).unwrap();
    let (_, after) = rest.split_once(TO).unwrap();
    if recording::is_wanted() {
        let new = format!("{before}{FROM}{matrix}\nRecorded on {}.\n{TO}{after}", today());
        fs::write(PAGE, new).unwrap();
    } else {
        assert!(rest.starts_with(&matrix), "write the matrix with `REPERTOIRE_RECORD=1`");
    }
}

#[test]
fn of_two_hundred_skills_the_right_one_is_described() {
    each(many::of_two_hundred);
}

#[test]
fn of_sixty_skills_little_is_added_and_nothing_twice() {
    each(many::of_sixty);
}

/// Tries `wrong` with each agent, one after the other, as programs that wait for each other would tell of the machine.
fn each(wrong: fn(&Agent) -> Option<String>) {
    if are_installed() {
        let wrong: Vec<String> = chosen().filter_map(wrong).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

/// Returns today's date in the form `YYYY-MM-DD`.
fn today() -> String {
    let output = Command::new("date").args(["-u", "+%F"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// An agent in its own project, with its own model server.
struct Trial<'a> {
    agent: &'a Agent,
    place: Place,
    model: Model,
}

impl Trial<'_> {
    fn run(&self, command: &str, action: &str) {
        self.place.run([command, action, self.agent.program.agent]).exits(0);
    }

    /// Sends `message` to the agent. Returns its request to the model, or a text that says why there is
    /// none.
    fn say(&self, message: &str, resumes: bool) -> Value {
        let Trial { agent, place, model } = self;
        let n_before = model.requests().len();
        let output = agent.run(place, model, message, resumes);
        let asked = model.request(n_before, message).or_else(|| {
            // An agent that makes itself at home may end without a request, so try once more.
            agent.run(place, model, message, resumes);
            model.request(n_before, message)
        });
        asked.unwrap_or_else(|| {
            let n_requests = model.requests().len() - n_before;
            Value::String(format!("not in {n_requests} requests: {message}: {output}"))
        })
    }

    /// Runs a conversation with hooks, and one after the hooks were removed.
    fn with_hooks(&self) -> (Vec<Cell>, Recording) {
        let agent = self.agent.program.agent;
        self.place.run(["hook", "install", agent, "--deadline", DEADLINE]).exits(0);
        recording::begin(self.agent, &self.place);
        let first = self.say("draft the release notes for 1.2", false);
        let mut cells = vec![once(&first, LIST), is(&first, [1, 1, 0, 0])];
        cells.push(is(&self.say("thanks so far", true), [1, 1, 0, 0]));
        cells.push(is(&self.say("the release notes once more", true), [1, 1, 0, 0]));
        cells.push(is(&self.say("a limerick about it, please", true), [1, 1, 1, 0]));
        cells.push(is(&self.say("what is the capital of France?", true), [1, 1, 1, 0]));
        cells.push(self.by_file());
        let before = Recording::read(self.agent, &self.place);
        cells.push(self.after_compaction());
        // A replay lacks Gemini's own record of the conversation, which tells the hook that the context
        // was compressed.
        let is_replayed = self.agent.program.agent != "gemini";
        let all = Recording::read(self.agent, &self.place);
        // Print the hook's log, which explains wrong cells.
        let log = self.place.path().join("home/.local/state/repertoire/hook.log");
        eprint!("{}", fs::read_to_string(log).unwrap_or_default());
        self.run("hook", "uninstall");
        cells.push(is(&self.say("draft the release notes for 1.3", false), [0, 0, 0, 0]));
        (cells, if is_replayed { all } else { before })
    }

    fn by_file(&self) -> Cell {
        let Some(call) = self.agent.by_file else { return (None, String::new()) };
        let style = self.place.path().join("style.css");
        let call = call.replace("STYLE", &style.display().to_string());
        once(&self.say(&format!("look at it {call}"), true), FILE_BODY)
    }

    fn after_compaction(&self) -> Cell {
        let Some(shortens) = self.agent.shortens else { return (None, String::new()) };
        let shortens = shortens.replace("LONG", &"All is well. ".repeat(2000));
        let output = self.agent.run(&self.place, &self.model, &shortens, true);
        // Each line is given once, so after a compression it is no longer in the conversation.
        let (is_right, told) = is(&self.say("and now on we go", true), [1, 1, 0, 0]);
        (is_right, format!("{told}; {output}"))
    }

    /// Begins conversations with `message` until one has the `tool` of the server, as some agents do not
    /// wait for a server that starts slowly.
    fn say_with_server(&self, message: &str, tool: &str) -> Value {
        const MAX_CONVERSATIONS: usize = 5;
        let mut said = self.say(message, false);
        for n in 1..MAX_CONVERSATIONS {
            if count(&said, tool) > 0 {
                break;
            }
            said = self.say(&format!("{message} ({n})"), false);
        }
        said
    }

    /// Runs a conversation with the MCP server.
    fn with_server(&self) -> [Cell; 2] {
        self.run("mcp", "install");
        programs::wait_for_server(&self.place);
        let names = ["find_skills", "use_skill", "read_skill_file"];
        let message = "begin [[call use_skill skill=release-notes]]";
        let called = self.say_with_server(message, "find_skills");
        let offered = Protocol::tools(&called);
        let has = |name: &str| offered.iter().filter(|tool| tool.ends_with(name)).count() == 1;
        // Qwen Code names the tools in a text, and calls them through another tool.
        let is_named = |name: &str| count(&called, &format!("__{name}")) > 0;
        let is_deferred = self.agent.defers_tools && !names.into_iter().any(has);
        let has_all = names.into_iter().all(|name| has(name) || is_deferred && is_named(name));
        let used = if is_deferred { (None, String::new()) } else { once(&called, BODY) };
        let cells = [(Some(has_all), format!("{offered:?}")), used];
        self.run("mcp", "uninstall");
        cells
    }

    /// Runs a conversation with the package, if the agent supports packages.
    fn with_package(&self) -> Cell {
        let Trial { agent, place, model } = self;
        if !agent.has_package {
            return (None, String::new());
        }
        let package = ["package", agent.program.agent, "--deadline", DEADLINE, "--json"];
        let written = place.run(package).exits(0).json();
        for line in written["install"].as_array().unwrap() {
            let words = line.as_str().unwrap().split(' ').chain(agent.consents.iter().copied());
            agent.execute(place, model, &words.collect::<Vec<_>>());
        }
        let packaged = self.say_with_server("the release notes for 1.4, then", "use_skill");
        let has_tool = if agent.defers_tools {
            count(&packaged, "call `use_skill`") == 1
        } else {
            Protocol::tools(&packaged).iter().any(|tool| tool.ends_with("use_skill"))
        };
        // The list must come from the hook alone.
        let (is_right, told) = is(&packaged, [1, 1, 0, 0]);
        let doctor = place.run(["doctor", "--json", "--bundled=off"]).json();
        let is_known =
            doctor["agents"].as_array().unwrap().iter().any(|report| {
                report["agent"] == agent.program.agent && report["place"] == "plugin"
            });
        let told = format!("{told}; its tools: {has_tool}; known to `doctor`: {is_known}");
        (is_right.map(|is_right| is_right && has_tool && is_known), told)
    }
}

/// Runs everything that is tried with one agent, in the order of the matrix.
fn converse(agent: &Agent) -> (Vec<Cell>, Recording) {
    let place = trial::project(agent.own_skills);
    programs::git_init(place.path());
    let trial = Trial { agent, place, model: Model::start().unwrap() };
    agent.configure(&trial.place, &trial.model);
    let (mut cells, recording) = trial.with_hooks();
    cells.extend(trial.with_server());
    cells.push(trial.with_package());
    (cells, recording)
}

/// Tells whether `request` contains the list, the body, the native line and the native body this many
/// times each.
fn is(request: &Value, wanted: [usize; 4]) -> Cell {
    let seen = [LIST, BODY, NATIVE_LINE, NATIVE_BODY].map(|of| count(request, of));
    let told = format!("list, body, line, body of its own: {seen:?}, not {wanted:?} ");
    (Some(seen == wanted && request.is_object()), told + request.as_str().unwrap_or_default())
}

fn once(request: &Value, text: &str) -> Cell {
    let n_times = count(request, text);
    let told = format!("`{text}` {n_times} times {}", request.as_str().unwrap_or_default());
    (Some(n_times == 1), told)
}

fn count(request: &Value, text: &str) -> usize {
    request.to_string().matches(text).count()
}
