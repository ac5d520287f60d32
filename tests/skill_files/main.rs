//! Skill files: every file either loads or explains why not, and none takes long.
#![expect(clippy::unwrap_used, reason = "also in the helpers of tests")]

mod closing;
mod cut_text;
mod fields;
mod findings;
#[path = "../support/mod.rs"]
mod support;
mod triggers;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use repertoire::skill::{Profile, check_file};
use repertoire::{Diagnostic, Skill};
use serde_json::Value;
use support::{say, shared};

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
                    assert_eq!(loaded.is_ok(), wanted.as_bool().unwrap(), "{dir}: {loaded:?}");
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

/// Returns the best time of three if the first was slow, because other tests run at the same time.
fn timed(path: &Path) -> (Result<Skill, Vec<Diagnostic>>, Duration) {
    let once = || {
        let start = Instant::now();
        (Skill::load(path, BRAND), start.elapsed())
    };
    let (loaded, first) = once();
    let slow = Duration::from_millis(500);
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
            // The reference counts the line break that closes a block scalar; we trim it.
            let wanted = reference["description_chars"].as_u64().unwrap_or_default() as usize;
            if n_chars != wanted && n_chars + 1 != wanted {
                disagreements.push(format!("{file}: description of {n_chars}, not {wanted}"));
            }
        }
    }
    say(&format!("{n_loaded} of {n_files} files load; {codes:?}; slowest: {slowest:?}"));
    assert!(slowest.0 <= Duration::from_millis(500), "{slowest:?}");
    assert!(disagreements.is_empty(), "{disagreements:#?}");
    assert!(n_loaded * 1000 >= n_files * 999, "{n_loaded} of {n_files}");
}

/// Writes a `SKILL.md` with these bytes into the directory `dir`.
fn file(root: &Path, dir: &str, content: impl AsRef<[u8]>) -> PathBuf {
    std::fs::create_dir_all(root.join(dir)).unwrap();
    let path = root.join(dir).join("SKILL.md");
    std::fs::write(&path, content).unwrap();
    path
}

fn codes(diagnostics: &[Diagnostic]) -> Vec<&str> {
    diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect()
}

#[test]
fn hostile_files_are_answered_in_no_time() {
    let root = tempfile::tempdir().unwrap();
    let front_matter = |yaml: &str| format!("---\nname: a\ndescription: b\n{yaml}\n---\nBody\n");
    let lines = |count: usize, line: fn(usize) -> String| (0..count).map(line).collect::<Vec<_>>();
    let keys = |count| lines(count, |n| format!("k{n}: v\n")).concat();
    let nested = lines(10_000, |n| format!("{}k:\n", " ".repeat(n.min(20)))).concat();
    let bomb = lines(8, |n| format!("a{}: &a{} [*a{n}, *a{n}, *a{n}, *a{n}]\n", n + 1, n + 1));
    let bomb = format!("a0: &a0 [x, x, x, x]\n{}", bomb.concat());
    let cases: [(&str, Vec<u8>, &[&str]); 15] = [
        ("bomb", front_matter(&bomb).into(), &["yaml-too-complex"]),
        (
            "brackets",
            front_matter(&format!("x: {}", "[".repeat(32 * 1024))).into(),
            &["yaml-too-complex"],
        ),
        ("nested", front_matter(&nested).into(), &["yaml-too-complex"]),
        ("keys", front_matter(&keys(4_000)).into(), &[]),
        ("too-many-keys", front_matter(&keys(10_000)).into(), &["yaml-too-complex"]),
        ("same-key", front_matter(&"k: v\n".repeat(4_900)).into(), &["duplicate-key"]),
        ("nul", front_matter("x: \0").into(), &["salvaged-yaml"]),
        ("nul-body", b"---\nname: a\ndescription: b\n---\n\0\0".into(), &[]),
        ("only-nul", vec![0; 10_000], &["not-a-skill"]),
        ("lone-cr", b"---\rname: a\rdescription: b\r---\rBody".into(), &[]),
        ("10-mb", vec![b'x'; 10 << 20], &["body-too-large"]),
        ("one-line", vec![b'x'; 1 << 20], &["no-front-matter"]),
        (
            "big-front-matter",
            front_matter(&"#".repeat(300 << 10)).into(),
            &["front-matter-too-large"],
        ),
        ("not-utf8", b"---\nname: \xff\n".into(), &["not-utf8"]),
        (
            "directives",
            b"---\n%YAML 9.9\n%TAG ! x\n---\nBody".into(),
            &["description-from-body", "invalid-yaml"],
        ),
    ];
    for (dir, content, expected) in cases {
        let path = file(root.path(), dir, content);
        let (loaded, elapsed) = timed(&path);
        let diagnostics = match &loaded {
            Ok(skill) => skill.diagnostics(),
            Err(diagnostics) => diagnostics,
        };
        let mut codes = codes(diagnostics);
        codes.dedup();
        assert_eq!(codes, expected, "{dir}");
        assert!(elapsed < Duration::from_secs(5), "{dir}: {elapsed:?}");
    }
}

#[test]
fn what_is_no_readable_file_is_refused() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("SKILL.md")).unwrap();
    let not_utf8 = file(root.path(), "a", b"---\nname: \xc3\xa9\xff\n---\n");
    let cases = [
        (root.path().join("SKILL.md"), "not-a-file", (1, 1)),
        (root.path().join("absent").join("SKILL.md"), "unreadable", (1, 1)),
        (not_utf8, "not-utf8", (2, 8)),
        #[cfg(unix)]
        ("/dev/zero".into(), "not-a-file", (1, 1)),
    ];
    for (path, code, place) in cases {
        let diagnostics = Skill::load(&path, BRAND).unwrap_err();
        assert_eq!(codes(&diagnostics), [code], "{}", path.display());
        assert_eq!((diagnostics[0].line, diagnostics[0].column), place, "{}", path.display());
        assert_eq!(diagnostics[0].path, path);
    }
}

#[test]
fn the_body_is_read_when_asked_for() {
    let root = tempfile::tempdir().unwrap();
    let path = file(root.path(), "lazy", "---\r\ndescription: d\r\n---\r\nBody\r\n");
    let read = Skill::load(&path, BRAND).unwrap();
    assert_eq!((read.name(), read.dir()), ("lazy", path.parent()));
    assert_eq!(read.body().unwrap(), "Body\r\n");
    let gone = Skill::load(&path, BRAND).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(read.body().unwrap(), "Body\r\n", "it is kept");
    let error = gone.body().unwrap_err();
    assert!(error.message().contains("lazy"), "{error}");
}

#[test]
fn profiles_check_what_they_ask_for() {
    let root = tempfile::tempdir().unwrap();
    let long = "x".repeat(1025);
    let spec = |yaml: &str| format!("---\nname: a\ndescription: b\n{yaml}---\nBody\n");
    let cases: [(&str, String, &[&str], &[&str]); 18] = [
        (
            "a",
            spec("license: MIT\nallowed-tools: Read\nmetadata: {x: {y: z}, triggers: a}\n"),
            &[],
            &[],
        ),
        ("a", spec("triggers: [x]\n"), &[], &["spec-key"]),
        ("a", spec("allowed_tools: Read\n"), &[], &["spec-key"]),
        ("a", spec("tags: [x]\n"), &["unknown-key"], &["spec-key"]),
        ("a", spec("keywords: [x]\n"), &["misplaced-key"], &["spec-key"]),
        ("a", spec("repertoire: {alway: true}\n"), &["unknown-key"], &["spec-key"]),
        ("b", spec(""), &[], &["spec-name-directory"]),
        ("a", spec(&format!("compatibility: {}\n", &long[..501])), &[], &["spec-compatibility"]),
        ("a", format!("---\nname: a\ndescription: {long}\n---\n"), &[], &["spec-description"]),
        ("a", "---\nname: A b\ndescription: c\n---\n".into(), &[], &["spec-name"]),
        ("a", "---\ndescription: c\n---\n".into(), &[], &["spec-name"]),
        ("a", "---\nname: a\n---\nBody".into(), &["description-from-body"], &["spec-description"]),
        (
            "a",
            "---\nname: a\ndescription: c: d\n---\n".into(),
            &["repaired-yaml"],
            &["spec-front-matter"],
        ),
        (
            "a",
            "Body".into(),
            &["no-front-matter"],
            &["spec-front-matter", "spec-name", "spec-description"],
        ),
        (
            "a",
            "---\n- a\n---\n".into(),
            &["no-description", "not-a-mapping"],
            &["spec-name", "spec-description", "not-a-mapping"],
        ),
        (
            "a",
            "---\n- a\n---\nBody".into(),
            &["description-from-body", "not-a-mapping"],
            &["spec-name", "spec-description", "not-a-mapping"],
        ),
        ("a", "../b/SKILL.md\n".into(), &["link-as-text"], &["link-as-text"]),
        ("a", "Moved to ../b".into(), &["moved-skill"], &["moved-skill"]),
    ];
    for (dir, content, repertoire, agent_skills) in cases {
        let path = file(root.path(), dir, &content);
        for (profile, expected) in
            [(Profile::Repertoire, repertoire), (Profile::AgentSkills, agent_skills)]
        {
            let diagnostics = check_file(&path, profile, BRAND);
            assert_eq!(codes(&diagnostics), expected, "{profile}: {content:?}");
            assert!(diagnostics.iter().all(|d| d.severity == d.code.severity()));
        }
    }
    assert_eq!("agent-skills".parse::<Profile>().unwrap(), Profile::AgentSkills);
    assert!("spec".parse::<Profile>().is_err());
}

/// Generates text that is almost a skill file, from pieces that are hard for parsers.
fn nearly_a_skill() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "---", "---\n", "\n", "\r\n", "\r", "\u{feff}", "name: a", "description: b", "triggers:",
        ": ", "- ", "  ", "\t", "'", "\"", "\\", "[", "]", "{", "}", ",", "|\n", ">-\n", "&a ",
        "*a", "!!str ", "# ", "@x", "`", "%", "é", "。", "\0", "```yaml\n", "```\n", "<!--", "-->",
        "keywords", "patterns", "a(b", "src/{a", "paths: ", "version: ", "metadata:\n  ", "...",
        "? ", "<<: ", "Text. More",
    ]);
    (any::<bool>(), prop::collection::vec(piece, 0..40)).prop_map(|(fenced, pieces)| {
        let text = pieces.concat();
        if fenced { format!("---\nname: a\ndescription: {text}\n---\nBody") } else { text }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4_000) })]

    #[test]
    fn no_text_is_too_strange_to_answer(text in nearly_a_skill()) {
        let loaded = Skill::parse(&text, BRAND);
        let (diagnostics, spans) = match &loaded {
            Ok(skill) => {
                prop_assert!(text.ends_with(skill.body().unwrap()));
                prop_assert!(!skill.name().is_empty() && !skill.description().is_empty());
                let triggers = skill.triggers();
                let entries = [&triggers.keywords, &triggers.patterns, &triggers.paths];
                let spans = entries.into_iter().flatten().map(|entry| entry.span.clone()).collect();
                (skill.diagnostics(), spans)
            }
            Err(diagnostics) => {
                prop_assert!(!diagnostics.is_empty());
                (diagnostics.as_slice(), Vec::new())
            }
        };
        for span in diagnostics.iter().filter_map(|d| d.span.clone()).chain(spans) {
            prop_assert!(text.get(span.clone()).is_some(), "{:?}", span);
        }
    }
}
