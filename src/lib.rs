//! An embeddable skill engine for LLM agents.
//!
//! A *skill* is a directory with a `SKILL.md`: YAML front matter that says what it is for, and
//! Markdown that says how. For each message of a user, the engine decides which skills matter and
//! how much of each to put into the prompt:
//!
//! - **exact**: keywords and verbs match as whole words in any script, never as parts of words; only
//!   where no trigger matches, skills are ranked by relevance, and shown in full if that is sure;
//! - **explainable**: every match carries its triggers and their places in the message, and every
//!   skill left out carries the reason;
//! - **fast**: all triggers are compiled into one index, and each message is scanned once;
//! - **honest**: a skill that does not fit the budget is reduced to a line or a count; no skill is
//!   dropped silently.
//!
//! # Usage
//!
//! ```
//! use repertoire::{Engine, Source};
//!
//! let engine = Engine::builder().source(Source::bundled("examples/skills")).build()?;
//!
//! let disclosure = engine.disclose("say hello to Ana");
//! assert_eq!(disclosure.full, ["hello-extended"]);
//! // `disclosure.text` goes into the prompt; `engine.prompt().text` into the system prompt.
//! # Ok::<(), repertoire::Error>(())
//! ```
//!
//! # Learn more
//!
//! - [`Engine`]: building an engine, and querying it.
//! - [`Skill`]: the content of a `SKILL.md`; [`diagnostic`]: its possible faults.
//! - [`catalog`]: sources of skills, precedence, and visibility.
//! - [`matcher`]: matching and ranking.
//! - [`disclosure`]: the four tiers, budgets, formats, and the catalog prompt.
//! - [`session`]: the history of conversations, the skills in their context, and consent.
//! - [`activation`]: turns a chosen skill into instructions: arguments, files, copies, tasks.
//! - `script` (feature `scripts`): running a skill's scripts under limits.
//! - `snapshot` (feature `snapshot`): parsed skills and their compiled index, kept on disk for later
//!   processes.
//! - `toolset` (feature `toolsets`): tools from shared-library plugins.
//!
//! Data flows in this order; no module depends on a later one.
//!
//! # Features
//!
//! None is on by default.
//!
//! - `scripts`: scripts of skills, run in processes with limits.
//! - `snapshot`: `SnapshotCache`, for short-lived processes that answer a query or two.
//! - `toolsets`: tools from shared-library plugins.
//! - `mcp-toolsets`: also tools from MCP servers that skills ship.
//! - `watch`: `Engine::watch`, which reloads skills when their files change.
//!
//! # Beside it
//!
//! Each of these is a crate: `repertoire-sessions` (sessions in `SQLite`, `PostgreSQL` and Redis),
//! `repertoire-config` (`config.toml`), `repertoire-fetch` (skills from git repositories, archives,
//! registries and servers), `repertoire-agents` (hooks of coding agents), `repertoire-mcp` (an MCP
//! server), `repertoire-authoring` (findings that compare skills, and evaluation) and `repertoire-cli`
//! (the program).
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod activation;
pub mod catalog;
pub mod diagnostic;
pub mod disclosure;
pub mod engine;
mod envelope;
mod error;
mod lazy;
pub mod matcher;
mod progress;
mod provider;
#[cfg(feature = "scripts")]
pub mod script;
pub mod session;
pub mod skill;
#[cfg(feature = "snapshot")]
pub mod snapshot;
#[doc(hidden)]
pub mod spans;
mod tool_definition;
#[cfg(feature = "toolsets")]
pub mod toolset;
#[cfg(feature = "trust")]
pub mod trust;

pub use activation::{Activation, Consent, ConsentPolicy, ConsentRequest, Task, TaskSpawner};
#[cfg(feature = "watch")]
pub use catalog::WatchOptions;
pub use catalog::{Allowlist, Audience, Catalog, Source};
pub use diagnostic::{Code, Diagnostic, Severity};
pub use disclosure::{
    Budget, Disclosure, DisclosureOptions, Format, HowToLoad, PromptOptions, Reason, Rejection,
    Tier,
};
#[cfg(feature = "watch")]
pub use engine::Watch;
pub use engine::{
    Activate, CallIo, Engine, EngineBuilder, Explanation, SessionTools, Turn, TurnBuilder, Weighed,
};
pub use envelope::{Envelope, Fault};
#[doc(hidden)]
pub use error::choose;
pub use error::{Error, ErrorCode, Remedy};
pub use matcher::{Hit, HitKind, Match, MetaQuestion, Query};
pub use progress::{Phase, Progress};
pub use session::Session;
pub use skill::{Skill, SkillId};
#[cfg(feature = "snapshot")]
pub use snapshot::SnapshotCache;
pub use tool_definition::ToolFormat;

/// The README's code blocks are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The code blocks of the page on embedding are tests, too.
#[cfg(all(doctest, feature = "scripts"))]
#[doc = include_str!("../docs/embedding.md")]
struct EmbeddingPage;

/// The code blocks of the page on activation are tests, too.
#[cfg(doctest)]
#[doc = include_str!("../docs/activation.md")]
struct ActivationPage;

/// The code blocks of the page on scripts are tests, too.
#[cfg(all(doctest, feature = "scripts"))]
#[doc = include_str!("../docs/scripts.md")]
struct ScriptsPage;
