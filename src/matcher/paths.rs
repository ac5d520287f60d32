//! The `paths` globs of a catalog.

use std::sync::OnceLock;

use globset::{Glob, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Serialize};

use super::arena::Texts;
use crate::skill::glob;

/// The maximum number of globs in one compiled set: a set of all globs might exceed the size limit of
/// compilation.
const MAX_SET: usize = 256;

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Paths {
    globs: Texts,
    /// The compiled globs, made when the first path is matched.
    #[serde(skip)]
    sets: OnceLock<Vec<Set>>,
}

#[derive(Debug)]
struct Set {
    globs: GlobSet,
    /// The position of each glob of the set among all globs.
    places: Vec<usize>,
}

impl Paths {
    /// Stores globs in their order. Each of them must compile.
    pub(crate) fn new<'a>(globs: impl IntoIterator<Item = &'a str>) -> Paths {
        let mut paths = Paths::default();
        globs.into_iter().for_each(|glob| paths.globs.push(glob));
        paths
    }

    /// Calls `report` with the place of each glob that matches `path`, which may begin with `./`
    /// or `/` and may be separated by `\`.
    pub(crate) fn matches(&self, path: &str, mut report: impl FnMut(usize)) {
        let path = path.replace('\\', "/");
        let relative = path.trim_start_matches("./").trim_start_matches('/');
        for Set { globs, places } in self.sets.get_or_init(|| compile(&self.globs)) {
            globs.matches(relative).into_iter().for_each(|glob| report(places[glob]));
        }
    }

    /// The number of globs.
    pub(crate) fn len(&self) -> usize {
        self.globs.len()
    }

    /// Tells whether the deserialised texts of the globs are valid.
    pub(crate) fn is_sound(&self) -> bool {
        self.globs.is_sound()
    }
}

fn compile(texts: &Texts) -> Vec<Set> {
    // Each glob was compiled once when its skill was read, so no error is expected here.
    let globs: Vec<(usize, Glob)> = (0..texts.len())
        .filter_map(|place| {
            let text = texts.get(place as u32);
            let compiled = glob(text);
            let warn = |error| tracing::error!(glob = text, %error, "glob does not compile");
            Some((place, compiled.map_err(warn).ok()?))
        })
        .collect();
    let mut sets = Vec::new();
    globs.chunks(MAX_SET).for_each(|chunk| compile_set(chunk, &mut sets));
    sets
}

fn compile_set(globs: &[(usize, Glob)], sets: &mut Vec<Set>) {
    let mut set = GlobSetBuilder::new();
    for (_, glob) in globs {
        set.add(glob.clone());
    }
    match set.build() {
        Ok(set) => {
            let places = globs.iter().map(|(place, _)| *place).collect();
            sets.push(Set { globs: set, places });
        }
        Err(error) if globs.len() == 1 => {
            tracing::error!(glob = %globs[0].1, %error, "glob does not compile");
        }
        Err(_) => {
            let (left, right) = globs.split_at(globs.len() / 2);
            compile_set(left, sets);
            compile_set(right, sets);
        }
    }
}
