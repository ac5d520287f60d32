//! Checks of the repository itself: the order of its modules, its dependencies and public names, its
//! prose and pages, the example agent, and the files of a release.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[cfg(unix)]
mod agent_loop;
mod architecture;
mod book;
mod dependencies;
mod first_skill;
#[cfg(unix)]
mod installer;
mod open_types;
#[cfg(unix)]
#[path = "../../../../tests/support/plugin.rs"]
mod plugin;
mod proof;
mod prose;
mod public_names;
mod publishing;
mod readme;
#[cfg(unix)]
mod release;
mod reports;
mod rivals;
#[path = "../../../../tests/support/sources.rs"]
mod sources;
