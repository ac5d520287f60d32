//! Trust of libraries that the user has just built: the code needs no further yes, wider rights do.

use std::collections::BTreeMap;
use std::path::PathBuf;

use repertoire::skill::ToolsetRights;
use repertoire::trust::{Refusal, TrustedFile};

use super::{Code, Offered, abilities, code_of, toolsets};
use crate::args::Common;
use crate::exit_code::ExitCode;
use crate::output::Output;
use crate::{confirm, sanitize, setup};

/// The rights of a class that its skill asks for, and that go beyond those it had.
struct Wider {
    library: PathBuf,
    class: String,
    asked: ToolsetRights,
    missing: ToolsetRights,
}

/// Trusts the files at `paths`, which the user has just built. They keep the rights that they had. Rights that
/// go beyond those are granted if `is_given`, or if the user agrees; a no is remembered, and the same rights
/// are not asked for again.
pub(crate) fn add_built(
    paths: &[PathBuf],
    is_given: bool,
    common: &Common,
    out: Output,
) -> anyhow::Result<ExitCode> {
    let store = setup::trust_store(common)?;
    let offered = Offered::new(code_of(paths, common)?, &store)?;
    let (before, refused) = (store.list(), store.refusals());
    let wider: Vec<Wider> = offered.code.iter().flat_map(|code| wider(code, &before)).collect();
    let is_new = |wider: &&Wider| !refused.iter().any(|refusal| wider.is_refused_by(refusal));
    let is_asked = !is_given && wider.iter().any(|wider| is_new(&wider));
    let is_granted = match () {
        () if wider.is_empty() => true,
        () if is_given => true,
        () if is_asked && confirm::can_ask(out) => {
            abilities::show(&offered.code, common, out)?;
            confirm::is_agreed("grant the rights that are asked for?", false, out)?
        }
        () => false,
    };
    let granted = |code: &Code| {
        let asked = toolsets::asked(code);
        if is_granted { asked } else { kept(asked, &held(code, &before)) }
    };
    let code = offered.trust(&store, granted, common, out)?;
    if is_granted {
        return Ok(code);
    }
    let is_answered = !is_asked || confirm::can_ask(out);
    for wider in &wider {
        if is_answered {
            store.refuse_class(&wider.library, &wider.class, wider.asked.clone())?;
        }
        let told = format!("`{}` asks {}, and was not granted it", wider.class, wider.missing);
        out.note(&format!("{}; `--yes` grants it", sanitize::line(&told)));
    }
    Ok(if is_answered { code } else { ExitCode::Failure })
}

fn wider(code: &Code, before: &[TrustedFile]) -> Vec<Wider> {
    let held = held(code, before);
    let of_class = |(class, asked): (String, ToolsetRights)| {
        let missing = asked.without(&held.get(&class).cloned().unwrap_or_default());
        let library = code.file.clone();
        (!missing.is_empty()).then_some(Wider { library, class, asked, missing })
    };
    toolsets::asked(code).into_iter().filter_map(of_class).collect()
}

impl Wider {
    /// Tells whether the user refused these rights, perhaps for an earlier build of the library.
    fn is_refused_by(&self, refusal: &Refusal) -> bool {
        let is_library = self.library.canonicalize().is_ok_and(|path| path == refusal.path);
        is_library && refusal.class.as_ref() == Some(&self.class) && refusal.rights == self.asked
    }
}

/// Returns the rights that a library was granted before it was built.
fn held(code: &Code, before: &[TrustedFile]) -> BTreeMap<String, ToolsetRights> {
    let path = code.file.canonicalize().unwrap_or_else(|_| code.file.clone());
    let known = before.iter().find(|file| file.path == path);
    known.map(|file| file.rights.clone()).unwrap_or_default()
}

/// Returns the part of the rights in `asked` that `held` covers.
fn kept(
    asked: BTreeMap<String, ToolsetRights>,
    held: &BTreeMap<String, ToolsetRights>,
) -> BTreeMap<String, ToolsetRights> {
    let kept = |(class, asked): (String, ToolsetRights)| {
        let rights = asked.and(held.get(&class)?);
        (!rights.is_empty()).then_some((class, rights))
    };
    asked.into_iter().filter_map(kept).collect()
}
