//! Edits that break a skill. Its last version stays, and its instructions are either that version's or
//! an error.

use super::*;

/// An edit that breaks the skill `plain`.
const BREAKS: &[(&str, Code, Edit)] = &[
    ("not UTF-8", Code::NotUtf8, |place| {
        place.write("user/plain/SKILL.md", b"---\ndescription: \xff\n---\n");
    }),
    ("half written", Code::EmptyFile, |place| place.write("user/plain/SKILL.md", "")),
    ("without a description", Code::NoDescription, |place| {
        place.write("user/plain/SKILL.md", "---\nname: plain\n---\n");
    }),
    ("no mapping", Code::NotAMapping, |place| {
        place.write("user/plain/SKILL.md", "---\n- a\n---\n");
    }),
];

fn found(engine: &Engine, code: Code) -> Option<Diagnostic> {
    engine.diagnostics().iter().find(|finding| finding.code == code).cloned()
}

#[test]
fn a_broken_edit_keeps_the_skill_as_it_was_until_it_is_mended() {
    for (what, code, edit) in BREAKS {
        let place = Place::new();
        let engine = place.engine();
        let disclosed = engine.disclose("plain words");
        assert_eq!(ids(&disclosed.full), ["plain"]);
        edit(&place);
        assert_eq!(signs(&engine.refresh().unwrap()), "!plain", "{what}");
        assert_eq!(engine.disclose("plain words"), disclosed, "{what}: what was read before");
        let file = place.path("user/plain/SKILL.md");
        assert_eq!(found(&engine, *code).unwrap().path, file, "{what}");
        let kept = found(&engine, Code::KeptBefore).unwrap();
        assert_eq!(kept.path, file);
        assert!(kept.message.contains("stays as it was"), "{kept}");
        // The finding is reported once, and stays known as long as the skill is broken.
        assert!(engine.refresh().unwrap().is_empty(), "{what}");
        place.skill("project/new", "New.", "");
        assert_eq!(signs(&engine.refresh().unwrap()), "+new", "{what}");
        assert!(found(&engine, Code::KeptBefore).is_some(), "{what}");
        // A program that starts now has no earlier version to keep.
        assert!(place.engine().catalog().get("plain").is_none(), "{what}");

        place.skill("user/plain", "Plain one.", "triggers: [plain words]");
        assert_eq!(signs(&engine.refresh().unwrap()), "", "{what}: mended");
        assert_eq!(found(&engine, *code), None, "{what}: mended");
        assert_eq!(state(&engine), state(&place.engine()), "{what}: mended");
        edit(&place);
        engine.refresh().unwrap();
        place.skill("user/plain", "Mended in another way.", "");
        assert_eq!(signs(&engine.refresh().unwrap()), "~plain", "{what}: mended in another way");
        edit(&place);
        engine.refresh().unwrap();
        place.remove("user/plain");
        assert_eq!(signs(&engine.refresh().unwrap()), "-plain", "{what}: gone");
        assert_eq!(state(&engine), state(&place.engine()), "{what}: gone");
    }
}

#[test]
fn a_kept_skill_has_its_own_instructions_or_says_that_they_are_gone() {
    for (what, code, edit) in BREAKS {
        for was_read in [false, true] {
            let what = format!("{what}, read before: {was_read}");
            let place = Place::new();
            let engine = place.engine();
            let session = engine.session("chat");
            if was_read {
                engine.activate("plain", "", &session).unwrap();
            }
            edit(&place);
            assert_eq!(signs(&engine.refresh().unwrap()), "!plain", "{what}");
            match engine.activate("plain", "", &session) {
                Ok(activation) => assert_eq!(activation.content, "The body.\n", "{what}"),
                Err(error) => {
                    assert!(!was_read, "{what}: {error:#}");
                    assert_eq!(error.code(), ErrorCode::ExecutionError, "{what}");
                    let says_why = error.message().contains("changed since the skill was loaded")
                        || *code == Code::NotUtf8 && error.message().contains("not UTF-8");
                    assert!(says_why && !error.help().is_empty(), "{what}: {error:#}");
                }
            }
            let disclosed = engine.disclose("plain words");
            assert_eq!(disclosed.full.is_empty(), !was_read, "{what}");
            assert!(disclosed.text.contains("plain"), "{what}: {}", disclosed.text);
        }
    }
}

#[test]
fn wherever_a_file_is_cut_off_its_instructions_are_whole_or_an_error() {
    let whole = "---\nname: plain\ndescription: Plain.\n---\nThe body.\n";
    for end in 0..whole.len() {
        for refreshes in [false, true] {
            let place = Place::new();
            place.write("user/plain/SKILL.md", whole);
            let engine = place.engine();
            place.write("user/plain/SKILL.md", &whole[..end]);
            let is_kept = !refreshes || signs(&engine.refresh().unwrap()) == "!plain";
            let activated = engine.activate("plain", "", &engine.session("chat"));
            match activated {
                Ok(activation) if is_kept => {
                    assert!(whole[..end].ends_with(&activation.content), "cut at {end}");
                    assert!(!activation.content.trim().is_empty(), "cut at {end}: nothing");
                }
                Ok(_) => {}
                Err(error) => assert_eq!(error.code(), ErrorCode::ExecutionError, "{error:#}"),
            }
        }
    }
}

#[test]
fn a_broken_head_above_the_same_body_costs_nothing() {
    let place = Place::new();
    let engine = place.engine();
    let too_deep = format!("---\na: {}\n---\nThe body.\n", "[".repeat(500));
    place.write("user/plain/SKILL.md", too_deep);
    assert_eq!(signs(&engine.refresh().unwrap()), "!plain");
    let activation = engine.activate("plain", "", &engine.session("chat")).unwrap();
    assert_eq!(activation.content, "The body.\n");
}

#[test]
fn instructions_are_of_the_version_of_the_manifest() {
    let write = |place: &Place, version: usize| {
        let text = format!("---\ndescription: Version {version}.\n---\nDo version {version}.\n");
        place.write("user/plain/SKILL.md", text);
    };
    let place = Place::new();
    write(&place, 1);
    let engine = place.engine();
    write(&place, 2);
    let session = engine.session("chat");
    let error = engine.activate("plain", "", &session).unwrap_err();
    assert_eq!(error.code(), ErrorCode::ExecutionError, "{error:#}");
    assert_eq!(session.state().unwrap().skills.len(), 0, "a failure is not noted");
    engine.refresh().unwrap();
    let activation = engine.activate("plain", "", &session).unwrap();
    assert_eq!(activation.content, "Do version 2.\n");
}
