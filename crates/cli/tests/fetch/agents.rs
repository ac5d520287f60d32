//! Fetched skills in the own directories of agents: links and copies, never over a user's file, and gone with
//! the skill.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::binary::Place;
use crate::clipboard::{repository, serve};
use crate::repository::Repository;

/// All files, links and directories below `root` that matter to agents, with their contents.
fn tree(root: &Path) -> BTreeMap<String, String> {
    let walk = walkdir::WalkDir::new(root).min_depth(1).into_iter().map(Result::unwrap);
    let of_agents = walk.filter(|entry| {
        let name = entry.path().strip_prefix(root).unwrap().to_string_lossy().into_owned();
        [".claude", ".agents", ".cursor", ".github"].iter().any(|dir| name.starts_with(dir))
    });
    let read = |entry: walkdir::DirEntry| {
        let name = entry.path().strip_prefix(root).unwrap().to_string_lossy().into_owned();
        let text = if entry.path_is_symlink() {
            format!("-> {}", fs::read_link(entry.path()).unwrap().display())
        } else {
            fs::read_to_string(entry.path()).unwrap_or_default()
        };
        (name, text)
    };
    of_agents.map(read).collect()
}

fn served() -> (Place, Repository) {
    let (place, repository) = (Place::new(), repository());
    serve(&place, &repository);
    (place, repository)
}

/// The entries of `list` with this id, each with its kind of source and whether the agent lists it.
fn listed(place: &Place, id: &str, more: &[&str]) -> Vec<(Value, Value)> {
    let args = ["list", "--json"].iter().chain(more);
    let list = place.run(args).exits(0).json();
    let skills = list["skills"].as_array().unwrap().iter().filter(|skill| skill["id"] == id);
    skills.map(|skill| (skill["source"].clone(), skill["native"].clone())).collect()
}

#[cfg(unix)]
#[test]
fn skills_are_linked_for_agents_that_follow_links_and_removed_byte_for_byte() {
    let (place, _repository) = served();
    let home = place.path().join("home");
    place.write("home/.claude/skills/mine/SKILL.md", "---\nname: mine\n---\n");
    let before = tree(&home);
    let added = place.run(["add", "o/r", "--agent", "claude-code,codex"]).exits(0).stdout;
    assert!(added.contains("seen by Claude Code (its own list), Codex (its own list)"), "{added}");
    for dir in [".claude/skills/pdf", ".agents/skills/docx"] {
        assert!(home.join(dir).is_symlink() && home.join(dir).join("SKILL.md").is_file(), "{dir}");
    }
    let lock: Value =
        serde_json::from_slice(&fs::read(home.join(".repertoire/skills.lock")).unwrap()).unwrap();
    let known = &lock["agents"]["skills"][".claude/skills/pdf"];
    assert_eq!(known, &json!({"source": "o-r", "skill": "pdf"}));

    for (more, native) in [
        (&[][..], Value::Null),
        (&["--agent", "claude-code"], json!(true)),
        (&["--agent", "codex"], json!(true)),
        (&["--agent", "copilot"], json!(true)),
        (&["--agent", "opencode"], json!(true)),
    ] {
        assert_eq!(listed(&place, "pdf", more), [(json!("fetched"), native)], "{more:?}");
    }
    place.run(["remove", "pdf"]).exits(0);
    assert!(!home.join(".claude/skills/pdf").is_symlink());
    assert!(home.join(".claude/skills/docx/SKILL.md").is_file());
    place.run(["remove", "o/r"]).exits(0);
    assert_eq!(tree(&home), before);
    assert!(!home.join(".repertoire/skills.lock").exists());
}

#[test]
fn a_copy_follows_updates_unless_the_user_changed_it() {
    let (place, repository) = served();
    let copy = place.path().join("home/.cursor/skills/pdf/SKILL.md");
    place.run(["add", "o/r@pdf", "--agent", "cursor"]).exits(0);
    assert!(!copy.parent().unwrap().is_symlink());
    assert_eq!(listed(&place, "pdf", &[]), [(json!("fetched"), Value::Null)]);
    assert_eq!(listed(&place, "pdf", &["--agent", "cursor"]), [(json!("fetched"), json!(true))]);
    assert_eq!(listed(&place, "pdf", &["--agent", "gemini"]), [(json!("fetched"), json!(false))]);

    repository.skill("skills/pdf", "pdf", "Version 3.\n");
    repository.commit();
    place.run(["update"]).exits(0);
    assert!(fs::read_to_string(&copy).unwrap().contains("Version 3."));

    fs::write(&copy, "---\nname: pdf\ndescription: Mine.\n---\n").unwrap();
    repository.skill("skills/pdf", "pdf", "Version 4.\n");
    repository.commit();
    let updated = place.run(["update"]).exits(1).stdout;
    assert!(updated.contains("left alone: .cursor/skills/pdf"), "{updated}");
    let removed = place.run(["remove", "pdf"]).exits(1).stdout;
    assert!(removed.contains("left alone: .cursor/skills/pdf was changed"), "{removed}");
    assert!(fs::read_to_string(&copy).unwrap().contains("Mine."));
}

#[test]
fn what_an_agent_runs_of_a_skill_in_its_own_directory_is_told() {
    let (place, repository) = (Place::new(), Repository::new());
    let head = "name: hk\ndescription: Formats tables.\nallowed-tools: Bash(*)\n\
                hooks: {PreToolUse: [{hooks: [{type: command, command: ./x}]}]}";
    repository
        .write("skills/hk/SKILL.md", &format!("---\n{head}\n---\nThe state: !`git status`\n"));
    repository.skill("skills/plain", "plain", "Plain.\n");
    repository.commit();
    fs::create_dir_all(place.path().join("home/.claude")).unwrap();
    let told = place
        .run(["add", &repository.url(), "--name", "o", "--agent", "claude-code"])
        .exits(0)
        .stdout;
    for part in ["run the commands of `hooks`", "`Bash(*)` lets agents run", "run `!`git status``"]
    {
        assert!(told.contains("runs in agents: `hk`: ") && told.contains(part), "{told}");
    }
    assert!(!told.contains("`plain`: "), "{told}");
    let report = place.run(["export", "claude-code", "--json"]).exits(0).json();
    assert_eq!(report["agent_code"].as_array().unwrap().len(), 3, "{report}");
}

#[test]
fn nothing_of_the_user_is_replaced() {
    let (place, _repository) = served();
    let mine = "---\nname: pdf\ndescription: Mine.\n---\n";
    place.write("home/.claude/skills/pdf/SKILL.md", mine);
    place.write("home/.claude/skills/docx", "a file");
    let before = tree(&place.path().join("home"));
    let added = place.run(["add", "o/r", "--agent", "claude-code", "--json"]).exits(1).json();
    assert_eq!(added["placing"]["refused"].as_array().unwrap().len(), 2, "{added}");
    place.run(["remove", "o/r"]).exits(0);
    assert_eq!(tree(&place.path().join("home")), before);
}

#[test]
fn export_does_it_for_what_is_there() {
    let (place, _repository) = served();
    let home = place.path().join("home");
    fs::create_dir_all(home.join(".claude")).unwrap();
    let before = tree(&home);
    let added = place.run(["add", "o/r"]).exits(0).stdout;
    let last = added.lines().last().unwrap();
    assert!(last.starts_with("for Claude Code: `repertoire export claude-code`"), "{added}");
    let text = place.run(["export", "claude-code", "copilot"]).exits(0).stdout;
    assert!(text.contains("Claude Code (its own list)"), "{text}");
    assert!(home.join(".claude/skills/pdf/SKILL.md").is_file());
    let config = fs::read_to_string(home.join(".repertoire/config.toml")).unwrap();
    assert!(config.contains("agents = [\"claude-code\", \"copilot\"]"), "{config}");
    // A skill that is added later goes there, too; an unknown agent of a file is named.
    place.run(["add", "o/r/docs/kit"]).exits(0);
    assert!(home.join(".claude/skills/extra/SKILL.md").is_file());
    place.run(["export", "--undo", "claude-code", "copilot"]).exits(0);
    assert_eq!(tree(&home), before);
    let config = config.replace("copilot", "emacs");
    fs::write(home.join(".repertoire/config.toml"), config).unwrap();
    let updated = place.run(["update"]).exits(1).stdout;
    assert!(updated.contains("emacs is not an agent"), "{updated}");
    assert_eq!(place.run(["export", "emacs"]).code, 2);
}

#[test]
fn a_project_gets_copies_and_its_lock_file_reaches_nothing_else() {
    let (place, _repository) = served();
    fs::create_dir_all(place.path().join("p")).unwrap();
    let run = |args: &[&str]| place.run(args.iter().chain(&["--project", "p"]));
    run(&["add", "https://github.com/o/r", "--agent", "claude-code"]).exits(0);
    let copy = place.path().join("p/.claude/skills/pdf");
    assert!(copy.join("SKILL.md").is_file() && !copy.is_symlink());
    let more = ["--project", "p", "--agent", "claude-code"];
    assert_eq!(listed(&place, "pdf", &more), [(json!("fetched"), json!(true))]);

    place.write("victim/SKILL.md", fs::read(copy.join("SKILL.md")).unwrap());
    let lock = place.path().join("p/.repertoire/skills.lock");
    let text = fs::read_to_string(&lock).unwrap().replace(".claude/skills/pdf", "../victim");
    fs::write(&lock, text).unwrap();
    run(&["remove", "o-r"]).exits(0);
    assert!(place.path().join("victim/SKILL.md").is_file());
}

#[cfg(unix)]
#[test]
fn directories_that_are_links_or_cannot_be_written_are_no_obstacle_for_the_rest() {
    use std::os::unix::fs::symlink;
    let (place, _repository) = served();
    let home = place.path().join("home");
    fs::create_dir_all(home.join(".agents/skills")).unwrap();
    fs::create_dir_all(home.join(".claude")).unwrap();
    symlink("../.agents/skills", home.join(".claude/skills")).unwrap();
    // The directory of Gemini CLI leads nowhere.
    symlink("nowhere/at/all", home.join(".gemini")).unwrap();
    let before = tree(&home);
    let added = place.run(["add", "o/r@pdf", "--agent", "claude-code,codex,gemini"]).exits(1);
    assert!(
        added.stdout.contains("left alone: .gemini/skills/pdf could not be written"),
        "{added:?}"
    );
    assert!(home.join(".agents/skills/pdf/SKILL.md").is_file(), "{added:?}");
    assert_eq!(added.stdout.matches("left alone").count(), 1, "{added:?}");
    place.run(["remove", "o/r"]).exits(0);
    assert_eq!(tree(&home), before);
}

/// A fetched skill that an agent lists in the user's own directory is still a stranger's code, whatever became of
/// its source.
#[cfg(unix)]
#[test]
fn the_code_of_a_placed_skill_is_never_the_users_own() {
    const DEMAND: &str = "[signatures]\nrequired = true\n\
                          keys = [\"RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3\"]\n";
    for agents in ["claude-code,codex", "claude-code,codex,cursor"] {
        let place = Place::new();
        let repository = Repository::new();
        repository.skill("skills/pdf", "pdf", "Do it.\n");
        repository.write("skills/pdf/scripts/say.sh", "#!/bin/sh\necho ran\n");
        repository.commit();
        serve(&place, &repository);
        place.run(["add", "o/r", "--agent", agents]).exits(0);
        let config = place.path().join("home/.repertoire/config.toml");
        let settings = fs::read_to_string(&config).unwrap();
        let lock = place.path().join("home/.repertoire/skills.lock");
        let locked = fs::read(&lock).unwrap();
        for (what, settings, has_lock, brand, code) in [
            ("in use", settings.clone(), true, "repertoire", "PERMISSION_DENIED"),
            ("unsigned", format!("{settings}{DEMAND}"), true, "repertoire", "NOT_FOUND"),
            ("no section", String::new(), true, "repertoire", "PERMISSION_DENIED"),
            ("no TOML", format!("{settings}x ="), true, "repertoire", "PERMISSION_DENIED"),
            ("no lock file", settings.clone(), false, "repertoire", "PERMISSION_DENIED"),
            ("another brand", settings.clone(), true, "acme", "PERMISSION_DENIED"),
        ] {
            fs::write(&config, settings).unwrap();
            if has_lock {
                fs::write(&lock, &locked).unwrap();
            } else {
                fs::remove_file(&lock).unwrap();
            }
            let run = place.run(["run", "pdf", "say.sh", "--json", "--brand", brand]).exits(1);
            assert_eq!(run.json()["error"]["code"], code, "{agents}, {what}: {run:?}");
        }
    }
}
