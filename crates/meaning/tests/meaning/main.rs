//! The crate as others use it.

mod hostile;
#[cfg(feature = "model2vec")]
mod model2vec;
mod nearness;
mod properties;
