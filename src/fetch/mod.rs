//! Skills from elsewhere: git repositories, directories, archives, object stores, registries and MCP servers.
//!
//! A [`SourceProvider`] lists a source and reads from it (`git.rs`, `directory.rs`, `archive.rs`,
//! `archive_https.rs`, `object_store.rs`, `registry.rs`, `mcp/`: one file a provider). The [`Fetcher`] finds the skills in the
//! list (`layout.rs`), follows links by names alone (`names.rs`), and keeps the contents of their files by
//! SHA-256 (`objects.rs`) until nobody uses them (`collect.rs`). A copy (`copies.rs`) is the directory from
//! which engines read; it is replaced as a whole, and stays as it is when a source cannot be reached. A
//! [`SourceList`] writes sources into `config.toml` and pins their files in `skills.lock` (`lock_file.rs`).
//! A [`SourcePoller`] asks for something newer at intervals (`schedule.rs`), and holds back what would
//! take a skill away (`hold.rs`). The list of files that an author signed (`signature.rs`) comes into the
//! copy, and is verified before that is used.
//!
//! Sources are written by others. Their names, links and sizes are checked before anything is
//! written; no file of a source is run, and code in its skills runs only once the user trusts it.

mod archive;
mod archive_address;
mod archive_file;
#[cfg(feature = "archive-https")]
mod archive_https;
mod archive_tar;
mod archive_zip;
mod archive_zip_content;
mod artifact_address;
mod collect;
mod configured;
mod copies;
mod diff;
mod directory;
mod fetcher;
mod git;
mod host;
mod layout;
mod limits;
mod location;
mod lock_file;
mod loopback;
mod mcp;
mod object_address;
#[cfg(feature = "object-store")]
mod object_credentials;
#[cfg(feature = "object-store")]
mod object_store;
mod objects;
mod pack;
mod path_index;
mod paths;
mod poll;
mod program;
mod provider;
mod push;
#[cfg(feature = "oci")]
mod registry;
#[cfg(any(feature = "archive-https", feature = "object-store", feature = "oci"))]
mod remote;
mod required_signatures;
mod schedule;
mod scratch;
mod selection;
mod signature;
mod source_list;
mod state;
mod unattended;
mod update;

pub use collect::Kept;
pub use diff::{ChangeKind, FileChange, Lines, SkillChange};
pub use fetcher::Fetcher;
pub use limits::FetchLimits;
pub use location::Location;
pub use lock_file::{Locked, LockedFile};
pub use mcp::McpAddress;
pub use poll::{PollOutcome, PolledSource, SourcePoll, SourcePoller};
pub use provider::{SourceProvider, SourceTree, Take, TreeEntry, TreeKind};
pub use push::Pushed;
pub use source_list::{Added, SourceList};
pub use update::{Outdated, Update, UpdateOptions, UpdateStatus};
