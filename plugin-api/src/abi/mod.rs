//! The ABI boundary between host and plugin, called the border: everything that knows `abi_stable`,
//! symbols and sections.
//!
//! It is narrow on purpose. Strings cross it, and whatever may grow is JSON inside a string, so that
//! the layouts do not have to change. Panics do not cross it: [`crate::panics`] catches them in the
//! plugin, and [`host`] catches those of the host's callbacks.
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

/// The symbol that the host reads first: a plain C structure, the same in every version.
#[cfg(feature = "host")]
pub(crate) const MARKER_SYMBOL: &str = "repertoire_plugin_marker";
/// The symbol of the root module, as `abi_stable` defines it.
#[cfg(feature = "host")]
pub(crate) const ROOT_SYMBOL: &str = "repertoire_plugin_root";
/// The symbol of the functions of a plugin in C or C++, as `include/repertoire.h` defines them.
#[cfg(feature = "host")]
pub(crate) const C_ROOT_SYMBOL: &str = "repertoire_plugin_c_root";
