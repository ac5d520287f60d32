use super::*;

fn entries(paths: &[&str]) -> Vec<TreeEntry> {
    let entry = |path: &&str| match path.split_once(" -> ") {
        Some((path, target)) => {
            TreeEntry { path: path.to_owned(), kind: TreeKind::Link { target: target.to_owned() } }
        }
        None => TreeEntry {
            path: (*path).to_owned(),
            kind: TreeKind::File { bytes: 1, executable: false },
        },
    };
    paths.iter().map(entry).collect()
}

/// The skills of a layout: their directory, and their path in the copy.
fn found(paths: &[&str], path: Option<&str>, marketplace: &[&str]) -> Vec<String> {
    let entries = entries(paths);
    let names = PathIndex::new(&entries, "it").unwrap();
    let marketplace: Vec<String> = marketplace.iter().map(|dir| (*dir).to_owned()).collect();
    let units = units(&names, path, &marketplace);
    units.into_iter().map(|unit| format!("{}={}", unit.dir, unit.at)).collect()
}

#[test]
fn layouts_are_found() {
    for (paths, wanted) in [
        (
            &["skills/a/SKILL.md", "skills/b/c/skill.md", "x/SKILL.md"][..],
            &["skills/a=a", "skills/b/c=b/c"][..],
        ),
        (
            &[".claude/skills/a/SKILL.md", ".agents/skills/b/SKILL.md"],
            &[".claude/skills/a=a", ".agents/skills/b=b"],
        ),
        (&["skills/a/SKILL.md", ".claude/skills -> ../skills"], &["skills/a=a"]),
        (
            &["skills/a/SKILL.md", ".claude/skills/a/SKILL.md"],
            &["skills/a=a", ".claude/skills/a=claude/skills/a"],
        ),
        (&["SKILL.md", "skills/a/SKILL.md", "doc.md"], &["="]),
        (
            &["a/SKILL.md", "deep/er/b/SKILL.md", "node_modules/x/SKILL.md"],
            &["a=a", "deep/er/b=deep/er/b"],
        ),
        (&["skills/a/SKILL.md", "skills/a/sub/SKILL.md"], &["skills/a=a"]),
        (&["README.md"], &[]),
    ] {
        assert_eq!(found(paths, None, &[]), wanted, "{paths:?}");
    }
    let paths = ["plugins/p/skills/a/SKILL.md", "docs/b/SKILL.md", "q/x/SKILL.md"];
    assert_eq!(
        found(&paths, None, &["plugins/p/skills", "q/x"]),
        ["plugins/p/skills/a=a", "q/x=x"]
    );
    assert_eq!(found(&paths, Some("docs"), &["plugins/p/skills"]), ["docs/b=b"]);
    assert_eq!(found(&paths, Some("docs/b"), &[]), ["docs/b=b"]);
    assert_eq!(found(&paths, Some("plugins/p"), &[]), ["plugins/p/skills/a=a"]);
    let deep = |n: usize| format!("{}SKILL.md", "d/".repeat(n));
    assert_eq!(found(&[&deep(17)], None, &[]).len(), 1);
    assert!(found(&[&deep(18)], None, &[]).is_empty());
    let hidden = ["skills/.system/a/SKILL.md", ".codex/skills/b/SKILL.md", ".x/c/SKILL.md"];
    assert_eq!(found(&hidden, None, &[]), ["skills/.system/a=system/a", ".codex/skills/b=b"]);
}

#[test]
fn a_marketplace_names_directories() {
    let text = r#"{"plugins": [
        {"name": "one", "source": "./", "skills": ["./skills/pdf", "./skills/xlsx"]},
        {"name": "two", "source": "./plugins/two"},
        {"name": "out", "source": "../x"},
        {"name": "far", "source": {"source": "github", "repo": "a/b"}}
    ]}"#;
    let wanted = ["skills/pdf", "skills/xlsx", "skills", "plugins/two/skills"];
    assert_eq!(marketplace_dirs(text), wanted);
    assert!(marketplace_dirs("no JSON").is_empty());
}

#[test]
fn files_of_skills_are_taken_and_hostile_ones_are_refused() {
    let of = |paths: &[&str]| -> Result<Vec<String>, String> {
        let entries = entries(paths);
        let names = PathIndex::new(&entries, "it").unwrap();
        let units = units(&names, None, &[]);
        let files = files(&names, &units, 5).map_err(|error| error.message().to_owned())?;
        Ok(files.0.iter().map(|(at, entry)| format!("{at}={}", entry.path)).collect())
    };
    let linked =
        ["skills/a/SKILL.md", "skills/a/l -> ../../shared", "shared/x", "elsewhere -> /etc"];
    assert_eq!(of(&linked).unwrap(), ["a/SKILL.md=skills/a/SKILL.md", "a/l/x=shared/x"]);
    let round = ["skills/a/SKILL.md", "skills/a/up -> .."];
    assert_eq!(of(&round).unwrap(), ["a/SKILL.md=skills/a/SKILL.md"]);
    for (bad, why) in [
        ("skills/a/x -> /etc/passwd", "leaves it"),
        ("skills/a/x -> ../../../x", "leaves it"),
        ("skills/a/skill.MD", "same where case"),
        ("skills/A/x/SKILL.md", "same where case"),
        ("skills/a/c:\\x", "everywhere"),
        ("skills/a/sub/.GIT/config", "file of git"),
    ] {
        let message = of(&["skills/a/SKILL.md", bad]).unwrap_err();
        assert!(message.contains(why), "{bad}: {message}");
    }
    let many: Vec<String> = (0..6).map(|i| format!("skills/a/{i}")).collect();
    let mut many: Vec<&str> = many.iter().map(String::as_str).collect();
    many.push("skills/a/SKILL.md");
    assert!(of(&many).unwrap_err().contains("more than 5 files"));
}
