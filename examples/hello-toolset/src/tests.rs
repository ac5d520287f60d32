use super::*;
use repertoire_plugin::{ErrorCode, describe};

fn hello() -> HelloToolset {
    HelloToolset { greeting: "Hello".to_owned() }
}

#[test]
fn tools_are_plain_functions() {
    let output = hello().greet("Ada".to_owned(), Some(2)).unwrap();
    assert_eq!(output.output, "Hello, Ada!\nHello, Ada!");
    assert_eq!(output.metadata["times"], 2);
    assert_eq!(hello().divide(1, 0).unwrap_err().message(), "cannot divide by zero");
}

#[test]
fn tools_are_called_by_name() {
    let host = FakeHost::new();
    let output = host.call(&MoodToolset, "mood", json!({"name": "Ada", "hour": 8})).unwrap();
    assert_eq!(output.output, "Ada is sleepy.");
    let output = host.call(&MoodToolset, "join", json!({"words": ["a", "b"]})).unwrap();
    assert_eq!(output.output, "a b");
    let error = host.call(&hello(), "greet", json!({})).unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidArguments);
    assert_eq!(
        error.message(),
        "missing field `name`; `greet` takes `name` (string), `times` (integer, optional)"
    );
}

#[test]
fn counting_reports_and_stops() {
    let host = FakeHost::new();
    hello().count(4, 0, &host.context()).unwrap();
    assert_eq!(host.progress_reports()[1], (0.5, "2 of 4".to_owned()));
    assert_eq!(host.logs(), [(LogLevel::Info, "counting to 4".to_owned())]);

    let host = FakeHost::new().cancelled_after(2);
    let error = hello().count(4, 0, &host.context()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Cancelled);
    assert_eq!(host.progress_reports().len(), 2);
}

#[test]
fn descriptions_come_from_doc_comments() {
    let description = describe::<HelloToolset>().unwrap();
    let names: Vec<_> = description.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["greet", "divide", "panic", "count"]);
    assert_eq!(description.tools[0].description, "Greets somebody by name.");
    assert_eq!(description.tools[0].annotations["readOnlyHint"], true);
}
