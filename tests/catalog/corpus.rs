//! All skills of the shared corpus.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::*;

/// Lists the sources of the corpus. Scans do not enter hidden directories, so each one is a source of
/// its own, just as an agent would name `.claude/skills`.
fn corpus_sources(root: &Path, files: &[PathBuf]) -> Vec<Source> {
    let hidden = files.iter().flat_map(|file| file.ancestors()).filter(|dir| {
        dir.starts_with(root)
            && dir.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
    });
    let hidden: BTreeSet<&Path> = hidden.collect();
    [root].into_iter().chain(hidden).map(Source::project).collect()
}

#[test]
fn the_whole_corpus_is_in_the_catalog_or_has_a_diagnostic() {
    let Some(corpus) = support::shared("corpus/MANIFEST.jsonl") else { return };
    let (dir, manifest) = (corpus.parent().unwrap(), fs::read_to_string(&corpus).unwrap());
    let files: Vec<PathBuf> = manifest
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|entry| dir.join(entry["file"].as_str().unwrap()))
        .filter(|file| file.file_name().unwrap().eq_ignore_ascii_case("SKILL.md"))
        .collect();
    assert!(files.len() > 2_000, "{} files", files.len());

    let sources = corpus_sources(&dir.join("skills"), &files);
    let start = Instant::now();
    let engine = Engine::builder().sources(sources).build().unwrap();
    let elapsed = start.elapsed();
    let catalog = engine.catalog();
    let loaded: BTreeSet<&Path> = catalog.entries().filter_map(|e| e.skill.path()).collect();
    let reported: BTreeSet<&Path> =
        catalog.diagnostics().iter().map(|finding| finding.path.as_path()).collect();
    for file in &files {
        let is_known = loaded.contains(&**file) || reported.contains(&**file);
        assert!(is_known, "{} vanished", file.display());
    }
    let mut counts: BTreeMap<Code, usize> = BTreeMap::new();
    for finding in catalog.diagnostics() {
        *counts.entry(finding.code).or_default() += 1;
    }
    support::say(&format!(
        "corpus: {} files, {} loaded, in {elapsed:?}; {counts:?}",
        files.len(),
        loaded.len()
    ));
    assert!(!engine.disclose("please review this pull request").text.is_empty());
}
