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
