//! The text about a skill that reaches the model, by the agent, the place where it was started, the place of
//! the skill, and the switches that the user set.

mod claude_code;
mod qwen;

use std::fs;
use std::path::Path;

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
    /// The directory in the project that the agent is started in.
    start: &'static str,
    adds: Adds,
}

const fn set_up(
    files: &'static [(&'static str, &'static str)],
    start: &'static str,
    adds: Adds,
) -> SetUp {
    SetUp { files, start, adds }
}

const SKILL: &str = "SKILL";
const TOOL: Adds = Line("call the `Skill` tool with `verse`");
const CLAUDE: (&str, &str) = ("p/.claude/skills/verse/SKILL.md", SKILL);
const SUB: &str = "packages/web";

#[test]
fn settings_that_cannot_be_read_turn_nothing_off() {
    let place = Place::new();
    write(&place, CLAUDE.0, CLAUDE.1);
    write(&place, "p/.git/HEAD", "");
    write(&place, "p/.claude/settings.json", "{\"skillOverrides\": {\"verse\": \"off\"}");
    let context = say(&place, "claude-code", &place.path().join("p"));
    assert!(context.contains("call the `Skill` tool with `verse`"), "{context}");
}

#[test]
fn codex() {
    const CODEX: (&str, &str) = ("p/.codex/skills/verse/SKILL.md", SKILL);
    const SHARED: (&str, &str) = ("p/.agents/skills/verse/SKILL.md", SKILL);
    const CONFIG: &str = "home/.codex/config.toml";
    check(
        "codex",
        &[
            set_up(&[CODEX], "", Line("read HERE/p/.codex/skills/verse/SKILL.md")),
            set_up(&[CODEX], SUB, Line("read HERE/p/.codex/skills/verse/SKILL.md")),
            set_up(&[SHARED], SUB, Line("read HERE/p/.agents/skills/verse/SKILL.md")),
            set_up(
                &[("home/.codex/skills/verse/SKILL.md", SKILL)],
                SUB,
                Line("read HERE/home/.codex/skills/verse/SKILL.md"),
            ),
            set_up(
                &[("p/.agents/skills/group/verse/SKILL.md", SKILL)],
                "",
                Line("read HERE/p/.agents/skills/group/verse/SKILL.md"),
            ),
            set_up(&[CLAUDE], SUB, Body),
            set_up(
                &[SHARED, (CONFIG, "[[skills.config]]\nname = \"verse\"\nenabled = false\n")],
                SUB,
                Nothing,
            ),
            set_up(
                &[
                    SHARED,
                    (
                        CONFIG,
                        "[[skills.config]]\npath = \"HERE/p/.agents/skills/verse/SKILL.md\"\n\
                     enabled = false\n",
                    ),
                ],
                "",
                Nothing,
            ),
            set_up(
                &[
                    SHARED,
                    (
                        CONFIG,
                        "skills.config = [{name = \"verse\", enabled = false}, \
                     {name = \"verse\", enabled = true}]\n",
                    ),
                ],
                "",
                Line("read "),
            ),
            set_up(
                &[
                    SHARED,
                    (
                        "p/.agents/skills/verse/agents/openai.yaml",
                        "policy:\n  allow_implicit_invocation: false\n",
                    ),
                ],
                SUB,
                Nothing,
            ),
            set_up(
                &[
                    ("home/.codex/plugins/cache/market/poetry/1.0.0/skills/verse/SKILL.md", SKILL),
                    (CONFIG, "[plugins.\"poetry@market\"]\nenabled = true\n"),
                ],
                SUB,
                Line(
                    "read HERE/home/.codex/plugins/cache/market/poetry/1.0.0/skills/verse/SKILL.md",
                ),
            ),
        ],
    );
}

#[test]
fn gemini() {
    const LINE: Adds = Line("call `activate_skill` with `verse`");
    const SHARED: (&str, &str) = ("p/.agents/skills/verse/SKILL.md", SKILL);
    const USER: &str = "home/.gemini/settings.json";
    const TRUST: &str = "home/.gemini/trustedFolders.json";
    check(
        "gemini",
        &[
            set_up(&[SHARED], "", LINE),
            // It looks only in the directory that it is started in.
            set_up(&[SHARED], SUB, Body),
            set_up(&[("p/packages/web/.gemini/skills/verse/SKILL.md", SKILL)], SUB, LINE),
            set_up(&[("home/.gemini/skills/verse/SKILL.md", SKILL)], SUB, LINE),
            set_up(
                &[
                    ("src/verse/SKILL.md", SKILL),
                    ("home/.gemini/skills/verse", "-> HERE/src/verse"),
                ],
                SUB,
                LINE,
            ),
            set_up(
                &[("home/.gemini/extensions/poetry/skills/verse/SKILL.md", SKILL)],
                "",
                Line("`activate_skill`"),
            ),
            set_up(
                &[
                    ("home/.gemini/extensions/poetry/skills/verse/SKILL.md", SKILL),
                    (
                        "home/.gemini/extensions/extension-enablement.json",
                        r#"{"poetry": {"overrides": ["!HERE/p/*"]}}"#,
                    ),
                ],
                "",
                Nothing,
            ),
            set_up(&[SHARED, (USER, r#"{"skills": {"disabled": ["Verse"]}}"#)], "", Nothing),
            set_up(&[SHARED, (USER, r#"{"skills": {"enabled": false}}"#)], "", Nothing),
            set_up(
                &[SHARED, ("p/.gemini/settings.json", r#"{"skills": {"disabled": ["verse"]}}"#)],
                "",
                Nothing,
            ),
            set_up(&[SHARED, (TRUST, r#"{"HERE/p": "TRUST_FOLDER"}"#)], "", LINE),
            set_up(&[SHARED, (TRUST, r#"{"HERE/p": "DO_NOT_TRUST"}"#)], "", Nothing),
        ],
    );
}

#[test]
fn copilot() {
    const LINE: Adds = Line("call the `skill` tool with `verse`");
    const GITHUB: (&str, &str) = ("p/.github/skills/verse/SKILL.md", SKILL);
    const USER: &str = "home/.copilot/settings.json";
    check(
        "copilot",
        &[
            set_up(&[GITHUB], SUB, LINE),
            set_up(&[CLAUDE], SUB, LINE),
            set_up(&[("home/.copilot/skills/verse/SKILL.md", SKILL)], "", LINE),
            set_up(&[("home/.agents/skills/verse/SKILL.md", SKILL)], "", LINE),
            set_up(&[("home/.claude/skills/verse/SKILL.md", SKILL)], "", Body),
            set_up(&[GITHUB, (USER, r#"{"disabledSkills": ["verse"]}"#)], SUB, Nothing),
            set_up(
                &[GITHUB, ("p/.github/copilot/settings.json", r#"{"disabledSkills": ["verse"]}"#)],
                SUB,
                Nothing,
            ),
            set_up(
                &[("src/verse/SKILL.md", SKILL), (USER, r#"{"skillDirectories": ["HERE/src"]}"#)],
                "",
                LINE,
            ),
            set_up(
                &[("home/.copilot/installed-plugins/market/poetry/skills/verse/SKILL.md", SKILL)],
                "",
                Line("call the `skill` tool with"),
            ),
        ],
    );
}

#[test]
fn opencode() {
    const LINE: Adds = Line("call the `skill` tool with `verse`");
    const OWN: (&str, &str) = ("p/.opencode/skills/verse/SKILL.md", SKILL);
    check(
        "opencode",
        &[
            set_up(&[OWN], SUB, LINE),
            set_up(&[CLAUDE], SUB, LINE),
            set_up(&[("home/.config/opencode/skill/verse/SKILL.md", SKILL)], SUB, LINE),
            set_up(
                &[OWN, ("p/opencode.json", r#"{"permission": {"skill": {"verse": "deny"}}}"#)],
                SUB,
                Nothing,
            ),
            set_up(
                &[
                    OWN,
                    (
                        "p/opencode.jsonc",
                        r#"{"permission": {"skill": {"*": "deny", "v*": "allow"}}} // x"#,
                    ),
                ],
                "",
                LINE,
            ),
            set_up(
                &[
                    OWN,
                    (
                        "p/opencode.json",
                        r#"{"permission": {"skill": {"v*": "allow", "ver*": "deny"}}}"#,
                    ),
                ],
                "",
                Nothing,
            ),
            set_up(
                &[
                    OWN,
                    ("home/.config/opencode/opencode.json", r#"{"permission": {"skill": "deny"}}"#),
                ],
                SUB,
                Nothing,
            ),
            set_up(
                &[
                    ("src/verse/SKILL.md", SKILL),
                    ("p/opencode.json", r#"{"skills": {"paths": ["../src"]}}"#),
                ],
                "",
                LINE,
            ),
        ],
    );
}

/// Checks each set-up in each channel: a message, `list --agent` and `why --agent`.
fn check(agent: &str, set_ups: &[SetUp]) {
    for SetUp { files, start, adds } in set_ups {
        let place = Place::new();
        let here = place.path().to_str().unwrap().to_owned();
        let start = place.path().join("p").join(start);
        fs::create_dir_all(&start).unwrap();
        fs::create_dir_all(place.path().join("p/.git")).unwrap();
        for (path, content) in *files {
            write(&place, path, &content.replace("HERE", &here));
        }
        let context = say(&place, agent, &start);
        let case = format!("{agent} in {}: {files:?}: {context}", start.display());
        let line = |words: &str| {
            let words = words.replace("HERE", &here);
            context.lines().any(|line| line.contains("use this skill: ") && line.contains(&words))
        };
        match adds {
            Line(words) => assert!(line(words) && !context.contains("Rhyme it."), "{case}"),
            Body => assert!(context.contains("Rhyme it.") && !line("verse"), "{case}"),
            Nothing => assert!(!context.contains("verse"), "{case}"),
        }
        let id = check_list(&place, agent, &start, *adds, &case);
        if let Some(id) = id {
            check_why(&place, agent, &start, (&id, *adds), &case);
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
fn run(place: &Place, start: &Path, args: &[&str], input: &str) -> Run {
    let mut command = place.command(args);
    command.current_dir(start);
    for variable in ["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "QWEN_PROJECT_DIR"] {
        command.env(variable, start);
    }
    finish(command, input.as_bytes())
}

fn say(place: &Place, agent: &str, start: &Path) -> String {
    let name = if agent == "gemini" { "BeforeAgent" } else { "UserPromptSubmit" };
    let call = json!({
        "hook_event_name": name, "session_id": "s", "cwd": start, "prompt": MESSAGE,
    });
    let run = run(place, start, &["hook", agent, "--deadline", "60"], &call.to_string()).exits(0);
    assert_eq!(run.stderr, "");
    let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
    let contexts = ["/hookSpecificOutput/additionalContext", "/additionalContext", "/context"];
    let context = contexts.into_iter().find_map(|at| answer.pointer(at)?.as_str());
    context.unwrap_or_default().to_owned()
}

/// Checks the list of skills for the agent, and returns the id of the skill.
fn check_list(place: &Place, agent: &str, start: &Path, adds: Adds, case: &str) -> Option<String> {
    let listed =
        run(place, start, &["list", "--agent", agent, "--bundled=off", "--json"], "").json();
    let skill = listed["skills"].as_array().unwrap().iter().find(|skill| skill["name"] == "verse");
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

fn check_why(place: &Place, agent: &str, start: &Path, (id, adds): (&str, Adds), case: &str) {
    run(place, start, &["hook", "install", agent], "").exits(0);
    let args = ["why", id, MESSAGE, "--agent", agent, "--json"];
    let verdict = run(place, start, &args, "").json();
    let code = verdict["code"].as_str().unwrap();
    let is_right = match adds {
        Line(_) => code == "native",
        Body => code == "fires",
        Nothing => code == "disabled" || code == "not-for-model",
    };
    assert!(is_right, "{case}\n{verdict:#}");
}
