//! Files of skills whose directory moved.

use std::path::{Path, PathBuf};

use super::{TrustStore, Trusted};
use crate::error::Error;

impl TrustStore {
    /// Notes that the directory `from` is at `to` now. What was trusted in it, or refused, stays so as long as its
    /// content is the same. Fails with `EXECUTION_ERROR` if the store cannot be written.
    pub fn moved(&self, from: &Path, to: &Path) -> Result<(), Error> {
        let to = to.canonicalize().unwrap_or_else(|_| to.to_owned());
        let trusted = self.list().iter().any(|file| file.path.starts_with(from));
        if !trusted && !self.refusals().iter().any(|refusal| refusal.path.starts_with(from)) {
            return Ok(());
        }
        self.change(|trusted| {
            let Trusted { files, skills, refused } = std::mem::take(trusted);
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
            for mut refusal in refused {
                refusal.path = place(refusal.path);
                trusted.refused.push(refusal);
            }
        })
    }
}
