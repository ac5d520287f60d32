//! The demands for signatures of a fetcher, by its policy and by the settings of each source.

use super::host::host_of;
use super::lock_file::Locked;
use super::mcp::is_mcp;
use super::signature::Demand;
use crate::catalog::Scope;
use crate::config::{FetchSettings, SignaturePolicy};
use crate::error::Error;

/// The policy of a fetcher, if it has one.
#[derive(Debug, Clone, Default)]
pub(super) struct RequiredSignatures(Option<SignaturePolicy>);

impl RequiredSignatures {
    pub(super) fn of(policy: SignaturePolicy) -> RequiredSignatures {
        RequiredSignatures(Some(policy))
    }

    /// The same, or those of another policy if there is none.
    pub(super) fn or(self, policy: impl FnOnce() -> SignaturePolicy) -> RequiredSignatures {
        RequiredSignatures(self.0.or_else(|| Some(policy())))
    }

    /// Verifies the signature of a state for the file of a scope, if one is asked for, and returns the
    /// key that made it. `read` reads a file of the state by its path.
    ///
    /// Fails with `PERMISSION_DENIED` if it is not as one of the keys signed it.
    pub(super) fn verify(
        &self,
        scope: Scope,
        settings: &FetchSettings,
        locked: &Locked,
        read: &dyn Fn(&str) -> Option<Vec<u8>>,
    ) -> Result<Option<String>, Error> {
        let Some(keys) = self.keys_for(scope, settings) else { return Ok(None) };
        let demand = Demand { source: &settings.source, keys: &keys };
        demand.verify(&locked.files, locked.skills.is_empty(), read).map(Some)
    }

    /// Fails with `PERMISSION_DENIED` if a signature is asked for and such a source cannot have one: then
    /// it need not even be asked.
    pub(super) fn check_signable(
        &self,
        scope: Scope,
        settings: &FetchSettings,
    ) -> Result<(), Error> {
        match self.keys_for(scope, settings) {
            Some(keys) if is_mcp(&settings.source) => {
                Err(Demand { source: &settings.source, keys: &keys }.unsigned())
            }
            _ => Ok(()),
        }
    }

    /// The keys of which one must have signed a source; `None` if it need not be signed.
    pub(super) fn keys_for(&self, scope: Scope, settings: &FetchSettings) -> Option<Vec<String>> {
        let (policy, host) = (self.0.clone().unwrap_or_default(), host_of(&settings.source));
        policy.keys_for(scope, &settings.signed_by, host.as_deref())
    }
}
