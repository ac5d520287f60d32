//! Paths with nothing at them: what somebody may have meant.

use std::path::{Path, PathBuf};

use super::archive::is_archive;
use super::near::nearest;

/// The help for `text`, which was read as `path`; `forms` lists all forms of an address.
pub(super) fn help(text: &str, path: &Path, forms: &str) -> String {
    if let Some((before, _)) = text.split_once(['*', '?', '{']) {
        let dir = before.rsplit_once('/').map_or(".", |(dir, _)| dir);
        return format!("name the directory, from which all skills are taken: `{dir}`");
    }
    if let Some(near) = near(path) {
        return format!("did you mean `{}`?", near.display());
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if text.is_empty() || !text.chars().all(is_plain) || is_archive(text) {
        return forms.to_owned();
    }
    match text.rsplit_once('.') {
        Some((name, end)) if !name.is_empty() && is_domain(end) => {
            format!("for a site that lists its skills, write `https://{text}`")
        }
        Some(_) => forms.to_owned(),
        None => format!(
            "name the repository, too: `owner/repo@{text}` for a skill, `{text}/REPO` for an owner"
        ),
    }
}

/// The entry of a directory whose name is nearest to that of `path`.
pub(super) fn near(path: &Path) -> Option<PathBuf> {
    let entries = path.parent()?.read_dir().ok()?.filter_map(Result::ok).take(MAX_ENTRIES);
    let names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let near = nearest(&path.file_name()?.to_string_lossy(), names.iter().map(String::as_str))?;
    Some(path.with_file_name(near))
}

/// The most entries of a directory that are compared with a name that is not there.
const MAX_ENTRIES: usize = 1000;

/// Tells whether the end of a name is more likely that of a site than that of a file.
fn is_domain(end: &str) -> bool {
    let is_file = ["json", "md", "mdx", "toml", "txt", "yaml", "yml"].contains(&end);
    end.len() > 1 && !is_file && end.chars().all(|c| c.is_ascii_alphabetic())
}
