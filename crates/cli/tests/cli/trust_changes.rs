//! Trusted code that changed, became a link or went: what `trust` shows, forgets and withdraws.

use super::trust::{SCRIPT, changes, owned, project};
use super::*;

#[cfg(unix)]
#[test]
fn trust_is_withdrawn_from_code_that_became_a_link() {
    use std::fs::{remove_file, rename};
    use std::os::unix::fs::symlink;
    let skill = ".agents/skills/fetch";
    let file = ".agents/skills/fetch/scripts/fetch.sh";
    let beside = ".agents/skills/fetch/scripts/beside.sh";
    let cases: [(&str, &str, &str, usize); 5] = [
        (file, "kept", "fetch", 2),
        (file, "kept", file, 1),
        (file, beside, "fetch", 2),
        (file, beside, file, 1),
        (skill, "moved", skill, 2),
    ];
    for (place_of_link, target, named, n_removed) in cases {
        let place = project("");
        place.write(beside, SCRIPT);
        place.run(["trust", "add", "--yes", "fetch"]).exits(0);
        let (link, target) = (place.path().join(place_of_link), place.path().join(target));
        if target.exists() {
            remove_file(&link).unwrap();
        } else {
            rename(&link, &target).unwrap();
        }
        symlink(&target, &link).unwrap();
        let removed = place.run(["trust", "remove", named, "--json"]).exits(0).json();
        let removed = removed["removed"].as_array().unwrap().clone();
        assert_eq!(removed.len(), n_removed, "{place_of_link} {named}: {removed:?}");
        let first = removed.last().unwrap()["path"].as_str().unwrap();
        assert!(first.ends_with("/skills/fetch/scripts/fetch.sh"), "{removed:?}");
        if n_removed == 2 {
            let listed = place.run(["trust", "list", "--json"]).exits(0).json();
            assert_eq!(listed["trusted"], serde_json::json!([]), "{named}");
        }
    }
}

#[test]
fn a_skill_and_its_sub_skill_are_trusted_apart() {
    const OWN: &str = "home/.agents/skills/own";
    let trusted = |place: &Place| -> Vec<String> {
        let listed = place.run(["trust", "list", "--json"]).exits(0).json();
        let files = listed["trusted"].as_array().unwrap().iter();
        let path =
            |file: &Value| file["path"].as_str().unwrap().split("/own/").last().map(Into::into);
        files.filter_map(path).collect()
    };
    let place = Place::new();
    for skill in [OWN, &format!("{OWN}/kid")] {
        write_skill(&place, skill);
        place.write(&format!("{skill}/scripts/a.sh"), SCRIPT);
    }
    let both = ["kid/scripts/a.sh", "scripts/a.sh"];
    place.run(["trust", "add", "--yes", OWN, &format!("{OWN}/kid")]).exits(0);
    assert_eq!(trusted(&place), both);

    // Without trusted code of its own, the skill is not compared.
    place.run(["trust", "remove", &format!("{OWN}/scripts/a.sh")]).exits(0);
    place.write(&format!("{OWN}/notes.md"), "");
    place.run(["run", "own", "a.sh"]).exits(0);
    for path in ["own", OWN] {
        let nothing = place.run(["trust", "remove", path]).exits(1).stderr;
        assert_contains(&nothing, &["is trusted"]);
    }
    assert_eq!(trusted(&place), both[..1]);

    place.run(["trust", "add", "--yes", "own"]).exits(0);
    place.run(["trust", "remove", "own"]).exits(0);
    assert_eq!(trusted(&place), both[..1]);
    place.run(["trust", "add", "--yes", "own"]).exits(0);
    // A directory that is not a skill means all files below it.
    place.run(["trust", "remove", "home/.agents"]).exits(0);
    assert_eq!(trusted(&place), [""; 0]);
}

#[cfg(unix)]
#[test]
fn a_change_that_stops_code_is_shown_once_whatever_is_named() {
    let script = ".agents/skills/fetch/scripts/fetch.sh";
    let beside = ".agents/skills/fetch/scripts/beside.sh";
    let place = project("");
    place.write(beside, SCRIPT);
    place.run(["trust", "add", "--yes", "fetch"]).exits(0);
    let assert_shown = |note: &str| {
        let refused = place.run(["run", "fetch", "fetch.sh"]).exits(1).stderr;
        let commands = ["run `repertoire trust diff ", "run `repertoire trust add "];
        assert_contains(&refused, &[&["beside.sh"][..], &commands].concat());
        for named in [script, beside, "fetch"] {
            let shown = place.run(["trust", "diff", named]).exits(1).stdout;
            assert_contains(&shown, &["changed ", "/scripts/beside.sh: ", note]);
            assert_eq!(shown.matches("beside.sh").count(), 1, "{named}: {shown}");
        }
    };
    place.write(beside, SCRIPT.replace("one", "two"));
    assert_shown("+echo two");
    // A link to the same content is a change, too.
    place.write("kept.sh", SCRIPT);
    std::fs::remove_file(place.path().join(beside)).unwrap();
    std::os::unix::fs::symlink(place.path().join("kept.sh"), place.path().join(beside)).unwrap();
    assert_shown("/kept.sh now\n");
    let listed = place.run(["trust", "list", "--json"]).exits(0).json();
    assert_eq!(listed["trusted"][0]["state"], "changed", "{listed}");
}

#[cfg(unix)]
#[test]
fn a_link_to_a_script_means_the_script_with_its_skill() {
    let place = project("");
    let script = place.path().join(".agents/skills/fetch/scripts/fetch.sh");
    std::os::unix::fs::symlink(script, place.path().join("link.sh")).unwrap();
    let added = place.run(["trust", "add", "--yes", "link.sh", "fetch", "--json"]).exits(0).json();
    assert_eq!(added["trusted"].as_array().unwrap().len(), 1, "{added}");
    place.run(["trust", "remove", "link.sh"]).exits(0);
    let added = place.run(["trust", "add", "--yes", "link.sh"]).exits(0).stdout;
    assert_contains(&added, &["scripts/fetch.sh: run by ", "with all 2 files of "]);
    place.run(["run", "fetch", "fetch.sh"]).exits(0);
}

#[test]
fn a_skill_that_is_gone_is_named_by_its_path() {
    let place = project("");
    place.run(["trust", "add", "--yes", "fetch"]).exits(0);
    std::fs::remove_dir_all(place.path().join(".agents/skills/fetch")).unwrap();
    for command in ["diff", "remove"] {
        let refused = place.run(["trust", command, "fetch"]).exits(1).stderr;
        assert_contains(&refused, &["`repertoire trust list`", "by its path"]);
    }
    place.run(["trust", "diff", ".agents/skills/fetch"]).exits(1);
    place.run(["trust", "remove", ".agents/skills/fetch"]).exits(0);
    assert_eq!(changes(&place, 0), []);
}

#[test]
fn a_removed_script_is_no_change_once_that_is_accepted() {
    let beside = ".agents/skills/fetch/scripts/beside.sh";
    let place = project("");
    place.write(beside, SCRIPT);
    write_skill(&place, ".agents/skills/fetch/kid");
    place.write(".agents/skills/fetch/kid/scripts/a.sh", SCRIPT);
    let trust = |named: &[&str]| place.run([&["trust", "add", "--yes"], named].concat()).exits(0);
    let remove = || std::fs::remove_file(place.path().join(beside)).unwrap();
    let assert_unchanged = || {
        assert_eq!(changes(&place, 0), []);
        let listed = place.run(["trust", "list", "--json"]).exits(0).json();
        assert_eq!(listed["trusted"].as_array().unwrap().len(), 2, "{listed}");
    };
    trust(&["fetch", ".agents/skills/fetch/kid"]);
    remove();
    assert_eq!(changes(&place, 1), owned(&[("missing", "beside.sh")]));
    trust(&["fetch"]);
    assert_unchanged();
    // The file is not trusted if it comes back.
    place.write(beside, SCRIPT);
    assert_eq!(changes(&place, 1), owned(&[("new", "beside.sh")]));
    trust(&["fetch"]);
    assert_eq!(changes(&place, 0), []);
    remove();
    // Trusting one file accepts the changes of all.
    trust(&[".agents/skills/fetch/scripts/fetch.sh"]);
    assert_unchanged();
    #[cfg(unix)]
    {
        place.write(beside, SCRIPT);
        trust(&["fetch"]);
        remove();
        std::os::unix::fs::symlink("fetch.sh", place.path().join(beside)).unwrap();
        assert_eq!(changes(&place, 1), owned(&[("changed", "beside.sh")]));
        trust(&["fetch"]);
        assert_unchanged();
    }
}
