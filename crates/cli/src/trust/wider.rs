//! Rights that classes of a library ask for, and that go beyond those that the user granted before.

use std::collections::BTreeMap;
use std::path::PathBuf;

use repertoire::skill::ToolsetRights;
use repertoire::trust::{Refusal, TrustStore, TrustedFile};

use super::Code;
use crate::output::Output;
use crate::sanitize;

/// The rights of a class that its skill asks for, and that go beyond those it had.
pub(super) struct Wider {
    library: PathBuf,
    class: String,
    asked: ToolsetRights,
    missing: ToolsetRights,
}

impl Wider {
    /// Returns the wider rights of the classes in a library. `before` are the files that are trusted now.
    pub(super) fn of(code: &Code, before: &[TrustedFile]) -> Vec<Wider> {
        let held = held(code, before);
        let of_class = |(class, asked): (String, ToolsetRights)| {
            let missing = asked.without(&held.get(&class).cloned().unwrap_or_default());
            let library = code.file.clone();
            (!missing.is_empty()).then_some(Wider { library, class, asked, missing })
        };
        code.asked().into_iter().filter_map(of_class).collect()
    }

    /// Tells whether the user refused these rights, perhaps for an earlier build of the library.
    pub(super) fn is_refused_in(&self, refused: &[Refusal]) -> bool {
        refused.iter().any(|refusal| {
            let is_library = self.library.canonicalize().is_ok_and(|path| path == refusal.path);
            is_library
                && refusal.class.as_ref() == Some(&self.class)
                && refusal.rights == self.asked
        })
    }

    /// Remembers that the user said no to these rights of a trusted library.
    pub(super) fn refuse(&self, store: &TrustStore) -> anyhow::Result<()> {
        Ok(store.refuse_class(&self.library, &self.class, self.asked.clone())?)
    }

    /// Says that the rights were not granted.
    pub(super) fn tell(&self, out: Output) {
        let told = format!("`{}` asks {}, and was not granted it", self.class, self.missing);
        out.note(&format!("{}; `--yes` grants it", sanitize::line(&told)));
    }
}

/// Returns the rights that the classes of a library ask for and were granted before it was built.
pub(super) fn kept(code: &Code, before: &[TrustedFile]) -> BTreeMap<String, ToolsetRights> {
    let held = held(code, before);
    let kept = |(class, asked): (String, ToolsetRights)| {
        let rights = asked.and(held.get(&class)?);
        (!rights.is_empty()).then_some((class, rights))
    };
    code.asked().into_iter().filter_map(kept).collect()
}

/// Returns the rights that a library was granted before it was built.
fn held(code: &Code, before: &[TrustedFile]) -> BTreeMap<String, ToolsetRights> {
    code.known_in(before).map(|file| file.rights.clone()).unwrap_or_default()
}
