//! Rights of toolsets: if the sandbox refused something, the client's user is asked.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use repertoire::toolset::{HostProgram, ToolsetOptions};
use repertoire::trust::TrustStore;
use repertoire::{Engine, Source};
use rmcp::model::ElicitationAction;
use rmcp::service::ClientLifecycleMode;
use serde_json::json;
use tempfile::TempDir;

use crate::peer::{Place, connect_to, modern, text};
use crate::plugin;

/// Creates a directory with a file to read, and a project whose skill `table` asks to read the file's
/// directory if `asks` is set. The skill's library is trusted.
fn place(asks: bool) -> (TempDir, Engine, Arc<TrustStore>) {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let toolsets = dir.path().join("skills/table/toolsets");
    fs::create_dir_all(&toolsets).unwrap();
    fs::create_dir(&data).unwrap();
    fs::write(data.join("table.csv"), "a,b").unwrap();
    let library = toolsets.join("libtable.so");
    fs::copy(plugin::of_workspace("failing-toolset"), &library).unwrap();
    let entry = "toolsets/table:ReadingToolset";
    let entry =
        if asks { json!({"class": entry, "rights": {"read": [data]}}) } else { json!(entry) };
    let head = json!({"name": "table", "description": "d", "toolsets": [entry]});
    let skill = dir.path().join("skills/table/SKILL.md");
    fs::write(skill, format!("---\n{head}\n---\nBody\n")).unwrap();

    let trust = Arc::new(TrustStore::open(dir.path().join("trust.json")).unwrap());
    trust.add(&library).unwrap();
    let program = env!("CARGO_BIN_EXE_repertoire").into();
    let program = HostProgram { program, args: vec!["toolset-host".into()] };
    let engine = Engine::builder()
        .source(Source::project(dir.path().join("skills")))
        .toolsets(ToolsetOptions::in_processes_of(program))
        .trust(Arc::clone(&trust))
        .build()
        .unwrap();
    (dir, engine, trust)
}

/// Reads the file twice, and returns the result of each call.
async fn read_twice(place: &Place, dir: &Path) -> [String; 2] {
    let path = dir.join("data/table.csv");
    let read = async || {
        let called = place.call("table_read", json!({"path": path})).await;
        text(&called).to_owned()
    };
    [read().await, read().await]
}

#[tokio::test]
async fn users_are_asked_for_rights_that_the_sandbox_refused() {
    use ElicitationAction::{Accept, Decline};
    for lifecycle in [ClientLifecycleMode::Initialize, modern()] {
        for (asks, says, n_questions, is_read) in [
            (true, Some(Accept), 1, true),
            (true, Some(Decline), 1, false),
            (true, None, 0, false),
            (false, Some(Accept), 0, false),
        ] {
            let (dir, engine, trust) = place(asks);
            let path = dir.path().canonicalize().unwrap();
            let place = connect_to(&engine, dir, lifecycle.clone(), says.clone()).await;
            for answer in read_twice(&place, &path).await {
                if is_read {
                    assert_eq!(answer, "a,b");
                } else {
                    assert!(answer.starts_with("EXECUTION_ERROR: "), "{answer}");
                    assert!(answer.contains("Permission denied"), "{answer}");
                }
            }
            let questions = place.told.questions.lock().unwrap().clone();
            assert_eq!(questions.len(), n_questions, "{says:?}: {questions:?}");
            let data = path.join("data").display().to_string();
            for question in questions {
                for part in ["`table`", "`ReadingToolset`", "Permission denied", &data] {
                    assert!(question.contains(part), "{part}: {question}");
                }
            }
            let granted = trust.list()[0].rights.get("ReadingToolset").cloned();
            assert_eq!(granted.is_some_and(|rights| rights.read == [data]), is_read);
        }
    }
}

#[tokio::test]
async fn a_refusal_of_something_else_than_was_asked_is_no_second_question() {
    let (dir, engine, _) = place(true);
    let lifecycle = ClientLifecycleMode::Initialize;
    let place = connect_to(&engine, dir, lifecycle, Some(ElicitationAction::Accept)).await;
    let path = place.dir.path().canonicalize().unwrap();
    assert_eq!(read_twice(&place, &path).await[0], "a,b");
    let secret = path.join("trust.json");
    let refused = place.call("table_read", json!({"path": secret})).await;
    assert!(text(&refused).contains("Permission denied"), "{refused:?}");
    assert!(text(&refused).contains("`read` and `network` in the section"), "{refused:?}");
    assert_eq!(place.told.questions.lock().unwrap().len(), 1);
}
