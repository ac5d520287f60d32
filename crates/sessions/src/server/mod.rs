//! The parts that all stores on servers share: options, addresses, the record of a session, and the
//! pause after a failure.

mod breaker;
mod caller;
mod parameters;
mod pool;
mod problem;
mod record;
#[cfg(all(feature = "tls", feature = "postgres"))]
pub(super) mod tls;

pub(super) use caller::{Caller, Connector};
pub(super) use parameters::Parameters;
pub(super) use pool::Deadline;
pub(super) use problem::{Cause, Problem};
pub(super) use record::{decode, encode, key};
