//! Findings that a host reports about its sources while the engine runs.

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Engine;
use crate::catalog::CatalogOptions;
use crate::diagnostic::{Code, Diagnostic};

/// Tells whether findings with a code are replaced.
type IsReplaced = fn(Code) -> bool;

/// The findings of the host that replace those with which the engine was built.
#[derive(Debug, Default)]
pub(super) struct HostFindings(Mutex<Reported>);

#[derive(Debug, Default)]
struct Reported {
    /// `None` if the findings with which the engine was built are still the latest.
    now: Option<(IsReplaced, Vec<Diagnostic>)>,
    /// True if the catalog does not have these findings yet.
    are_new: bool,
}

impl HostFindings {
    fn lock(&self) -> MutexGuard<'_, Reported> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// Replaces the findings of the host whose code `is_replaced` selects, for example those about
    /// sources that it fetches. The [diagnostics](Engine::diagnostics) have them after the next
    /// [refresh](Engine::refresh).
    pub fn report(&self, is_replaced: IsReplaced, findings: Vec<Diagnostic>) {
        let mut reported = self.0.findings.lock();
        if reported.now.as_ref().map(|(_, findings)| findings) != Some(&findings) {
            *reported = Reported { now: Some((is_replaced, findings)), are_new: true };
        }
    }

    /// Tells whether the host reported findings that the catalog does not have yet.
    pub(super) fn has_new_findings(&self) -> bool {
        self.0.findings.lock().are_new
    }

    /// The options for loading the catalog, with the latest findings of the host. Marks these findings
    /// as no longer new.
    pub(super) fn options_now(&self) -> Cow<'_, CatalogOptions> {
        let mut reported = self.0.findings.lock();
        reported.are_new = false;
        let Some((is_replaced, now)) = &reported.now else {
            return Cow::Borrowed(&self.0.sources);
        };
        let mut options = self.0.sources.clone();
        options.findings.retain(|finding| !is_replaced(finding.code));
        options.findings.extend_from_slice(now);
        Cow::Owned(options)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn reported_findings_replace_those_with_the_same_codes() {
        let finding =
            |code, message: &str| Diagnostic::new(code, Path::new("config.toml"), message, "");
        let engine = Engine::builder()
            .finding(finding(Code::SourceStale, "old"))
            .finding(finding(Code::InvalidValue, "kept"))
            .build()
            .unwrap();
        let messages = || {
            engine.refresh().unwrap();
            let findings = engine.diagnostics();
            let mut messages: Vec<_> = findings.iter().map(|found| found.message.clone()).collect();
            messages.sort();
            messages
        };
        assert_eq!(messages(), ["kept", "old"]);
        let is_stale = |code| code == Code::SourceStale;
        engine.report(is_stale, vec![finding(Code::SourceStale, "new")]);
        assert_eq!(messages(), ["kept", "new"]);
        engine.report(is_stale, Vec::new());
        assert_eq!(messages(), ["kept"]);
    }
}
