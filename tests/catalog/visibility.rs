//! Who may see a skill: the model, the user, both or nobody.

use std::fs;

use repertoire::catalog::Entry;
use repertoire::{Allowlist, Audience, Engine, Source};

use super::{codes, manifest, tree};

#[test]
fn the_visibility_matrix_holds_for_listing_matching_and_loading() {
    let dir = tree(&[
        ("both/SKILL.md", &manifest("triggers: [word]")),
        ("user-only/SKILL.md", &manifest("triggers: [word]\ndisable-model-invocation: true")),
        ("model-only/SKILL.md", &manifest("triggers: [word]\nuser-invocable: false")),
        ("filtered/SKILL.md", &manifest("triggers: [word]")),
    ]);
    let allowed = ["both", "user-only", "model-only"];
    let engine = Engine::builder()
        .source(Source::project(dir.path()))
        .allow(Allowlist::from_entries(Some(&allowed)))
        .build()
        .unwrap();
    let catalog = engine.catalog();
    let listed = |audience| catalog.listed(audience).map(|e| e.id.as_str()).collect::<Vec<_>>();
    assert_eq!(listed(Audience::Model), ["both", "model-only"]);
    assert_eq!(listed(Audience::User), ["both", "user-only"]);
    assert!(codes(&catalog).is_empty(), "each name of the allowlist is that of a skill");
    for (id, model, user) in [
        ("both", true, true),
        ("user-only", false, true),
        ("model-only", true, false),
        ("filtered", false, false),
    ] {
        assert_eq!(catalog.find(id, Audience::Model).is_ok(), model, "{id}");
        assert_eq!(catalog.find(id, Audience::User).is_ok(), user, "{id}");
        let query = format!("/{id} word");
        let matched = engine.matches(&query).iter().any(|found| found.id == *id);
        assert_eq!(matched, model, "{id}");
        // A user who types the command of a skill gets it, as in a session.
        let is_full = engine.disclose(&query).full.iter().any(|full| *full == *id);
        assert_eq!(is_full, model || user, "{id}");
        assert_eq!(engine.prompt().text.contains(id), model, "{id}");
    }
    let rejected = engine.explain("word", 9).rejected;
    let reasons: Vec<_> = rejected.iter().map(|r| format!("{}: {r}", r.id)).collect();
    assert_eq!(
        reasons,
        [
            "filtered: filtered: not in the allowlist",
            "user-only: only the user can invoke it (`disable-model-invocation`)",
        ]
    );
}

#[test]
fn codex_policy_beside_a_skill_closes_it_to_the_model_and_follows_its_file() {
    let dir = tree(&[
        ("clean/SKILL.md", &manifest("name: clean")),
        ("clean/agents/openai.yaml", "policy:\n  allow_implicit_invocation: false\n"),
        ("open/SKILL.md", &manifest("name: open")),
    ]);
    let engine = Engine::builder().source(Source::project(dir.path())).build().unwrap();
    let listed = || {
        engine.refresh().unwrap();
        let catalog = engine.catalog();
        catalog.listed(Audience::Model).map(|entry| entry.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(listed(), ["open"]);
    assert!(engine.catalog().find("clean", Audience::User).is_ok());
    let reason = engine.catalog().get("clean").and_then(Entry::reason).unwrap();
    assert!(reason.contains("agents/openai.yaml"), "{reason}");
    let command = engine.disclose("/clean now");
    assert!(command.full == ["clean"] && command.text.contains("body"), "{command:?}");
    assert!(engine.disclose("use the clean skill").full.is_empty());

    let policy = dir.path().join("clean/agents/openai.yaml");
    fs::write(&policy, "policy:\n  allow_implicit_invocation: true\n").unwrap();
    assert_eq!(listed(), ["clean", "open"]);
    fs::write(&policy, "policy:\n  allow_implicit_invocation: off\n").unwrap();
    assert_eq!(listed(), ["open"]);
    fs::remove_file(&policy).unwrap();
    assert_eq!(listed(), ["clean", "open"]);
    fs::write(&policy, "policy:\n  allow_implicit_invocation: false\n").unwrap();
    assert_eq!(listed(), ["open"]);
    fs::create_dir(dir.path().join("open/agents")).unwrap();
    fs::copy(&policy, dir.path().join("open/agents/openai.yaml")).unwrap();
    assert_eq!(listed(), [""; 0]);
}
