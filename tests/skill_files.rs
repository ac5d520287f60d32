//! Skill files: every file loads or says why not, and none takes long.
#![expect(clippy::print_stderr, reason = "tests say what they skipped and counted")]

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use repertoire::{Diagnostic, Profile, Skill, check_file};
use serde_json::Value;
use support::shared;

const BRAND: &str = "repertoire";

fn json(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn conformance_cases_load_as_written() {
    let Some(cases) = shared("conformance/frontmatter.json") else { return };
    let root = cases.parent().unwrap();
    for case in json(&cases)["cases"].as_array().unwrap() {
        let dir = case["dir"].as_str().unwrap();
        let start = Instant::now();
        let loaded = Skill::load(&root.join(dir).join("SKILL.md"), BRAND);
        let elapsed = start.elapsed();
        let n_diagnostics = match &loaded {
            Ok(skill) => skill.diagnostics().len(),
            Err(diagnostics) => diagnostics.len(),
        };
        for (key, wanted) in case.as_object().unwrap() {
            let skill = || loaded.as_ref().unwrap_or_else(|d| panic!("{dir}: {d:?}"));
            match key.as_str() {
                "dir" => {}
                "loads" => {
                    assert_eq!(loaded.is_ok(), wanted.as_bool().unwrap(), "{dir}: {loaded:?}")
                }
                "name" => assert_eq!(skill().name(), wanted, "{dir}"),
                "description" => assert_eq!(skill().description(), wanted, "{dir}"),
                "description_contains" => {
                    assert!(skill().description().contains(wanted.as_str().unwrap()), "{dir}");
                }
                "body" => assert_eq!(skill().body().unwrap(), wanted, "{dir}"),
                "keywords" => {
                    let keywords = &skill().triggers().keywords;
                    let keywords: Vec<_> = keywords.iter().map(|k| k.value.as_str()).collect();
                    assert_eq!(Value::from(keywords), *wanted, "{dir}");
                }
                "diagnostics" => assert_eq!(Value::from(n_diagnostics), *wanted, "{dir}"),
                "min_diagnostics" => {
                    assert!(n_diagnostics as u64 >= wanted.as_u64().unwrap(), "{dir}");
                }
                "max_ms" => {
                    assert!(elapsed.as_millis() <= wanted.as_u64().unwrap().into(), "{dir}");
                }
                other => panic!("{dir}: unknown expectation `{other}`"),
            }
        }
    }
}

/// The best of three, where the first was slow: other tests run at the same time.
fn timed(path: &Path) -> (Result<Skill, Vec<Diagnostic>>, Duration) {
    let once = || {
        let start = Instant::now();
        (Skill::load(path, BRAND), start.elapsed())
    };
    let (loaded, first) = once();
    let slow = Duration::from_millis(50);
    let best = if first <= slow { first } else { first.min(once().1).min(once().1) };
    (loaded, best)
}

#[test]
fn real_files_load_or_say_why_not() {
    let Some(corpus) = shared("corpus/MANIFEST.jsonl") else { return };
    let root = corpus.parent().unwrap();
    let (mut n_files, mut n_loaded, mut disagreements) = (0, 0, Vec::new());
    let mut codes = BTreeMap::<&str, usize>::new();
    let mut slowest = (Duration::ZERO, String::new());
    for line in std::fs::read_to_string(&corpus).unwrap().lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        let file = entry["file"].as_str().unwrap();
        let path = root.join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        let (loaded, elapsed) = timed(&path);
        n_files += 1;
        if elapsed > slowest.0 {
            slowest = (elapsed, file.to_owned());
        }
        let diagnostics = match &loaded {
            Ok(skill) => skill.diagnostics(),
            Err(diagnostics) => diagnostics,
        };
        for diagnostic in diagnostics {
            *codes.entry(diagnostic.code.as_str()).or_default() += 1;
            if std::env::var_os("SHOW").is_some() {
                eprintln!("{diagnostic} // {}", diagnostic.help);
            }
            assert!(!diagnostic.help.is_empty(), "{diagnostic}");
            if let Some(span) = &diagnostic.span {
                assert!(text.get(span.clone()).is_some(), "{diagnostic}: {span:?}");
            }
        }
        let Ok(skill) = loaded else {
            assert!(!diagnostics.is_empty(), "{file} was refused without a word");
            continue;
        };
        n_loaded += 1;
        assert!(text.ends_with(skill.body().unwrap()), "{file}: the body is not the file's");
        assert!(
            skill.brief().chars().count() <= 80 || skill.manifest().brief_description.is_some()
        );
        let reference = &entry["reference"];
        if reference["status"] == "ok" && reference["yaml"] == "ok" {
            if reference["name"].as_str().is_some_and(|name| name != skill.name()) {
                disagreements.push(format!(
                    "{file}: name {} {:?}",
                    reference["name"],
                    skill.name()
                ));
            }
            let written = skill.manifest().description.as_ref();
            let n_chars = written.map_or(0, |d| d.value.chars().count());
            let wanted = reference["description_chars"].as_u64().unwrap_or_default() as usize;
            if n_chars != wanted {
                disagreements.push(format!("{file}: description {wanted} {n_chars}"));
            }
        }
    }
    eprintln!("{n_loaded} of {n_files} files load; diagnostics: {codes:#?}");
    eprintln!("slowest: {slowest:?}");
    for line in &disagreements {
        eprintln!("{line}");
    }
    assert!(slowest.0 <= Duration::from_millis(50), "{slowest:?}");
    assert!(disagreements.is_empty());
}
