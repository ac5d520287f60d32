//! Where installed skills lie, and that they stay there without the cache.

use std::fs;

use crate::binary::Place;
use crate::clipboard::{repository, serve};
use crate::repository::Repository;

fn path_of(place: &Place, id: &str) -> String {
    let listed = place.run(["list", "--json"]).exits(0).json();
    let skills = listed["skills"].as_array().unwrap();
    let skill = skills.iter().find(|skill| skill["id"] == id).unwrap();
    skill["path"].as_str().unwrap().to_owned()
}

#[test]
fn installed_skills_have_a_readable_path_and_outlive_the_cache() {
    let (place, repository) = (Place::new(), repository());
    serve(&place, &repository);
    place.run(["add", "o/r@pdf"]).exits(0);
    let path = path_of(&place, "pdf");
    assert!(path.ends_with("home/.local/share/repertoire/skills/o/r/pdf/SKILL.md"), "{path}");

    fs::remove_dir_all(place.path().join("home/.cache")).unwrap();
    fs::remove_file(place.path().join("home/.gitconfig")).unwrap();
    assert!(place.run(["use", "pdf"]).exits(0).stdout.contains("Version 2."));
    place.run(["update", "--frozen"]).exits(0);
    place.run(["doctor", "--json"]);
    serve(&place, &repository);
    place.run(["add", "o/r@docx"]).exits(0);
    fs::remove_dir_all(place.path().join("home/.cache")).unwrap();
    fs::remove_file(place.path().join("home/.gitconfig")).unwrap();
    place.run(["remove", "pdf"]).exits(0);
    assert!(place.run(["use", "docx"]).exits(0).stdout.contains("Do it."));
    place.run(["remove", "docx"]).exits(0);
    assert!(!place.path().join("home/.local/share/repertoire/skills/o").exists());
}

#[test]
fn sources_whose_names_resemble_each_other_keep_apart() {
    let (place, repository) = (Place::new(), repository());
    serve(&place, &repository);
    let other = Repository::with_deploy();
    place.run(["add", "o/r@pdf"]).exits(0);
    place.run(["add", &other.url(), "--name", "o"]).exits(0);
    place.run(["add", "o/r@docx", "--name", "r"]).exits(0);
    for id in ["pdf", "deploy", "docx"] {
        place.run(["use", id]).exits(0);
    }
    place.run(["remove", "o"]).exits(0);
    place.run(["use", "pdf"]).exits(0);
}

#[test]
fn copies_of_an_earlier_version_are_taken_over_with_their_trust() {
    let (place, repository) = (Place::new(), Repository::with_deploy());
    serve(&place, &repository);
    place.run(["add", "o/r"]).exits(0);
    place.run(["trust", "add", "deploy", "--yes"]).exits(0);
    // An earlier version kept the copy in the cache, under the name of its source.
    let data = place.path().join("home/.local/share/repertoire/skills");
    let old = place.path().join("home/.cache/repertoire/fetch/copies/0123456789abcdef");
    fs::create_dir_all(&old).unwrap();
    fs::rename(data.join("o/r"), old.join("o-r")).unwrap();
    for file in ["o-r.json", ".config-dir"] {
        let text = fs::read_to_string(data.join(file)).unwrap();
        fs::write(old.join(file), text.replace("\"dir\":\"o/r\",", "")).unwrap();
    }
    fs::remove_dir_all(&data).unwrap();
    let trust = place.path().join("home/.local/state/repertoire/trust.json");
    let text = fs::read_to_string(&trust).unwrap();
    let (from, to) = (data.join("o/r"), old.join("o-r"));
    let text = text.replace(from.to_str().unwrap(), to.to_str().unwrap());
    fs::write(&trust, text).unwrap();

    assert_eq!(place.run(["run", "deploy", "go.sh"]).exits(0).stdout, "gone\n");
    assert!(path_of(&place, "deploy").contains("/repertoire/skills/o/r/deploy/"));
    assert!(!old.exists());
    place.run(["update", "--frozen"]).exits(0);
}
