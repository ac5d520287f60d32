//! Measures for authors of skills.
//!
//! - [`lint`]: findings that show only in a whole catalog, or with ordinary messages.
//! - [`ask`]: how often a model loads the right skill, by any program that reaches a model.
//! - [`benchmark`]: public benchmarks of retrieval, as they are published.
//! - [`eval`]: how often the right skill is disclosed, for messages whose right skills are known.
//!
//! ```
//! use repertoire::catalog::CatalogOptions;
//! use repertoire::{Catalog, Code, Source};
//! use repertoire_authoring::lint::lint;
//!
//! let skill = "---\nname: deploy\ndescription: Deploys a service.\ntriggers: [please]\n---\nRun it.";
//! let catalog = Catalog::load(&CatalogOptions::new(vec![Source::memory(vec![skill.parse()?])]));
//! assert!(lint(&catalog).iter().any(|finding| finding.code == Code::GenericTrigger));
//! # Ok::<(), repertoire::Error>(())
//! ```

pub mod ask;
pub mod benchmark;
pub mod eval;
pub mod lint;
mod word_lists;
