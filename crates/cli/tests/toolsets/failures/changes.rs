//! Libraries that are rebuilt, and trust that is revoked, while an engine is running.

use std::fs;

use repertoire::toolset::{Isolation, Tool, WorkerState};
use repertoire::trust::TrustStore;
use repertoire::{ErrorCode, Remedy, Source};
use serde_json::json;

use super::{
    HELLO, Place, Silent, assert_error, assert_good, failing, failure, hello, in_child, tool,
};

#[test]
fn a_rebuilt_library_is_used_when_tools_are_listed_again() {
    for isolation in [|| Isolation::InProcess, in_child] {
        let place = Place::new(HELLO);
        let file = place.library("bad");
        fs::write(&file, hello()).unwrap();
        let engine = place.engine(isolation());
        let greet = |tool: &Tool| tool.call(&json!({"name": "Ada"}), &Silent).unwrap().output;
        let old = tool(&engine, "bad.greet");
        assert_eq!(greet(&old), "Hello, Ada!");
        // Write the file in place, as `cp` does: the engine runs a copy.
        fs::write(&file, failing()).unwrap();
        assert_eq!(greet(&old), "Hello, Ada!");
        assert_eq!(greet(&tool(&engine, "bad.greet")), "Good night, Ada.");
        assert_eq!(greet(&old), "Hello, Ada!");

        fs::remove_file(&file).unwrap();
        assert_eq!(greet(&old), "Hello, Ada!");
        let help = "build the library from its code";
        assert_error(&failure(&engine), ErrorCode::NotFound, &["libbad.so"], help);
        assert_good(&engine);
    }
}

#[test]
fn trust_that_is_taken_back_elsewhere_reaches_a_running_host() {
    for isolation in [|| Isolation::InProcess, in_child] {
        let place = Place::failing();
        let store = place.dir.path().join("trust.json");
        let elsewhere = TrustStore::open(&store).unwrap();
        let source = Source::project(place.skills());
        let engine = place.engine_of(source, isolation(), TrustStore::open(&store).unwrap());
        assert_eq!(engine.all_tools().failures.len(), 2, "nothing is trusted");

        let (good, bad) = (place.library("good"), place.library("bad"));
        elsewhere.add(&good).unwrap();
        elsewhere.add(&bad).unwrap();
        let noop = tool(&engine, "bad.noop");
        let call = || noop.call(&json!({}), &Silent);
        assert_eq!(call().unwrap().output, "");

        elsewhere.remove(&bad).unwrap();
        let error = call().unwrap_err();
        let message = ["libbad.so", "not trusted any more"];
        assert_error(&error, ErrorCode::PermissionDenied, &message, "the user has to approve");
        assert_eq!(error.remedy(), Some(&Remedy::Trust(bad.clone())));
        if let Some(state) = noop.worker_state() {
            assert_eq!(state, WorkerState::Idle, "its process was ended");
        }
        let message = ["libbad.so", "is not trusted (sha256 "];
        let help = "the user has to approve";
        assert_error(&failure(&engine), ErrorCode::PermissionDenied, &message, help);
        assert_good(&engine);

        elsewhere.add(&bad).unwrap();
        assert_eq!(call().unwrap().output, "");
        // Trust another content than the one that runs.
        fs::write(&bad, [failing(), b"0"].concat()).unwrap();
        elsewhere.add(&bad).unwrap();
        let error = call().unwrap_err();
        let help = "list the tools again";
        assert_error(&error, ErrorCode::PermissionDenied, &["libbad.so"], help);
        assert_eq!(tool(&engine, "bad.noop").call(&json!({}), &Silent).unwrap().output, "");

        fs::write(&bad, [failing(), b"00"].concat()).unwrap();
        let message = ["libbad.so", "has changed since it was trusted: sha256 "];
        let help = "the user has to approve";
        assert_error(&failure(&engine), ErrorCode::PermissionDenied, &message, help);
        assert_good(&engine);
    }
}

#[test]
fn a_library_is_refused_after_a_file_of_its_skill_changed() {
    for isolation in [|| Isolation::InProcess, in_child] {
        let place = Place::new("toolsets/bad:ReadingToolset");
        fs::write(place.library("bad"), failing()).unwrap();
        let beside = place.skills().join("bad/data.txt");
        fs::write(&beside, "one").unwrap();
        let store = place.dir.path().join("trust.json");
        let elsewhere = TrustStore::open(&store).unwrap();
        let trust = || {
            for library in ["good", "bad"] {
                elsewhere.add(&place.library(library)).unwrap();
            }
        };
        trust();
        let source = Source::project(place.skills());
        let engine = place.engine_of(source, isolation(), TrustStore::open(&store).unwrap());
        let in_process = engine.all_tools().find("bad.read").unwrap().worker_state().is_none();
        // The toolset sees copies, because the working directory of its process is one.
        let read = |tool: &Tool| tool.call(&json!({"path": "data.txt"}), &Silent);
        let old = tool(&engine, "bad.read");
        if !in_process {
            assert_eq!(read(&old).unwrap().output, "one");
        }
        let remedy = Remedy::TrustSkill(place.skills().join("bad").canonicalize().unwrap());
        let refused = |file: &str| {
            let error = failure(&engine);
            let help = "the user has to approve the changes";
            assert_error(&error, ErrorCode::PermissionDenied, &["`bad`", file], help);
            assert_eq!(error.remedy(), Some(&remedy));
            assert_good(&engine);
        };
        fs::write(&beside, "two").unwrap();
        refused("`data.txt` (changed)");
        if !in_process {
            assert_eq!(read(&old).unwrap().output, "one", "what was trusted");
        }
        fs::write(place.skills().join("bad/new.txt"), "new").unwrap();
        refused("`data.txt` (changed), `new.txt` (added)");
        trust();
        if !in_process {
            assert_eq!(read(&tool(&engine, "bad.read")).unwrap().output, "two");
        }
        let error = read(&old).unwrap_err();
        let help = "list the tools again";
        assert_error(&error, ErrorCode::PermissionDenied, &["not trusted any more"], help);
        fs::remove_file(&beside).unwrap();
        refused("`data.txt` (removed)");
    }
}
