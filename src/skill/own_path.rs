//! Paths of a skill's files as bodies, models and Windows write them.

use std::borrow::Cow;
use std::path::Path;

use super::placeholder::{self, Declared, Placeholder};

/// Returns `written`, the path of a file of the skill in `dir`, relative to that directory and with `/`: a body names
/// its files by `${SKILL_DIR}`, for which a model reads the absolute path. Any other path is returned as it is, and may
/// lead anywhere.
pub(crate) fn own_path<'p>(written: &'p str, dir: Option<&Path>) -> Cow<'p, str> {
    if let Some(below) = below_placeholder(written) {
        return with_slashes(below);
    }
    let path = with_slashes(written);
    let is_absolute = path.starts_with('/') || path.as_bytes().get(1) == Some(&b':');
    let Some(dir) = dir.filter(|_| is_absolute) else { return path };
    let forms = [Some(dir.to_owned()), std::path::absolute(dir).ok(), dir.canonicalize().ok()];
    let below = forms.into_iter().flatten().find_map(|dir| {
        let dir = dir.to_string_lossy();
        Some(below(&path, &with_slashes(&dir))?.to_owned())
    });
    below.map_or(path, Cow::Owned)
}

fn with_slashes(path: &str) -> Cow<'_, str> {
    if path.contains('\\') { path.replace('\\', "/").into() } else { path.into() }
}

/// Returns the part of `path` below `dir`, if it has one.
fn below<'p>(path: &'p str, dir: &str) -> Option<&'p str> {
    let below = path.strip_prefix(dir.trim_end_matches('/'))?.strip_prefix('/')?;
    (!below.is_empty()).then_some(below)
}

/// Returns the part of a path behind a placeholder for the skill's directory.
fn below_placeholder(path: &str) -> Option<&str> {
    if !path.starts_with(['$', '{']) {
        return None;
    }
    let found = placeholder::find(path, &Declared::default()).into_iter().next()?;
    let is_first = found.range.start == 0 && found.placeholder == Placeholder::Directory;
    let below = path[found.range.end..].strip_prefix(['/', '\\']).filter(|_| is_first)?;
    (!below.is_empty()).then_some(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_below_the_skill_has_several_forms() {
        let dir = Path::new("/skills/tables");
        for written in [
            "docs/a.md",
            "docs\\a.md",
            "/skills/tables/docs/a.md",
            "${SKILL_DIR}/docs/a.md",
            "$SKILL_DIR/docs/a.md",
            "${CLAUDE_SKILL_DIR}/docs/a.md",
            "{baseDir}/docs/a.md",
            "{baseDir}\\docs\\a.md",
        ] {
            assert_eq!(own_path(written, Some(dir)), "docs/a.md", "{written}");
        }
        assert_eq!(own_path("C:\\s\\x\\a.md", Some(Path::new("C:\\s\\x"))), "a.md");
        let here = std::env::current_dir().unwrap();
        let absolute = here.join("src/lib.rs");
        assert_eq!(own_path(absolute.to_str().unwrap(), Some(Path::new("."))), "src/lib.rs");
    }

    #[test]
    fn any_other_path_stays_what_it_is() {
        let dir = Some(Path::new("/skills/tables"));
        for (written, wanted) in [
            ("../a.md", "../a.md"),
            ("..\\a.md", "../a.md"),
            ("/skills/tables", "/skills/tables"),
            ("/skills/tables/", "/skills/tables/"),
            ("/skills/tables-two/a.md", "/skills/tables-two/a.md"),
            ("/skills/tables/../a.md", "../a.md"),
            ("${SKILL_DIR}", "${SKILL_DIR}"),
            ("${SKILL_DIR}/../a.md", "../a.md"),
            ("${SKILL_DIRS}/a.md", "${SKILL_DIRS}/a.md"),
            ("${CLAUDE_PLUGIN_ROOT}/a.md", "${CLAUDE_PLUGIN_ROOT}/a.md"),
            ("x/${SKILL_DIR}/a.md", "x/${SKILL_DIR}/a.md"),
            ("$HOME/a.md", "$HOME/a.md"),
            ("skills/tables/a.md", "skills/tables/a.md"),
            ("", ""),
        ] {
            assert_eq!(own_path(written, dir), wanted, "{written}");
        }
        assert_eq!(own_path("/a.md", None), "/a.md");
    }
}
