//! The reason why a skill did not fire, found with one command in each of thirteen set-ups. The table of
//! `docs/agents.md` holds the commands and the sentences that they print.

use std::fs;
use std::path::Path;

use crate::binary::{Place, Run, finish};

/// A set-up: its name in the table, files, the directory of the user in the project, the options of
/// `hook install`, and the command.
struct SetUp {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    start: &'static str,
    options: &'static [&'static str],
    command: &'static [&'static str],
}

pub(crate) const SKILL: &str =
    "---\nname: verse\ndescription: Writes verse.\ntriggers: [limerick]\n---\nRhyme it.\n";
const WHY: &[&str] = &["why", "verse", "a limerick, please", "--agent", "claude-code"];
const DOCTOR: &[&str] = &["doctor", "--bundled=off"];
const OWN: (&str, &str) = ("p/.repertoire/skills/verse/SKILL.md", SKILL);
const NATIVE: (&str, &str) = ("p/.claude/skills/verse/SKILL.md", SKILL);

const SET_UPS: [SetUp; 13] = [
    SetUp {
        name: "started in a subdirectory",
        files: &[OWN],
        start: "sub",
        options: &["--project"],
        command: DOCTOR,
    },
    SetUp {
        name: "switched off",
        files: &[NATIVE, ("p/.claude/settings.json", r#"{"skillOverrides": {"verse": "off"}}"#)],
        start: "",
        options: &[],
        command: WHY,
    },
    SetUp { name: "no trust", files: &[OWN], start: "", options: &["codex"], command: DOCTOR },
    SetUp {
        name: "keyword missing",
        files: &[OWN],
        start: "",
        options: &[],
        command: &["why", "verse", "rhyme this", "--agent", "claude-code"],
    },
    SetUp {
        name: "typo",
        files: &[OWN],
        start: "",
        options: &[],
        command: &["why", "verse", "a limrick, please", "--agent", "claude-code"],
    },
    SetUp {
        name: "over budget",
        files: &[("p/.repertoire/skills/verse/SKILL.md", "LONG")],
        start: "",
        options: &[],
        command: WHY,
    },
    SetUp {
        name: "in a plugin",
        files: &[
            ("poetry/skills/verse/SKILL.md", SKILL),
            (
                "home/.claude/plugins/installed_plugins.json",
                r#"{"version": 2, "plugins": {"poetry@m": [{"installPath": "HERE/poetry"}]}}"#,
            ),
            ("p/.claude/settings.json", r#"{"enabledPlugins": {"poetry@m": true}}"#),
        ],
        start: "",
        options: &[],
        command: &["why", "poetry/verse", "a limerick, please", "--agent", "claude-code"],
    },
    SetUp {
        name: "in the agent's own directory",
        files: &[NATIVE],
        start: "sub",
        options: &[],
        command: WHY,
    },
    SetUp {
        name: "saved with a byte order mark",
        files: &[("p/.agents/skills/verse/SKILL.md", "\u{feff}SKILL")],
        start: "",
        options: &["gemini"],
        command: &["why", "verse", "a limerick, please", "--agent", "gemini"],
    },
    SetUp {
        name: "a flat file",
        files: &[("p/.claude/skills/verse.md", SKILL)],
        start: "",
        options: &[],
        command: DOCTOR,
    },
    SetUp {
        name: "hooks disabled",
        files: &[OWN, ("p/.claude/settings.local.json", r#"{"disableAllHooks": true}"#)],
        start: "",
        options: &[],
        command: DOCTOR,
    },
    SetUp {
        name: "behind a link out of the project",
        files: &[("src/verse/SKILL.md", SKILL), ("p/.claude/skills/verse", "-> HERE/src/verse")],
        start: "",
        options: &[],
        command: WHY,
    },
    SetUp {
        name: "the wrong skill first",
        files: &[
            OWN,
            ("p/.repertoire/config.toml", "[limits]\nmax_skills = 1\n"),
            (
                "p/.repertoire/skills/limericks/SKILL.md",
                "---\nname: limericks\ndescription: Rates limericks.\ntriggers: [a limerick]\n---\nRate.\n",
            ),
        ],
        start: "",
        options: &[],
        command: WHY,
    },
];

/// Makes a repository `p` in the place, and returns what runs the program in its directory `start`.
pub(crate) fn in_project(place: &Place, start: &str) -> impl Fn(&[&str]) -> Run {
    fs::create_dir_all(place.path().join("p/.git")).unwrap();
    let start = place.path().join("p").join(start);
    fs::create_dir_all(&start).unwrap();
    move |args| {
        let mut command = place.command(args);
        command.current_dir(&start);
        finish(command, b"")
    }
}

#[test]
fn one_command_says_why_a_skill_did_not_fire() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/agents.md");
    let page = fs::read_to_string(page).unwrap();
    let mut missing = String::new();
    for set_up in SET_UPS {
        let printed = sentence(&set_up);
        let command = set_up.command.iter().map(|word| {
            if word.contains(' ') { format!("\"{word}\"") } else { (*word).to_owned() }
        });
        let command = command.collect::<Vec<_>>().join(" ");
        let row = format!("| {} | `repertoire {command}` | {printed} |\n", set_up.name);
        if !page.contains(&row) {
            missing += &row;
        }
    }
    assert!(missing.is_empty(), "put these rows into docs/agents.md:\n{missing}");
}

/// Returns the line that the command of a set-up prints about the skill.
fn sentence(set_up: &SetUp) -> String {
    let place = Place::new();
    let here = place.path().to_str().unwrap().to_owned();
    let run = in_project(&place, set_up.start);
    let (agent, options) = match set_up.options {
        [agent @ ("codex" | "gemini"), rest @ ..] => (*agent, rest),
        options => ("claude-code", options),
    };
    run(&[&["hook", "install", agent], options].concat()).exits(0);
    for (path, content) in set_up.files {
        match content.strip_prefix("-> ") {
            Some(target) => {
                let link = place.path().join(path);
                fs::create_dir_all(link.parent().unwrap()).unwrap();
                std::os::unix::fs::symlink(target.replace("HERE", &here), link).unwrap();
            }
            None if *content == "LONG" => {
                place.write(path, SKILL.replace("Rhyme it.", &"Rhyme it. ".repeat(2000)));
            }
            None => place.write(path, content.replace("HERE", &here).replace("SKILL", SKILL)),
        }
    }
    let printed = run(set_up.command);
    let told = format!("{}{}", printed.stdout, printed.stderr);
    let about = ["verse", "hooks of "];
    let is_told = |line: &&str| about.iter().any(|word| line.contains(word)) && line.contains(": ");
    let line = told.lines().rfind(is_told).unwrap_or_else(|| panic!("{told}"));
    line.trim().replace(&here, "…")
}

#[test]
fn one_command_says_why_a_skill_is_not_known() {
    const PLUGINS: (&str, &str) = (
        "home/.claude/plugins/installed_plugins.json",
        r#"{"version": 2, "plugins": {"poetry@m": [{"installPath": "HERE/poetry"}]}}"#,
    );
    const IN_PLUGIN: (&str, &str) = ("poetry/skills/verse/SKILL.md", SKILL);
    const EXTENSION: (&str, &str) =
        ("home/.gemini/extensions/poetry/gemini-extension.json", r#"{"name": "poetry"}"#);
    const FACTORY: &str = "home/.factory/plugins/installed_plugins/poetry.json";
    let off = r#"{"enabledPlugins": {"poetry@m": false}}"#;
    let because = r#"because of `enabledPlugins: {"poetry@m": false}` in HERE/p/"#;
    for (agent, id, start, files, told) in [
        (
            "claude-code",
            "poetry:verse",
            "",
            &[PLUGINS, IN_PLUGIN, ("p/.claude/settings.json", off)][..],
            because,
        ),
        (
            "claude-code",
            "verse",
            "",
            &[PLUGINS, IN_PLUGIN],
            "because of `no `poetry@m` in enabledPlugins`",
        ),
        (
            "codex",
            "verse",
            "",
            &[
                ("home/.codex/config.toml", "plugins.\"poetry@m\".enabled = false\n"),
                ("home/.codex/plugins/cache/m/poetry/1/.codex-plugin/plugin.json", "{}"),
                ("home/.codex/plugins/cache/m/poetry/1/skills/verse/SKILL.md", SKILL),
            ],
            "because of `plugins.\"poetry@m\".enabled = false` in HERE/home/.codex/config.toml",
        ),
        (
            "gemini",
            "verse",
            "",
            &[
                EXTENSION,
                ("home/.gemini/extensions/poetry/skills/verse/SKILL.md", SKILL),
                (
                    "home/.gemini/extensions/extension-enablement.json",
                    r#"{"poetry": {"overrides": ["!HERE/p/*"]}}"#,
                ),
            ],
            "because of `poetry: {\"overrides\": [\"!HERE/p/*\"]}`",
        ),
        (
            "gemini",
            "verse",
            "",
            &[
                ("p/.gemini/skills/verse/SKILL.md", SKILL),
                ("home/.gemini/trustedFolders.json", r#"{"HERE/p": "DO_NOT_TRUST"}"#),
            ],
            "because of `DO_NOT_TRUST` in HERE/home/.gemini/trustedFolders.json",
        ),
        (
            "copilot",
            "verse",
            "",
            &[
                ("home/.copilot/settings.json", off),
                (
                    "home/.copilot/config.json",
                    r#"{"installedPlugins": [{"name": "poetry", "marketplace": "m"}]}"#,
                ),
                ("home/.copilot/installed-plugins/m/poetry/skills/verse/SKILL.md", SKILL),
            ],
            "because of `enabledPlugins: {\"poetry@m\": false}`",
        ),
        (
            "droid",
            "verse",
            "",
            &[
                (FACTORY, r#"{"pluginId": "poetry@m", "entry": {"installPath": "HERE/poetry"}}"#),
                IN_PLUGIN,
                ("p/.factory/settings.json", off),
            ],
            because,
        ),
        // Directories in which the agent does not look, and files that are not skills.
        (
            "gemini",
            "verse",
            "sub",
            &[("p/.gemini/skills/verse/SKILL.md", SKILL)],
            "Gemini CLI does not look into HERE/p/.gemini/skills if started in HERE/p/sub",
        ),
        (
            "claude-code",
            "verse",
            "",
            &[("p/.cursor/skills/verse/SKILL.md", SKILL)],
            "Claude Code does not look into HERE/p/.cursor/skills",
        ),
        (
            "claude-code",
            "verse",
            "",
            &[("p/.claude/skills/verse.md", SKILL)],
            "move it to `verse/SKILL.md`",
        ),
        ("codex", "verse", "", &[("p/.agents/skills/verse/README.md", SKILL)], "no skill `verse`"),
    ] {
        let place = Place::new();
        let here = place.path().to_str().unwrap().to_owned();
        let run = in_project(&place, start);
        run(&["hook", "install", agent]).exits(0);
        for (path, content) in files {
            place.write(path, content.replace("HERE", &here));
        }
        let printed = run(&["why", id, "a limerick, please", "--agent", agent]);
        let told = told.replace("HERE", &here);
        assert!(printed.stderr.contains(&told), "{agent}: {files:?}: {printed:?}");
    }
}
