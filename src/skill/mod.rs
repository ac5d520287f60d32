//! What a skill is: a directory with a `SKILL.md`, and what was read from it.
//!
//! Reading goes from the outside in: [`document`] finds the front matter, [`yaml`] reads it into
//! a tree of values that know their place in the file, [`lenient`] repairs it where it is not
//! valid, and [`manifest`] gives the values their meaning. Loading never fails as a whole: every
//! file gives a [`Skill`], or diagnostics that say why not.

mod brief;
mod document;
mod id;
mod lenient;
mod manifest;
pub(crate) mod pattern;
mod profile;
mod trigger;
mod yaml;

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::OnceLock;

use crate::diagnostic::{Diagnostic, Severity};
use crate::error::{Error, ErrorCode};

pub use id::{SkillId, is_identifier};
pub use manifest::{Context, Manifest, Spanned};
pub use profile::{Profile, check_file};
pub use trigger::Triggers;

/// The largest body a skill may have, in bytes.
pub const MAX_BODY_BYTES: usize = 2 * 1024 * 1024;

/// The largest front matter a skill may have, in bytes.
pub const MAX_FRONT_MATTER_BYTES: usize = 256 * 1024;
