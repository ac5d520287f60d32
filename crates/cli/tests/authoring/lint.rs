//! Linting of a whole catalog of real skills: it is fast, and does not find a fault in every skill.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use repertoire::catalog::CatalogOptions;
use repertoire::{Catalog, Severity, Source};
use repertoire_authoring::lint::lint;

use crate::support::{say, shared};

#[test]
fn no_rule_fires_on_more_than_a_third_of_real_skills() {
    let Some(corpus) = shared("corpus/skills") else { return };
    // Check all skills as one catalog, and each repository as its own catalog.
    let repositories: Vec<PathBuf> =
        corpus.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    let mut by_code: BTreeMap<&str, BTreeSet<PathBuf>> = BTreeMap::new();
    let mut n_skills = 0;
    let mut slowest = Duration::ZERO;
    for sources in [repositories.iter().collect(), vec![&corpus]]
        .into_iter()
        .flat_map(|roots: Vec<&PathBuf>| roots)
    {
        let sources = vec![Source::project(sources)];
        let catalog = Catalog::load(&CatalogOptions::new(sources));
        let start = Instant::now();
        let found = lint(&catalog);
        slowest = slowest.max(start.elapsed());
        n_skills = catalog.entries().filter(|entry| !entry.is_shadowed()).count();
        let mut skills_of_this: BTreeMap<&str, BTreeSet<PathBuf>> = BTreeMap::new();
        for diagnostic in &found {
            assert!(diagnostic.severity < Severity::Error, "{diagnostic}");
            assert!(!diagnostic.help.is_empty(), "{diagnostic}");
            if let Some(span) = &diagnostic.span {
                let text = std::fs::read_to_string(&diagnostic.path).unwrap();
                assert!(text.get(span.clone()).is_some(), "{diagnostic}");
            }
            let of_code = skills_of_this.entry(diagnostic.code.as_str()).or_default();
            of_code.insert(diagnostic.path.clone());
        }
        by_code = skills_of_this;
    }
    let counts: Vec<String> =
        by_code.iter().map(|(code, skills)| format!("{code} {}", skills.len())).collect();
    say(&format!("{n_skills} skills in {slowest:?}: {}", counts.join(", ")));
    for (code, skills) in by_code {
        assert!(skills.len() * 3 <= n_skills, "{code}: {} of {n_skills}", skills.len());
    }
    assert!(slowest < Duration::from_secs(60), "{slowest:?}");
}
