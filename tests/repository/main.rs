//! Checks of the repository itself: the order of its modules, its dependencies and public names, its
//! prose and pages, the example agent, and the files of a release.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[cfg(all(feature = "cli", unix))]
mod agent_loop;
mod architecture;
mod book;
mod dependencies;
#[cfg(all(feature = "cli", unix))]
#[path = "../support/plugin.rs"]
mod plugin;
mod prose;
mod public_names;
#[cfg(feature = "cli")]
mod readme;
#[cfg(all(feature = "cli", unix))]
mod release;
#[path = "../support/sources.rs"]
mod sources;
