//! Suggested triggers for a skill, mined from its own text and compared with the rest of the catalog.
//!
//! Most published skills declare no triggers. Their descriptions often hold good ones: words that the
//! skill uses again and again, and no other skill does. A phrase is proposed if
//!
//! - it is a run of one to three words in the skill's name, or in its description outside of denials
//!   ("do not use for");
//! - it is not an everyday or technical word (`word_lists.rs`), nor made up of such words and of words
//!   that many skills of the catalog use;
//! - it is the skill's *own*: no other description holds it, and at least nine of ten uses in the
//!   catalog are in this skill, where a use in a description counts as three and one in a name as five;
//! - it is used often enough to be a subject of the skill, not an aside: if it occurs once in the
//!   description and nowhere else, it must not hold a conjunction or an auxiliary verb.
//!
//! The limits were chosen by trials with all the catalogs in `docs/check.md`.

mod deny;
mod grams;
mod insert;
mod mine;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::catalog::{Catalog, Entry};
use crate::error::Error;
use crate::skill::{SkillId, Spanned, Triggers};

/// The triggers that a skill could declare.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Suggestion {
    /// The skill.
    pub id: SkillId,
    /// The keywords, the best first; empty if the text holds no phrase that is the skill's own.
    pub keywords: Vec<Proposal>,
}

/// A keyword that a skill could declare.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Proposal {
    /// The keyword, in lower case.
    pub keyword: String,
    /// The number of uses in the skill's name, in its description outside of denials, and in its body.
    pub uses: u32,
    /// The number of other skills in which the keyword occurs.
    pub others: u32,
}

impl Suggestion {
    /// Converts the proposal to triggers.
    pub fn triggers(&self) -> Triggers {
        let spanned = |proposal: &Proposal| Spanned { value: proposal.keyword.clone(), span: 0..0 };
        Triggers {
            keywords: self.keywords.iter().map(spanned).collect(),
            declared: !self.keywords.is_empty(),
            ..Triggers::default()
        }
    }

    /// Returns `text`, a whole `SKILL.md`, with the proposal as its `triggers`; every other byte stays
    /// as it is. Triggers that the file declares already are replaced only if `replace` is true.
    ///
    /// Fails with `EXECUTION_ERROR` and the reason if this cannot be done exactly: if nothing is
    /// proposed, if the front matter is missing or not valid YAML, or if it declares triggers that are
    /// not to be replaced.
    pub fn insert_into(&self, text: &str, replace: bool) -> Result<String, Error> {
        let keywords: Vec<&str> = self.keywords.iter().map(|p| p.keyword.as_str()).collect();
        insert::with_keywords(text, &keywords, replace)
    }
}

/// Proposes triggers for the skill that `id` means, regardless of those it declares now.
///
/// Fails with `NOT_FOUND` if there is no such skill.
///
/// ```
/// use repertoire::catalog::CatalogOptions;
/// use repertoire::{Catalog, Skill, Source};
///
/// let invoices: Skill = "---\nname: billing\ndescription: Sends dunning letters for invoices\n---\n\
///                        A dunning letter goes out ... Each dunning run ...".parse()?;
/// let options = CatalogOptions::new(vec![Source::memory(vec![invoices])]);
/// let suggestion = repertoire::suggest::suggest(&Catalog::load(&options), "billing")?;
/// assert!(suggestion.keywords.iter().any(|proposal| proposal.keyword == "dunning letters"));
/// # Ok::<(), repertoire::Error>(())
/// ```
pub fn suggest(catalog: &Catalog, id: &str) -> Result<Suggestion, Error> {
    let meant = catalog.find_any(id)?;
    let mut all = mine::mine(&entries(catalog), &|entry| entry.id == meant.id);
    Ok(all.pop().unwrap_or(Suggestion { id: meant.id.clone(), keywords: Vec::new() }))
}

/// Proposes triggers for every skill of the catalog, in the order of ids.
pub fn suggest_all(catalog: &Catalog) -> Vec<Suggestion> {
    mine::mine(&entries(catalog), &|_| true)
}

/// Converts suggestions to the argument of [`EngineBuilder::triggers`](crate::EngineBuilder::triggers),
/// leaving out those without keywords.
pub fn triggers(suggestions: &[Suggestion]) -> BTreeMap<SkillId, Triggers> {
    let telling = suggestions.iter().filter(|suggestion| !suggestion.keywords.is_empty());
    telling.map(|suggestion| (suggestion.id.clone(), suggestion.triggers())).collect()
}

fn entries(catalog: &Catalog) -> Vec<&Entry> {
    catalog.entries().filter(|entry| !entry.is_shadowed()).collect()
}
