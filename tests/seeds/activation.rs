//! Activation: arguments, tasks, base directory, hints.

use std::sync::{Arc, Mutex};

use repertoire::{Error, Task, TaskSpawner};
use serde_json::json;

use super::{builder, skill, tree, use_skill, write};

#[test]
fn seed_000_and_003_arguments_are_put_in_or_appended() {
    for (body, args, wanted) in [
        ("Review $ARGUMENTS now.", "PR #42", "Review PR #42 now."),
        ("$ARGUMENTS[1] before $0.", "a b", "b before a."),
        ("Review it.", "PR #42", "Review it.\n\nARGUMENTS: PR #42"),
        ("Review it.", "", "Review it."),
    ] {
        let dir = tree(&[("review/SKILL.md", &skill("review", "", body))]);
        let engine = builder(&dir).build().unwrap();
        let activation = engine.activate("review", args, &engine.session("s")).unwrap();
        assert_eq!(activation.content.trim(), wanted, "{body}");
        let answer = use_skill(&engine, "model", &json!({"skill": "review", "args": args}));
        let base = format!("Base directory: {}", dir.path().join("review").display());
        assert!(answer.text().starts_with(&base), "{answer:?}");
        assert!(answer.text().contains(wanted), "{answer:?}");
    }
}

#[derive(Debug, Clone, Default)]
struct Spawned(Arc<Mutex<Vec<String>>>);

impl TaskSpawner for Spawned {
    fn spawn(&self, task: &Task) -> Result<String, Error> {
        let mut spawned = self.0.lock().unwrap();
        spawned.push(task.prompt.clone());
        Ok(format!("task-{}", spawned.len()))
    }
}

#[test]
fn seed_000_a_fork_is_a_task_of_its_own() {
    let dir =
        tree(&[("review/SKILL.md", &skill("review", "context: fork\n", "Review $ARGUMENTS."))]);
    let spawned = Spawned::default();
    let engine = builder(&dir).task_spawner(spawned.clone()).build().unwrap();
    let answer = use_skill(&engine, "model", &json!({"skill": "review", "args": "PR #42"}));
    assert!(answer.text().contains("task-1") && !answer.text().contains("Review PR"), "{answer:?}");
    assert!(spawned.0.lock().unwrap()[0].contains("Review PR #42."));
}

#[test]
fn seed_002_hints_name_files_direct_sub_skills_and_documents() {
    let files: Vec<(String, String)> =
        (0..25).map(|n| (format!("sven/docs/{n:02}.md"), "text".to_owned())).collect();
    let mut all: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
    let knowledge = "knowledge:\n  - sven-p2p.md\n  - docs/00.md\n  - nowhere.md\n";
    let (sven, plan) = (skill("Sven Methodology", knowledge, "Do."), skill("Plan", "", "p"));
    let (implement, research) = (skill("Implement", "", "i"), skill("Research", "", "r"));
    all.extend([
        ("sven/SKILL.md", &*sven),
        ("sven/plan/SKILL.md", &*plan),
        ("sven/plan/notes.md", "not listed"),
        ("sven/implement/SKILL.md", &*implement),
        ("sven/implement/research/SKILL.md", &*research),
    ]);
    // The skills have a directory of their own, so that documents for all of them are beside it.
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in all {
        write(&dir.path().join("skills"), path, text);
    }
    write(dir.path(), "knowledge/sven-p2p.md", "# P2P Networking\n\nFacts.\n");
    let source = repertoire::Source::user(dir.path().join("skills"));
    let engine = repertoire::Engine::builder().source(source).build().unwrap();

    let activation = engine.activate("sven", "", &engine.session("s")).unwrap();
    let sub_skills: Vec<&str> = activation.sub_skills.iter().map(|sub| sub.id.as_str()).collect();
    assert_eq!(sub_skills, ["sven/implement", "sven/plan"], "no grandchildren");
    assert_eq!(activation.sub_skills[1].brief, "Does Plan things.");
    assert_eq!((activation.files.len(), activation.more_files), (20, 5));
    assert!(!activation.files.iter().any(|file| file.contains("SKILL") || file.contains("plan")));
    let shared = dir.path().join("knowledge/sven-p2p.md").display().to_string();
    let known: Vec<(&str, Option<&str>)> =
        activation.knowledge.iter().map(|of| (of.path.as_str(), of.title.as_deref())).collect();
    let wanted = [(&*shared, Some("P2P Networking")), ("docs/00.md", None), ("nowhere.md", None)];
    assert_eq!(known, wanted);
    let text = activation.to_text();
    for hint in [&*format!("{shared} (P2P Networking)"), "sven/plan: Does Plan things.", "5 more"] {
        assert!(text.contains(hint), "{hint}: {text}");
    }
    let below = engine.activate("sven/implement", "", &engine.session("s")).unwrap();
    assert_eq!(below.sub_skills[0].id, "sven/implement/research");
}
