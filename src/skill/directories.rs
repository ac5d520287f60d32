//! The directories that a body may name: that of its skill, and that of the skill's plugin.

use std::path::Path;

/// The variable for the root of the plugin that brought the skill.
pub(super) const PLUGIN_ROOT: &str = "CLAUDE_PLUGIN_ROOT";

/// The file that marks the root of a plugin, and the number of directories above a skill where it is looked for:
/// skills lie in `skills/NAME` of a plugin, and in categories below that.
const PLUGIN_MARK: &str = ".claude-plugin/plugin.json";
const PLUGIN_DEPTH: usize = 4;

/// The directories that placeholders stand for, as texts for a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Directories {
    pub(super) skill: String,
    pub(super) plugin: String,
}

impl Directories {
    /// Those for `body`, the body of the skill in `dir`. A plugin is looked for only if the body names it.
    pub(crate) fn of(dir: &Path, body: &str, text: impl Fn(&Path) -> String) -> Directories {
        let above = || dir.ancestors().skip(1).take(PLUGIN_DEPTH);
        let root =
            body.contains(PLUGIN_ROOT).then(|| above().find(|dir| dir.join(PLUGIN_MARK).is_file()));
        Directories { skill: text(dir), plugin: text(root.flatten().unwrap_or(dir)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_of_a_plugin_is_the_directory_with_its_manifest() {
        let dir = tempfile::tempdir().unwrap();
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let of =
            |skill: &str| Directories::of(&dir.path().join(skill), "$CLAUDE_PLUGIN_ROOT", text);
        let root = |skill: &str| of(skill).plugin;
        std::fs::create_dir_all(dir.path().join("p/.claude-plugin")).unwrap();
        std::fs::write(dir.path().join("p/.claude-plugin/plugin.json"), "{}").unwrap();
        for skill in ["p/skills/x", "p/skills/tools/x"] {
            assert_eq!(root(skill), text(&dir.path().join("p")));
            assert_eq!(of(skill).skill, text(&dir.path().join(skill)));
        }
        assert_eq!(root("skills/x"), text(&dir.path().join("skills/x")));
    }
}
