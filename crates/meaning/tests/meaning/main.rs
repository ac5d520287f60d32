//! The crate as others use it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[cfg(feature = "model2vec")]
mod directory;
mod hostile;
#[cfg(feature = "model2vec")]
mod model2vec;
mod nearness;
mod properties;
#[cfg(feature = "transformer")]
mod refusals;
#[cfg(feature = "transformer")]
mod transformer;
