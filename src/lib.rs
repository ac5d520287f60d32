//! Repertoire: an embeddable skill engine for LLM agents.

pub mod diagnostic;
mod error;
pub mod skill;

pub use diagnostic::{Code, Diagnostic, Severity};
pub use error::{Error, ErrorCode};
pub use skill::{
    Context, Manifest, Profile, Skill, SkillId, Spanned, Triggers, check_file, is_identifier,
};
