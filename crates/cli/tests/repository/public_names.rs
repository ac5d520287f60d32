//! The names at the crate's root. Adding a name is a decision, which is recorded here.

use std::collections::BTreeSet;
use std::path::Path;

/// The names that most embedders use; all others are in their modules.
const NAMES: [&str; 50] = [
    "Activate", "Activation", "Allowlist", "Audience", "Budget", "CallIo", "Catalog", "Code",
    "Consent", "ConsentPolicy", "ConsentRequest", "Diagnostic", "Disclosure", "DisclosureOptions",
    "Engine", "EngineBuilder", "Envelope", "Error", "ErrorCode", "Explanation", "Fault", "Format",
    "Hit", "HitKind", "HowToLoad", "Match", "MetaQuestion", "Phase", "Progress", "PromptOptions",
    "Query", "Reason", "Rejection", "Remedy", "Session", "SessionTools", "Severity", "Skill",
    "SkillId", "SnapshotCache", "Source", "Task", "TaskSpawner", "Tier", "ToolFormat", "Turn",
    "TurnBuilder", "Watch", "WatchOptions", "Weighed",
];

/// Returns the names that `lib.rs` re-exports.
fn exported() -> BTreeSet<String> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("src/lib.rs");
    let source = std::fs::read_to_string(path).unwrap();
    let source = source.replace("#[doc(hidden)]\npub use ", "");
    let uses = source.split("\npub use ").skip(1).map(|rest| rest.split(';').next().unwrap());
    let names = uses.flat_map(|one| match one.split_once('{') {
        Some((_, list)) => list.trim_end_matches('}').split(',').map(str::trim).collect(),
        None => vec![one.rsplit("::").next().unwrap()],
    });
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

#[test]
fn the_names_at_the_root_are_these() {
    let listed: BTreeSet<String> = NAMES.into_iter().map(str::to_owned).collect();
    assert_eq!(exported(), listed);
}
