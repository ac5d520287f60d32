//! Calls do not leak memory. This test is a program of its own, because it measures its own memory.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "border/build.rs"]
#[expect(dead_code, reason = "shared with the other tests")]
mod build;

use repertoire_plugin::FakeHost;
use repertoire_plugin::host::Library;
use repertoire_plugin::serde_json::Value;

#[test]
fn a_hundred_thousand_calls_take_no_memory() {
    let library = Library::open(build::library("failing-toolset")).unwrap();
    let failing = library.create("FailingToolset", &Value::Null).unwrap();
    let resident = || {
        let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
        statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
    };
    let host = FakeHost::new();
    let calls = |count: usize| {
        for _ in 0..count / 4 {
            failing.call("noop", "{}", &host).unwrap();
            failing.call("big", "{}", &host).unwrap();
            failing.call("hostile_panic", "{}", &host).unwrap_err();
            failing.call("noop", "[]", &host).unwrap_err();
        }
    };
    calls(4_000);
    let before = resident();
    calls(100_000);
    let grown = resident().saturating_sub(before);
    assert!(grown < 4 << 20, "{grown} bytes more");
}
