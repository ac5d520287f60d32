//! What authors of skills measure with.
//!
//! - [`lint`]: findings that show only in a whole catalog, or with ordinary messages.
//! - [`eval`]: how often the right skill is disclosed, for messages whose right skills are known.
//!
//! ```
//! use repertoire::catalog::CatalogOptions;
//! use repertoire::{Catalog, Source};
//!
//! let options = CatalogOptions::new(vec![Source::bundled("../../skills")]);
//! assert!(repertoire_authoring::lint::lint(&Catalog::load(&options)).is_empty());
//! ```

pub mod eval;
pub mod lint;
mod word_lists;
