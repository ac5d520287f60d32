//! An embeddable skill engine for LLM agents.
//!
//! A *skill* is a directory with a `SKILL.md`: YAML front matter that says what it is for, and
//! Markdown that says how. For each message of a user, the engine decides which skills matter and
//! how much of each to put into the prompt:
//!
//! - **exact**: keywords, verbs and patterns match as whole words in any script, never as parts of
//!   words; what does not match is not guessed at;
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
//! - [`lint`]: triggers and descriptions of all skills, compared with each other.
//! - [`disclosure`]: the four tiers, budgets, formats, and the catalog prompt.
//! - [`session`]: the history of conversations, the skills in their context, and consent.
//! - [`activation`]: turns a chosen skill into instructions: arguments, files, copies, tasks.
//! - `script` (feature `scripts`): running a skill's scripts under limits.
//! - `snapshot` (feature `snapshot`): parsed skills and their compiled index, kept on disk for later
//!   processes.
//! - `toolset` (feature `toolsets`): tools from shared-library plugins.
//! - `config` (feature `config`): `config.toml`, the settings of users and projects.
//! - `fetch` (feature `fetch`): skills from git repositories, directories and archives.
//! - [`integration`]: tools for a host's model.
//! - [`eval`]: measures how often the right skill is disclosed, with labelled prompts.
//!
//! Data flows in this order; no module depends on a later one.
//!
//! # Features
//!
//! - `cli` (default): the `repertoire` binary. The library does not use it: embed with
//!   `default-features = false`.
//! - `config` (part of `cli`): `Config`, settings of the user and of a project.
//! - `fetch` (part of `cli`): skills fetched from elsewhere, pinned in `skills.lock`, and kept in a
//!   cache.
//! - `archive-https`: archives behind URLs as sources of `fetch`.
//! - `oci`: sources of `fetch` in OCI registries, and pushes to them.
//! - `object-store`: sources of `fetch` in S3, Google Cloud Storage and Azure.
//! - `mcp` (part of `cli`): a server of the Model Context Protocol.
//! - `postgres`: `session::PostgresStore`, sessions in a database that many machines share.
//! - `redis`: `session::RedisStore`, sessions in Redis or Valkey.
//! - `tls`: TLS for connections to session stores.
//! - `sqlite` (part of `cli`): `session::SqliteStore`, sessions in a file that many processes share.
//! - `scripts` (part of `cli`): scripts of skills, run in processes with limits.
//! - `snapshot` (part of `cli`): `SnapshotCache`, for short-lived processes that answer a query or two.
//! - `toolsets` (part of `cli`): tools from shared-library plugins.
//! - `mcp-toolsets` (part of `cli`): also tools from MCP servers that skills ship.
//! - `watch` (part of `cli`): `Engine::watch`, which reloads skills when their files change.

pub mod activation;
pub mod catalog;
#[cfg(feature = "config")]
pub mod config;
mod confined;
pub mod diagnostic;
pub mod disclosure;
pub mod engine;
mod envelope;
mod error;
pub mod eval;
#[cfg(feature = "fetch")]
pub mod fetch;
pub mod integration;
mod lazy;
pub mod lint;
mod lossy_path;
pub mod matcher;
#[cfg(any(
    feature = "fetch",
    feature = "scripts",
    feature = "snapshot",
    feature = "sqlite",
    feature = "toolsets"
))]
mod open_options;
#[cfg(any(feature = "fetch", feature = "scripts", feature = "toolsets"))]
mod private_dir;
#[cfg(any(feature = "scripts", feature = "mcp-source", feature = "mcp-toolsets"))]
mod process;
mod progress;
#[cfg(any(feature = "scripts", feature = "toolsets"))]
mod sandbox;
#[cfg(feature = "scripts")]
pub mod script;
pub mod session;
pub mod skill;
#[cfg(feature = "snapshot")]
pub mod snapshot;
mod spans;
mod tool_definition;
#[cfg(feature = "toolsets")]
pub mod toolset;
#[cfg(any(feature = "fetch", feature = "scripts", feature = "toolsets"))]
pub mod trust;
mod word_lists;

pub use activation::{Activation, Consent, ConsentPolicy, ConsentRequest, Task, TaskSpawner};
#[cfg(feature = "watch")]
pub use catalog::WatchOptions;
pub use catalog::{Allowlist, Audience, Catalog, Source};
#[cfg(feature = "config")]
pub use config::Config;
pub use diagnostic::{Code, Diagnostic, Severity};
pub use disclosure::{
    Budget, Disclosure, DisclosureOptions, Format, HowToLoad, PromptOptions, Reason, Rejection,
    Tier,
};
#[cfg(feature = "watch")]
pub use engine::Watch;
pub use engine::{
    Activate, CallIo, Engine, EngineBuilder, Explanation, SessionTools, Turn, TurnBuilder,
};
pub use envelope::{Envelope, Fault};
pub use error::{Error, ErrorCode, Remedy};
pub use matcher::{Hit, HitKind, Match, MetaQuestion, Query};
pub use progress::{Phase, Progress};
pub use session::Session;
pub use skill::{Skill, SkillId};
#[cfg(feature = "snapshot")]
pub use snapshot::SnapshotCache;
pub use tool_definition::ToolFormat;

/// The README's code blocks are tests.
#[cfg(all(doctest, feature = "sqlite"))]
#[doc = include_str!("../README.md")]
struct Readme;

/// The code blocks of the page on embedding are tests, too.
#[cfg(all(doctest, feature = "sqlite"))]
#[doc = include_str!("../docs/embedding.md")]
struct EmbeddingPage;

/// The code blocks of the page on activation are tests, too.
#[cfg(doctest)]
#[doc = include_str!("../docs/activation.md")]
struct ActivationPage;

/// The code blocks of the page on configuration are tests, too.
#[cfg(all(doctest, feature = "config"))]
#[doc = include_str!("../docs/config.md")]
struct ConfigPage;

/// The code blocks of the page on skills from elsewhere are tests, too.
#[cfg(all(doctest, feature = "fetch"))]
#[doc = include_str!("../docs/sources.md")]
struct SourcesPage;

/// The code blocks of the page on scripts are tests, too.
#[cfg(all(doctest, feature = "scripts"))]
#[doc = include_str!("../docs/scripts.md")]
struct ScriptsPage;
