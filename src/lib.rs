//! Repertoire: an embeddable skill engine for LLM agents.

pub mod catalog;
pub mod diagnostic;
pub mod disclosure;
mod engine;
mod error;
pub mod matcher;
pub mod session;
pub mod skill;

pub use catalog::{
    Allowlist, Audience, Catalog, CatalogOptions, Environment, Scope, Source, Status,
};
pub use diagnostic::{Code, Diagnostic, Severity};
pub use disclosure::{
    Budget, CatalogPrompt, Disclosure, DisclosureOptions, Format, PromptOptions, Tier, TokenCounter,
};
pub use engine::{Engine, EngineBuilder, Explanation};
pub use error::{Error, ErrorCode};
pub use matcher::{Hit, HitKind, Match, MetaQuestion, Query, Rejection};
pub use session::{MemoryStore, SessionStore};
pub use skill::{
    Context, Manifest, Profile, Skill, SkillId, Spanned, Triggers, check_file, is_identifier,
};
