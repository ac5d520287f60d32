//! Session stores for [`repertoire`]: sessions that outlive a process, or that many machines share.
//!
//! - `SqliteStore` (feature `sqlite`, on by default): a file that many processes share.
//! - `PostgresStore` (feature `postgres`) and `RedisStore` (feature `redis`): servers that many
//!   machines share; [`open_url`] opens the one that an address names.
//! - [`FallbackStore`] keeps conversations in memory while another store is unavailable, and
//!   [`MeteredStore`] counts and times the calls of one.
//!
//! All of them are a [`SessionStore`](repertoire::session::SessionStore), and behave the same:
//!
#![cfg_attr(feature = "sqlite", doc = "```")]
#![cfg_attr(not(feature = "sqlite"), doc = "```ignore")]
//! use repertoire::Engine;
//! use repertoire_sessions::SqliteStore;
//!
//! let dir = tempfile::tempdir()?;
//! let engine = Engine::builder()
//!     .skill("---\nname: deploy\ndescription: Deploys.\ntriggers: [ship it]\n---\nRun it.".parse()?)
//!     .session_store(SqliteStore::open(dir.path().join("sessions.sqlite"))?)
//!     .build()?;
//! let session = engine.session("chat-7");
//! assert_eq!(engine.turn("ship it", &session).run()?.disclosure.full, ["deploy"]);
//! // The instructions are in the context already, also for another process.
//! assert!(engine.turn("ship it", &session).run()?.disclosure.full.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]

mod address;
mod call_counter;
mod metered;
mod open_url;
mod options;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "redis")]
mod redis;
#[cfg(any(feature = "postgres", feature = "redis"))]
mod server;
#[cfg(feature = "sqlite")]
mod sqlite;

#[cfg(feature = "redis")]
pub use self::redis::RedisStore;
pub use address::{is_address, without_secrets};
pub use call_counter::CallCounter;
pub use metered::{MeteredStore, STORE_BOUNDS, StoreCounts};
pub use open_url::open_url;
pub use options::ServerOptions;
#[cfg(feature = "postgres")]
pub use postgres::PostgresStore;
pub use repertoire::session::FallbackStore;
#[cfg(feature = "sqlite")]
pub use sqlite::{SetAside, SqliteStore};
