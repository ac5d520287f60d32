//! The cost of a plugin's ABI boundary. A plugin is loaded, called in this process and in a child
//! process, and compared with a trait object that does the same JSON work, with the system's loader alone, and with an MCP
//! server over standard streams. Run it with `cargo bench -p repertoire-cli --bench toolset`: it prints a Markdown table.
//!
//! The plugins are built with cargo, as users build them. Each answer is asserted.
#![expect(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "a benchmark")]

mod beside;
#[path = "../../../../tests/support/plugin.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod plugin;

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use repertoire::engine::SessionToolsOptions;
use repertoire::toolset::{Host, HostProgram, Tool, ToolOutput, ToolsetOptions, worker_main};
use repertoire::trust::ContentHash;
use repertoire::{Engine, SessionTools, Source, ToolFormat};
use repertoire_plugin::host::Library;
use repertoire_plugin::{ToolError, ToolResult};
use serde::Deserialize;
use serde_json::{Value, json};

const CHILD: &str = "toolset-host";
const ARGUMENTS: &str = r#"{"name": "Ada", "times": 2}"#;
const KIB_64: usize = 64 << 10;

/// A host that ignores all reports.
struct Silent;

impl Host for Silent {}

/// A tool of a host that has no plugins.
trait DirectTool {
    fn call(&self, arguments: &str, host: &dyn Host) -> ToolResult;
}

/// `greet` of the example plugin, without the ABI boundary.
struct Greet {
    greeting: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GreetArguments {
    name: String,
    times: Option<u32>,
}

impl DirectTool for Greet {
    fn call(&self, arguments: &str, _: &dyn Host) -> ToolResult {
        let GreetArguments { name, times } = serde_json::from_str(arguments)?;
        if name.trim().is_empty() {
            return Err(ToolError::invalid_arguments("nobody to greet: `name` is empty"));
        }
        let times = times.unwrap_or(1).min(100) as usize;
        let text = vec![format!("{}, {name}!", self.greeting); times].join("\n");
        Ok(ToolOutput::text(text).title(format!("Greeted {name}")).meta("times", times))
    }
}

/// `big` of the failing plugin, without the ABI boundary.
struct Big;

impl DirectTool for Big {
    fn call(&self, _: &str, _: &dyn Host) -> ToolResult {
        Ok("x".repeat(KIB_64).into())
    }
}

/// Builds a plugin of this workspace in release mode, stripped as it should be shipped.
fn built(package: &str) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let args = ["build", "--locked", "--release", "--lib", "-p", package];
    let library = plugin::library(root, &args, package);
    let stripped = tempfile::NamedTempFile::new().unwrap();
    let strip = Command::new("strip").arg("-o").args([stripped.path(), &library]).status();
    let shipped =
        if strip.is_ok_and(|status| status.success()) { stripped.path() } else { &library };
    fs::read(shipped).unwrap()
}

/// Writes a skill with this library and class.
fn write_skill(dir: &Path, name: &str, library: &[u8], class: &str) {
    let toolsets = dir.join(name).join("toolsets");
    fs::create_dir_all(&toolsets).unwrap();
    let head =
        json!({"name": name, "description": "d", "toolsets": [format!("toolsets/it:{class}")]});
    fs::write(dir.join(name).join("SKILL.md"), format!("---\n{head}\n---\nBody\n")).unwrap();
    fs::write(toolsets.join(library_name()), library).unwrap();
}

/// Writes the skill `bench`, and a private copy of its library.
fn write_copied(dir: &Path, cache: &Path, library: &[u8], class: &str) {
    write_skill(dir, "bench", library, class);
    fs::create_dir_all(cache).unwrap();
    let copy = format!("{}{}", ContentHash::of(library), std::env::consts::DLL_SUFFIX);
    fs::write(cache.join(copy), library).unwrap();
}

fn engine(skills: &Path, cache: &Path, mut options: ToolsetOptions) -> Engine {
    options.cache = Some(cache.to_owned());
    Engine::builder().source(Source::user(skills)).toolsets(options).build().unwrap()
}

fn in_child() -> ToolsetOptions {
    let program = std::env::current_exe().unwrap();
    ToolsetOptions::in_processes_of(HostProgram { program, args: vec![CHILD.into()] })
}

fn tool(engine: &Engine, name: &str) -> Tool {
    let tools = engine.all_tools();
    assert!(tools.failures.is_empty(), "{:?}", tools.failures);
    tools.find(name).unwrap().clone()
}

fn loads(hello: &[u8]) {
    let place = tempfile::tempdir().unwrap();
    let (skills, cache) = (place.path().join("skills"), place.path().join("cache"));
    let mut number = 0_u32;
    let mut fresh = |options: ToolsetOptions| {
        // The system's loader recognises a library that it has already loaded, so make each one a new
        // file.
        number += 1;
        let library = [hello, &number.to_le_bytes()].concat();
        write_copied(&skills, &cache, &library, "HelloToolset");
        engine(&skills, &cache, options)
    };
    for (place, options) in
        [("in process", ToolsetOptions::in_process()), ("in a child", in_child())]
    {
        let load = |_| {
            let engine = fresh(options.clone());
            let begin = Instant::now();
            assert_eq!(engine.all_tools().tools.len(), 4);
            begin.elapsed()
        };
        row(&format!("load a library {place}"), &time(middle((0..100).map(load).collect())));
    }
}

fn calls(hello: &[u8], failing: &[u8]) {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    write_copied(&path("hello"), &path("cache"), hello, "HelloToolset");
    write_copied(&path("failing"), &path("cache"), failing, "FailingToolset");
    let engine =
        |skills: &str, options: ToolsetOptions| engine(&path(skills), &path("cache"), options);
    let library = Library::open(path("hello/bench/toolsets").join(library_name())).unwrap();

    let arguments: Value = ARGUMENTS.parse().unwrap();
    let direct: Box<dyn DirectTool> = black_box(Box::new(Greet { greeting: "Hello".to_owned() }));
    let border = library.create("HelloToolset", &json!({})).unwrap();
    let ours = tool(&engine("hello", ToolsetOptions::in_process()), "greet");
    let child = tool(&engine("hello", in_child()), "greet");
    let expected = direct.call(ARGUMENTS, &Silent).unwrap();
    assert_eq!(expected.output, "Hello, Ada!\nHello, Ada!");
    let check = |output: ToolOutput| assert_eq!(output, expected);
    check(border.call("greet", ARGUMENTS, &Silent).unwrap());
    check(ours.call(&arguments, &Silent).unwrap());
    check(child.call(&arguments, &Silent).unwrap());

    report("call: a trait object that does the same JSON work", || {
        drop(direct.call(black_box(ARGUMENTS), &Silent));
    });
    report("call: through the border, in process", || {
        drop(border.call("greet", black_box(ARGUMENTS), &Silent));
    });
    // Measured one after the other, the two would see different loads of a busy machine, so they
    // alternate.
    let ratio = ratio(
        || drop(direct.call(black_box(ARGUMENTS), &Silent)),
        || drop(border.call("greet", black_box(ARGUMENTS), &Silent)),
    );
    row("the same two, in turns", &format!("{ratio:.2} : 1"));
    // These calls also validate the arguments against the schema.
    report("call: a tool in process, arguments compared with the schema", || {
        drop(ours.call(black_box(&arguments), &Silent));
    });
    report("call: a tool in a child", || drop(child.call(black_box(&arguments), &Silent)));

    let none = json!({});
    let direct: Box<dyn DirectTool> = black_box(Box::new(Big));
    let ours = tool(&engine("failing", ToolsetOptions::in_process()), "big");
    let child = tool(&engine("failing", in_child()), "big");
    let expected = direct.call("{}", &Silent).unwrap();
    assert_eq!(expected.output.len(), KIB_64);
    assert_eq!(ours.call(&none, &Silent).unwrap(), expected);
    assert_eq!(child.call(&none, &Silent).unwrap(), expected);

    report("64 KiB of output: a trait object", || drop(direct.call(black_box("{}"), &Silent)));
    report("64 KiB of output: a tool in process", || drop(ours.call(black_box(&none), &Silent)));
    report("64 KiB of output: a tool in a child", || drop(child.call(black_box(&none), &Silent)));
}

/// Measures how soon a class answers again after its process crashed, and how soon a replaced library answers.
fn mishaps(hello: &[u8], failing: &[u8]) {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    write_copied(&path("failing"), &path("cache"), failing, "FailingToolset");
    // An engine of its own for each crash: a class that crashes three times is turned off for a minute.
    let recover = |_| {
        let crashing = engine(&path("failing"), &path("cache"), in_child());
        let [crash, again] = ["segfault", "noop"].map(|name| tool(&crashing, name));
        again.call(&json!({}), &Silent).unwrap();
        let begin = Instant::now();
        assert!(crash.call(&json!({}), &Silent).is_err());
        again.call(&json!({}), &Silent).unwrap();
        begin.elapsed()
    };
    row("crash: the error, and the next answer", &time(middle((0..15).map(recover).collect())));

    let replaced = |number: u32| [hello, &number.to_le_bytes()].concat();
    write_skill(&path("hello"), "bench", &replaced(0), "HelloToolset");
    let reloading = engine(&path("hello"), &path("cache"), in_child());
    let arguments: Value = ARGUMENTS.parse().unwrap();
    tool(&reloading, "greet").call(&arguments, &Silent).unwrap();
    let reload = |number| {
        write_skill(&path("hello"), "bench", &replaced(number), "HelloToolset");
        let begin = Instant::now();
        reloading.refresh().unwrap();
        tool(&reloading, "greet").call(&arguments, &Silent).unwrap();
        begin.elapsed()
    };
    row(
        "reload: a replaced library, until it answers",
        &time(middle((1..16).map(reload).collect())),
    );
}

/// Lists 200 libraries whose descriptions are cached, in a new process and then once more.
fn lists(hello: &[u8]) {
    const N: usize = 200;
    let place = tempfile::tempdir().unwrap();
    let (skills, cache) = (place.path().join("skills"), place.path().join("cache"));
    for i in 0..N {
        // Give each library a different content.
        let library = [hello, &(i as u32).to_le_bytes()].concat();
        write_skill(&skills, &format!("s{i}"), &library, "HelloToolset");
    }
    let listed = || {
        let tools = session_tools(&engine(&skills, &cache, in_child()));
        let begin = Instant::now();
        let definitions = tools.definitions(ToolFormat::Mcp);
        let first = begin.elapsed();
        assert!(definitions.as_array().unwrap().len() >= N * 4);
        let again = median(|| drop(black_box(tools.definitions(ToolFormat::Mcp))), 11);
        (first, again)
    };
    let tools = engine(&skills, &cache, in_child()).all_tools();
    assert!(tools.failures.is_empty() && tools.tools.len() == N * 4, "{:?}", tools.failures);
    // Wait, because files written in the last seconds are read again: they could change without a new
    // time stamp.
    std::thread::sleep(Duration::from_secs(3));
    listed();
    let (first, again) = middle((0..5).map(|_| listed()).collect());
    row(
        &format!("`tools/list` of {N} libraries with kept descriptions, first of a process"),
        &time(first),
    );
    row("the same again", &time(again));
}

/// Measures a good library alone, and next to a library that hangs and one that crashes.
fn neighbours(hello: &[u8], failing: &[u8]) {
    let place = tempfile::tempdir().unwrap();
    let (alone, beside) = (place.path().join("alone"), place.path().join("beside"));
    let cache = place.path().join("cache");
    for skills in [&alone, &beside] {
        write_skill(skills, "good", hello, "HelloToolset");
    }
    write_skill(&beside, "hangs", failing, "StuckInCreate");
    fs::write(beside.join("hangs/stuck"), "").unwrap();
    write_skill(&beside, "crashes", &[failing, b"0"].concat(), "ExitInCreate");
    let engines = [&alone, &beside].map(|skills| engine(skills, &cache, in_child()));
    let tools = [&engines[0], &engines[1]].map(session_tools);
    let arguments: Value = ARGUMENTS.parse().unwrap();
    let call = |tools: &SessionTools| {
        let answer = serde_json::to_value(tools.call("good_greet", &arguments)).unwrap();
        assert_eq!(answer["status"], "success", "{answer}");
    };
    let list = |engine: &Engine| assert_eq!(engine.tools_of(&"good".into()).tools.len(), 4);
    // Listing all tools also starts to open the library that hangs.
    let first = tools.each_ref().map(|tools| {
        let begin = Instant::now();
        drop(tools.definitions(ToolFormat::Mcp));
        let listed = begin.elapsed();
        call(tools);
        listed
    });
    row("first list of all three, which waits for the one that hangs", &time(first[1]));
    let calls = ratio(|| call(&tools[0]), || call(&tools[1]));
    let lists = ratio(|| list(&engines[0]), || list(&engines[1]));
    row(
        "call of a library beside one that hangs and one that crashes",
        &format!("{calls:.2} : 1 alone"),
    );
    row("its list", &format!("{lists:.2} : 1 alone"));
}

fn session_tools(engine: &Engine) -> SessionTools {
    let mut options = SessionToolsOptions::default();
    options.all_toolsets = true;
    engine.tools(&engine.session("bench")).with_options(options)
}

/// Returns the median.
fn middle<T: Ord + Copy>(mut of: Vec<T>) -> T {
    of.sort_unstable();
    of[of.len() / 2]
}

/// Returns the median time of `n` runs.
fn median(run: impl Fn(), n: usize) -> Duration {
    let time = |_| {
        let begin = Instant::now();
        run();
        begin.elapsed()
    };
    middle((0..n).map(time).collect())
}

/// Prints a row of the table.
fn row(name: &str, figure: &str) {
    println!("| {name} | {figure} |");
}

/// Returns a time in three digits.
fn time(of: Duration) -> String {
    match of.as_secs_f64() {
        s if s < 1e-6 => format!("{:.0} ns", s * 1e9),
        s if s < 1e-3 => format!("{:.3} µs", s * 1e6),
        s if s < 1.0 => format!("{:.3} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

/// Prints the time of one run: the median of 31 batches of about 30 ms.
fn report(name: &str, run: impl Fn()) {
    let alone = median(&run, 101).max(Duration::from_nanos(20));
    let n_runs = (Duration::from_millis(30).as_nanos() / alone.as_nanos()).max(1) as u32;
    let turn = || (0..n_runs).for_each(|_| run());
    row(name, &time(median(turn, 31) / n_runs));
}

/// Returns the time of `other` as a multiple of the time of `one`, by the medians of many short
/// batches.
fn ratio(one: impl Fn(), other: impl Fn()) -> f64 {
    let turn = |run: &dyn Fn()| {
        let begin = Instant::now();
        for _ in 0..200 {
            run();
        }
        begin.elapsed()
    };
    let (ones, others) = (0..1001).map(|_| (turn(&one), turn(&other))).unzip();
    let (one, other): (Duration, Duration) = (middle(ones), middle(others));
    other.as_secs_f64() / one.as_secs_f64()
}

fn library_name() -> String {
    format!("{}it{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX)
}

fn main() {
    // Child processes run this same program.
    match std::env::args().nth(1).as_deref() {
        Some(CHILD) => worker_main(),
        Some(beside::SERVER) => return beside::serve(),
        _ => {}
    }
    println!("### Toolsets\n\n| step | median |\n| --- | ---: |");
    let (hello, failing) = (built("calls-toolset"), built("failing-toolset"));
    loads(&hello);
    beside::loads(&hello);
    calls(&hello, &failing);
    beside::calls();
    mishaps(&hello, &failing);
    lists(&hello);
    neighbours(&hello, &failing);
}
