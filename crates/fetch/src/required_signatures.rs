//! The signatures that a fetcher demands: by its policy, and by the settings of each source.

use super::host::host_of;
use super::lock_file::Locked;
use super::mcp::is_mcp;
use super::signature::Demand;
use repertoire::Error;
use repertoire::catalog::Scope;
use repertoire_config::{FetchSettings, SignaturePolicy};

/// The policy of a fetcher, if it has one.
#[derive(Debug, Clone, Default)]
pub(super) struct RequiredSignatures(pub(super) Option<SignaturePolicy>);

impl RequiredSignatures {
    /// Verifies the signature of a fetched state, if one is required, and returns the key that made it.
    /// `scope` is that of the `config.toml` with the settings. `read` reads a file of the state by its
    /// path.
    ///
    /// Fails with `PERMISSION_DENIED` if the state does not match the signature of one of the keys.
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

    /// Fails with `PERMISSION_DENIED` if a signature is required and this kind of source cannot have
    /// one, so that it need not be fetched at all.
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

    /// The accepted keys, one of which must have signed the source; `None` if no signature is required.
    pub(super) fn keys_for(&self, scope: Scope, settings: &FetchSettings) -> Option<Vec<String>> {
        let (policy, host) = (self.0.clone().unwrap_or_default(), host_of(&settings.source));
        policy.keys_for(scope, &settings.signed_by, host.as_deref())
    }
}
