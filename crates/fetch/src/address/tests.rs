use super::*;

/// An address as `SOURCE [rev] [skill]`.
fn shown(text: &str) -> Option<String> {
    let Address { source, rev, skill, .. } = Address::read(text)?;
    let source = source.replace("https://github.com/", "gh ");
    Some(
        [Some(source), rev.map(|r| format!("#{r}")), skill.map(|s| format!("@{s}"))]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" "),
    )
}

#[test]
fn addresses_of_the_clipboard_are_taken_apart() {
    for (text, wanted) in [
        ("o/r", "gh o/r"),
        ("github:o/r", "gh o/r"),
        ("gh:o/r@pdf", "gh o/r @pdf"),
        ("o/r@pdf", "gh o/r @pdf"),
        ("o/r/pdf", "gh o/r @pdf"),
        ("o/r/skills/pdf/", "gh o/r @skills/pdf"),
        ("o/r/skills/pdf/SKILL.md", "gh o/r @skills/pdf"),
        ("o/r#v1", "gh o/r #v1"),
        ("o/r#feature/x", "gh o/r #feature/x"),
        ("o/r#v1@pdf", "gh o/r #v1 @pdf"),
        ("o/r@pdf#v1", "gh o/r #v1 @pdf"),
        ("o/r#@a/b@1.0.0", "gh o/r #@a/b@1.0.0"),
        ("github.com/o/r", "gh o/r"),
        ("www.github.com/o/r", "gh o/r"),
        ("http://github.com/o/r", "gh o/r"),
        ("https://GitHub.com/o/r/", "gh o/r"),
        ("<https://github.com/o/r>", "gh o/r"),
        ("git+https://github.com/o/r.git#v1", "gh o/r.git #v1"),
        ("https://github.com/o/r?tab=readme-ov-file#readme-ov-file", "gh o/r"),
        ("https://github.com/o/r/issues/12#issuecomment-1", "gh o/r"),
        ("https://github.com/o/r/tree/main", "gh o/r #main"),
        ("https://github.com/o/r/tree/main/skills/pdf", "gh o/r #main @skills/pdf"),
        ("github.com/o/r/tree/main/skills/pdf/", "gh o/r #main @skills/pdf"),
        ("https://github.com/o/r/blob/v1/skills/pdf/SKILL.md#L3", "gh o/r #v1 @skills/pdf"),
        ("https://github.com/o/r/blob/main/SKILL.md", "gh o/r #main"),
        ("https://github.com/o/r/blob/main/a%20b/SKILL.md?plain=1", "gh o/r #main @a b"),
        ("https://github.com/o/r/tree/main/.claude/skills/x", "gh o/r #main @.claude/skills/x"),
        ("https://github.com/o/r/commit/0a1b2c3d", "gh o/r #0a1b2c3d"),
        ("https://github.com/o/r/releases/tag/v1.2", "gh o/r #v1.2"),
        (
            "https://raw.githubusercontent.com/o/r/refs/heads/main/skills/pdf/SKILL.md",
            "gh o/r #main @skills/pdf",
        ),
        ("https://skills.sh/o/r/pdf", "gh o/r @pdf"),
        ("skills.sh/o/r", "gh o/r"),
        ("https://gitlab.com/g/s/r", "https://gitlab.com/g/s/r"),
        ("gitlab:g/r#v1", "https://gitlab.com/g/r #v1"),
        (
            "https://gitlab.com/g/s/r/-/tree/main/skills/pdf?ref_type=heads",
            "https://gitlab.com/g/s/r #main @skills/pdf",
        ),
        (
            "https://git.acme.org/g/r/-/blob/main/pdf/SKILL.md",
            "https://git.acme.org/g/r #main @pdf",
        ),
        (
            "https://codeberg.org/o/r/src/branch/main/skills/pdf",
            "https://codeberg.org/o/r #main @skills/pdf",
        ),
        ("codeberg.org/o/r/src/tag/v1", "https://codeberg.org/o/r #v1"),
        ("https://git.acme.org/o/r/src/commit/0a1b/x", "https://git.acme.org/o/r #0a1b @x"),
        ("https://bitbucket.org/o/r/src/main/pdf/", "https://bitbucket.org/o/r #main @pdf"),
        ("https://ghe.acme.org/o/r/tree/main/x", "https://ghe.acme.org/o/r #main @x"),
        ("ghe.acme.org/o/r", "https://ghe.acme.org/o/r"),
        ("git@github.com:o/r.git#v1", "git@github.com:o/r.git #v1"),
        ("ssh://git@h.org/o/r#v1", "ssh://git@h.org/o/r #v1"),
        ("https://h.org/o/r.git#v1", "https://h.org/o/r.git #v1"),
        ("https://h.org", "https://h.org/.well-known/agent-skills/index.json"),
        (
            "h.org/.well-known/skills/pdf/SKILL.md",
            "https://h.org/.well-known/skills/index.json @pdf",
        ),
    ] {
        assert_eq!(shown(text).as_deref(), Some(wanted), "{text}");
    }
}

#[test]
fn other_texts_are_left_as_they_are() {
    for text in [
        "",
        "skills",
        "./o/r",
        "../o/r",
        "/o/r",
        "~/o/r",
        "./SKILL.md",
        "x.skill",
        "dir/x.tar.gz",
        "https://h.org/o/r",
        "https://h.org/o/r.git",
        "https://h.org/r?token=secret#x",
        "https://github.com/o/r/archive/refs/tags/v1.tar.gz",
        "git@h.org:o/r",
        "ssh://h.org/r",
        "https://h.org#@127.0.0.1/r",
        "https://h.org?@127.0.0.1/r",
        "s3://b/o/r",
        "mcp:npx -y x/y",
        "oci://ghcr.io/o/r:v1",
        "file:///srv/r#x",
        "http://h.org/o/r",
        "ext::sh -c x/y",
    ] {
        assert_eq!(shown(text), None, "{text}");
    }
}

#[test]
fn a_branch_may_have_slashes() {
    let splits = Address::splits("feature", "x/skills/pdf");
    let shown: Vec<String> = splits
        .iter()
        .map(|(rev, dir)| format!("{rev} {}", dir.as_deref().unwrap_or(".")))
        .collect();
    assert_eq!(shown, ["feature/x skills/pdf", "feature/x/skills pdf", "feature/x/skills/pdf ."]);
}

#[test]
fn repositories_are_the_same_by_every_protocol() {
    let one = "https://github.com/o/r";
    for other in
        ["git@github.com:O/R.git", "ssh://git@github.com/o/r", "https://github.com/o/r.git", "o/r"]
    {
        assert!(is_same(one, other), "{other}");
    }
    for other in ["https://gitlab.com/o/r", "o/r2", "file:///o/r", "./o/r", "s3://github.com/o/r"] {
        assert!(!is_same(one, other), "{other}");
    }
}
