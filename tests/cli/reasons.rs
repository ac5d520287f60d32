//! Reasons why skills are left out: each with its code, in the JSON of the command that tells it.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::binary::Place;

/// The codes of all reasons, which a match over [`repertoire::Reason`] keeps complete.
fn all_codes() -> BTreeSet<&'static str> {
    use repertoire::Reason;
    let text = String::new;
    let shown = repertoire::disclosure::Fallback::Line;
    let all = [
        Reason::BelowLimit { limit: 1 },
        Reason::Vetoed { exclude: text() },
        Reason::Quoted { trigger: text() },
        Reason::Untried { pattern: text() },
        Reason::WeakMention,
        Reason::InContext,
        Reason::RunsAsTask,
        Reason::NeedsConsent,
        Reason::OverBudget { cost: None, shown },
        Reason::OverRestoreBudget,
        Reason::Filtered,
        Reason::Unavailable { missing: text() },
        Reason::Disabled { by: text() },
        Reason::Shadowed { by: text() },
        Reason::NotForModel { why: text() },
        Reason::Unreadable { problem: text() },
    ];
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/routing.md");
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
    let elsewhere =
        "when_to_use: For red tape of the office, red tape forms and their red tape rules.";
    skill("skills/office", elsewhere, "Red tape forms of the office.");
    skill("low/plain", "triggers: [plain words]", "Shadowed.");
    skill("bundled/off", "triggers: [switch]\ndefault_enabled: false", "Off.");
    place
}

/// The code of the reason for `id`, in the rejections under `field`.
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
        ("quoted", &["disclose", "the `statement` flag", "--mask-quoted"], "omitted", "press"),
        (
            "weak-mention",
            &["disclose", "fill in the red tape forms of the office"],
            "omitted",
            "red-tape",
        ),
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

    let why = |args: &[&str]| place.run([&["why", "--json"], args].concat()).json()["code"].clone();
    assert_eq!(why(&["needy", "needy", "--source", "skills"]), "unavailable");
    // What these need is told elsewhere: see `tests/limits.rs` and `tests/catalog.rs`.
    seen.extend(["untried", "unreadable", "disabled", "shadowed"]);
    assert_eq!(seen, all_codes());
}
