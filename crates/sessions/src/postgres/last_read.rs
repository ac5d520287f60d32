//! A cache of the sessions as they were last read.
//!
//! A turn reads its session, and then writes it. If the row is still the one that was read, one
//! statement writes it, without a transaction that reads it again: one round trip instead of two.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use repertoire::session::SessionState;

/// The most sessions that are remembered. At this number all are forgotten, so that sessions which are
/// read and never written do not stay.
const MOST: usize = 1024;

/// A session, and the transaction that wrote its row (`xmin`).
#[derive(Debug, Clone)]
pub(super) struct Version {
    pub(super) written_by: String,
    pub(super) state: SessionState,
}

/// The sessions that were read and not written since.
#[derive(Debug, Default)]
pub(super) struct LastRead(Mutex<HashMap<String, Version>>);

impl LastRead {
    pub(super) fn put(&self, session: &str, version: Version) {
        let mut all = self.lock();
        if all.len() >= MOST {
            all.clear();
        }
        all.insert(session.to_owned(), version);
    }

    pub(super) fn take(&self, session: &str) -> Option<Version> {
        self.lock().remove(session)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Version>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_serves_once_and_only_so_many_are_remembered() {
        let read = LastRead::default();
        let version =
            |by: &str| Version { written_by: by.to_owned(), state: SessionState::default() };
        read.put("a", version("1"));
        read.put("a", version("2"));
        assert_eq!(read.take("a").unwrap().written_by, "2");
        assert!(read.take("a").is_none());
        for n in 0..MOST * 3 {
            read.put(&n.to_string(), version("1"));
        }
        assert!(read.lock().len() <= MOST && read.take(&(MOST * 3 - 1).to_string()).is_some());
    }
}
