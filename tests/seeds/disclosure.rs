//! How much a prompt shows: tiers, ranking, the catalog prompt.

use repertoire::{Budget, Engine, PromptOptions, Source, Tier};

use super::{builder, listed, skill, tree};

#[test]
fn seed_001_each_of_the_four_tiers_has_its_case() {
    assert_eq!(Engine::builder().build().unwrap().disclose("hello").tier, Tier::Nothing);
    let triggers =
        "triggers: {keywords: [hello, greet], verbs: [wave], patterns: ['greet\\s+\\w+']}\n";
    let dir = tree(&[("hello-extended/SKILL.md", &skill("hello-extended", triggers, "Greet."))]);
    let engine = builder(&dir).build().unwrap();
    for (message, tier) in [
        ("thanks", Tier::Breadcrumb),
        ("what can you do?", Tier::Registry),
        ("list skills", Tier::Registry),
        ("say hello", Tier::Full),
        ("wave at them", Tier::Full),
        ("please greet  Ana", Tier::Full),
    ] {
        let disclosure = engine.disclose(message);
        assert_eq!(disclosure.tier, tier, "{message}: {}", disclosure.text);
    }
    assert_eq!(engine.disclose("thanks").text, "[1 skill available]");
    let registry = engine.disclose("what can you do?").text;
    assert!(registry.contains("Does hello-extended things."), "the first sentence: {registry}");
    assert!(!registry.contains("And more"), "{registry}");
    // Skills without triggers are listed.
    let plain = tree(&[("tea/SKILL.md", &skill("tea", "", "Boil."))]);
    assert_eq!(
        builder(&plain).build().unwrap().disclose("an unrelated request").tier,
        Tier::Registry
    );
}

#[test]
fn seed_001_the_best_three_are_shown_a_mention_before_a_phrase_before_recent_use() {
    let files: Vec<(String, String)> = ["a", "b", "c", "d"]
        .map(|name| {
            let fields = format!("triggers: [release, 'phrase of {name}']\n");
            (format!("skill-{name}/SKILL.md"), skill(&format!("skill-{name}"), &fields, "Do."))
        })
        .into();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
    let dir = tree(&files);
    let engine = builder(&dir).build().unwrap();
    let session = engine.session("s");
    session.record_use(&"skill-d".into()).unwrap();
    let full = |message: &str| -> Vec<String> {
        let disclosure = engine.turn(message, &session).preview();
        disclosure.full.iter().map(ToString::to_string).collect()
    };
    let shown = full("the release");
    assert_eq!((shown.len(), shown[0].as_str()), (3, "skill-d"), "recent use: {shown:?}");
    assert_eq!(full("the release, phrase of b")[0], "skill-b", "a phrase comes first");
    assert_eq!(
        full("$skill-c for the release, phrase of b")[0],
        "skill-c",
        "a mention comes first"
    );
}

#[test]
fn seed_001_a_bundled_skill_may_be_off_by_default() {
    let dir = tree(&[
        ("on/SKILL.md", &skill("on", "", "b")),
        ("off/SKILL.md", &skill("off", "default_enabled: false\n", "b")),
    ]);
    let engine = Engine::builder().source(Source::bundled(dir.path())).build().unwrap();
    assert_eq!(listed(&engine, repertoire::Audience::Model), ["on"]);
    let engine =
        Engine::builder().source(Source::bundled(dir.path())).enable("off").build().unwrap();
    assert_eq!(listed(&engine, repertoire::Audience::Model), ["off", "on"]);
}

#[test]
fn seed_002_what_is_always_listed_is_exempt_from_the_budget() {
    for fields in ["always: true\n", "sven: {always: true}\n", "sven:\n  always: yes\n"] {
        let mut files: Vec<(String, String)> = (0..200)
            .map(|n| (format!("s{n:03}/SKILL.md"), skill(&format!("s{n:03}"), "", "b")))
            .collect();
        files.push(("z-last/SKILL.md".to_owned(), skill("z-last", fields, "b")));
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (&**path, &**text)).collect();
        let dir = tree(&files);
        let engine = builder(&dir).brand("sven").build().unwrap();
        for budget in [600, 0] {
            let mut options = PromptOptions::default();
            options.budget = Some(Budget::Characters(budget));
            let prompt = engine.prompt_with(&options);
            assert_eq!(prompt.included[0], "z-last", "{budget}: {fields}");
            assert!(prompt.text.contains("- z-last: Does z-last things."), "{}", prompt.text);
            assert!(
                !prompt.omitted.is_empty() && prompt.text.contains("left out"),
                "{}",
                prompt.text
            );
        }
    }
}

#[test]
fn seed_002_a_host_has_a_block_of_its_own() {
    let block =
        "sven: {requires_bins: [no-such-program], requires_env: [], user_invocable_only: true}\n";
    let dir = tree(&[
        ("a/SKILL.md", &skill("a", block, "b")),
        ("b/SKILL.md", &skill("b", "sven: {user_invocable_only: true}\n", "b")),
        ("c/SKILL.md", &skill("c", "sven: {requires_env: [NO_SUCH_TOKEN]}\n", "b")),
    ]);
    let engine = builder(&dir).brand("sven").build().unwrap();
    assert_eq!(listed(&engine, repertoire::Audience::Model), [""; 0]);
    assert_eq!(listed(&engine, repertoire::Audience::User), ["b"]);
    for (id, word) in [("a", "no-such-program"), ("c", "NO_SUCH_TOKEN")] {
        let reason = engine.catalog().get(id).unwrap().reason().unwrap();
        assert!(reason.contains(word), "{reason}");
    }
}
