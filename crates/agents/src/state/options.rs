//! The options of an agent's command line that change which skills it finds. Observed with the versions that
//! `docs/agents.md` names: the hook runs with each of them.

use std::path::{Path, PathBuf};

use super::denied::deny;
use super::{AgentState, Obstacle, SkillRoot, Start};
use crate::agent::HookAgent;
use repertoire::catalog::Scope;

/// The place that stands for the file of a setting.
pub(super) const PLACE: &str = "the command line";

/// The words of a command line, up to `--`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Options<'s>(&'s [String]);

impl<'s> Options<'s> {
    pub(super) fn of(start: &'s Start) -> Options<'s> {
        let words = &start.options;
        let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
        Options(&words[..end])
    }

    pub(super) fn has(self, name: &str) -> bool {
        self.0.iter().any(|word| word == name)
    }

    /// Returns the option that starts `agent` without hooks, skills and servers of the user; `OpenCode` without hooks
    /// alone.
    pub(super) fn without_all(self, agent: HookAgent) -> Option<&'static str> {
        let names: &[&str] = match agent {
            HookAgent::ClaudeCode => &["--bare", "--safe-mode", "--restricted"],
            HookAgent::Qwen => &["--bare", "--safe-mode"],
            HookAgent::OpenCode => &["--pure"],
            _ => &[],
        };
        names.iter().copied().find(|name| self.has(name))
    }

    /// Returns the values of options that take one each: `--name value` or `--name=value`.
    pub(super) fn values(self, names: &[&str]) -> Vec<&'s str> {
        self.lists(names, 1)
    }

    /// Returns the values of options that take all words up to the next option.
    pub(super) fn list(self, names: &[&str]) -> Vec<&'s str> {
        self.lists(names, usize::MAX)
    }

    fn lists(self, names: &[&str], at_most: usize) -> Vec<&'s str> {
        let mut values = Vec::new();
        for (at, word) in self.0.iter().enumerate() {
            let joined = names.iter().find_map(|name| word.strip_prefix(name)?.strip_prefix('='));
            values.extend(joined);
            if names.contains(&word.as_str()) {
                let rest = self.0[at + 1..].iter().map(String::as_str);
                values.extend(rest.take_while(|word| !word.starts_with('-')).take(at_most));
            }
        }
        values
    }

    /// Returns the names of tools in the list, which commas or blanks may separate.
    pub(super) fn tools(self, names: &[&str]) -> Vec<&'s str> {
        self.list(names).into_iter().flat_map(split).collect()
    }
}

/// Splits a list at commas and blanks outside of brackets.
fn split(list: &str) -> Vec<&str> {
    let mut depth = 0;
    let parts = list.split(|c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0 && (c == ',' || c.is_whitespace())
    });
    parts.filter(|part| !part.is_empty()).collect()
}

/// Changes the state of `agent` as the options of its command line do.
pub(super) fn apply(agent: HookAgent, start: &Start, state: &mut AgentState) {
    let options = Options::of(start);
    if options.0.is_empty() {
        return;
    }
    if let Some(by) = options.without_all(agent).map(by) {
        if agent != HookAgent::OpenCode {
            state.turn_all_off(&by);
        }
        state.hooks_off.get_or_insert(by);
    }
    match agent {
        HookAgent::ClaudeCode => claude_code(options, start, state),
        HookAgent::Gemini => only_extensions(options, state),
        HookAgent::Qwen => {
            only_extensions(options, state);
            without_tool(options, &["--exclude-tools"], "skill", state);
        }
        HookAgent::Copilot => {
            without_tool(options, &["--excluded-tools"], "skill", state);
            only_tools(options, "--available-tools", "skill", state);
        }
        HookAgent::Droid => {
            without_tool(options, &["--remove-tools", "--disabled-tools"], "Skill", state);
            only_tools(options, "--only-tools", "Skill", state);
        }
        // Those of Codex are a layer of its configuration.
        HookAgent::Codex | HookAgent::OpenCode | HookAgent::Cursor => {}
    }
}

fn claude_code(options: Options<'_>, start: &Start, state: &mut AgentState) {
    let user = HookAgent::ClaudeCode.user_dir(start).map(|dir| dir.join("skills"));
    for source in ["user", "project"] {
        let Some(by) = without_source(start, source) else { continue };
        let is_read = |root: &SkillRoot| match root.scope {
            _ if Some(&root.path) == user.as_ref() => source != "user",
            Scope::Project => source != "project",
            _ => true,
        };
        leave_out(state, is_read, &by);
    }
    for rule in options.tools(&["--disallowedTools", "--disallowed-tools"]) {
        deny(rule, Path::new(PLACE), state);
    }
    only_tools(options, "--tools", "Skill", state);
    if options.has("--disable-slash-commands") {
        state.turn_all_off(&by("--disable-slash-commands"));
    }
}

/// Returns the option by which Claude Code reads nothing of a `source`: `user`, `project` or `local`.
pub(super) fn without_source(start: &Start, source: &str) -> Option<Obstacle> {
    let sources = Options::of(start).values(&["--setting-sources"]);
    let is_read = sources.iter().any(|list| list.split(',').any(|of| of == source));
    (!sources.is_empty() && !is_read)
        .then(|| by(&format!("--setting-sources {}", sources.join(","))))
}

/// Returns the directories that `--add-dir` lets the agent use, too. Those of Claude Code and Copilot CLI are
/// searched for skills; those of Codex, Gemini CLI and Qwen Code, and those that settings add
/// (`permissions.additionalDirectories`, `context.includeDirectories`), are not.
pub(super) fn added_directories(start: &Start) -> Vec<PathBuf> {
    let dirs = Options::of(start).list(&["--add-dir"]).into_iter();
    dirs.map(|dir| start.dir().join(dir)).filter(|dir| dir.is_dir()).collect()
}

/// Returns the directories of plugins that `--plugin-dir` names.
pub(super) fn named_plugins(start: &Start) -> Vec<PathBuf> {
    let dirs = Options::of(start).values(&["--plugin-dir"]).into_iter();
    dirs.map(|dir| start.dir().join(dir)).collect()
}

/// Leaves out the extensions that the option does not name.
fn only_extensions(options: Options<'_>, state: &mut AgentState) {
    let extensions = options.tools(&["-e", "--extensions"]);
    if extensions.is_empty() {
        return;
    }
    let by = by(&format!("--extensions {}", extensions.join(",")));
    let is_kept = |root: &SkillRoot| {
        let is_it =
            |plugin: &String| extensions.iter().any(|name| name.eq_ignore_ascii_case(plugin));
        root.plugin.as_ref().is_none_or(is_it)
    };
    leave_out(state, is_kept, &by);
}

/// Leaves out the directories of skills that are not kept.
fn leave_out(state: &mut AgentState, is_kept: impl Fn(&SkillRoot) -> bool, by: &Obstacle) {
    let roots = std::mem::take(&mut state.roots).into_iter();
    let (kept, left_out): (Vec<SkillRoot>, Vec<SkillRoot>) = roots.partition(is_kept);
    state.roots = kept;
    state.left_out.extend(left_out.into_iter().map(|root| (root.path, by.clone())));
}

/// Turns all skills off if the option takes away the `tool` that loads them.
fn without_tool(options: Options<'_>, names: &[&str], tool: &str, state: &mut AgentState) {
    if options.tools(names).iter().any(|named| named.eq_ignore_ascii_case(tool)) {
        state.turn_all_off(&by(&format!("{} {tool}", names[0])));
    }
}

/// Turns all skills off if the option names the tools that are left, and not the `tool` that loads them.
fn only_tools(options: Options<'_>, name: &str, tool: &str, state: &mut AgentState) {
    let left = options.tools(&[name]);
    let has_it = left.iter().any(|named| *named == "default" || named.eq_ignore_ascii_case(tool));
    if !left.is_empty() && !has_it {
        state.turn_all_off(&by(&format!("{name} {}", left.join(","))));
    }
}

pub(super) fn by(option: &str) -> Obstacle {
    Obstacle::new(option, Path::new(PLACE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use repertoire::catalog::RuleTarget;

    fn start(words: &[&str]) -> Start {
        Start { options: words.iter().map(|word| (*word).to_owned()).collect(), ..Start::default() }
    }

    #[test]
    fn options_have_values_behind_them_or_joined() {
        let start = start(&[
            "-p", "x --tools Bash", "--tools", "Bash(git *),Read", "Skill", "-c", "a=1", "hello",
            "-c", "b = 2", "--tools=Edit", "--", "--tools", "no",
        ]);
        let options = Options::of(&start);
        assert_eq!(options.tools(&["--tools"]), ["Bash(git *)", "Read", "Skill", "Edit"]);
        assert_eq!(options.values(&["-c"]), ["a=1", "b = 2"]);
        assert!(!options.has("no"));
    }

    /// The directories in which `agent` finds skills, as seen from the place of the test, without those that
    /// an option turns off.
    fn finds(agent: HookAgent, words: &[&str]) -> Vec<String> {
        let place = tempfile::tempdir().unwrap();
        let at = |path: &str| place.path().join(path);
        let poetry = "home/.gemini/extensions/poetry/gemini-extension.json";
        for (path, text) in [
            (poetry, r#"{"name": "poetry"}"#),
            ("p/off.json", r#"{"permissions": {"deny": ["Skill"]}}"#),
            ("home/.codex/quiet.config.toml", "skills.include_instructions = false"),
            ("other/file", ""),
            ("kit/skills/file", ""),
            ("kits/a/.claude-plugin/plugin.json", r#"{"name": "a"}"#),
            ("kits/b/skills/file", ""),
        ] {
            std::fs::create_dir_all(at(path).parent().unwrap()).unwrap();
            std::fs::write(at(path), text).unwrap();
        }
        let start = Start {
            home: Some(at("home")),
            project: at("p"),
            dir: at("p"),
            system: at("system"),
            ..start(words)
        };
        std::fs::create_dir(at("p/.git")).unwrap();
        let state = agent.state(&start);
        let is_off = |root: &SkillRoot| {
            let last = state.switches.iter().rfind(|switch| match &switch.target {
                RuleTarget::Below(path) => *path == root.path,
                _ => false,
            });
            last.is_some_and(|switch| switch.off)
        };
        let roots = state.roots.iter().filter(|root| !is_off(root));
        let shown = roots.filter_map(|root| root.path.strip_prefix(place.path()).ok());
        shown
            .map(|path| path.display().to_string())
            .filter(|path| !path.starts_with("system"))
            .collect()
    }

    #[test]
    fn options_change_where_skills_are_found() {
        use HookAgent::{ClaudeCode, Codex, Copilot, Droid, Gemini, Qwen};
        let claude = ["home/.claude/skills", "p/.claude/skills"];
        let gemini =
            ["home/.gemini/skills", "home/.agents/skills", "p/.gemini/skills", "p/.agents/skills"];
        let with = |more: &[&'static str], all: &[&'static str]| [more, all].concat();

        for (agent, words, wanted) in [
            (ClaudeCode, "-p hi", claude.to_vec()),
            (ClaudeCode, "--disable-slash-commands", vec![]),
            (ClaudeCode, "-- --disable-slash-commands", claude.to_vec()),
            (ClaudeCode, "--disallowedTools Bash,Skill", vec![]),
            (ClaudeCode, "--disallowed-tools=Skill", vec![]),
            (ClaudeCode, "--disallowedTools Bash", claude.to_vec()),
            (ClaudeCode, "--tools Bash Read", vec![]),
            (ClaudeCode, "--tools default", claude.to_vec()),
            (ClaudeCode, "--setting-sources project,local", vec!["p/.claude/skills"]),
            (ClaudeCode, "--setting-sources user", vec!["home/.claude/skills"]),
            (ClaudeCode, "--settings off.json", vec![]),
            (ClaudeCode, "--settings {\"permissions\":{\"deny\":[\"Skill\"]}}", vec![]),
            (ClaudeCode, "--add-dir ../other", with(&claude, &["p/../other/.claude/skills"])),
            (ClaudeCode, "--add-dir=../other", with(&claude, &["p/../other/.claude/skills"])),
            (ClaudeCode, "--add-dir ../nowhere", claude.to_vec()),
            (ClaudeCode, "--add-dir ../other --disallowedTools Skill", vec![]),
            (ClaudeCode, "--add-dir ../other --settings off.json", vec![]),
            (ClaudeCode, "--add-dir ../other --setting-sources user", vec!["home/.claude/skills"]),
            (
                ClaudeCode,
                "--add-dir ../other --setting-sources project",
                vec!["p/.claude/skills", "p/../other/.claude/skills"],
            ),
            (ClaudeCode, "--plugin-dir ../kit", with(&claude, &["p/../kit/skills"])),
            (ClaudeCode, "--plugin-dir ../kits", with(&claude, &["p/../kits/a/skills"])),
            (ClaudeCode, "--plugin-dir ../kit --settings off.json", vec![]),
            (Codex, "exec -c skills.include_instructions=false hi", vec![]),
            (Codex, "-p quiet", vec![]),
            (Gemini, "-e none", gemini.to_vec()),
            (Gemini, "-e poetry", with(&["home/.gemini/extensions/poetry/skills"], &gemini)),
            (Gemini, "-e none --include-directories ../other", gemini.to_vec()),
            (Gemini, "", with(&["home/.gemini/extensions/poetry/skills"], &gemini)),
            (Qwen, "--exclude-tools skill", vec![]),
            (Copilot, "--excluded-tools skill", vec![]),
            (Copilot, "--available-tools bash", vec![]),
            (Droid, "exec --disabled-tools Skill", vec![]),
            (Droid, "exec --remove-tools Execute,Skill", vec![]),
            (Droid, "exec --only-tools Read", vec![]),
        ] {
            let words: Vec<&str> = words.split(' ').filter(|word| !word.is_empty()).collect();
            let mut found = finds(agent, &words);
            let mut wanted = wanted;
            found.sort();
            wanted.sort_unstable();
            assert_eq!(found, wanted, "{agent} {words:?}");
        }
        let added = finds(Copilot, &["--add-dir", "../other"]);
        assert!(added.contains(&"p/../other/.github/skills".to_owned()), "{added:?}");
        let added = finds(Copilot, &["--plugin-dir", "../kit"]);
        assert!(added.contains(&"p/../kit/skills".to_owned()), "{added:?}");
    }
}
