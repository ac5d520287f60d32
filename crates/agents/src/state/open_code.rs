//! `OpenCode`. From `packages/opencode/src/skill/index.ts` (`048f74f4`) and
//! `packages/web/src/content/docs/skills.mdx` (`02bae89d`) of anomalyco/opencode; the variables were observed
//! with 1.18.33 and a fake model.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::filled::{quoted, replaced};
use super::manifest_path::below;
use super::options::Options;
use super::settings::{Settings, Syntax, text};
use super::{AgentState, Obstacle, SkillRoot, Start, server};
use repertoire::Skill;
use repertoire::catalog::{RuleTarget, Scope};

/// The names of a configuration file.
const NAMES: [&str; 3] = ["config.json", "opencode.json", "opencode.jsonc"];

pub(super) fn state(start: &Start) -> AgentState {
    // Without a repository, all directories above belong to the project.
    let levels: Vec<PathBuf> = start.above_project().into_iter().chain(start.levels()).collect();
    let mut state = AgentState::default();
    if !start.is_set("OPENCODE_DISABLE_PROJECT_CONFIG") {
        state.settings_dirs.clone_from(&levels);
    }
    let pure = "OPENCODE_PURE";
    state.hooks_off = start.is_set(pure).then(|| Obstacle::of_variable(pure, "1"));
    if !start.is_set("OPENCODE_DISABLE_EXTERNAL_SKILLS") {
        let off = ["OPENCODE_DISABLE_CLAUDE_CODE", "OPENCODE_DISABLE_CLAUDE_CODE_SKILLS"];
        let claude = !off.into_iter().any(|name| start.is_set(name));
        let dirs = [".claude/skills", ".agents/skills"].into_iter().skip(usize::from(!claude));
        let user = dirs.clone().filter_map(|dir| start.in_home(dir)).map(SkillRoot::user);
        state.roots.extend(user);
        for level in &levels {
            let own = dirs.clone().map(|dir| SkillRoot::project(level.join(dir)));
            state.roots.extend(own);
        }
    }
    // The directories and files of a project that configure it.
    let levels = state.settings_dirs.clone();
    let dirs = config_dirs(start, &levels);
    for (scope, dir) in &dirs {
        let roots = ["skill", "skills"].map(|name| dir.join(name));
        state.roots.extend(roots.map(|path| SkillRoot::new(*scope, path)));
    }
    let files = config_files(start, &levels, &dirs);
    let of_dirs = dirs.iter().map(|(_, dir)| dir).chain(&levels);
    let all = of_dirs.flat_map(|dir| NAMES.map(|name| dir.join(name)));
    state.demanded = all.map(|path| (path, Syntax::Lenient)).collect();
    for (scope, file) in &files {
        let dir = file.path.parent().unwrap_or(&file.path);
        let paths = file.texts("/skills/paths").into_iter();
        let paths = paths.map(|path| start.expanded(Path::new(path), dir));
        state.roots.extend(paths.map(|path| SkillRoot::new(*scope, path)));
    }
    state.server_off =
        server::of_open_code(&files.iter().map(|(_, file)| file).collect::<Vec<_>>());
    let chosen = Options::of(start).values(&["--agent"]).into_iter().next_back();
    let agent = chosen.unwrap_or_else(|| default_agent(&files));
    for (_, file) in &files {
        switches(file, agent, &mut state);
    }
    for file in dirs.iter().flat_map(|(_, dir)| definitions(dir, agent)) {
        switches(&file, "", &mut state);
    }
    if let Some(file) = of_variable(start, "OPENCODE_PERMISSION") {
        permissions(&file, &[], &mut state);
    }
    state
}

/// Returns the directories of configuration, each with its owner, lowest precedence first.
fn config_dirs(start: &Start, levels: &[PathBuf]) -> Vec<(Scope, PathBuf)> {
    let global = start.config_home.as_ref().map(|dir| dir.join("opencode"));
    let user = global.into_iter().chain(start.in_home(".opencode"));
    let project = levels.iter().map(|dir| (Scope::Project, dir.join(".opencode")));
    let named = start.named_dir("OPENCODE_CONFIG_DIR").map(|dir| (Scope::User, dir));
    user.map(|dir| (Scope::User, dir)).chain(project).chain(named).collect()
}

/// Returns the configuration files, lowest precedence first.
fn config_files(
    start: &Start,
    levels: &[PathBuf],
    dirs: &[(Scope, PathBuf)],
) -> Vec<(Scope, Settings)> {
    let in_dir = |(scope, dir): &(Scope, PathBuf)| NAMES.map(|name| (*scope, dir.join(name)));
    let (global, others) = dirs.split_at(dirs.len().min(1));
    let named = start.variables.get("OPENCODE_CONFIG").map(|path| (Scope::User, path.into()));
    let in_project = levels.iter().flat_map(|dir| {
        NAMES[1..].iter().map(|name| (Scope::Project, dir.join(name))).collect::<Vec<_>>()
    });
    let paths = global.iter().flat_map(in_dir).chain(named).chain(in_project);
    let paths = paths.chain(others.iter().flat_map(in_dir));
    let read = |(scope, path): (Scope, PathBuf)| Some((scope, filled_file(start, &path)?));
    let content = of_variable(start, "OPENCODE_CONFIG_CONTENT");
    let content = content.map(|settings| (Scope::User, settings));
    let managed = start.in_system("etc/opencode");
    let managed = NAMES[1..].iter().map(|name| (Scope::User, managed.join(name)));
    paths.filter_map(read).chain(content).chain(managed.filter_map(read)).collect()
}

/// Returns the configuration in the variable `name`.
fn of_variable(start: &Start, name: &str) -> Option<Settings> {
    let text = start.variables.get(name)?.to_str()?;
    Settings::parse(&filled(text, &start.dir(), start), PathBuf::from(name))
}

/// Reads a configuration file.
fn filled_file(start: &Start, path: &Path) -> Option<Settings> {
    let text = text(path)?;
    let dir = path.parent().unwrap_or(path);
    Settings::parse(&filled(&text, dir, start), path.to_owned())
}

/// Returns `text` with the variables and the files that it names as `{env:NAME}` and `{file:PATH}`. A variable
/// that is not set is empty.
fn filled(text: &str, dir: &Path, start: &Start) -> String {
    replaced(text, '{', |after| {
        let (inner, _) = after.split_once('}')?;
        let value = match inner.split_once(':')? {
            ("env", name) => start.environment.get(name).cloned().unwrap_or_default(),
            ("file", path) => {
                let path = start.expanded(Path::new(path), dir);
                quoted(self::text(&path)?.trim())
            }
            _ => return None,
        };
        Some((value, inner.len() + 1))
    })
}

/// Adds the rules of `permission`, those of the `agent` that is in use, and the switches of the whole tool.
fn switches(file: &Settings, agent: &str, state: &mut AgentState) {
    // `mode` is the earlier name of `agent`.
    let of_agent = [&[][..], &["mode", agent], &["agent", agent]];
    for keys in of_agent.map(|keys| [keys, &["permission"]].concat()) {
        permissions(file, &keys, state);
    }
    for keys in of_agent.map(|keys| [keys, &["tools"]].concat()) {
        for (tool, is_on) in file.properties(&keys).into_iter().filter(|(tool, _)| is_about(tool)) {
            let setting = format!("{}.{tool}: {is_on}", keys.join("."));
            let by = Obstacle::new(setting, &file.path);
            if let Some(is_on) = is_on.as_bool() {
                state.switch_all(!is_on, &by);
            }
        }
    }
}

/// Returns the files in `dir` that define the `agent`, by the front matter of each.
fn definitions(dir: &Path, agent: &str) -> Vec<Settings> {
    let paths = ["agent", "agents"]
        .into_iter()
        .filter_map(|name| below(&dir.join(name), &format!("{agent}.md")));
    let front_matter = |path: PathBuf| {
        // It has the form of a skill.
        let definition = Skill::load(&path, "").ok()?;
        let of = |key: &str| definition.manifest().extra.get(key).cloned().unwrap_or_default();
        let json = json!({"permission": of("permission"), "tools": of("tools")});
        Settings::parse(&json.to_string(), path)
    };
    paths.filter_map(front_matter).collect()
}

/// Returns the name of the agent that is in use by default.
fn default_agent(files: &[(Scope, Settings)]) -> &str {
    let named = files.iter().rev().find_map(|(_, file)| file.value["default_agent"].as_str());
    named.unwrap_or("build")
}

/// Adds the rules about skills in the map, or the one text, at the path `keys`. The last rule that matches
/// decides; `*` stands for all tools.
fn permissions(file: &Settings, keys: &[&str], state: &mut AgentState) {
    let setting = keys.join(".");
    let by = |rule: String| Obstacle::new(format!("{setting}{rule}"), &file.path);
    let value = keys.iter().fold(&file.value, |value, key| &value[key]);
    if value.as_str() == Some("deny") {
        state.turn_all_off(&by(": \"deny\"".to_owned()));
    }
    for (tool, action) in file.properties(keys).into_iter().filter(|(tool, _)| is_about(tool)) {
        match action.as_str() {
            Some("deny") => state.turn_all_off(&by(format!(": {{\"{tool}\": \"deny\"}}"))),
            Some(_) => state.switch_all(false, &by(String::new())),
            None => {
                for (pattern, action) in file.entries(&[keys, &[tool.as_str()]].concat()) {
                    let by = by(format!(".{tool}: {{\"{pattern}\": \"{action}\"}}"));
                    match (pattern.as_str(), action == "deny") {
                        ("*", true) => state.turn_all_off(&by),
                        (_, off) => state.switch(RuleTarget::Name(pattern), off, by),
                    }
                }
            }
        }
    }
}

/// Tells whether a rule about `tool`, which may be a pattern, is one about the tool for skills.
fn is_about(tool: &str) -> bool {
    tool == "skill" || tool.strip_suffix('*').is_some_and(|start| "skill".starts_with(start))
}
