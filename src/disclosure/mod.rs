//! Disclosure: prompt text for ranked matches, which is empty, a breadcrumb, registry lines, or
//! full text.
//!
//! Each skill has a [`Tier`] in a [`Disclosure`], which is written in a [`Format`] within a
//! [`Budget`]. A skill that does not fit steps down one tier, from full text to a registry line to
//! the number in the breadcrumb; none vanishes, and [`Disclosure::omitted`] says why.

mod budget;
mod case;
mod disclose;
mod fit;
mod how_to_load;
mod lines;
mod listing;
mod matched;
mod native;
mod options;
mod plan;
mod prompt;
mod reason;
mod render;
mod restore;
mod shorten;
mod tier;

pub use budget::{Budget, BytesPerToken, TokenCounter};
pub use how_to_load::HowToLoad;
pub use native::NativeSkills;
pub use options::{DisclosureOptions, RelevanceMargin};
pub use prompt::{CatalogPrompt, PromptOptions};
pub use reason::{Cost, Fallback, Reason, Rejection};
pub use render::Format;
pub use tier::{Disclosure, Tier};

pub(crate) use case::Evidence;
pub(crate) use disclose::disclose;
pub(crate) use listing::Listing;
pub(crate) use matched::MAX_NEXT;
pub(crate) use prompt::catalog_prompt;
pub(crate) use render::{ARGUMENTS, ARGUMENTS_NOTE, attribute, xml_text};
pub(crate) use shorten::one_line;
