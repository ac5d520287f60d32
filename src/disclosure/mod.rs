//! Disclosure: turns ranked matches into text for the prompt. The text is empty, a breadcrumb (the
//! number of skills), registry lines, or full instructions.
//!
//! A [`Disclosure`] gives each skill a [`Tier`], and is written in a [`Format`] within a [`Budget`]. A
//! skill that does not fit steps down one tier: from full text to a registry line, from a line to the
//! number in the breadcrumb. No skill vanishes silently: [`Disclosure::omitted`] says why.

mod budget;
mod case;
mod considered;
mod disclose;
mod fit;
mod how_to_load;
pub(crate) mod idle;
mod lines;
mod listing;
mod matched;
mod model_text;
mod native;
mod options;
mod plan;
mod prompt;
mod reason;
mod render;
mod restore;
mod shorten;
mod task;
mod tier;

pub use budget::{Budget, BytesPerToken, TokenCounter};
pub use considered::{Considered, Lack, Needed};
#[doc(hidden)]
pub use fit::over_budget;
pub use how_to_load::HowToLoad;
#[doc(hidden)]
pub use model_text::{clean_json, description_text, model_text};
pub use native::{NativeSkills, SkillNeeds};
pub use options::{DisclosureOptions, RelevanceMargin};
pub use prompt::{CatalogPrompt, PromptOptions};
pub use reason::{Cost, Fallback, Reason, Rejection};
pub use render::Format;
pub use task::TaskRunner;
pub use tier::{Disclosure, Tier};

pub(crate) use case::Evidence;
pub(crate) use disclose::{Disclosed, disclose};
pub(crate) use listing::Listing;
pub(crate) use matched::MAX_NEXT;
#[cfg(feature = "toolsets")]
pub(crate) use model_text::clean_schema;
pub(crate) use prompt::catalog_prompt;
pub(crate) use render::{
    ARGUMENTS_NOTE, COMMANDS_NOTE, attribute, file_elements, file_list, path_text, xml_body,
    xml_text,
};
pub(crate) use shorten::one_line;
#[doc(hidden)]
pub use shorten::path_line;
