//! The reasons why skills are omitted: each code must appear in the JSON of some command.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use crate::binary::Place;
use crate::play::Play;

/// The number of skills whose pattern has no literal. These are more than are tried on a message with
/// as many letters as the longest pattern requires.
const N_CIPHERS: usize = 300;

/// Returns the codes of all reasons; a match over [`repertoire::Reason`] keeps the list complete.
fn all_codes() -> BTreeSet<&'static str> {
    use repertoire::Reason;
    use repertoire::catalog::Exposure;
    let text = String::new;
    let shown = repertoire::disclosure::Fallback::Line;
    let all = [
        Reason::BelowLimit { limit: 1 },
        Reason::Vetoed { exclude: text() },
        Reason::Quoted { trigger: text() },
        Reason::Untried { pattern: text() },
        Reason::WeakMention,
        Reason::Denied,
        Reason::InContext,
        Reason::Native,
        Reason::RunsAsTask,
        Reason::NeedsConsent,
        Reason::OverBudget { cost: None, shown },
        Reason::OverRestoreBudget,
        Reason::NotRestored,
        Reason::LineOnly { exposure: Exposure::Line },
        Reason::Filtered,
        Reason::Unavailable { missing: text() },
        Reason::Disabled { by: text() },
        Reason::Shadowed { by: text() },
        Reason::NotForModel { why: text() },
        Reason::Unreadable { problem: text() },
    ];
    let page = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("docs/routing.md");
    let page = std::fs::read_to_string(page).unwrap();
    for reason in &all {
        assert!(page.contains(&format!("`{}`", reason.code())), "{reason:?} is not documented");
        assert!(!reason.help().is_empty(), "{reason:?}");
    }
    all.iter().map(Reason::code).collect()
}

fn catalog() -> Place {
    let place = Place::new();
    let skill = |path: &str, more: &str, body: &str| {
        let name = path.rsplit('/').next().unwrap();
        let text = format!("---\nname: {name}\ndescription: Does {name}.\n{more}\n---\n{body}\n");
        place.write(&format!("{path}/SKILL.md"), text);
    };
    skill("skills/plain", "triggers: [plain words]", "P.");
    skill("skills/other", "triggers: [plain words]", "O.");
    skill("skills/press", "triggers: {keywords: [statement], exclude: [draft]}", "V.");
    skill("skills/fork", "triggers: [dig it]\ncontext: fork", "F.");
    skill("skills/long", "triggers: [encyclopedia]", &"word ".repeat(9000));
    skill("skills/needy", "triggers: [needy]\nrequires_bins: [no-such-program]", "N.");
    skill("skills/quiet", "triggers: [quiet]\ndisable-model-invocation: true", "Q.");
    skill("skills/red-tape", "", "R.");
    skill("skills/once", "triggers: [just once]\nrestore: false", "Once.");
    let elsewhere =
        "when_to_use: For red tape of the office, red tape forms and their red tape rules.";
    skill("skills/office", elsewhere, "Red tape forms of the office.");
    skill("low/plain", "triggers: [plain words]", "Shadowed.");
    skill("bundled/off", "triggers: [switch]\ndefault_enabled: false", "Off.");
    skill(".claude/skills/verse", "triggers: [limerick]", "Count.");
    for n in 0..N_CIPHERS {
        let (letters, more) = (n % 100 + 1, n / 100 + 1);
        let pattern = format!("[a-z]{{{letters}}}[0-9][a-z]{{0,{more}}}");
        let triggers = format!("triggers: {{patterns: ['{pattern}']}}");
        skill(&format!("ciphers/cipher-{n}"), &triggers, "C.");
    }
    place
}

/// Returns the code of the reason for `id` in the rejections in `field`.
fn code(answer: &Value, field: &str, id: &str) -> Option<String> {
    let rejections = answer[field].as_array()?;
    let of = rejections.iter().find(|rejection| rejection["id"] == id)?;
    assert!(!of["reason"].as_str()?.is_empty(), "{of}");
    Some(of["code"].as_str()?.to_owned())
}

#[test]
fn every_reason_is_told_with_its_code() {
    let place = catalog();
    let told = |args: &[&str], field: &str, id: &str| {
        let all = [&["--json", "--source", "skills"], args].concat();
        let answer = place.run(all).json();
        code(&answer, field, id).unwrap_or_else(|| panic!("{args:?}: {answer}"))
    };
    let mut seen = BTreeSet::new();
    for (expected, args, field, id) in [
        ("below-limit", &["disclose", "plain words", "--max-skills", "1"][..], "omitted", "other"),
        ("below-limit", &["match", "plain words", "--limit", "1"], "rejected", "other"),
        ("vetoed", &["disclose", "a draft of the statement"], "omitted", "press"),
        ("vetoed", &["match", "a draft of the statement"], "rejected", "press"),
        ("quoted", &["disclose", "see below\n> statement"], "omitted", "press"),
        (
            "weak-mention",
            &["disclose", "fill in the red tape forms of the office"],
            "omitted",
            "red-tape",
        ),
        ("denied", &["disclose", "no /press please"], "omitted", "press"),
        ("denied", &["match", "no /press please"], "rejected", "press"),
        ("runs-as-task", &["disclose", "dig it", "--tasks"], "omitted", "fork"),
        ("needs-consent", &["disclose", "dig it", "--consent", "always"], "omitted", "fork"),
        ("over-budget", &["disclose", "encyclopedia"], "omitted", "long"),
        ("filtered", &["match", "dig it", "--allow", "plain"], "rejected", "fork"),
        ("unavailable", &["match", "needy"], "rejected", "needy"),
        ("not-for-model", &["match", "quiet"], "rejected", "quiet"),
    ] {
        assert_eq!(told(args, field, id), expected, "{args:?}");
        seen.insert(expected);
    }
    let session = ["disclose", "--session", "s"];
    let say = |more: &[&str]| told(&[&session[..], more].concat(), "omitted", "long");
    let _ = place.run(
        [&["--source", "skills"], &session[..], &["encyclopedia", "--budget", "90000"]].concat(),
    );
    assert_eq!(say(&["the encyclopedia"]), "in-context");
    assert_eq!(say(&["go on", "--event", "compacted"]), "over-restore-budget");
    seen.extend(["in-context", "over-restore-budget"]);

    let session = ["disclose", "--session", "t"];
    let say = |more: &[&str]| told(&[&session[..], more].concat(), "omitted", "once");
    let _ = place.run([&["--source", "skills"], &session[..], &["just once"]].concat());
    assert_eq!(say(&["go on", "--event", "compacted"]), "not-restored");
    place.write("home/.repertoire/config.toml", "[skills.show]\nonce = \"line\"\n");
    assert_eq!(told(&["disclose", "just once"], "omitted", "once"), "line-only");
    place.write("home/.repertoire/config.toml", "");
    seen.extend(["not-restored", "line-only"]);

    let why = |args: &[&str]| place.run([&["why", "--json"], args].concat()).json()["code"].clone();
    assert_eq!(why(&["needy", "needy", "--source", "skills"]), "unavailable");
    let listed = place.run(["list", "--json", "--source", "low", "--source", "skills"]).json();
    let mut skills = listed["skills"].as_array().unwrap().iter();
    let lower = skills.find(|skill| skill["path"].as_str().unwrap().contains("low/plain"));
    assert_eq!(lower.unwrap()["status"], "shadowed", "{listed}");
    seen.insert("shadowed");

    place.run(["disable", "press", "--source", "skills"]).exits(0);
    assert_eq!(why(&["press", "the statement", "--source", "skills"]), "disabled");
    place.run(["enable", "press", "--source", "skills"]).exits(0);

    let hook = ["hook", "install", "claude-code", "--project", ".", "--source", ".claude/skills"];
    place.run(hook).exits(0);
    for (message, expected) in [("a limerick", "native"), ("/verse", "agent-command")] {
        assert_eq!(why(&["verse", message, "--agent", "claude-code"]), expected, "{message}");
    }
    assert_eq!(why(&["verse", "a limerick", "--source", ".claude/skills"]), "fires");

    let letters = format!("{} a1", "z".repeat(101));
    for (id, expected) in [("cipher-0", "fires"), ("cipher-299", "untried")] {
        assert_eq!(why(&[id, &letters, "--source", "ciphers"]), expected, "{id}");
    }
    seen.extend(["disabled", "native", "untried", unreadable(place)]);
    assert_eq!(seen, all_codes());
}

/// Returns the code of the reason for a skill whose file is removed before it is shown.
fn unreadable(place: Place) -> &'static str {
    let play = Play::start(place, &["--refresh", "off"]);
    std::fs::remove_file(play.place.path().join("skills/press/SKILL.md")).unwrap();
    let answer = play.ask(&json!({"query": "the statement"}));
    assert_eq!(code(&answer["disclosure"], "omitted", "press").unwrap(), "unreadable");
    "unreadable"
}
