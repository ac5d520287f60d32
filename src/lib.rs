//! Repertoire: an embeddable skill engine for LLM agents.

pub mod diagnostic;
mod error;
pub mod matcher;
pub mod skill;

pub use diagnostic::{Code, Diagnostic, Severity};
pub use error::{Error, ErrorCode};
pub use matcher::*;
pub use skill::*;
