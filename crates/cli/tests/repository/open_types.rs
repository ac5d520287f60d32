//! Public types that cannot grow without breaking their users. Each is a decision, which is recorded here;
//! `docs/embedding.md` tells users which kinds of types these are.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::sources::rust_files;

/// Values that a host or another crate builds with all their fields.
const BUILT: [&str; 37] = [
    "Abilities", "Activate", "AgentPlace", "Asking", "BundledFiles", "Call", "Case", "ConfigPlace",
    "Endpoint", "FetchSection", "FetchSettings", "HostProgram", "IndexedSkill", "Interval",
    "Levels", "Message", "Network", "Owner", "PlacedCopy", "Progress", "ProjectScripts",
    "RelevanceMargin", "Reply", "Request", "RuleTarget", "ScriptIo", "Selection", "SessionState",
    "SkillChoice", "SkillRule", "SkillState", "Spanned", "Start", "Tool", "ToolsetRights",
    "TreeEntry", "Usage",
];

/// Choices that are complete, so that a host may tell all of them apart.
const COMPLETE: [&str; 13] = [
    "Audience", "Budget", "ChangeKind", "Content", "Envelope", "Fault", "MetaQuestion",
    "Misrouting", "Risk", "Severity", "Status", "Stream", "Tier",
];

/// Types that are hidden from the documentation, whose form may change in any version.
const HIDDEN: [&str; 11] = [
    "Alphabet", "Duplicate", "Entered", "LineRepair", "Links", "Node", "Required", "Tree",
    "Triggers", "Typed", "Value",
];

/// The ABI of toolsets, whose layout is frozen, and its errors and options.
const OF_PLUGINS: [&str; 7] = [
    "CallError", "OpenOptions", "PluginModule", "RError", "ROutput", "RToolsetClass", "ToolOutput",
];

/// Types of the crates below the engine, whose version is that of the engine: it builds or matches them with
/// all their parts.
const OF_PARTS: [&str; 17] = [
    "Allowed", "Code", "Entry", "Exceeded", "Kind", "Lines", "Mention", "NoRunner", "Part",
    "Reads", "ResourceLimits", "Rules", "Runner", "Search", "Sockets", "Term", "Totals",
];

/// The directories of the published libraries.
const PUBLISHED: [&str; 12] = [
    "src", "plugin-api/src", "crates/agents/src", "crates/authoring/src", "crates/config/src",
    "crates/fetch/src", "crates/mcp/src", "crates/meaning/src", "crates/sessions/src",
    "crates/system/src", "crates/text/src", "crates/worker/src",
];

/// Returns the public types of a file that others can build or match with all their parts.
fn open_types(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let declared = |(at, line): (usize, &&str)| {
        let (kind, rest) = line.trim_start().strip_prefix("pub ")?.split_once(' ')?;
        let name = rest.split(|c: char| !c.is_alphanumeric()).next()?;
        let above = lines[..at].iter().rev();
        let is_marked = above
            .take_while(|line| line.trim_start().starts_with(['#', '/']))
            .any(|line| line.trim() == "#[non_exhaustive]");
        let is_open = match kind {
            "enum" => true,
            "struct" if rest.contains('{') => {
                let body = lines[at + 1..].iter().map(|line| line.trim_start());
                let body = body.take_while(|line| !line.starts_with('}'));
                let mut fields =
                    body.filter(|line| !line.starts_with(['/', '#']) && line.contains(':'));
                let first = fields.next()?;
                first.starts_with("pub ") && fields.all(|field| field.starts_with("pub "))
            }
            "struct" => rest.contains("(pub "),
            _ => false,
        };
        (is_open && !is_marked).then(|| name.to_owned())
    };
    lines.iter().enumerate().filter_map(declared).collect()
}

#[test]
fn a_public_type_may_grow_unless_it_is_listed_here() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let files = PUBLISHED.iter().flat_map(|dir| rust_files(&root.join(dir)));
    let texts = files.map(|file| fs::read_to_string(file).unwrap());
    let open: BTreeSet<String> = texts.flat_map(|text| open_types(&text)).collect();
    let listed = [&BUILT[..], &COMPLETE, &HIDDEN, &OF_PLUGINS, &OF_PARTS].concat();
    let listed: BTreeSet<String> = listed.into_iter().map(str::to_owned).collect();
    let (new, gone): (Vec<_>, Vec<_>) =
        (open.difference(&listed).collect(), listed.difference(&open).collect());
    assert!(new.is_empty(), "mark them `#[non_exhaustive]`, or list them: {new:?}");
    assert!(gone.is_empty(), "they are open no longer: {gone:?}");
}

#[test]
fn open_types_are_told_from_others() {
    let text = "\
/// A.\npub struct A {\n    /// x\n    pub x: u8,\n}\n\n\
pub struct B {\n    pub x: u8,\n    y: u8,\n}\n\n\
#[non_exhaustive]\npub struct C {\n    pub x: u8,\n}\n\n\
#[derive(Debug)]\n#[non_exhaustive]\n#[serde(untagged)]\npub enum D {\n    X,\n}\n\n\
pub enum E<'a> {\n    X(&'a str),\n}\n\n\
pub struct F(u8);\npub struct G(pub u8);\npub struct H;\npub(crate) enum I {\n    X,\n}\n\
pub fn enum_of() {}\n";
    assert_eq!(open_types(text), ["A", "E", "G"]);
}
