//! Addresses as people copy them: from a browser, a registry's page, a clone command or a chat.

use std::fs;

use serde_json::{Value, json};

use crate::binary::Place;
use crate::repository::{Repository, skill};
use crate::zip_file::{Part, zip};

/// Lets the user's git find `repository` at `o/r` of the hosts of all examples.
pub(crate) fn serve(place: &Place, repository: &Repository) {
    let addresses = [
        "https://github.com/o/r",
        "https://gitlab.com/g/s/r",
        "https://codeberg.org/o/r",
        "https://bitbucket.org/o/r",
        "https://git.acme.org/o/r",
        "https://dev.azure.com/o/p/_git/r",
        "https://huggingface.co/spaces/o/r",
        "https://git.sr.ht/~o/r",
        "https://bb.acme.org/scm/P/r",
        "git@github.com:o/r",
        "ssh://git@github.com/o/r",
    ];
    let rules = addresses.map(|address| {
        let url = repository.url();
        format!("[url \"{url}/.git\"]\n\tinsteadOf = {address}.git\n[url \"{url}\"]\n\tinsteadOf = {address}\n")
    });
    place.write("home/.gitconfig", rules.concat());
}

/// A repository with the skills `pdf` and `docx`, and a skill outside of the usual directories. `v1` and
/// the branch `team/next` have another text.
pub(crate) fn repository() -> Repository {
    let repository = Repository::new();
    repository.skill("skills/pdf", "pdf", "Version 1.\n");
    repository.skill("skills/docx", "docx", "Do it.\n");
    repository.commit();
    repository.git(&["tag", "v1"]);
    repository.git(&["branch", "team/next"]);
    repository.skill("skills/pdf", "pdf", "Version 2.\n");
    repository.skill("docs/kit/extra", "extra", "Do more.\n");
    repository.commit();
    repository
}

fn config(place: &Place) -> String {
    fs::read_to_string(place.path().join("home/.repertoire/config.toml")).unwrap()
}

#[test]
fn every_form_of_an_address_takes_what_it_shows() {
    let repository = repository();
    let all = json!(["docx", "pdf"]);
    for (address, skills, version) in [
        ("o/r", &all, 2),
        ("o/r@pdf", &json!(["pdf"]), 2),
        ("o/r/pdf", &json!(["pdf"]), 2),
        ("o/r/skills/pdf", &json!(["pdf"]), 2),
        ("o/r#v1", &all, 1),
        ("o/r#v1@pdf", &json!(["pdf"]), 1),
        ("github.com/o/r", &all, 2),
        ("gh:o/r@pdf", &json!(["pdf"]), 2),
        ("http://github.com/o/r", &all, 2),
        ("https://github.com/o/r/tree/main/skills/pdf", &json!(["pdf"]), 2),
        ("https://github.com/o/r/tree/main/skills", &all, 2),
        ("https://github.com/o/r/tree/main/docs/kit", &json!(["extra"]), 2),
        ("https://github.com/o/r/blob/v1/skills/pdf/SKILL.md#L2", &json!(["pdf"]), 1),
        ("https://github.com/o/r/tree/team/next/skills/pdf", &json!(["pdf"]), 1),
        ("https://github.com/o/r/tree/team/next", &all, 1),
        ("https://github.com/o/r/issues/7", &all, 2),
        ("https://raw.githubusercontent.com/o/r/main/skills/pdf/SKILL.md", &json!(["pdf"]), 2),
        ("https://skills.sh/o/r/pdf", &json!(["pdf"]), 2),
        ("https://gitlab.com/g/s/r/-/tree/main/skills/pdf", &json!(["pdf"]), 2),
        ("https://codeberg.org/o/r/src/branch/main/skills/pdf", &json!(["pdf"]), 2),
        ("codeberg:o/r#v1", &all, 1),
        ("https://bitbucket.org/o/r/src/v1/skills/pdf", &json!(["pdf"]), 1),
        ("git.acme.org/o/r/tree/main/skills/docx", &json!(["docx"]), 2),
        ("git@github.com:o/r.git", &all, 2),
        ("git@github.com:o/r.git#v1", &all, 1),
        ("ssh://git@github.com/o/r.git", &all, 2),
        ("git@github.com:o/r/tree/main/skills/pdf", &json!(["pdf"]), 2),
        ("git@github.com:o/r@pdf", &json!(["pdf"]), 2),
        ("git@github.com/o/r.git#v1@pdf", &json!(["pdf"]), 1),
        ("ssh://git@github.com/o/r/tree/team/next/skills/pdf", &json!(["pdf"]), 1),
        ("git+ssh://git@github.com:o/r.git#v1", &all, 1),
        ("git+https://github.com/o/r.git#v1", &all, 1),
        ("git+https://github.com/o/r@v1#subdirectory=skills/pdf", &json!(["pdf"]), 1),
        ("github.com/o/r//skills/pdf?ref=v1", &json!(["pdf"]), 1),
        ("git::https://github.com/o/r//skills/pdf?ref=v1", &json!(["pdf"]), 1),
        ("git+ssh://git@github.com/o/r@v1#subdirectory=skills/pdf", &json!(["pdf"]), 1),
        ("https://git.acme.org/o/r?ref=v1", &all, 1),
        ("https://api.github.com/repos/o/r/contents/skills/pdf?ref=v1", &json!(["pdf"]), 1),
        ("https://cdn.jsdelivr.net/gh/o/r@v1/skills/pdf/SKILL.md", &json!(["pdf"]), 1),
        ("o/r@pdf,docx#v1", &all, 1),
        ("@o/r/pdf", &json!(["pdf"]), 2),
        ("https://dev.azure.com/o/p/_git/r?path=/skills/pdf&version=GTv1", &json!(["pdf"]), 1),
        ("https://huggingface.co/spaces/o/r/tree/team/next/skills/pdf", &json!(["pdf"]), 1),
        ("https://git.sr.ht/~o/r/tree/v1/item/skills/pdf/SKILL.md", &json!(["pdf"]), 1),
        ("https://bb.acme.org/projects/P/repos/r/browse/skills/pdf?at=v1", &json!(["pdf"]), 1),
        ("[skills](https://github.com/o/r/tree/v1/skills/pdf),", &json!(["pdf"]), 1),
        ("“o/r@pdf”", &json!(["pdf"]), 2),
        ("npx -y skills@latest add o/r --skill pdf docx -g", &json!(["docx", "pdf"]), 2),
        ("git clone --branch v1 https://github.com/o/r.git", &all, 1),
        ("/plugin marketplace add o/r", &all, 2),
    ] {
        let place = Place::new();
        serve(&place, &repository);
        let added = place.run(["add", address, "--json"]).exits(0).json();
        assert_eq!(&added["skills"], skills, "{address}: {added}");
        if skills.as_array().unwrap().contains(&json!("pdf")) {
            let text = place.run(["use", "pdf"]).exits(0).stdout;
            assert!(text.contains(&format!("Version {version}.")), "{address}: {text}");
        }
        // What was written is understood again, by every command.
        let updated = place.run(["update", "--json"]).exits(0).json();
        assert_eq!(updated["sources"][0]["status"], "unchanged", "{address}: {updated}");
        place.run(["update", "--frozen"]).exits(0);
    }
}

#[test]
fn a_settings_file_may_hold_the_address_of_a_page() {
    let (place, repository) = (Place::new(), repository());
    serve(&place, &repository);
    let address = "https://github.com/o/r/tree/v1/skills/pdf";
    place.write("home/.repertoire/config.toml", format!("[fetch.a]\nsource = \"{address}\"\n"));
    place.run(["update"]).exits(0);
    assert!(place.run(["use", "pdf"]).exits(0).stdout.contains("Version 1."));
    assert_eq!(
        place.run(["update", "--json"]).exits(0).json()["sources"][0]["status"],
        "unchanged"
    );
    place.run(["update", "--frozen"]).exits(0);
    let packed = place.run(["push", address, "x.tar.gz", "--json"]).exits(0).json();
    assert_eq!(packed["skills"], json!(["pdf"]));
}

#[test]
fn a_skill_file_and_a_packed_skill_are_sources() {
    let place = Place::new();
    place.write("kit/pdf/SKILL.md", skill("pdf", "", "Do it.\n"));
    for address in ["./kit/pdf/SKILL.md", "kit/pdf/SKILL.md"] {
        let added = place.run(["add", address, "--json"]).exits(0).json();
        assert_eq!((&added["name"], &added["skills"]), (&json!("pdf"), &json!(["pdf"])), "{added}");
    }
    place.run(["remove", "pdf"]).exits(0);
    let packed = zip(&[Part::stored("pdf/SKILL.md", skill("pdf", "", "Do it.\n"))]);
    fs::write(place.path().join("pdf.skill"), packed).unwrap();
    let added = place.run(["add", "pdf.skill", "--json"]).exits(0).json();
    assert_eq!((&added["name"], &added["skills"]), (&json!("pdf"), &json!(["pdf"])), "{added}");
}

#[test]
fn several_addresses_are_added_at_once_and_a_failure_stops_none() {
    let (place, repository) = (Place::new(), repository());
    serve(&place, &repository);
    place.write("kit/note/SKILL.md", skill("note", "", "Do it.\n"));
    let run = place.run(["add", "o/r@pdf", "./nothing", "o/r@docx", "./kit", "--json"]).exits(1);
    assert!(run.stderr.contains("nothing"), "{run:?}");
    let added: Value = run.json();
    let names: Vec<&Value> =
        added["sources"].as_array().unwrap().iter().map(|source| &source["name"]).collect();
    assert_eq!(names, ["o-r", "o-r", "kit"]);
    assert!(config(&place).contains("skills = [\"pdf\", \"docx\"]"), "{}", config(&place));
    let run = place.run(["add", "o/r", "./kit", "--name", "x"]).exits(1);
    assert!(run.stderr.contains("`--name` names one source"), "{run:?}");
}

#[test]
fn the_words_of_a_copied_command_are_one_address() {
    let (place, repository) = (Place::new(), repository());
    serve(&place, &repository);
    let copied =
        ["add", "npx", "skills", "add", "o/r", "-s", "pdf", "-a", "codex", "-g", "-y", "--json"];
    let added = place.run(copied).exits(0).json();
    assert_eq!(added["skills"], json!(["pdf"]), "{added}");
    assert_eq!(added["placing"]["placed"][0]["skill"], "pdf", "{added}");
    let copied = ["add", "claude", "plugin", "install", "pdf@acme"];
    let run = place.run(copied).exits(1);
    assert!(run.stderr.contains("name the repository of `acme`: `owner/repo@pdf`"), "{run:?}");
    // A directory comes first.
    place.write("git/note/SKILL.md", skill("note", "", "Do it.\n"));
    let added = place.run(["add", "git", "o/r@docx", "--json"]).exits(0).json();
    assert_eq!(added["sources"][0]["skills"], json!(["note"]), "{added}");
}

#[test]
fn a_source_that_is_there_is_named_by_its_name() {
    let (place, repository) = (Place::new(), repository());
    serve(&place, &repository);
    place.run(["add", "o/r@pdf"]).exits(0);
    let shown = place.run(["add", "o-r", "--list", "--json"]).exits(0).json();
    assert_eq!(shown["skills"].as_array().unwrap().len(), 2, "{shown}");
    let added = place.run(["add", "o-r@docx", "--json"]).exits(0).json();
    assert_eq!(added["skills"], json!(["docx", "pdf"]), "{added}");
}

#[test]
fn a_revision_is_not_named_twice() {
    let (place, repository) = (Place::new(), repository());
    serve(&place, &repository);
    let run = place.run(["add", "o/r#v1", "--rev", "main"]).exits(1);
    assert!(run.stderr.contains("names the revision `v1`, not `main`"), "{run:?}");
    place.run(["add", "o/r#v1", "--rev", "v1"]).exits(0);
}
