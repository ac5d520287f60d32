//! A server that is built without traces.

use crate::binary::{Place, finish};
use crate::command;

#[test]
fn a_build_without_traces_says_so_once_if_the_environment_asks_for_them() {
    let (place, skills) = (Place::new(), tempfile::tempdir().unwrap());
    for (variable, is_told) in [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", true),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", true),
        ("OTEL_SERVICE_NAME", false),
    ] {
        let mut command = command(&place, &["mcp", "--source"], &[skills.path()]);
        command.env(variable, "http://127.0.0.1:9");
        let run = finish(command, b"").exits(0);
        let told = format!(
            "no traces are sent, as `{variable}` asks: build this program with the feature `otlp`\n"
        );
        assert_eq!(run.stderr, if is_told { &*told } else { "" });
    }
    let mut list = place.command(["list"]);
    list.env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9");
    assert_eq!(finish(list, b"").exits(0).stderr.matches("traces").count(), 0);
}
