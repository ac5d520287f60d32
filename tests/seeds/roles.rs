//! Roles and tasks: what each sees, and what its session agreed to.

use repertoire::activation::Risk;
use repertoire::skill::SkillId;
use repertoire::{Allowlist, Audience, Consent, ConsentPolicy, Engine};
use serde_json::json;

use super::{builder, listed, skill, tree, use_skill};

fn allow(list: Option<&[&str]>) -> Allowlist {
    Allowlist::from_entries(list)
}

#[test]
fn seed_004_an_allowlist_decides_what_exists_for_a_task() {
    let dir = tree(&[
        ("name-a/SKILL.md", &skill("name-a", "triggers: [ship it]\n", "a")),
        ("name-b/SKILL.md", &skill("name-b", "triggers: [ship it]\n", "b")),
        ("name-c/SKILL.md", &skill("name-c", "triggers: [ship it]\n", "c")),
    ]);
    let engine = builder(&dir).build().unwrap();
    // A view for each execution of a task, all of one engine.
    for (list, wanted) in [
        (None, &["name-a", "name-b", "name-c"][..]),
        (Some(&[][..]), &[]),
        (Some(&["*"]), &["name-a", "name-b", "name-c"]),
        (Some(&["name-a", "name-b"]), &["name-a", "name-b"]),
    ] {
        let task = engine.view(allow(list));
        assert_eq!(listed(&task, Audience::Model), wanted, "{list:?}");
        assert_eq!(task.prompt().included, wanted, "{list:?}");
        let session = task.session("task");
        let shown = task.turn("ship it", &session).run().unwrap().disclosure.full;
        let mut shown: Vec<&str> = shown.iter().map(SkillId::as_str).collect();
        shown.sort_unstable();
        assert_eq!(shown, wanted, "{list:?}");
        session.end().unwrap();
        for id in ["name-a", "name-b", "name-c"] {
            let answer = use_skill(&task, "calls", &json!({"skill": id}));
            assert_eq!(answer.code().is_none(), wanted.contains(&id), "{list:?} {id}: {answer:?}");
            // The error names what the task can see, and nothing else.
            let unseen =
                ["name-a", "name-b", "name-c"].into_iter().filter(|id| !wanted.contains(id));
            let asked = answer.text().replace(&format!("`{id}`"), "");
            assert!(!unseen.into_iter().any(|unseen| asked.contains(unseen)), "{answer:?}");
        }
        task.session("calls").end().unwrap();
    }
}

#[test]
fn seed_004_the_first_activation_in_a_task_is_risky_and_the_session_ends_with_it() {
    let dir = tree(&[("a/SKILL.md", &skill("a", "", "Do."))]);
    let asked = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let note = std::sync::Arc::clone(&asked);
    let consent = Consent::new(ConsentPolicy::FirstUse).ask(move |request| {
        note.lock().unwrap().push((request.session.clone(), request.risk));
        true
    });
    let engine = builder(&dir).consent(consent).build().unwrap();
    let activate = |task: &str| engine.activate("a", "", &engine.session(task)).unwrap().risk;
    assert_eq!((activate("one"), activate("one")), (Risk::Risky, Risk::Safe));
    assert_eq!(activate("two"), Risk::Risky, "tasks are apart");
    engine.session("one").end().unwrap();
    assert_eq!(activate("one"), Risk::Risky, "it ended");
    let asked = asked.lock().unwrap();
    let tasks: Vec<&str> = asked.iter().map(|(task, _)| task.as_str()).collect();
    assert_eq!(tasks, ["one", "two", "one"]);
}

#[test]
fn seed_004_a_skill_is_copied_to_a_directory_of_the_task() {
    let dir = tree(&[
        ("a/SKILL.md", &skill("a", "", "Do.")),
        ("a/references/x.md", "x"),
        ("a/.git/config", "not copied"),
        ("a/node_modules/y.js", "not copied"),
    ]);
    let engine: Engine = builder(&dir).build().unwrap();
    let task = tempfile::tempdir().unwrap();
    std::fs::create_dir(task.path().join(".skills")).unwrap();
    let mounted = repertoire::activation::mount(
        "a",
        &dir.path().join("a"),
        &task.path().join(".skills"),
        &repertoire::activation::MountLimits::default(),
    );
    let mounted = mounted.unwrap();
    assert!(mounted.dir.ends_with(".skills/a") && mounted.dir.join("references/x.md").is_file());
    assert!(!mounted.dir.join(".git").exists() && !mounted.dir.join("node_modules").exists());
    assert!(!engine.prompt().text.contains("Do."), "a prompt has no bodies");
}
