//! Rights that a skill requests for its toolsets: granted, refused, and revoked.

use std::collections::BTreeMap;
use std::fs;

use repertoire::skill::ToolsetRights;
use repertoire::toolset::Tool;
use repertoire::trust::TrustStore;
use repertoire::{Engine, Error, ErrorCode, Remedy, Source};
use serde_json::{Value, json};

use super::{Place, Silent, assert_error, failing, in_child, tool};

const CLASS: &str = "ReadingToolset";

/// Creates a place whose skill `bad` reads files and requests these rights. The file that it reads is
/// next to the skills.
fn place(rights: Option<Value>) -> Place {
    let place = Place::new("toolsets/bad:ReadingToolset");
    fs::write(place.library("bad"), failing()).unwrap();
    fs::write(place.dir.path().join("data.csv"), "a,b").unwrap();
    if let Some(rights) = rights {
        let entry = json!({"class": "toolsets/bad:ReadingToolset", "rights": rights});
        let head = json!({"name": "bad", "description": "d", "toolsets": [entry]});
        let file = place.skills().join("bad/SKILL.md");
        fs::write(file, format!("---\n{head}\n---\nBody\n")).unwrap();
    }
    place
}

fn read(tool: &Tool, place: &Place) -> Result<String, Error> {
    let path = place.dir.path().join("data.csv");
    tool.call(&json!({"path": path}), &Silent).map(|output| output.output)
}

/// Returns the right to read the directory of a place.
fn reading(place: &Place) -> ToolsetRights {
    let dir = place.dir.path().canonicalize().unwrap().to_string_lossy().into_owned();
    ToolsetRights { read: vec![dir], ..ToolsetRights::default() }
}

/// Creates a place whose skill requests to read the place's own directory. The name of the directory is
/// known only once it exists.
fn asking() -> Place {
    let place = place(None);
    let entry =
        json!({"class": "toolsets/bad:ReadingToolset", "rights": {"read": [place.dir.path()]}});
    let head = json!({"name": "bad", "description": "d", "toolsets": [entry]});
    let file = place.skills().join("bad/SKILL.md");
    fs::write(file, format!("---\n{head}\n---\nBody\n")).unwrap();
    place
}

fn of_project(place: &Place) -> (Engine, TrustStore) {
    let path = place.dir.path().join("trust.json");
    let store = TrustStore::open(&path).unwrap();
    store.add(&place.library("bad")).unwrap();
    store.add(&place.library("good")).unwrap();
    let trust = TrustStore::open(&path).unwrap();
    (place.engine_of(Source::project(place.skills()), in_child(), trust), store)
}

#[test]
fn a_refusal_of_the_sandbox_says_what_is_open_and_how_to_open_more() {
    for rights in [None, Some(json!({})), Some(json!({"read": []}))] {
        let place = place(rights);
        let engine = place.engine(in_child());
        let error = read(&tool(&engine, "bad.read"), &place).unwrap_err();
        let help =
            "`read` and `network` in the section `[toolsets.ReadingToolset]` of `config.toml`";
        let message = ["data.csv", "Permission denied"];
        assert_error(&error, ErrorCode::ExecutionError, &message, help);
        assert!(error.help().starts_with("its process may read the directory of its skill"));
    }
}

#[test]
fn rights_of_the_users_own_skills_hold() {
    let place = asking();
    let engine = place.engine(in_child());
    assert_eq!(read(&tool(&engine, "bad.read"), &place).unwrap(), "a,b");
    let error = tool(&engine, "bad.read").call(&json!({"path": "/etc/passwd"}), &Silent);
    assert!(error.unwrap_err().help().contains("it was granted to read `"));
}

#[test]
fn rights_of_a_project_hold_once_they_are_granted_and_no_longer() {
    let place = asking();
    let (engine, store) = of_project(&place);
    let before = tool(&engine, "bad.read");
    let error = read(&before, &place).unwrap_err();
    let message = ["Permission denied"];
    let help = "the skill asks to read `";
    assert_error(&error, ErrorCode::ExecutionError, &message, help);
    assert_eq!(error.remedy(), Some(&Remedy::Trust(place.library("bad"))));

    let grant = |rights: ToolsetRights| {
        store.grant(&place.library("bad"), BTreeMap::from([(CLASS.to_owned(), rights)])).unwrap()
    };
    grant(reading(&place));
    let granted = tool(&engine, "bad.read");
    assert_eq!(read(&granted, &place).unwrap(), "a,b");

    grant(ToolsetRights::default());
    let error = read(&granted, &place).unwrap_err();
    let message = ["is not trusted any more with the content and the rights"];
    assert_error(&error, ErrorCode::PermissionDenied, &message, "list the tools again");
    assert!(read(&tool(&engine, "bad.read"), &place).is_err());

    // Trusting the library again removes the rights that were granted before.
    grant(reading(&place));
    store.add(&place.library("bad")).unwrap();
    assert!(read(&tool(&engine, "bad.read"), &place).is_err());
}

#[test]
fn a_grant_is_for_the_files_that_were_shown() {
    let place = asking();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("secret"), "s").unwrap();
    let (engine, store) = of_project(&place);
    // The skill requests more than it was granted.
    let rights = BTreeMap::from([(CLASS.to_owned(), reading(&place))]);
    store.grant(&place.library("bad"), rights).unwrap();
    let entry =
        json!({"class": "toolsets/bad:ReadingToolset", "rights": {"read": [elsewhere.path()]}});
    let head = json!({"name": "bad", "description": "d", "toolsets": [entry]});
    let file = place.skills().join("bad/SKILL.md");
    fs::write(file, format!("---\n{head}\n---\nBody\n")).unwrap();
    engine.refresh().unwrap();
    let path = elsewhere.path().join("secret");
    let error = tool(&engine, "bad.read").call(&json!({"path": path}), &Silent).unwrap_err();
    assert!(error.help().contains("the user has to grant that"), "{error:#}");
}
