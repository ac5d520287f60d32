//! The command `check`, run as a user would type it.

use crate::binary::Place;

/// Creates two skills that claim the same phrase.
fn place() -> Place {
    let place = Place::new();
    for name in ["alpha", "beta"] {
        let text = format!(
            "---\nname: {name}\ndescription: Sends {name} dunning letters\ntriggers: [pull \
             request]\n---\nB\n"
        );
        place.write(&format!("skills/{name}/SKILL.md"), text);
    }
    place
}

fn codes(place: &Place, args: &[&str]) -> Vec<String> {
    let json = place.run([&["check", "--json"], args].concat()).exits(0).json();
    let diagnostics = json["diagnostics"].as_array().unwrap().clone();
    let place = |d: &serde_json::Value| {
        format!("{} {}:{}", d["code"].as_str().unwrap(), d["path"].as_str().unwrap(), d["line"])
    };
    diagnostics.iter().map(place).collect()
}

#[test]
fn a_file_is_compared_with_the_sources_that_are_named() {
    let place = place();
    let both = ["shared-trigger skills/alpha/SKILL.md:4", "shared-trigger skills/beta/SKILL.md:4"];
    assert_eq!(codes(&place, &["skills"]), both);
    assert_eq!(codes(&place, &["--source", "skills"]), both);
    assert_eq!(codes(&place, &["skills/alpha", "skills/beta/SKILL.md"]), both);
    assert_eq!(codes(&place, &["skills/beta/SKILL.md"]), [""; 0]);
    assert_eq!(codes(&place, &["--source", "skills", "skills/beta/SKILL.md"]), both[1..]);
    assert_eq!(codes(&place, &["--source", "skills", "./skills/beta"]).len(), 1);
}

#[test]
fn a_required_skill_that_is_nowhere_is_a_finding_at_its_place() {
    let place = Place::new();
    let skill = |path: &str, name: &str, fields: &str| {
        let text =
            format!("---\nname: {name}\ndescription: Sends {name} letters\n{fields}---\nB\n");
        place.write(&format!("{path}/{name}/SKILL.md"), text);
    };
    skill("skills", "alpha", "requires_skills: [beta, acme:gamma, delta]\n");
    skill("skills", "beta", "depends: nowhere\n");
    skill("home/.agents/skills", "gamma", "");
    let wanted = ["missing-skill skills/alpha/SKILL.md:4", "missing-skill skills/beta/SKILL.md:4"];
    for args in [&["skills"][..], &["--source", "skills", "--source", "home/.agents/skills"]] {
        assert_eq!(codes(&place, args), wanted, "{args:?}");
    }
    // One file alone is not compared with its neighbours, but they are there.
    assert_eq!(codes(&place, &["skills/alpha/SKILL.md"]), wanted[..1]);
    skill("skills", "delta", "");
    assert_eq!(codes(&place, &["skills/alpha/SKILL.md"]), [""; 0]);
    skill("home/.agents/skills", "nowhere", "");
    assert_eq!(codes(&place, &["skills"]), [""; 0]);
}

#[test]
fn bundled_skills_are_compared_with_and_not_judged() {
    let place = place();
    std::fs::create_dir(place.path().join(".repertoire")).unwrap();
    std::fs::rename(place.path().join("skills"), place.path().join(".repertoire/skills")).unwrap();
    let twin = "---\nname: twin\ndescription: d\ntriggers: [catastrophic backtracking]\n---\nB\n";
    place.write(".repertoire/skills/twin/SKILL.md", twin);
    let found = place.run(["check", "--json"]).exits(0).json();
    assert_eq!(found["skills"], 3);
    let shared: Vec<&str> = found["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|diagnostic| diagnostic["code"] == "shared-trigger")
        .map(|diagnostic| diagnostic["path"].as_str().unwrap())
        .collect();
    assert_eq!(shared.len(), 3, "{found}");
    assert!(shared.iter().all(|path| path.contains(".repertoire/skills")), "{found}");
    assert!(Place::new().run(["check"]).exits(0).stderr.contains("nothing was checked"));
}

#[test]
fn a_project_is_checked_with_its_hidden_directories() {
    let place = place();
    std::fs::create_dir_all(place.path().join("app/.claude")).unwrap();
    std::fs::rename(place.path().join("skills/beta"), place.path().join("app/beta")).unwrap();
    std::fs::rename(place.path().join("skills"), place.path().join("app/.claude/skills")).unwrap();
    let both = [
        "shared-trigger app/.claude/skills/alpha/SKILL.md:4",
        "shared-trigger app/beta/SKILL.md:4",
    ];
    assert_eq!(codes(&place, &["app"]), both);
    std::fs::create_dir(place.path().join("empty")).unwrap();
    let run = place.run(["check", "empty"]).exits(0);
    assert!(run.stderr.contains("nothing was checked"), "{run:?}");
}

#[test]
fn no_finding_is_longer_than_a_screen() {
    let place = Place::new();
    let (comment, word) = ("#".repeat(300 << 10), "x".repeat(9_000));
    for (yaml, code) in [
        (format!("description: b\n{comment}\n"), "front-matter-too-large"),
        (format!("model: [{word},\n  b]\nagent:\n- a\n- {word}\n"), "wrong-type"),
        (format!("model:\n{}", "- a\n".repeat(5_000)), "wrong-type"),
    ] {
        place.write("skills/long/SKILL.md", format!("---\n{yaml}---\nB\n"));
        let shown = place.run(["check", "skills"]).stdout;
        assert!(shown.contains(code) && shown.len() < 4_000, "{}: {shown:.2000}", shown.len());
    }
}

#[test]
fn code_that_cannot_run_is_told() {
    let place = Place::new();
    let text = "---\nname: coded\ndescription: Sends dunning letters\ntoolsets:\n- ../x:Y\n- /abs:X\n\
                - a:b:c\n- a:B\nscripts:\n- ../b.sh\n- /etc/passwd\n- gone.sh\n- there.sh\n- \
                ./bin/too\n- bin\n- sub/s.sh\n---\nB\n";
    place.write("skills/coded/SKILL.md", text);
    place.write("skills/coded/scripts/there.sh", "");
    place.write("skills/coded/bin/too", "");
    place
        .write("skills/coded/sub/SKILL.md", "---\nname: sub\ndescription: Files demands\n---\nB\n");
    place.write("skills/coded/sub/s.sh", "");
    let json = place.run(["check", "skills", "--json"]).exits(1).json();
    let found = json["diagnostics"].as_array().unwrap().iter();
    let told: Vec<String> =
        found.map(|d| format!("{}:{}", d["code"].as_str().unwrap(), d["line"])).collect();
    let wanted = [
        "invalid-toolset:5", "invalid-toolset:6", "invalid-toolset:7", "missing-library:8",
        "invalid-script:10", "invalid-script:11", "missing-script:12", "missing-script:15",
        "missing-script:16",
    ];
    assert_eq!(told, wanted);
    let shown = place.run(["show", "coded", "--source", "skills"]).exits(0).stdout;
    let examined = place.run(["doctor", "--source", "skills"]).exits(1).stdout;
    for entry in ["../x:Y", "/abs:X", "a:b:c", "../b.sh", "/etc/passwd"] {
        let refused = format!("`{entry}` is no");
        assert!(shown.contains(&refused) && examined.contains(&refused), "{shown}\n{examined}");
    }
}

#[test]
fn a_trigger_that_stands_twice_is_told_where_it_stands_again() {
    let place = Place::new();
    let dunning = |triggers: &str| {
        let text =
            format!("---\nname: dunning\ndescription: Sends demand letters\n{triggers}\n---\nB\n");
        place.write("skills/dunning/SKILL.md", text);
        codes(&place, &["skills"])
    };
    let told = |line: usize| vec![format!("redundant-trigger skills/dunning/SKILL.md:{line}")];
    assert_eq!(dunning("triggers: [terraform plan, terraform plan]"), told(4));
    assert_eq!(dunning("triggers:\n- terraform plan\n- pulumi\n- terraform plan"), told(7));
    assert_eq!(dunning("triggers:\n  exclude: [a b, a b, a b]"), told(5));
    let block = "metadata:\n  triggers:\n    keywords: |\n      pulumi\n      terraform plan\n";
    assert_eq!(dunning(&format!("{block}      Terraform Plan")), told(9));
    // A skill may have both fields, as the other one may be for another engine.
    let both = "triggers: [terraform plan]\nactivation: {keywords: [terraform plan]}";
    assert_eq!(dunning(both), [""; 0]);
}

#[test]
fn notes_are_counted_and_shown_when_asked_for() {
    let place = place();
    let counted = "checked 2 skills: 0 errors, 0 warnings, 2 notes; `--notes` shows them\n";
    assert_eq!(place.run(["check", "skills"]).exits(0).stdout, counted);
    let shown = place.run(["check", "skills", "--notes"]).exits(0).stdout;
    assert_eq!(shown.matches("note[shared-trigger]").count(), 2, "{shown}");
    assert!(shown.ends_with("checked 2 skills: 0 errors, 0 warnings, 2 notes\n"), "{shown}");
    assert_eq!(codes(&place, &["skills"]), codes(&place, &["skills", "--notes"]));
    assert_eq!(codes(&place, &["skills"]).len(), 2);
}

#[test]
fn an_unknown_key_is_taken_for_a_field_that_its_value_fits() {
    let place = Place::new();
    let text = "---\nname: dunning\ndescription: Sends demand letters\ntools: [Read, Grep]\nbuilt_upon: \
                {skills: [plan]}\ntrigger: explicit\n---\nB\n";
    place.write("skills/dunning/SKILL.md", text);
    let shown = place.run(["check", "skills", "--notes"]).exits(0).stdout;
    assert_eq!(shown.matches("did you mean").count(), 1, "{shown}");
    assert!(shown.contains("did you mean `allowed-tools`?"), "{shown}");
    // Programs get the keys that may be misspelt, and the others only when they ask.
    let json = place.run(["check", "skills", "--json"]).exits(0).json();
    let found = json["diagnostics"].as_array().unwrap();
    assert!(found.iter().all(|found| found["line"] == 4), "{found:?}");
    assert_eq!((found.len(), &json["unknown_keys"]), (1, &2.into()));
    for asks in [&["--notes"][..], &["--fail-on", "note"]] {
        let args = ["check", "skills", "--json"].into_iter().chain(asks.iter().copied());
        let json = place.run(args).json();
        assert_eq!(json["diagnostics"].as_array().unwrap().len(), 3, "{asks:?}");
        assert_eq!(json.get("unknown_keys"), None, "{asks:?}");
    }
}

#[test]
fn the_advice_on_misplaced_keywords_warns_of_single_words() {
    let place = Place::new();
    for (keys, warns_of) in [
        ("keywords: [unit test coverage, testing]", Some("`testing`")),
        ("keywords: testing, security", Some("`testing`")),
        ("verbs: [fix]", Some("`fix`")),
        ("keywords: [unit test coverage]", None),
        ("patterns: ['deploy\\s+it']", None),
    ] {
        let text = format!("---\nname: basil\ndescription: Grows basil\n{keys}\n---\nB\n");
        place.write("skills/basil/SKILL.md", text);
        let json = place.run(["check", "skills", "--json"]).exits(0).json();
        let found = &json["diagnostics"][0];
        assert_eq!(found["code"], "misplaced-key", "{keys}");
        let help = found["help"].as_str().unwrap();
        assert!(help.starts_with("write `triggers:`, and indented below it `"), "{help}");
        let warning = warns_of.map(|word| format!("a single word such as {word} fires for every"));
        assert_eq!(warning.is_some(), help.contains("a single word"), "{help}");
        assert!(warning.is_none_or(|warning| help.contains(&warning)), "{help}");
    }
}

#[test]
fn links_and_characters_that_are_not_seen_are_drawn() {
    let place = Place::new();
    let text = "---\nname: dunning\ndescription: Sends demand letters\ntriggers: [demand\u{200b} \
                letters]\n---\nSee [the form](forms/march.md) and [the law](law.md).\n";
    place.write("skills/dunning/SKILL.md", text);
    place.write("skills/dunning/law.md", "");
    let run = place.run(["check", "skills"]).exits(0);
    let lines = [
        "warning[invisible-text]: `keywords` holds the invisible character `\\u{200b}`\n",
        "--> skills/dunning/SKILL.md:4:18\n",
        "4 | triggers: [demand\u{fffd} letters]\n  |                  ^\n",
        "warning[broken-link]: the link leads to `forms/march.md`, which is not in the skill\n",
        "--> skills/dunning/SKILL.md:6:16\n",
        "  |                ^^^^^^^^^^^^^^\n",
        "checked 1 skill: 0 errors, 2 warnings, 0 notes\n",
    ];
    for line in lines {
        assert!(run.stdout.contains(line), "{line}: {}", run.stdout);
    }
}

#[test]
fn examples_of_a_skill_are_routed_against_those_it_is_checked_with() {
    let place = Place::new();
    let skill = |name: &str, description: &str, more: &str| {
        let text = format!("---\nname: {name}\ndescription: {description}\n{more}---\nB\n");
        place.write(&format!("skills/{name}/SKILL.md"), text);
    };
    skill("dunning", "Sends demand letters", "triggers: [demand letter]\n");
    // Enough skills that none is listed merely because it has no triggers.
    for n in 0..12 {
        skill(
            &format!("filler{n}"),
            &format!("Grows zucchini of kind {n}"),
            "triggers: [zucchini]\n",
        );
    }
    let notes = |examples: &str| {
        let more = format!("triggers: [meeting notes]\nexamples:\n{examples}");
        skill("minutes", "Keeps the record of a discussion", &more);
        let json = place.run(["check", "skills/minutes", "--source", "skills", "--json"]).json();
        let found = json["diagnostics"].as_array().unwrap().clone();
        let told = |d: &serde_json::Value| {
            (
                d["code"].as_str().unwrap().to_owned(),
                d["line"].as_u64().unwrap(),
                d["message"].clone(),
            )
        };
        found.iter().map(told).collect::<Vec<_>>()
    };
    let good = "  should: [write the meeting notes]\n  should_not:\n  - write a demand letter\n";
    assert_eq!(notes(good), []);
    let bad = "  should:\n  - write the meeting notes\n  - write a demand letter\n  should-not:\n  - \
               send the meeting notes\n";
    let found = notes(bad);
    let told: Vec<(&str, u64)> = found.iter().map(|(code, line, _)| (&**code, *line)).collect();
    assert_eq!(told, [("example-not-routed", 8), ("example-routed", 10)]);
    let message = found[0].2.as_str().unwrap();
    assert!(
        message.contains("`write a demand letter`") && message.contains("`dunning`"),
        "{message}"
    );
    place.run(["check", "skills/minutes", "--source", "skills"]).exits(1);
    // Skills outside of the checked path are not reported.
    place.run(["check", "skills/dunning", "--source", "skills"]).exits(0);
    let shown = place.run(["show", "minutes", "--source", "skills", "--json"]).exits(0).json();
    let should = &shown["manifest"]["examples"]["should"];
    assert_eq!(*should, serde_json::json!(["write the meeting notes", "write a demand letter"]));
}

#[test]
fn a_message_is_routed_without_itself_among_the_examples() {
    let place = Place::new();
    let skill = |name: &str, description: &str, more: &str| {
        let text = format!("---\nname: {name}\ndescription: {description}\n{more}---\nB\n");
        place.write(&format!("skills/{name}/SKILL.md"), text);
    };
    for n in 0..12 {
        skill(&format!("filler{n}"), &format!("Grows zucchini of kind {n}"), "");
    }
    // The first message shares words with the description, the second with nothing, the third and the
    // fourth with each other.
    let examples = "examples:\n  should:\n  - summarise the quarterly ledger audit\n  - umbrella \
                    weather forecast\n  - reconcile foreign invoices\n  - reconcile the foreign \
                    invoices again\n";
    skill("ledger", "Summarises a quarterly ledger audit", examples);
    let run = place.run(["check", "skills", "--json"]).exits(0);
    let json = run.json();
    assert_eq!(json["examples"]["should"], 4, "{json}");
    assert_eq!(json["examples"]["in_view"], 3, "{json}");
    let found: Vec<&serde_json::Value> = json["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|found| found["code"] == "example-not-routed")
        .collect();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&found[0]["severity"], &found[0]["line"]), (&"warning".into(), &7.into()));
    let message = found[0]["message"].as_str().unwrap();
    assert!(message.contains("only because it is an example"), "{message}");
    let told = place.run(["check", "skills"]).exits(0).stdout;
    let sentence = "4 examples of `should`, each left out of the index while it is routed: ";
    assert!(told.contains(sentence) && told.contains(" in full, 3 in view\n"), "{told}");
    // Without examples, nothing is said of them.
    let run = place.run(["check", "skills/filler0", "--json"]).exits(0);
    assert_eq!(run.json().get("examples"), None);
}

#[test]
fn examples_of_a_skill_that_cannot_be_disclosed_here_are_left_alone() {
    let place = Place::new();
    for (name, key) in
        [("hidden", "disable-model-invocation: true"), ("unmet", "requires_bins: [no-such-bin]")]
    {
        let text = format!(
            "---\nname: {name}\ndescription: Sends demand letters\n{key}\nexamples: {{should: [zucchini]}}\n---\nB\n"
        );
        place.write(&format!("skills/{name}/SKILL.md"), text);
    }
    place.run(["check", "skills"]).exits(0);
}
