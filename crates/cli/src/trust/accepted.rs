//! The skills whose code is being trusted, and their other files, which become trusted as well.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;

use repertoire::Error;
use repertoire::trust::{FileChange, SkillFiles, TrustStore};
use serde_json::{Value as Json, json};

use super::Code;
use crate::output::{Output, Page, WARNING, styled};
use crate::sanitize;

/// The maximum number of files that are shown of a skill not trusted before; JSON has all of them.
const MAX_SHOWN: usize = 40;

/// A skill whose files are trusted along with its code.
pub(super) struct Accepted {
    pub(super) files: SkillFiles,
    /// The files of the skill that differ from those trusted before; all files if none were.
    pub(super) changes: Vec<FileChange>,
    /// True if no code of the skill was trusted before.
    pub(super) is_new: bool,
}

impl Accepted {
    /// Returns the skill without the changes of the files for which `is_own` returns true.
    pub(super) fn without(&self, is_own: impl Fn(&str) -> bool) -> Accepted {
        let changes = self.changes.iter().filter(|change| !is_own(&change.path)).cloned();
        Accepted { files: self.files.clone(), changes: changes.collect(), is_new: self.is_new }
    }

    pub(super) fn to_json(&self) -> Json {
        json!({
            "dir": self.files.dir().to_string_lossy(),
            "files": self.files.files().len(),
            "changes": self.changes.iter().map(change_json).collect::<Vec<_>>(),
        })
    }
}

/// Returns the skills that `code` belongs to, by their directories.
pub(super) fn of(code: &[Code], store: &TrustStore) -> Result<BTreeMap<PathBuf, Accepted>, Error> {
    let dirs: BTreeSet<PathBuf> = code.iter().filter_map(Code::skill_dir).collect();
    let read = |dir: PathBuf| {
        let files = SkillFiles::read(&dir)?;
        let known = store.changes(&files);
        let is_new = known.is_none();
        let changes = known.unwrap_or_else(|| files.changes_since(&BTreeMap::new()));
        Ok((dir, Accepted { files, changes, is_new }))
    };
    dirs.into_iter().map(read).collect()
}

/// Shows the files that become trusted, or become trusted with another content.
pub(super) fn show<'a>(skills: impl Iterator<Item = &'a Accepted>, out: Output) -> io::Result<()> {
    let mut text = Page::default();
    for Accepted { files, changes, is_new } in skills {
        let n_shown = if *is_new { changes.len().min(MAX_SHOWN) } else { changes.len() };
        for change in &changes[..n_shown] {
            let file = files.dir().join(&change.path);
            let told = format!("{:7} {}", change.kind.as_str(), file.display());
            text.line(format_args!("{}", styled(WARNING, sanitize::line(&told))));
        }
        if changes.len() > n_shown {
            let n_more = changes.len() - n_shown;
            text.line(format_args!("and {n_more} more files, which `--json` lists"));
        }
    }
    if text.as_str().is_empty() { Ok(()) } else { out.human(text.as_str()) }
}

pub(super) fn change_json(change: &FileChange) -> Json {
    json!({"path": change.path, "kind": change.kind.as_str()})
}
