//! Tools of skills that change.

#[path = "../support/plugin.rs"]
mod plugin;

use repertoire::ErrorCode;
use repertoire::toolset::{Host, Tool, ToolsetOptions};
use repertoire::trust::TrustStore;
use serde_json::json;

use super::*;

const FIELDS: &str = "toolsets: [\"toolsets/hello:HelloToolset\"]";

/// Creates skills, one of which has tools, and an engine that may call them.
fn place() -> (Place, Engine) {
    let place = Place::new();
    place.skill("project/new", "Greets.", FIELDS);
    fs::create_dir(place.path("project/new/toolsets")).unwrap();
    let library = place.path("project/new/toolsets/libhello.so");
    fs::copy(plugin::of_workspace("calls-toolset"), &library).unwrap();
    let trust = TrustStore::open(place.path("trust.json")).unwrap();
    trust.add(&library).unwrap();
    let engine = Engine::builder()
        .source(Source::project(place.path("project")))
        .toolsets(ToolsetOptions::in_process())
        .trust(Arc::new(trust))
        .build()
        .unwrap();
    (place, engine)
}

fn tool(engine: &Engine) -> Result<Tool, repertoire::Error> {
    engine.all_tools().find("new.greet").cloned()
}

fn call(tool: &Tool) -> Result<String, ErrorCode> {
    struct Silent;
    impl Host for Silent {}
    let called = tool.call(&json!({"name": "Ada"}), &Silent);
    called.map(|output| output.output).map_err(|error| error.code())
}

#[test]
fn a_tool_goes_with_its_skill() {
    let edits: [(&str, bool, Edit); 5] = [
        ("another skill", true, |place| place.skill("project/renamed", "Another.", "")),
        ("its text", true, |place| place.skill("project/new", "Still greets.", FIELDS)),
        ("its directory", false, |place| place.remove("project/new")),
        ("its entry", false, |place| place.skill("project/new", "Greets no more.", "")),
        ("its visibility", false, |place| {
            let fields = format!("{FIELDS}\ndisable-model-invocation: true");
            place.skill("project/new", "For users.", &fields);
        }),
    ];
    for (what, stays, edit) in edits {
        let (place, engine) = place();
        let held = tool(&engine).unwrap();
        assert_eq!(call(&held).as_deref(), Ok("Hello, Ada!"));
        edit(&place);
        assert!(!engine.refresh().unwrap().is_empty());
        let after = if stays { Ok("Hello, Ada!".to_owned()) } else { Err(ErrorCode::NotFound) };
        assert_eq!(call(&held), after, "{what}");
        assert_eq!(tool(&engine).is_ok(), stays, "{what}");
    }
}

#[test]
fn a_skill_that_moved_has_its_tools_where_it_is_now() {
    let (place, engine) = place();
    let held = tool(&engine).unwrap();
    fs::create_dir(place.path("project/deep")).unwrap();
    place.rename("project/new", "project/deep/new");
    assert_eq!(signs(&engine.refresh().unwrap()), "~new");
    assert_eq!(call(&held), Err(ErrorCode::NotFound));
    // At its new path, the library is not trusted.
    let failures = engine.all_tools().failures;
    assert_eq!(failures[0].error.code(), ErrorCode::PermissionDenied, "{failures:?}");
}

#[test]
fn a_changed_library_is_another_question_of_trust_however_it_looks() {
    let (place, engine) = place();
    assert!(tool(&engine).is_ok());
    let path = place.path("project/new/toolsets/libhello.so");
    let time = path.metadata().unwrap().modified().unwrap();
    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    // The file has the same length and time as before.
    fs::write(&path, bytes).unwrap();
    File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    let failures = engine.all_tools().failures;
    assert_eq!(failures[0].error.code(), ErrorCode::PermissionDenied, "{failures:?}");
    assert!(failures[0].error.message().contains("has changed"), "{failures:?}");
}
