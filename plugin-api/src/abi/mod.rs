//! The border: everything that knows `abi_stable`, symbols and sections.
//!
//! It is narrow on purpose. Strings cross it, and JSON in them; whatever can grow is JSON, so that
//! the layouts do not have to. Panics do not cross it: [`crate::panics`] catches them on the
//! plugin's side, and [`host`] those of the host's callbacks.
#![expect(unsafe_code, reason = "a border between two compilations cannot be crossed without")]

#[cfg(feature = "host")]
mod c;
#[cfg(feature = "host")]
pub(crate) mod host;
#[cfg(feature = "host")]
mod layout;
pub(crate) mod note;
pub(crate) mod plugin;
pub(crate) mod types;

/// The symbol that is looked at first: plain C, the same in every version.
#[cfg(feature = "host")]
pub(crate) const MARKER_SYMBOL: &str = "repertoire_plugin_marker";
/// The symbol of the root module, in `abi_stable`'s terms.
#[cfg(feature = "host")]
pub(crate) const ROOT_SYMBOL: &str = "repertoire_plugin_root";
/// The symbol of the functions of a plugin without Rust, in the terms of `include/repertoire.h`.
#[cfg(feature = "host")]
pub(crate) const C_ROOT_SYMBOL: &str = "repertoire_plugin_c_root";
