//! One skill more, one skill less: a repository is one source, whatever is taken of it.

use std::fs;

use serde_json::{Value, json};

use crate::binary::Place;
use crate::clipboard::{repository, serve};
use crate::repository::Repository;

fn config(place: &Place) -> String {
    fs::read_to_string(place.path().join("home/.repertoire/config.toml")).unwrap_or_default()
}

/// The ids of the fetched skills.
fn fetched(place: &Place) -> Vec<String> {
    let listed = place.run(["list", "--json"]).exits(0).json();
    let skills = listed["skills"].as_array().unwrap().iter();
    let fetched = skills.filter(|skill| skill["source"] == "fetched");
    fetched.map(|skill| skill["id"].as_str().unwrap().to_owned()).collect()
}

fn served() -> (Place, Repository) {
    let (place, repository) = (Place::new(), repository());
    serve(&place, &repository);
    (place, repository)
}

#[test]
fn one_skill_more_is_added_to_the_source_that_is_there() {
    let (place, _repository) = served();
    place.run(["add", "o/r", "--skill", "pdf"]).exits(0);
    for address in
        ["o/r@docx", "https://github.com/o/r/tree/main/docs/kit", "git@github.com:o/r.git"]
    {
        let added = place.run(["add", address, "--json"]).exits(0).json();
        assert_eq!(added["name"], "o-r", "{address}: {added}");
    }
    assert_eq!(config(&place), "[fetch.o-r]\nsource = \"https://github.com/o/r\"\n");

    let (place, _repository) = served();
    place.run(["add", "o/r@pdf"]).exits(0);
    let added = place.run(["add", "https://github.com/o/r/tree/main/skills/docx", "--json"]);
    let added = added.exits(0).json();
    assert_eq!((&added["new"], &added["skills"]), (&json!(["docx"]), &json!(["docx", "pdf"])));
    let text = place.run(["add", "o/r@docx"]).exits(0).stdout;
    assert!(text.contains("2 skills of it here before"), "{text}");
    let other = place.run(["add", "https://github.com/o/r/tree/v1/skills/docx"]).exits(1);
    assert!(other.stderr.contains("with other settings"), "{other:?}");
    place.run(["add", "https://github.com/o/r/tree/v1/skills/docx", "--name", "old"]).exits(0);
}

#[test]
fn all_skills_may_have_been_taken_before() {
    let (place, _repository) = served();
    place.run(["add", "o/r"]).exits(0);
    let before = config(&place);
    place.run(["add", "o/r@docx"]).exits(0);
    assert_eq!(config(&place), before);
    let missing = place.run(["add", "o/r@docs"]).exits(1);
    assert!(missing.stderr.contains("did you mean `docx`?"), "{missing:?}");
    let added = place.run(["add", "o/r/docs/kit", "--json"]).exits(0).json();
    assert_eq!(added["skills"], json!(["docx", "extra", "pdf"]), "{added}");
}

#[test]
fn patterns_choose_skills() {
    let (place, _repository) = served();
    let added = place.run(["add", "o/r", "--skill", "pd*", "--json"]).exits(0).json();
    assert_eq!(added["skills"], json!(["pdf"]));
    let added = place.run(["add", "o/r", "--skill", "*", "--json"]).exits(0).json();
    assert_eq!(added["skills"], json!(["docx", "pdf"]));
    let (place, _repository) = served();
    let added = place.run(["add", "o/r", "--skill", "!pdf", "--json"]).exits(0).json();
    assert_eq!(added["skills"], json!(["docx"]));
}

#[test]
fn one_skill_less_leaves_the_others_without_a_network() {
    for (taken, removed, left, written) in [
        (&["o/r@pdf", "o/r@docx"][..], &["pdf"][..], &["docx"][..], "skills = [\"docx\"]"),
        (&["o/r"], &["pdf"], &["docx"], "skills = [\"!pdf\"]"),
        (&["o/r"], &["o-r@pdf"], &["docx"], "skills = [\"!pdf\"]"),
        (&["o/r"], &["https://github.com/o/r/tree/main/skills/pdf"], &["docx"], "[\"!pdf\"]"),
        (&["o/r/skills/pdf", "o/r@docx"], &["pdf"], &["docx"], "skills = [\"docx\"]"),
        (&["o/r"], &["pd*"], &["docx"], "skills = [\"!pdf\"]"),
        (&["o/r"], &["pdf", "docx"], &[], ""),
        (&["o/r"], &["*"], &[], ""),
        (&["o/r"], &["o-r"], &[], ""),
        (&["o/r"], &["o/r"], &[], ""),
    ] {
        let (place, _repository) = served();
        place.run(["add"].iter().chain(taken)).exits(0);
        fs::remove_file(place.path().join("home/.gitconfig")).unwrap();
        place.run(["remove"].iter().chain(removed)).exits(0);
        assert_eq!(fetched(&place), left, "{taken:?} {removed:?}");
        assert!(config(&place).contains(written), "{removed:?}: {}", config(&place));
        assert_eq!(config(&place).is_empty(), left.is_empty(), "{removed:?}: {}", config(&place));
        if !left.is_empty() {
            place.run(["update", "--frozen"]).exits(0);
            let doctor = place.run(["doctor", "--json"]).json().to_string();
            assert!(!doctor.contains("was changed, removed"), "{doctor}");
        }
    }
}

#[test]
fn a_removed_skill_stays_away_until_it_is_added_again() {
    let (place, _repository) = served();
    place.run(["add", "o/r"]).exits(0);
    place.run(["remove", "pdf"]).exits(0);
    place.run(["update"]).exits(0);
    assert_eq!(fetched(&place), ["docx"]);
    place.run(["add", "o/r@pdf"]).exits(0);
    assert_eq!(fetched(&place), ["docx", "pdf"]);
    assert_eq!(config(&place), "[fetch.o-r]\nsource = \"https://github.com/o/r\"\n");
}

#[test]
fn updates_take_the_names_of_skills_and_addresses() {
    let (place, _repository) = served();
    place.run(["add", "o/r"]).exits(0);
    for name in ["pdf", "o-r", "o/r", "o/r@docx"] {
        let updated = place.run(["update", name, "--json"]).exits(0).json();
        assert_eq!(updated["sources"][0]["name"], "o-r", "{name}: {updated}");
        place.run(["outdated", name]).exits(0);
    }
    for command in ["update", "outdated", "remove"] {
        let run = place.run([command, "pfd"]).exits(1);
        assert!(run.stderr.contains("did you mean `pdf`?"), "{command}: {run:?}");
        let run = place.run([command, "o-r@dcox"]).exits(1);
        assert!(run.stderr.contains("did you mean `o-r@docx`?"), "{command}: {run:?}");
        let run = place.run([command, "nothing"]).exits(1);
        assert!(run.stderr.contains("there are the sources `o-r`"), "{command}: {run:?}");
    }
}

#[test]
fn what_the_user_changed_in_a_copy_is_kept_when_it_is_replaced() {
    for command in
        [&["update"][..], &["update", "--frozen"], &["add", "o/r@docx"], &["remove", "docx"]]
    {
        let (place, repository) = served();
        place.run(["add", "o/r"]).exits(0);
        let copy = place.path().join("home/.local/share/repertoire/skills/o/r");
        fs::write(copy.join("pdf/SKILL.md"), "---\nname: pdf\ndescription: Mine.\n---\n").unwrap();
        fs::write(copy.join("pdf/mine.md"), "mine\n").unwrap();
        let run = place.run(command).exits(0);
        assert!(
            run.stdout.contains("your changes of the copy are kept in"),
            "{command:?}: {run:?}"
        );
        let kept = place.path().join("home/.local/share/repertoire/skills/.edited/o-r-1/pdf");
        assert_eq!(fs::read_to_string(kept.join("mine.md")).unwrap(), "mine\n", "{command:?}");
        assert!(fs::read_to_string(kept.join("SKILL.md")).unwrap().contains("Mine."));
        assert!(!copy.join("pdf/mine.md").exists(), "{command:?}");
        // What was not changed leaves nothing behind.
        repository.skill("skills/pdf", "pdf", "Version 3.\n");
        repository.commit();
        let updated = place.run(["update", "--json"]).exits(0).json();
        assert_eq!(updated["sources"][0]["status"], "updated", "{updated}");
        assert_eq!(updated["sources"][0]["edited"], Value::Null, "{updated}");
        assert!(!kept.join("../../o-r-2").exists());
    }
}

#[test]
fn a_skill_of_two_sources_is_named_with_its_source() {
    let (place, _repository) = served();
    place.run(["add", "o/r"]).exits(0);
    place.run(["add", "o/r", "--name", "again"]).exits(0);
    let run = place.run(["remove", "pdf"]).exits(1);
    assert!(run.stderr.contains("`o-r`") && run.stderr.contains("`again`"), "{run:?}");
    let removed: Value = place.run(["remove", "again@pdf", "--json"]).exits(0).json();
    assert_eq!(
        removed["removed"],
        json!([{"name": "again", "skills": ["pdf"], "source_removed": false, "edited": null}])
    );
}

#[test]
fn an_alias_is_written_for_a_source_and_stays_with_one_skill_more() {
    let (place, _repository) = served();
    let added = place.run(["add", "o/r@pdf", "--as", "r1", "--json"]).exits(0).json();
    assert_eq!(added["skills"], json!(["r1/pdf"]), "{added}");
    let added = place.run(["add", "o/r@docx", "--json"]).exits(0).json();
    assert_eq!(added["new"], json!(["r1/docx"]), "{added}");
    assert!(config(&place).ends_with("as = \"r1\"\n"), "{}", config(&place));
    assert_eq!(fetched(&place), ["r1/docx", "r1/pdf"]);
    for written in ["r1/pdf", "r1:pdf", "/r1:pdf"] {
        assert!(place.run(["use", written]).exits(0).stdout.contains("/pdf"), "{written}");
    }
    place.run(["add", "o/r@docx", "--as", "r2"]).exits(0);
    assert_eq!(fetched(&place), ["r2/docx", "r2/pdf"]);
    for alias in ["a/b", "-a", ""] {
        let refused = place.run(["add", "o/r@docx", &format!("--as={alias}")]).exits(1);
        assert!(refused.stderr.contains("cannot be the name of a source"), "{refused:?}");
    }
}
