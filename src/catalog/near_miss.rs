//! Near misses: files and directories that are nearly what skills are read from.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::diagnostic::{Code, Diagnostic};

/// Names for which authors take that of a skill file, in lower case.
const MISSPELT: [&str; 8] = [
    "skills.md",
    "skill.markdown",
    "skill.mdx",
    "skill.mdc",
    "skill.txt",
    "skill.md.txt",
    "skill.md.md",
    "skill",
];

/// The name of directories that hold skills.
const SKILLS: &str = "skills";

/// The bytes of a file in which its front matter is looked for.
const HEAD_BYTES: u64 = 4096;

/// Tells whether a file that is not a skill file may be a near miss, by its name and directory.
pub(super) fn may_be(path: &Path, root: &Path) -> bool {
    is_misspelt(path) || is_flat(path, root)
}

fn is_misspelt(path: &Path) -> bool {
    let is_it = |name: &OsStr| MISSPELT.iter().any(|known| name.eq_ignore_ascii_case(known));
    path.file_name().is_some_and(is_it)
}

/// Tells whether a file is Markdown and lies where directories of skills do.
fn is_flat(path: &Path, root: &Path) -> bool {
    let is_markdown = path.extension().is_some_and(|ext| ext.eq_ignore_ascii_case("md"));
    let dir = path.parent().unwrap_or(Path::new(""));
    let is_skills = dir.file_name().is_some_and(|name| name.eq_ignore_ascii_case(SKILLS));
    is_markdown && (dir == root || is_skills)
}

/// Returns the findings about those `files` below `root` that may be near misses. `skills` are the
/// directories with a skill file: what lies in them belongs to their skills.
pub(super) fn findings(
    files: &[PathBuf],
    root: &Path,
    skills: &BTreeSet<&Path>,
) -> Vec<Diagnostic> {
    let is_of_skill = |path: &Path| {
        let above = path.ancestors().skip(1).take_while(|above| above.starts_with(root));
        above.into_iter().any(|above| skills.contains(above))
    };
    let holds_skills = |dir: &Path| skills.iter().any(|skill| skill.parent() == Some(dir));
    let finding = |path: &PathBuf| {
        let dir = path.parent()?;
        if is_misspelt(path) {
            // Beside skills, it is a list of them.
            let is_list = holds_skills(dir);
            let help = "rename it to `SKILL.md`";
            return (!is_list).then(|| near_miss(path, "the file is not read as a skill", help));
        }
        let is_place = dir != root || holds_skills(dir) || is_named_skills(dir);
        (is_place && has_front_matter(path)).then(|| {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let help = format!("move it to `{stem}/SKILL.md`");
            near_miss(path, "the file is not read: a skill is a directory", &help)
        })
    };
    files.iter().filter(|path| !is_of_skill(path)).filter_map(finding).collect()
}

fn is_named_skills(dir: &Path) -> bool {
    dir.file_name().is_some_and(|name| name.eq_ignore_ascii_case(SKILLS))
}

fn near_miss(path: &Path, message: &str, help: &str) -> Diagnostic {
    Diagnostic::new(Code::NearMiss, path, message, help)
}

/// Returns the finding about a directory beside `root`, a source that does not exist, whose name is
/// nearly the same: in another letter case, or without the last `s`.
pub fn near_miss_of(root: &Path) -> Option<Diagnostic> {
    let wanted = root.file_name()?.to_str()?;
    let is_near = |name: &OsStr| {
        let name = name.to_string_lossy();
        name.eq_ignore_ascii_case(wanted) && name != wanted
            || wanted.strip_suffix('s').is_some_and(|one| name.eq_ignore_ascii_case(one))
    };
    let entries = fs::read_dir(root.parent()?).ok()?;
    let near = entries
        .filter_map(Result::ok)
        .find(|entry| is_near(&entry.file_name()) && entry.path().is_dir())?;
    let help = format!("rename it to `{wanted}`");
    Some(near_miss(&near.path(), "the directory is not read as a source of skills", &help))
}

/// Tells whether a file begins with front matter that names or describes something.
fn has_front_matter(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    let head = String::from_utf8_lossy(&head);
    let mut lines = head.trim_start_matches('\u{feff}').lines();
    read.is_ok()
        && lines.next().is_some_and(|first| first.trim_end() == "---")
        && lines
            .take_while(|line| line.trim_end() != "---")
            .any(|line| line.starts_with("name:") || line.starts_with("description:"))
}
