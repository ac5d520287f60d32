//! The scripts of an engine's skills.

use std::ffi::OsStr;

use super::Engine;
use super::access::{no_files, reachable};
use super::caller::Caller;
use crate::catalog::Entry;
use crate::error::{Error, ErrorCode};
use crate::script::{Script, ScriptIo, ScriptOutput, Scripts};
use crate::spans;
use crate::trust::Owner;

impl Engine {
    /// Tells whether this engine runs scripts.
    pub fn runs_scripts(&self) -> bool {
        self.0.scripts.is_some()
    }

    /// The scripts of a skill.
    ///
    /// Fails with `NOT_FOUND` if the skill is out of reach or has no directory, with `PERMISSION_DENIED`
    /// if this engine does not run scripts, and as [`Scripts::list`] does.
    pub fn scripts<'c>(
        &self,
        name: &str,
        caller: impl Into<Caller<'c>>,
    ) -> Result<Vec<Script>, Error> {
        let catalog = self.catalog();
        let entry = reachable(&catalog, name, caller.into())?;
        self.runner(entry)?.list(&owner(entry)?)
    }

    /// Runs a script of a skill, by its path in the skill's directory or in `scripts/`, and
    /// waits for its end.
    ///
    /// Fails as [`Engine::scripts`] and [`Scripts::run`] do, and with `CONSENT_REQUIRED` if the user
    /// must agree first.
    pub fn run_script<'c, S: AsRef<OsStr>>(
        &self,
        name: &str,
        script: &str,
        args: &[S],
        caller: impl Into<Caller<'c>>,
        io: ScriptIo<'_>,
    ) -> Result<ScriptOutput, Error> {
        let (catalog, caller) = (self.catalog(), caller.into());
        let entry = self.admitted(&catalog, name, caller)?;
        let span = spans::script(entry.id.as_str());
        let run = || self.runner(entry)?.run(&owner(entry)?, script, args, io);
        let output = spans::within(&span, run)?;
        if let Some(code) = output.exit_code {
            span.record("exit_code", code);
        }
        span.record("output.bytes", spans::int(output.stdout.len() + output.stderr.len()));
        if let Err(error) = caller.session().tolerant().record_use(&entry.id) {
            // The script has run, and its effects cannot be undone: only log the error.
            tracing::warn!(id = %entry.id, %error, "the use of a script is not noted");
        }
        Ok(output)
    }

    fn runner(&self, entry: &Entry) -> Result<&Scripts, Error> {
        self.0.scripts.as_ref().ok_or_else(|| {
            let message = format!("this host runs no scripts, including those of `{}`", entry.id);
            Error::new(ErrorCode::PermissionDenied, message, "do what the script would do")
        })
    }
}

fn owner(entry: &Entry) -> Result<Owner, Error> {
    Owner::of(entry).ok_or_else(|| no_files(entry))
}
