//! Files and directories that are nearly skills, which every scan passes over.

use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use repertoire_system::open_options::regular_file;

use super::scan::{SKILL_FILE, is_skill_file};
use crate::diagnostic::{Code, Diagnostic};

/// The name of a directory of skills.
const SKILLS_DIR: &str = "skills";
/// Names of files that were meant to be `SKILL.md`, in lower case and without blanks.
const MISNAMED: [&str; 22] = [
    "skills.md", "skill.markdown", "skill.mdx", "skill.mdc", "skill.txt", "skill.md.txt",
    "skill.md.md", "skill.mkd", "skill.rst", "skill", "skill_md", "skill-md", "skillmd", "skil.md",
    "skils.md", "skilll.md", "skll.md", "sklil.md", "skill(1).md", "skill(2).md", "skillcopy.md",
    "skill-copy.md",
];

/// Finds files and directories at `root`, the root of a source, that are nearly skills: a flat `NAME.md`
/// with front matter, a `SKILLS.md`, or another spelling of the directory `skills`. Each finding says what to
/// rename.
///
/// A directory that is not called `skills` may hold documents of any kind, so flat files are reported only
/// in one of that name.
pub fn near_misses(root: &Path) -> Vec<Diagnostic> {
    let is_named = root.file_name().is_some_and(|name| name == SKILLS_DIR);
    let mut found = if is_named { misspelt(root) } else { Vec::new() };
    if !root.is_dir() {
        return found;
    }
    let holds_skill = |dir: &Path| entries(dir).iter().any(|path| is_skill_file(name(path)));
    let is_one_skill = holds_skill(root);
    for path in entries(root) {
        if path.is_dir() {
            let misnamed = entries(&path).into_iter().find(|file| is_misnamed(file));
            found.extend(misnamed.filter(|_| !holds_skill(&path)).map(|file| rename(&file)));
        } else if is_named && !is_one_skill && !is_misnamed(&path) && is_flat_skill(&path) {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            found.push(Diagnostic::new(
                Code::NearMiss,
                &path,
                "a file in a directory of skills is not a skill",
                format!("move it to `{stem}/{SKILL_FILE}`"),
            ));
        }
    }
    found
}

/// Finds directories beside `root` with other spellings of its name. One without skills may be for something else.
fn misspelt(root: &Path) -> Vec<Diagnostic> {
    let dirs = root.parent().map(entries).unwrap_or_default().into_iter();
    // On some systems, another letter case is the same directory.
    let real = |path: &Path| path.canonicalize().ok();
    let real_root = real(root);
    let holds_skills = |path: &Path| {
        entries(path).iter().flat_map(|dir| entries(dir)).any(|file| is_skill_file(name(&file)))
    };
    let is_like = |path: &PathBuf| {
        let is_same = name(path) == SKILLS_DIR || real_root.is_some() && real(path) == real_root;
        let is_spelling = name(path).eq_ignore_ascii_case(SKILLS_DIR)
            || name(path).eq_ignore_ascii_case("skill") && holds_skills(path);
        is_spelling && !is_same && path.is_dir()
    };
    let told = dirs.filter(is_like).map(|path| {
        let help = format!("rename it to `{SKILLS_DIR}`");
        let message = "no agent looks into a directory of this name";
        Diagnostic::new(Code::NearMiss, &path, message, help)
    });
    told.collect()
}

fn rename(path: &Path) -> Diagnostic {
    let name = name(path).to_string_lossy();
    Diagnostic::new(
        Code::NearMiss,
        path,
        format!("`{name}` is not the name of a skill's file"),
        format!("rename it to `{SKILL_FILE}`"),
    )
}

fn is_misnamed(path: &Path) -> bool {
    let file = name(path);
    let name = file.to_string_lossy().to_lowercase().replace(char::is_whitespace, "");
    let is_spaced = is_skill_file(name.as_ref()) && !is_skill_file(file);
    (is_spaced || MISNAMED.contains(&&*name)) && path.is_file()
}

/// Tells whether a file is a Markdown file with front matter.
fn is_flat_skill(path: &Path) -> bool {
    let is_markdown = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"));
    let mut start = [0; 3];
    let file = is_markdown.then(|| regular_file(path).ok()).flatten();
    file.is_some_and(|mut file| file.read_exact(&mut start).is_ok() && start == *b"---")
}

fn name(path: &Path) -> &OsStr {
    path.file_name().unwrap_or_default()
}

/// The entries of a directory that are not hidden, in byte order of their names.
fn entries(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_hidden = |path: &PathBuf| name(path).as_encoded_bytes().starts_with(b".");
    let mut entries: Vec<PathBuf> = entries.filter(|path| !is_hidden(path)).collect();
    entries.sort();
    entries
}
