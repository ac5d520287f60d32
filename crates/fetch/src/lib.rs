//! Skills from elsewhere: git repositories, directories, archives, object stores, registries and MCP servers.
//!
//! A [`SourceProvider`] lists a source and reads from it. Each provider has a file of its own: `git.rs`,
//! `directory.rs`, `archive.rs`, `archive_https.rs`, `object_store.rs`, `registry.rs`, `well_known.rs`, `mcp/`. The
//! [`Fetcher`] finds the skills in the list (`layout.rs`), resolves links by names alone, without a file
//! system (`path_index.rs`), and stores the contents of the files by SHA-256 (`objects.rs`). Unused contents
//! are garbage collected (`collect.rs`). A copy (`copies.rs`) is the directory from which engines read a
//! source. It is replaced as a whole, and stays as it is when the source cannot be reached. A
//! [`SourceList`] writes sources into `config.toml` (`config_file.rs`) and pins their files in `skills.lock`
//! (`lock_file.rs`). A [`SourcePoller`] checks sources for updates at intervals (`schedule.rs`), and
//! holds back an update that would remove a skill (`unattended.rs`). The list of files that an author
//! signed (`signature.rs`) is part of the copy, and is verified before the copy is used. Links to skills and
//! copies of them in the directories of agents (`placed.rs`) are listed in the lock file.
//!
//! Sources are written by others. Their names, links and sizes are checked before anything is written.
//! No file of a source is run while it is fetched; code in its skills runs only after the user has
//! trusted it.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod add;
mod address;
mod agent_place;
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
mod config_file;
mod configured;
mod copies;
mod copy_places;
mod diff;
mod directory;
mod fetcher;
mod git;
mod host;
mod joined;
mod layout;
mod limits;
mod location;
mod lock_file;
mod loopback;
mod mcp;
mod migrate;
mod missing_path;
mod near;
mod object_address;
#[cfg(feature = "object-store")]
mod object_credentials;
#[cfg(feature = "object-store")]
mod object_store;
mod objects;
mod pack;
mod path_index;
mod paths;
mod placed;
mod placed_files;
mod poll;
mod preview;
mod program;
mod project_location;
mod provider;
mod providers;
mod push;
mod refusal;
#[cfg(feature = "oci")]
mod registry;
#[cfg(any(feature = "archive-https", feature = "object-store", feature = "oci"))]
mod remote;
mod remove;
mod required_signatures;
mod schedule;
mod scratch;
mod selection;
mod signature;
mod source_list;
mod state;
mod submodules;
mod unattended;
mod unpack;
mod untaken;
mod unusable_path;
mod update;
mod watch;
#[cfg(feature = "archive-https")]
mod well_known;

pub use add::{Added, Opened};
pub use agent_place::AgentPlace;
pub use collect::Kept;
pub use config_file::change_config;
pub use diff::{ChangeKind, FileChange, Lines, SkillChange};
pub use fetcher::Fetcher;
pub use layout::LeftOut;
pub use limits::FetchLimits;
pub use location::Location;
pub use lock_file::{Locked, LockedFile};
pub use mcp::McpAddress;
pub use placed::{NotPlaced, PlacedSkill, Placing};
pub use poll::{PollOutcome, PolledSource, SourcePoll, SourcePoller};
pub use preview::{Preview, PreviewedSkill};
pub use provider::{FileCallback, SourceProvider, SourceTree, TreeEntry, TreeKind};
pub use push::Pushed;
pub use remove::{InSource, Removed};
pub use source_list::SourceList;
pub use update::{Outdated, Update, UpdateOptions, UpdateStatus};
pub use watch::SourceWatch;

/// The code blocks of the page on skills from elsewhere are tests, too.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/sources.md")]
struct SourcesPage;
