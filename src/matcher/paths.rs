//! The `paths` globs of a catalog.

use globset::{Glob, GlobSet, GlobSetBuilder};

/// Globs, compiled in sets of at most so many: a set of all may be larger than one compiles.
const MAX_SET: usize = 256;

#[derive(Debug, Default)]
pub(crate) struct Paths {
    sets: Vec<Set>,
}

#[derive(Debug)]
struct Set {
    globs: GlobSet,
    /// The place of its first glob among all.
    first: usize,
}

impl Paths {
    /// Compiles `globs`, each of which compiles alone.
    pub(crate) fn new(globs: &[Glob]) -> Paths {
        let mut paths = Paths::default();
        for (place, chunk) in globs.chunks(MAX_SET).enumerate() {
            paths.add(chunk, place * MAX_SET);
        }
        paths
    }

    fn add(&mut self, globs: &[Glob], first: usize) {
        let mut set = GlobSetBuilder::new();
        for glob in globs {
            set.add(glob.clone());
        }
        match set.build() {
            Ok(globs) => self.sets.push(Set { globs, first }),
            Err(error) if globs.len() == 1 => {
                // Each glob was tried when its skill was read.
                tracing::error!(glob = %globs[0], %error, "glob does not compile");
            }
            Err(_) => {
                let (left, right) = globs.split_at(globs.len() / 2);
                self.add(left, first);
                self.add(right, first + left.len());
            }
        }
    }

    /// Calls `report` with the place of each glob that matches `path`, which may begin with `./`
    /// or `/` and may be separated by `\`.
    pub(crate) fn matches(&self, path: &str, mut report: impl FnMut(usize)) {
        let path = path.replace('\\', "/");
        let relative = path.trim_start_matches("./").trim_start_matches('/');
        for Set { globs, first } in &self.sets {
            globs.matches(relative).into_iter().for_each(|glob| report(first + glob));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_of_all_sets_are_found_at_their_places() {
        let globs: Vec<Glob> =
            (0..600).map(|i| Glob::new(&format!("d{i}/?.rs")).unwrap()).collect();
        let paths = Paths::new(&globs);
        for i in [0, 255, 256, 599] {
            let mut found = Vec::new();
            paths.matches(&format!("./d{i}\\x.rs"), |place| found.push(place));
            assert_eq!(found, [i]);
        }
    }
}
