//! The crate as others use it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod hostile;
#[cfg(feature = "model2vec")]
mod model2vec;
mod nearness;
mod properties;
