//! The selection of real skills: varied, without near duplicates, and the same in every run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use repertoire::{Skill, Source};

/// The share of common words above which two descriptions count as versions of one skill.
const MAX_SHARED: f64 = 0.5;

/// Returns the first `n` skills of `corpus`, one from each repository in turn. The order depends on
/// their paths only.
pub(crate) fn choose(corpus: &Path, n: usize) -> Vec<Skill> {
    let (files, _) = repertoire::catalog::skill_files(&Source::project(corpus), &[]);
    let mut by_repository: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for file in files {
        let path = file.strip_prefix(corpus).unwrap().to_string_lossy().into_owned();
        let repository = path.split('/').next().unwrap_or_default().to_owned();
        by_repository.entry(repository).or_default().push(file);
    }
    for files in by_repository.values_mut() {
        files.sort_by_key(|file| hash(file.strip_prefix(corpus).unwrap()));
    }
    let mut chosen: Vec<(Skill, BTreeSet<String>)> = Vec::new();
    let mut names = BTreeSet::new();
    let n_rounds = by_repository.values().map(Vec::len).max().unwrap_or(0);
    for round in 0..n_rounds {
        for file in by_repository.values().filter_map(|files| files.get(round)) {
            if chosen.len() == n {
                break;
            }
            let Some(skill) = usable(file) else { continue };
            let words = words(skill.description());
            let is_new = chosen.iter().all(|(_, others)| shared(&words, others) <= MAX_SHARED);
            if is_new && names.insert(skill.name().to_lowercase()) {
                chosen.push((skill, words));
            }
        }
    }
    chosen.into_iter().map(|(skill, _)| skill).collect()
}

/// Loads a skill that a catalog shows to the model if it has what it requires: its name is in small letters,
/// digits and hyphens, and its description has at least five words. Returns `None` for any other.
fn usable(file: &Path) -> Option<Skill> {
    let skill = Skill::load(file, "repertoire").ok()?;
    let is_open = !skill.manifest().is_model_invocation_disabled();
    let is_name =
        skill.name().chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    (is_open && is_name && words(skill.description()).len() >= 5).then_some(skill)
}

fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3);
    words.map(str::to_lowercase).collect()
}

/// Returns the number of common words as a share of the smaller set.
#[expect(clippy::cast_precision_loss, reason = "numbers of words")]
fn shared(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    a.intersection(b).count() as f64 / a.len().min(b.len()).max(1) as f64
}

/// Hashes a path with FNV-1a, in order to pick skills from all parts of a repository.
fn hash(path: &Path) -> u64 {
    path.to_string_lossy().bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
