//! Texts that YAML cuts at ` #`.

use repertoire::{Code, Diagnostic, Skill};

use super::{BRAND, file};

/// Returns the findings of this kind for a skill with the front matter `yaml`.
fn cut(yaml: &str) -> Vec<Diagnostic> {
    let root = tempfile::tempdir().unwrap();
    let path = file(root.path(), "a", format!("---\n{yaml}\n---\nBody\n"));
    let skill = Skill::load(&path, BRAND).unwrap();
    skill.diagnostics().iter().filter(|found| found.code == Code::CutText).cloned().collect()
}

#[test]
fn a_comment_that_cuts_a_text_is_reported_with_the_line_to_write() {
    for (yaml, (line, column), cut_off, remedy) in [
        (
            "name: t\ndescription: Closes ticket #45 and it's done",
            (3, 28),
            "#45 and it's done",
            "description: 'Closes ticket #45 and it''s done'",
        ),
        ("description: #45 is closed", (2, 14), "#45 is closed", "description: '#45 is closed'"),
        ("description: C # and F #", (2, 16), "# and F #", "description: 'C # and F #'"),
        ("description: d\nwhen_to_use: after #45", (3, 20), "#45", "when_to_use: 'after #45'"),
        ("description: d\nwhen-to-use: after #45", (3, 20), "#45", "when-to-use: 'after #45'"),
        ("description: d\nname: team #4", (3, 12), "#4", "name: 'team #4'"),
        ("description: d\nkeywords: close #", (0, 0), "", ""),
        (
            "description: d\ntriggers:\n  keywords: close #45, b",
            (4, 19),
            "#45, b",
            "keywords: 'close #45, b'",
        ),
        ("description: d\ntriggers:\n  - a\n  - #b\n  - c", (5, 5), "#b", "- '#b'"),
        ("description: d\ntriggers:\n  - #b\nname: e", (4, 5), "#b", "- '#b'"),
        ("description: d\nmetadata:\n  triggers:\n    verbs:\n    - fix #", (0, 0), "", ""),
        (
            "description: d\nmetadata:\n  triggers:\n    verbs:\n    - fix #1",
            (6, 11),
            "#1",
            "- 'fix #1'",
        ),
        ("description: d\nexamples:\n  should:\n    - close #45", (5, 13), "#45", "- 'close #45'"),
        ("description: d\nexamples: {should: [close #45\n  , b]}", (3, 27), "#45", "put all of"),
        ("description: d\n  of #45", (3, 6), "#45", "put all of"),
        ("description: \"d\"x\nwhen_to_use: a #4", (3, 16), "#4", "when_to_use: 'a #4'"),
        ("description: #45: x", (2, 14), "#45: x", "description: '#45: x'"),
    ] {
        let found = cut(yaml);
        let Some(finding) = found.first() else {
            assert_eq!(line, 0, "{yaml}");
            continue;
        };
        assert_eq!(
            (found.len(), finding.line, finding.column),
            (1, line, column),
            "{yaml}: {found:?}"
        );
        assert!(finding.message.contains(&format!("`{cut_off}`")), "{yaml}: {found:?}");
        assert!(finding.help.contains(remedy), "{yaml}: {found:?}");
    }
}

#[test]
fn comments_that_cut_no_text_are_not_reported() {
    for yaml in [
        "# x\ndescription: d\nname: a # the name",
        "description: 'Closes #45' #x",
        "description: >-\n  Closes #45\n  and #46",
        "description: | #x\n  Closes #45",
        "description: uses C# and a#b",
        "description: d\nalways: true #x",
        "description: d\ntriggers: # why\n  keywords: # of\n  - a  # main\n  #- b\n  - c ## d",
        "description: d\ntriggers:\n  keywords: &k [a]\n  verbs: *k #b",
        "description: d\nmodel: #opus\ncontext: #fork",
    ] {
        assert_eq!(cut(yaml), [], "{yaml}");
    }
}
