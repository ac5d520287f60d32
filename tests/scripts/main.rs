//! Scripts of skills, run for real: their environment, their limits, and the scripts that must not run.
#![cfg(all(target_os = "linux", feature = "scripts"))]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod attributes;
mod beside;
mod contents;
mod limits;
mod network;
mod probes;
mod reads;
#[expect(dead_code, reason = "these tests need no shared data")]
#[path = "../support/mod.rs"]
mod support;
mod surroundings;
mod totals;
mod trust;
mod trust_store;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use repertoire::catalog::{Environment, Scope};
use repertoire::script::{ScriptIo, ScriptOptions, ScriptOutput, Scripts};
use repertoire::trust::{Owner, TrustStore};
use repertoire::{Error, SkillId};
use tempfile::TempDir;

/// A time longer than any test takes, even on a slow machine.
const LONG: Duration = Duration::from_secs(30);

/// A skill in its own directory, and the options for its scripts.
struct Place {
    dir: TempDir,
    owner: Owner,
    options: ScriptOptions,
    store: Arc<TrustStore>,
}

impl Place {
    /// Creates a user's skill with these files.
    fn with(files: &[(&str, &str)]) -> Place {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("skill");
        let owner = Owner::new(SkillId::new("tried"), Scope::User, root, None);
        let mut options = ScriptOptions::default();
        options.environment = variables(&[]);
        let store = Arc::new(TrustStore::in_memory());
        let place = Place { dir, owner, options, store };
        place.write("SKILL.md", "---\nname: tried\ndescription: Tried.\n---\n");
        for (name, text) in files {
            place.write(name, text);
        }
        place
    }

    /// Creates a skill with one shell script.
    fn sh(text: &str) -> Place {
        Place::with(&[("scripts/a.sh", &format!("#!/bin/sh\n{text}\n"))])
    }

    /// Creates a skill with one Python script.
    fn py(text: &str) -> Place {
        Place::with(&[("scripts/a.py", text)])
    }

    /// Changes the limits of the skill.
    fn limited(mut self, change: impl FnOnce(&mut repertoire::script::ScriptLimits)) -> Place {
        change(&mut self.options.limits);
        self
    }

    fn root(&self) -> &Path {
        &self.owner.dir
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    fn scripts(&self) -> Scripts {
        Scripts::new(self.options.clone(), Arc::clone(&self.store))
    }

    /// Runs a script. Asserts that none of its processes remains, whatever the result.
    fn run_with(
        &self,
        script: &str,
        args: &[&str],
        io: ScriptIo<'_>,
    ) -> Result<ScriptOutput, Error> {
        let ran = self.scripts().run(&self.owner, script, args, io);
        assert_eq!(self.alive(), Vec::<String>::new(), "{ran:?}");
        ran
    }

    fn run(&self, script: &str, args: &[&str]) -> Result<ScriptOutput, Error> {
        self.run_with(script, args, ScriptIo::default())
    }

    /// Runs the only script of the skill.
    fn only(&self, args: &[&str]) -> ScriptOutput {
        let name = if self.root().join("scripts/a.py").exists() { "a.py" } else { "a.sh" };
        self.run(name, args).unwrap()
    }

    /// Returns the processes that a script of this skill has started, wherever they are now: all of
    /// them have the skill's directory in their environment.
    fn alive(&self) -> Vec<String> {
        let ours = self.root().to_str().unwrap().as_bytes();
        let mut alive = Vec::new();
        for process in std::fs::read_dir("/proc").unwrap().filter_map(Result::ok) {
            let read = |name: &str| std::fs::read(process.path().join(name)).unwrap_or_default();
            let name = process.file_name().into_string().unwrap();
            if name.parse::<u32>().is_err()
                || !read("environ").windows(ours.len()).any(|part| part == ours)
            {
                continue;
            }
            let stat = String::from_utf8_lossy(&read("stat")).into_owned();
            if !stat.rsplit(") ").next().unwrap().starts_with(['Z', 'X']) {
                alive.push(stat);
            }
        }
        alive
    }
}

/// Returns an environment with the system's programs and these variables.
fn variables(more: &[(&str, &str)]) -> Environment {
    let all = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("HOME", "/nowhere")];
    let all = all.iter().chain(more).map(|(name, value)| (name.into(), value.into()));
    Environment::Fixed(all.collect::<BTreeMap<OsString, OsString>>())
}

/// Tells whether a program is installed. Reports the test as skipped if it is not.
fn has(program: &str) -> bool {
    let found = ["/usr/local/bin", "/usr/bin", "/bin"]
        .iter()
        .any(|dir| Path::new(dir).join(program).exists());
    if !found {
        support::say(&format!("SKIPPED: no `{program}` on this machine"));
    }
    found
}

/// Tells whether the tests run as root.
fn is_superuser() -> bool {
    std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()) == 0
}
