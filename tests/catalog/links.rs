//! Symbolic links between directories of skills.

use super::*;

#[test]
fn links_are_followed_inside_the_root_only_and_never_in_circles() {
    use std::os::unix::fs::symlink;
    let outside = tree(&[("secret/SKILL.md", &manifest("name: secret"))]);
    let dir = tree(&[("real/SKILL.md", &manifest("name: real")), ("real/refs/x.md", "x")]);
    let root = dir.path();
    symlink(root.join("real"), root.join("alias")).unwrap();
    symlink(root, root.join("real/loop")).unwrap();
    symlink(outside.path().join("secret"), root.join("escape")).unwrap();
    symlink(root.join("nowhere"), root.join("broken")).unwrap();
    fs::create_dir(root.join("file-link")).unwrap();
    symlink(outside.path().join("secret/SKILL.md"), root.join("file-link/SKILL.md")).unwrap();

    let catalog = load(vec![Source::project(root)]);
    assert_eq!(ids(&catalog), ["real"], "a directory is read once, under its own name");
    assert_eq!(catalog.entries().next().unwrap().relative_path, "real");
    let mut found = codes(&catalog);
    found.sort_unstable();
    found.dedup();
    assert_eq!(found, ["link-broken", "link-loop", "link-outside"]);
    for name in ["escape", "broken", "file-link"] {
        let error = catalog.find(name, Audience::Model).unwrap_err();
        assert!(error.message().contains("was rejected"), "{error:#}");
    }
    let outside_links = catalog.diagnostics().iter().filter(|f| f.code == Code::LinkOutside);
    assert_eq!(outside_links.count(), 2);

    let catalog = load(vec![Source::project(root).allow_links_outside()]);
    assert!(catalog.get("secret").is_some());
}

#[test]
fn directories_that_link_to_each_other_are_walked_once() {
    let names: Vec<String> = (0..12).map(|i| format!("s{i:02}")).collect();
    let dir = tree(&[]);
    for name in &names {
        fs::create_dir(dir.path().join(name)).unwrap();
        fs::write(dir.path().join(name).join("SKILL.md"), manifest("")).unwrap();
        for other in &names {
            std::os::unix::fs::symlink(format!("../{other}"), dir.path().join(name).join(other))
                .unwrap();
        }
    }
    let catalog = load(vec![Source::project(dir.path())]);
    assert_eq!(ids(&catalog), names);
}

/// A directory with one skill, as its author keeps it.
fn skill_elsewhere(name: &str) -> TempDir {
    tree(&[(&format!("{name}/SKILL.md"), &manifest(&format!("name: {name}")))])
}

#[test]
fn links_of_the_user_are_followed_wherever_they_lead() {
    use std::os::unix::fs::symlink;
    let home = tree(&[(".claude/skills/own/SKILL.md", &manifest("name: own"))]);
    let (linked, file) = (skill_elsewhere("linked"), skill_elsewhere("file"));
    let skills = home.path().join(".claude/skills");
    symlink(linked.path().join("linked"), skills.join("linked")).unwrap();
    // Links back to the directories that hold them, and to what holds everything.
    symlink(linked.path(), linked.path().join("linked/loop")).unwrap();
    symlink(&skills, linked.path().join("linked/back")).unwrap();
    symlink("/", skills.join("everything")).unwrap();
    symlink(home.path(), skills.join("home")).unwrap();
    symlink("nowhere", skills.join("dangling")).unwrap();
    fs::create_dir(skills.join("file")).unwrap();
    symlink(file.path().join("file/SKILL.md"), skills.join("file/SKILL.md")).unwrap();

    let project = tree(&[]);
    let catalog = load(Source::standard(Some(home.path()), project.path(), "acme"));
    assert_eq!(ids(&catalog), ["file", "linked", "own"]);
    let linked = catalog.get("linked").unwrap();
    assert_eq!(linked.skill.dir(), Some(&*skills.join("linked")), "under the path of the link");
    assert_eq!(codes(&catalog), ["link-broken", "link-loop", "link-loop", "link-loop"]);
}

#[test]
fn links_of_a_project_lead_into_the_project_or_to_skills_that_are_known_anyway() {
    use std::os::unix::fs::symlink;
    let home = tree(&[(".agents/skills/mine/SKILL.md", &manifest("name: mine"))]);
    let away = skill_elsewhere("away");
    symlink(away.path().join("away"), home.path().join(".agents/skills/away")).unwrap();
    let project = tree(&[
        (".agents/skills/shared/SKILL.md", &manifest("name: shared")),
        ("library/packed/SKILL.md", &manifest("name: packed")),
        (".claude/skills/own/SKILL.md", &manifest("name: own")),
    ]);
    let skills = project.path().join(".claude/skills");
    symlink("../../.agents/skills/shared", skills.join("shared")).unwrap();
    symlink("../../library/packed", skills.join("packed")).unwrap();
    symlink(home.path().join(".agents/skills/mine"), skills.join("mine")).unwrap();
    // This one leads on to a place that only a source of the user may lead to.
    symlink(home.path().join(".agents/skills/away"), skills.join("away")).unwrap();

    let sources = || Source::standard(Some(home.path()), project.path(), "acme");
    let catalog = load(sources());
    assert_eq!(ids(&catalog), ["away", "mine", "own", "packed", "shared"]);
    assert_eq!(codes(&catalog), [""; 0], "each is one skill, and nobody did anything wrong");
    assert_eq!(catalog.get("away").unwrap().scope, Scope::User);

    // Anything else would turn files of the user into skills of the project.
    symlink(away.path(), skills.join("smuggled")).unwrap();
    fs::create_dir(skills.join("file")).unwrap();
    symlink(away.path().join("away/SKILL.md"), skills.join("file/SKILL.md")).unwrap();
    let catalog = load(sources());
    assert_eq!(ids(&catalog), ["away", "mine", "own", "packed", "shared"]);
    assert_eq!(codes(&catalog), ["link-outside", "link-outside"]);
    let alone = load(vec![Source::project(&skills)]);
    assert_eq!(ids(&alone), ["own"], "without its project, a directory stands for itself");
}

#[test]
fn a_directory_that_two_sources_link_to_is_one_skill_of_the_higher_one() {
    use std::os::unix::fs::symlink;
    let away = skill_elsewhere("away");
    let home = tree(&[]);
    for dir in [".agents/skills", ".claude/skills"] {
        fs::create_dir_all(home.path().join(dir)).unwrap();
        symlink(away.path().join("away"), home.path().join(dir).join("away")).unwrap();
    }
    let catalog = load(Source::standard(Some(home.path()), away.path(), "acme"));
    assert_eq!(ids(&catalog), ["away"]);
    assert_eq!(codes(&catalog), [""; 0]);
    let dir = home.path().join(".claude/skills/away");
    assert_eq!(catalog.get("away").unwrap().skill.dir(), Some(&*dir));
}
