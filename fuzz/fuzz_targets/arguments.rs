//! Fuzzes the arguments of skills. They must be inserted as written, and the rest of the body must not
//! change.
#![no_main]
#![expect(clippy::unwrap_used, reason = "the fuzzer looks for panics")]

use libfuzzer_sys::fuzz_target;
use repertoire::{Engine, Skill};

fuzz_target!(|input: (&str, &str)| {
    let (body, args) = input;
    let Ok(skill) = format!("---\nname: fuzzed\ndescription: d\n---\n{body}").parse::<Skill>()
    else {
        return;
    };
    let Ok(body) = skill.body().map(|body| body.to_string()) else { return };
    let engine = Engine::builder().skill(skill).build().unwrap();
    let Ok(activation) = engine.activate("fuzzed", args, &engine.session("fuzz")) else { return };
    let instructions = &activation.content;
    // Invisible characters and control characters are dropped, and each end of a line becomes a line feed, so
    // exclude them here.
    let is_shown = |c: char| c.is_ascii() && (!c.is_control() || "\t\n".contains(c));
    let are_kept = args.chars().all(is_shown);
    let is_plain = body.chars().all(is_shown) && !body.contains('$');
    if args.trim().is_empty() && is_plain {
        assert_eq!(*instructions, body, "without placeholders and arguments nothing changes");
    }
    if !args.trim().is_empty() && is_plain && are_kept {
        assert!(instructions.starts_with(&body) && instructions.ends_with(args));
    }
    // Followed by a letter, a digit or `_`, it is another name; followed by `[`, it is the start of an
    // index.
    let goes_on = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let is_asked_for = body.split("$ARGUMENTS").skip(1).any(|rest| !goes_on(rest));
    if is_asked_for && are_kept && !body.contains('\\') && !body.contains("$ARGUMENTS[") {
        assert!(instructions.contains(args), "the arguments stand where they were asked for");
    }
});
