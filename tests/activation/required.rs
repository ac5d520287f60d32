//! The skills that a skill requires, and what of it the session restores.

use repertoire::{Code, Engine};

#[test]
fn what_is_missing_is_a_finding_and_a_hint() {
    let skill = |name: &str, fields: &str| {
        let text = format!("---\nname: {name}\ndescription: Does {name}.\n{fields}\n---\nSteps.\n");
        text.parse().unwrap()
    };
    let engine = Engine::builder()
        .skill(skill("top", "requires_skills: [/Base, gone, needy, closed]"))
        .skill(skill("base", ""))
        .skill(skill("needy", "requires_bins: [no-such-program]"))
        .skill(skill("closed", "disable-model-invocation: true"))
        .build()
        .unwrap();
    let found = engine.diagnostics();
    let missing = found.iter().filter(|found| found.code == Code::MissingSkill);
    let told: Vec<&str> = missing.map(|found| found.message.as_str()).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(told[0], "skill `top` requires the skill `gone`: there is no such skill");
    assert!(told[1].contains("`needy`") && told[1].contains("no-such-program"), "{told:?}");

    let activation = engine.activate("top", "", &engine.session("s")).unwrap();
    let text = activation.to_text();
    for line in ["- base: Does base.", "- gone: missing", "- needy: missing", "- closed: missing"] {
        assert!(text.contains(line), "{line} in {text}");
    }
    let xml = activation.to_xml();
    assert!(xml.contains("<skill id=\"gone\" missing=\"true\"></skill>"), "{xml}");
}

#[test]
fn what_another_host_asks_for_is_a_finding_and_hides_nothing() {
    let text = "---\nname: deploy\ndescription: Deploys agents.\nmetadata: {openclaw: {requires: {bins: [no-such-program]}}}\n---\nSteps.\n";
    let engine = Engine::builder().skill(text.parse().unwrap()).build().unwrap();
    let found = engine.diagnostics();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].code, Code::HostRequirement);
    assert!(
        found[0].message.contains("`no-such-program` is not on the PATH"),
        "{}",
        found[0].message
    );
    assert!(engine.disclose("please deploy the agents").text.contains("deploy"));
    assert!(engine.activate("deploy", "", &engine.session("s")).is_ok());
}

#[test]
fn a_skill_that_asks_not_to_be_restored_is_not() {
    let skill = |name: &str, fields: &str| {
        let text = format!(
            "---\nname: {name}\ndescription: Does {name}.\ntriggers: [{name}]\n{fields}\n---\nSteps of {name}.\n"
        );
        text.parse().unwrap()
    };
    let engine = Engine::builder()
        .skill(skill("stay", ""))
        .skill(skill("once", "restore: false"))
        .build()
        .unwrap();
    let session = engine.session("s");
    let say = |message: &str| engine.turn(message, &session).run().unwrap();
    assert_eq!(say("stay once").disclosure.full.len(), 2);
    session.compacted().unwrap();
    let turn = say("go on");
    assert!(
        turn.text.contains("Steps of stay") && !turn.text.contains("Steps of once"),
        "{}",
        turn.text
    );
    let left_out = turn.disclosure.omitted.iter().find(|left_out| left_out.id == "once").unwrap();
    assert_eq!(left_out.reason.code(), "not-restored");
    // A message that calls for it shows it.
    assert!(say("once more").text.contains("Steps of once"));
}
