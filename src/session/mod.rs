//! What a conversation did: which skills it used, and when.

mod store;

pub use store::{MemoryStore, SessionStore};
