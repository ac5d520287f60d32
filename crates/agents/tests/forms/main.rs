//! The files of `observed.json`, in all the forms in which skills are written, and the agents that did not list
//! the skill. A row has the directory, the name of the file, its text, and these agents.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use repertoire::disclosure::NativeSkills;
use repertoire::{Catalog, Engine, Source};
use repertoire_agents::HookAgent;

/// The agents that were observed; there is no program of Cursor to start.
const OBSERVED: [HookAgent; 7] = [
    HookAgent::ClaudeCode,
    HookAgent::Codex,
    HookAgent::Gemini,
    HookAgent::Copilot,
    HookAgent::OpenCode,
    HookAgent::Qwen,
    HookAgent::Droid,
];

/// Skills that an agent lists and that are told to its model a second time, as the file looks like one that
/// the agent does not list.
const TOLD_TWICE: [(HookAgent, &[&str]); 6] = [
    (HookAgent::Codex, &["close-indented", "late-space", "map-desc"]),
    (HookAgent::Gemini, &["close-four", "empty-name"]),
    (HookAgent::Copilot, &["date-desc", "name-date"]),
    (HookAgent::OpenCode, &["close-four", "empty-name", "open-yaml", "two-line-name", "unclosed"]),
    (HookAgent::Qwen, &["list-desc"]),
    (HookAgent::Droid, &["close-four", "ctrl-fm", "nul-fm"]),
];

type Row = (String, String, String, String);

fn observed() -> Vec<Row> {
    serde_json::from_str(include_str!("observed.json")).unwrap()
}

fn catalog(root: &Path, rows: &[Row]) -> std::sync::Arc<Catalog> {
    for (dir, file, text, _) in rows {
        let dir = root.join(dir);
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join(file), text).unwrap();
    }
    Engine::builder().source(Source::project(root)).build().unwrap().catalog()
}

/// Tells whether the agent finds the skill in `dir`; `None` if there is no such skill.
fn finds(catalog: &Catalog, native: &NativeSkills, dir: &Path) -> Option<bool> {
    let entry = catalog.entries().find(|entry| entry.skill.dir() == Some(dir))?;
    let (finds, refusal) = (native.finds(entry), native.refusal(entry));
    let is_explained = finds || refusal.is_some() || !native.reads(dir);
    assert!(is_explained && !(finds && refusal.is_some()), "{}: {refusal:?}", dir.display());
    Some(finds)
}

#[test]
fn a_skill_is_native_where_the_agent_lists_it() {
    let rows = observed();
    let home = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    for agent in OBSERVED {
        let native = agent.native_skills();
        let root = home.path().join(agent.as_str()).join(&*native.roots[0]);
        let catalog = catalog(&root, &rows);
        let twice = TOLD_TWICE.iter().find(|(of, _)| *of == agent).map_or(&[][..], |(_, of)| of);
        for (dir, _, _, unlisted) in &rows {
            let is_listed = !unlisted.split(' ').any(|name| name == agent.as_str());
            let wanted = Some(is_listed && !twice.contains(&dir.as_str()));
            let found = finds(&catalog, native, &root.join(dir));
            if found != wanted {
                wrong.push(format!("{agent} {dir}: {found:?}, not {wanted:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn an_agent_has_its_limits_of_size() {
    let text = |description: &str, size: usize| {
        let head = format!("---\nname: long\ndescription: {description}\n---\n");
        format!("{head}{}", "x".repeat(size - head.len()))
    };
    for (text, unlisted) in [
        (text(&"é".repeat(1024), 4_000), &[][..]),
        (text(&"é".repeat(1025), 4_000), &[HookAgent::Copilot]),
        (text("Is long.", 1_000_000), &[]),
        (text("Is long.", 1_000_001), &[HookAgent::ClaudeCode]),
        (text("Is long.", 1_048_576), &[HookAgent::ClaudeCode]),
        (text("Is long.", 1_048_577), &[HookAgent::ClaudeCode, HookAgent::Copilot]),
    ] {
        let home = tempfile::tempdir().unwrap();
        let row = [("long".to_owned(), "SKILL.md".to_owned(), text, String::new())];
        for agent in OBSERVED {
            let native = agent.native_skills();
            let root = home.path().join(agent.as_str()).join(&*native.roots[0]);
            let catalog = catalog(&root, &row);
            let found = finds(&catalog, native, &root.join("long"));
            assert_eq!(found, Some(!unlisted.contains(&agent)), "{agent}: {}", row[0].2.len());
        }
    }
}

#[test]
fn the_reason_names_what_an_author_can_change() {
    let rows = observed();
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join(".agents/skills");
    let catalog = catalog(&root, &rows);
    let mut codex = HookAgent::Codex.native_skills().clone();
    codex.needs.no_skill_above = true;
    for (dir, reason) in [
        ("bom", "a byte order mark stands before its first line"),
        ("lower-file", "its file is `skill.md`, not `SKILL.md`"),
        ("dup-name", "`name` or `description` stands twice in its front matter"),
        ("meta-text", "its `metadata` is not a map"),
        ("long-name-65", "its `name` has more than 64 characters"),
        ("nested/sub", "it is below the skill in ROOT/nested"),
    ] {
        let skill = root.join(dir);
        let entry = catalog.entries().find(|entry| entry.skill.dir() == Some(&skill)).unwrap();
        let reason = reason.replace("ROOT", &root.to_string_lossy());
        assert_eq!(codex.refusal(entry), Some(reason), "{dir}");
    }
}

#[test]
fn gemini_calls_a_skill_by_a_name_without_signs() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join(".gemini/skills");
    let text = "---\nname: \"ns:a/b\"\ndescription: Does it.\n---\nBody.\n";
    let row = [("a".to_owned(), "SKILL.md".to_owned(), text.to_owned(), String::new())];
    let catalog = catalog(&root, &row);
    let entry = catalog.entries().next().unwrap();
    assert_eq!(HookAgent::Gemini.native_skills().name_of(entry), "ns-a-b");
    assert_eq!(HookAgent::Copilot.native_skills().name_of(entry), "ns:a/b");
}
