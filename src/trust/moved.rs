//! Files of skills whose directory moved.

use std::path::{Path, PathBuf};

use super::{TrustStore, Trusted};
use crate::error::Error;

impl TrustStore {
    /// Notes that the directory `from` is at `to` now. What was trusted in it stays trusted as long as its
    /// content is the same. Fails with `EXECUTION_ERROR` if the store cannot be written.
    pub fn moved(&self, from: &Path, to: &Path) -> Result<(), Error> {
        let to = to.canonicalize().unwrap_or_else(|_| to.to_owned());
        let is_below = |file: &super::TrustedFile| file.path.starts_with(from);
        if !self.list().iter().any(is_below) {
            return Ok(());
        }
        self.change(|trusted| {
            let Trusted { files, skills } = std::mem::take(trusted);
            let place = |path: PathBuf| match path.strip_prefix(from) {
                Ok(below) => to.join(below),
                Err(_) => path,
            };
            for (path, mut file) in files {
                file.path = place(file.path);
                trusted.files.insert(place(path), file);
            }
            for (dir, mut skill) in skills {
                skill.dir = place(skill.dir);
                trusted.skills.insert(place(dir), skill);
            }
        })
    }
}
