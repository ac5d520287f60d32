//! `repertoire trust diff`: what changed since code was trusted.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use repertoire::trust::{ContentHash, Owner, TrustStore, TrustedFile};
use serde_json::{Value as Json, json};
use similar::TextDiff;

use super::{code_files, is_library, owner_of, state, trusted_at};
use crate::args::Common;
use crate::exit_code::ExitCode;
use crate::output::{GOOD, NAME, Output, Page, WARNING, styled};
use crate::{sanitize, setup};

/// The largest text that is kept, to show later what changed.
const MAX_KEPT_BYTES: u64 = 256 << 10;

/// The texts that were trusted, by their hashes, beside the trust store.
pub(super) struct Kept {
    dir: PathBuf,
}

impl Kept {
    pub(super) fn beside(store: &Path) -> Kept {
        Kept { dir: store.with_extension("texts") }
    }

    /// Keeps the text of a file. Without it, what changed is told by hashes alone.
    pub(super) fn keep(&self, file: &Path) {
        let is_small = file.metadata().is_ok_and(|metadata| metadata.len() <= MAX_KEPT_BYTES);
        let Some(text) = is_small.then(|| fs::read_to_string(file).ok()).flatten() else { return };
        let path = self.dir.join(ContentHash::of(text.as_bytes()).as_str());
        let kept = fs::create_dir_all(&self.dir).and_then(|()| fs::write(&path, text));
        if let Err(error) = kept {
            tracing::debug!(path = %path.display(), %error, "a trusted text is not kept");
        }
    }

    /// The text with this hash, if it is there and is that text.
    fn text(&self, hash: &ContentHash) -> Option<String> {
        let text = fs::read_to_string(self.dir.join(hash.as_str())).ok()?;
        (ContentHash::of(text.as_bytes()) == *hash).then_some(text)
    }
}

/// One thing that is not as it was trusted.
struct Change {
    path: PathBuf,
    what: &'static str,
    /// The meaning of the change.
    note: String,
    /// The lines that changed, if the old text was kept.
    diff: Option<String>,
}

pub(super) fn run(
    paths: &[PathBuf],
    store: &TrustStore,
    common: &Common,
    out: Output,
) -> anyhow::Result<ExitCode> {
    let files: Vec<TrustedFile> = if paths.is_empty() {
        store.list()
    } else {
        let mut named = BTreeSet::new();
        for path in paths {
            named.extend(trusted_at(path, store, common)?);
        }
        store.list().into_iter().filter(|file| named.contains(&file.path)).collect()
    };
    let kept = Kept::beside(&setup::trust_file(common)?);
    let mut changes: Vec<Change> = files.iter().filter_map(|file| content(file, &kept)).collect();
    changes.extend(of_skills(&files, store));
    if out.json {
        let changes: Vec<Json> = changes.iter().map(Change::to_json).collect();
        Output::json(&json!({"changes": changes}))?;
    } else {
        let mut text = Page::default();
        for change in &changes {
            change.show(&mut text);
        }
        if changes.is_empty() {
            text.line(format_args!("{}", styled(GOOD, "nothing changed since it was trusted")));
        }
        out.human(text.as_str())?;
    }
    Ok(ExitCode::done_if(changes.is_empty()))
}

/// How the content of a file changed.
fn content(file: &TrustedFile, kept: &Kept) -> Option<Change> {
    let path = file.path.clone();
    match state(file) {
        "unchanged" => None,
        "missing" => {
            let note = "it is not there any more".to_owned();
            Some(Change { path, what: "missing", note, diff: None })
        }
        _ => {
            let now = ContentHash::of_file(&path).map_or_else(|_| "?".into(), |h| h.to_string());
            let texts = kept.text(&file.sha256).zip(fs::read_to_string(&path).ok());
            let diff = texts.map(|(old, new)| {
                let diff = TextDiff::from_lines(old.as_str(), new.as_str());
                diff.unified_diff().context_radius(2).header("trusted", "now").to_string()
            });
            let note = format!("sha256 {} then, {now} now", file.sha256);
            Some(Change { path, what: "changed", note, diff })
        }
    }
}

/// How the skills of trusted files changed: code that came since, and rights.
fn of_skills(files: &[TrustedFile], store: &TrustStore) -> Vec<Change> {
    let mut skills: BTreeMap<PathBuf, (Owner, Vec<&TrustedFile>)> = BTreeMap::new();
    for file in files {
        if let Some(owner) = owner_of(&file.path) {
            skills.entry(owner.dir.clone()).or_insert((owner, Vec::new())).1.push(file);
        }
    }
    let known: BTreeSet<PathBuf> = store.list().into_iter().map(|file| file.path).collect();
    let mut changes = Vec::new();
    for (owner, files) in skills.into_values() {
        let there = code_files(&owner).unwrap_or_default();
        changes.extend(there.into_iter().filter(|path| !known.contains(path)).map(|path| Change {
            path,
            what: "new",
            note: "nobody trusted it".to_owned(),
            diff: None,
        }));
        let scripts = files.iter().filter(|file| !is_library(&file.path));
        changes.extend(scripts.filter(|file| file.network != owner.network).map(|file| {
            let note = if owner.network {
                "its skill asks for the network, and it was trusted without"
            } else {
                "it was trusted with the network, and its skill asks for it no more"
            };
            Change { path: file.path.clone(), what: "rights", note: note.to_owned(), diff: None }
        }));
    }
    changes
}

impl Change {
    fn to_json(&self) -> Json {
        json!({
            "path": self.path.to_string_lossy(),
            "what": self.what,
            "note": self.note,
            "diff": self.diff,
        })
    }

    fn show(&self, text: &mut Page) {
        text.line(format_args!(
            "{} {}: {}",
            styled(WARNING, format_args!("{:7}", self.what)),
            styled(NAME, sanitize::line(&self.path.to_string_lossy())),
            sanitize::line(&self.note)
        ));
        for line in self.diff.iter().flat_map(|diff| diff.lines()) {
            text.line(format_args!("  {}", sanitize::line(line)));
        }
    }
}
