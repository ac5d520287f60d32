//! Fuzzes the loading of a `SKILL.md`: the file is read, checked, put into a catalog, and queried.
#![no_main]
#![expect(clippy::unwrap_used, reason = "the fuzzer looks for panics")]

use libfuzzer_sys::fuzz_target;
use repertoire::{Engine, Query, Skill};

fuzz_target!(|text: &str| {
    let Ok(skill) = text.parse::<Skill>() else { return };
    let name = skill.name().to_owned();
    let engine = Engine::builder().skill(skill).build().unwrap();
    for diagnostic in engine.diagnostics().iter() {
        assert!(!diagnostic.message.is_empty());
    }
    let session = engine.session("fuzz");
    for message in [&*name, text] {
        let turn = engine.turn(Query::new(message), &session);
        let _ = (turn.explain(3), turn.find_skills(3));
        let _ = turn.run();
    }
});
