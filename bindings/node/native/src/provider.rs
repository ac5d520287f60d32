//! A provider of the host: functions of the façade that list and read the files of skills.

use repertoire_bindings::repertoire::Error;
use repertoire_bindings::repertoire::catalog::{ProvidedFile, Provider};
use serde_json::{Value, json};

use crate::host::{self, Asker};

/// The name of the provider in error messages.
const PROVIDER: &str = "the provider";

/// Asks the façade for files. The engine reports a failure in its own way, such as a finding.
#[derive(Debug)]
pub(crate) struct HostProvider {
    host: u32,
    /// The place of the source among those of the engine.
    source: u32,
    asker: Asker,
}

impl HostProvider {
    pub(crate) fn new(host: u32, source: u32) -> HostProvider {
        HostProvider { host, source, asker: Asker::of_call() }
    }

    fn ask<T>(
        &self,
        kind: &str,
        path: &str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<T, Error> {
        let payload = json!({"source": self.source, "path": path});
        self.asker
            .within(|| host::reported(|| host::asked_or(self.host, kind, PROVIDER, &payload, read)))
    }
}

impl Provider for HostProvider {
    fn list(&self) -> Result<Vec<ProvidedFile>, Error> {
        let file = |pair: &Value| Some(ProvidedFile::new(pair[0].as_str()?, pair[1].as_str()?));
        self.ask("listFiles", "", |answer| answer.as_array()?.iter().map(file).collect())
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, Error> {
        // The façade writes each byte as the character of its number.
        let bytes = |text: &str| text.chars().map(|c| u8::try_from(c).ok()).collect();
        self.ask("readFile", path, |answer| bytes(answer.as_str()?))
    }
}
