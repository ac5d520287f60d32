//! The stable border between a [Repertoire](https://crates.io/crates/repertoire) host and the
//! shared-library plugins that bring a skill's compiled tools.
//!
//! A toolset author depends on this crate and on nothing else of Repertoire; this crate depends
//! on nothing of the engine, so that a plugin never has to be rebuilt because the engine changed.
//! It reserves the border's own version, independent of the product's; the types that cross the
//! border arrive with the toolset loader.

/// The version of the border, `(major, minor)`.
///
/// A host loads a plugin of the same major version; a minor version only adds.
pub const ABI_VERSION: (u32, u32) = (1, 0);
