//! The text about a skill that reaches the model, by the agent, the place where it was started, the place of
//! the skill, and the switches that the user set.

mod claude_code;
mod codex;
mod commands;
mod copilot;
mod droid;
mod gemini;
mod opencode;
mod qwen;

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::binary::{Place, Run, finish};

/// The message that calls for the skill.
const MESSAGE: &str = "a limerick, please";

/// The addition to the context about the skill.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Adds {
    /// A line that has this text: the agent has the skill itself.
    Line(&'static str),
    /// The instructions.
    Body,
    /// Nothing.
    Nothing,
}
use Adds::{Body, Line, Nothing};

/// A set-up: files by their paths, whose content `SKILL` stands for the skill, and `-> PATH` for a link.
struct SetUp {
    files: &'static [(&'static str, &'static str)],
    /// The directory in the project that the agent is started in; `../` leads beside the project.
    start: &'static str,
    /// The variables that the agent and its hook have.
    variables: &'static [(&'static str, &'static str)],
    adds: Adds,
}

impl SetUp {
    const fn with(mut self, variables: &'static [(&'static str, &'static str)]) -> SetUp {
        self.variables = variables;
        self
    }
}

const fn set_up(
    files: &'static [(&'static str, &'static str)],
    start: &'static str,
    adds: Adds,
) -> SetUp {
    SetUp { files, start, variables: &[], adds }
}

const SKILL: &str = "SKILL";
const TOOL: Adds = Line("call the `Skill` tool with `verse`");
const CLAUDE: (&str, &str) = ("p/.claude/skills/verse/SKILL.md", SKILL);
const SUB: &str = "packages/web";
/// A skill without a `name`.
const UNNAMED: &str = "---\ndescription: Writes verse.\ntriggers: [limerick]\n---\nRhyme it.\n";
/// Front matter that does not begin on the first line.
const LATE: &str =
    "\n---\nname: verse\ndescription: Writes verse.\ntriggers: [limerick]\n---\nRhyme it.\n";
/// A skill without a `description`.
const UNDESCRIBED: &str = "---\nname: verse\ntriggers: [limerick]\n---\nRhyme it.\n";
/// Front matter that is not valid YAML, which this program repairs.
const REPAIRED: &str = "---\nname: verse\ndescription: Writes verse. Use when: asked\n\
                        triggers: [limerick]\n---\nRhyme it.\n";
/// A byte order mark before the front matter.
const MARKED: &str =
    "\u{feff}---\nname: verse\ndescription: Writes verse.\ntriggers: [limerick]\n---\nRhyme it.\n";
/// A worktree beside the project.
const WORKTREE: [(&str, &str); 3] = [
    ("wt/.git", "gitdir: HERE/p/.git/worktrees/wt\n"),
    ("p/.git/worktrees/wt/gitdir", "HERE/wt/.git\n"),
    ("p/.git/worktrees/wt/commondir", "../..\n"),
];

#[test]
fn settings_that_cannot_be_read_turn_nothing_off() {
    let place = Place::new();
    write(&place, CLAUDE.0, CLAUDE.1);
    write(&place, "p/.git/HEAD", "");
    write(&place, "p/.claude/settings.json", "{\"skillOverrides\": {\"verse\": \"off\"}");
    let start = Started { dir: place.path().join("p"), variables: Vec::new() };
    let context = say(&place, "claude-code", &start);
    assert!(context.contains("call the `Skill` tool with `verse`"), "{context}");
}

/// The place and the variables with which the agent was started.
struct Started {
    dir: PathBuf,
    variables: Vec<(&'static str, String)>,
}

/// Checks each set-up in each channel: a message, `list --agent` and `why --agent`.
fn check(agent: &str, set_ups: &[SetUp]) {
    for SetUp { files, start, variables, adds } in set_ups {
        let place = Place::new();
        let here = place.path().to_str().unwrap().to_owned();
        let start = match start.strip_prefix("../") {
            Some(beside) => place.path().join(beside),
            None => place.path().join("p").join(start),
        };
        let variables: Vec<(&str, String)> =
            variables.iter().map(|(name, value)| (*name, value.replace("HERE", &here))).collect();
        let start = &Started { dir: start, variables };
        fs::create_dir_all(&start.dir).unwrap();
        fs::create_dir_all(place.path().join("p/.git")).unwrap();
        for (path, content) in *files {
            write(&place, path, &content.replace("HERE", &here));
        }
        let context = say(&place, agent, start);
        let case = format!("{agent} in {}: {files:?}: {context}", start.dir.display());
        let line = |words: &str| {
            let words = words.replace("HERE", &here);
            context.lines().any(|line| line.contains("use this skill: ") && line.contains(&words))
        };
        match adds {
            Line(words) => assert!(line(words) && !context.contains("Rhyme it."), "{case}"),
            Body => assert!(context.contains("Rhyme it.") && !line("verse"), "{case}"),
            Nothing => assert!(!context.contains("verse"), "{case}"),
        }
        let id = check_list(&place, agent, start, *adds, &case);
        if let Some(id) = id {
            check_why(&place, agent, start, (&id, *adds), &case);
        }
    }
}

fn write(place: &Place, path: &str, content: &str) {
    let skill =
        "---\nname: verse\ndescription: Writes verse.\ntriggers: [limerick]\n---\nRhyme it.\n";
    match content.strip_prefix("-> ") {
        Some(target) => {
            let link = place.path().join(path);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(target, link).unwrap();
        }
        None => place.write(path, if content == SKILL { skill } else { content }),
    }
}

/// Runs the binary in `start`, as the agent that was started there would.
fn run(place: &Place, start: &Started, args: &[&str], input: &str) -> Run {
    let mut command = place.command(args);
    command.current_dir(&start.dir);
    for variable in
        ["CLAUDE_PROJECT_DIR", "FACTORY_PROJECT_DIR", "GEMINI_PROJECT_DIR", "QWEN_PROJECT_DIR"]
    {
        command.env(variable, &start.dir);
    }
    command.envs(start.variables.iter().map(|(name, value)| (*name, value)));
    finish(command, input.as_bytes())
}

fn say(place: &Place, agent: &str, start: &Started) -> String {
    says(place, agent, start, MESSAGE)
}

/// Returns what the hook of the agent adds to `message`, the first one of a conversation.
fn says(place: &Place, agent: &str, start: &Started, message: &str) -> String {
    let name = if agent == "gemini" { "BeforeAgent" } else { "UserPromptSubmit" };
    let call = json!({
        "hook_event_name": name, "session_id": message, "cwd": start.dir, "prompt": message,
    });
    let run = run(place, start, &["hook", agent, "--deadline", "60"], &call.to_string()).exits(0);
    assert_eq!(run.stderr, "");
    let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
    let contexts = ["/hookSpecificOutput/additionalContext", "/additionalContext", "/context"];
    let context = contexts.into_iter().find_map(|at| answer.pointer(at)?.as_str());
    context.unwrap_or_default().to_owned()
}

/// Checks the list of skills for the agent, and returns the id of the skill.
fn check_list(
    place: &Place,
    agent: &str,
    start: &Started,
    adds: Adds,
    case: &str,
) -> Option<String> {
    let listed =
        run(place, start, &["list", "--agent", agent, "--bundled=off", "--json"], "").json();
    let is_verse = |skill: &&Value| {
        skill["name"].as_str().is_some_and(|name| name.eq_ignore_ascii_case("verse"))
    };
    let skill = listed["skills"].as_array().unwrap().iter().find(is_verse);
    let usable = skill.filter(|skill| skill["status"] == "available" && skill["reason"].is_null());
    let is_native = usable.map(|skill| skill["native"] == true);
    let wanted = match adds {
        Line(_) => Some(true),
        Body => Some(false),
        Nothing => None,
    };
    assert_eq!(is_native, wanted, "{case}\n{listed:#}");
    skill.and_then(|skill| skill["id"].as_str()).map(str::to_owned)
}

fn check_why(place: &Place, agent: &str, start: &Started, (id, adds): (&str, Adds), case: &str) {
    run(place, start, &["hook", "install", agent], "").exits(0);
    let args = ["why", id, MESSAGE, "--agent", agent, "--json"];
    let verdict = run(place, start, &args, "").json();
    let code = verdict["code"].as_str().unwrap();
    let is_right = match adds {
        Line(_) => code == "native",
        // Codex runs no hook that nobody trusted.
        Body => code == if agent == "codex" { "no-hook" } else { "fires" },
        Nothing => code == "disabled" || code == "not-for-model",
    };
    assert!(is_right, "{case}\n{verdict:#}");
}
