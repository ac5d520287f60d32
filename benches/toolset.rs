//! The cost of a plugin's border: a plugin is loaded, called in this process and in a child, and
//! compared with a trait object that does the same JSON work; `cargo bench --bench toolset`.
//!
//! The plugins are built with cargo, as they are shipped. Each answer is asserted.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

#[path = "../tests/support/plugin.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod plugin;

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use criterion::{BatchSize, Criterion};
use repertoire::toolset::{Host, HostProgram, Tool, ToolOutput, ToolsetOptions, worker_main};
use repertoire::trust::ContentHash;
use repertoire::{Engine, Source};
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

/// A tool of a host without plugins.
trait DirectTool {
    fn call(&self, arguments: &str, host: &dyn Host) -> ToolResult;
}

/// `greet` of the example plugin, and no border.
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

/// `big` of the failing plugin, and no border.
struct Big;

impl DirectTool for Big {
    fn call(&self, _: &str, _: &dyn Host) -> ToolResult {
        Ok("x".repeat(KIB_64).into())
    }
}

/// Builds a plugin of this workspace in release, stripped as it should be shipped.
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

/// Writes the skill `bench` with this library and class, and a private copy of the library.
fn write_skill(dir: &Path, cache: &Path, library: &[u8], class: &str) {
    let toolsets = dir.join("bench/toolsets");
    fs::create_dir_all(&toolsets).unwrap();
    fs::create_dir_all(cache).unwrap();
    let head =
        json!({"name": "bench", "description": "d", "toolsets": [format!("toolsets/it:{class}")]});
    fs::write(dir.join("bench/SKILL.md"), format!("---\n{head}\n---\nBody\n")).unwrap();
    fs::write(toolsets.join(library_name()), library).unwrap();
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

fn loads(criterion: &mut Criterion, hello: &[u8]) {
    let place = tempfile::tempdir().unwrap();
    let (skills, cache) = (place.path().join("skills"), place.path().join("cache"));
    let mut number = 0_u32;
    let mut fresh = |options: ToolsetOptions| {
        // The system's loader recognises a library that it has loaded, so each is a new file.
        number += 1;
        let library = [hello, &number.to_le_bytes()].concat();
        write_skill(&skills, &cache, &library, "HelloToolset");
        engine(&skills, &cache, options)
    };
    let mut group = criterion.benchmark_group("load");
    let list = |engine: Engine| {
        assert_eq!(engine.all_tools().tools.len(), 4);
        engine
    };
    group.bench_function("in process", |b| {
        b.iter_batched(|| fresh(ToolsetOptions::in_process()), list, BatchSize::PerIteration);
    });
    group.bench_function("in a child", |b| {
        b.iter_batched(|| fresh(in_child()), list, BatchSize::PerIteration);
    });
    group.finish();
}

fn calls(criterion: &mut Criterion, hello: &[u8], failing: &[u8]) {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    write_skill(&path("hello"), &path("cache"), hello, "HelloToolset");
    write_skill(&path("failing"), &path("cache"), failing, "FailingToolset");
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

    let mut group = criterion.benchmark_group("call");
    group.bench_function("trait object", |b| {
        b.iter(|| direct.call(black_box(ARGUMENTS), &Silent));
    });
    group.bench_function("border, in process", |b| {
        b.iter(|| border.call("greet", black_box(ARGUMENTS), &Silent));
    });
    // One after the other they would meet different loads of a busy machine, so they take turns.
    let ratio = ratio(
        || drop(direct.call(black_box(ARGUMENTS), &Silent)),
        || drop(border.call("greet", black_box(ARGUMENTS), &Silent)),
    );
    println!("border, in process: {ratio:.2} times the trait object, in turns");
    // These also compare the arguments with the schema.
    group.bench_function("tool, in process", |b| {
        b.iter(|| ours.call(black_box(&arguments), &Silent));
    });
    group.bench_function("tool, in a child", |b| {
        b.iter(|| child.call(black_box(&arguments), &Silent));
    });
    group.finish();

    let none = json!({});
    let direct: Box<dyn DirectTool> = black_box(Box::new(Big));
    let ours = tool(&engine("failing", ToolsetOptions::in_process()), "big");
    let child = tool(&engine("failing", in_child()), "big");
    let expected = direct.call("{}", &Silent).unwrap();
    assert_eq!(expected.output.len(), KIB_64);
    assert_eq!(ours.call(&none, &Silent).unwrap(), expected);
    assert_eq!(child.call(&none, &Silent).unwrap(), expected);

    let mut group = criterion.benchmark_group("64 KiB");
    group.bench_function("trait object", |b| b.iter(|| direct.call(black_box("{}"), &Silent)));
    group.bench_function("tool, in process", |b| {
        b.iter(|| ours.call(black_box(&none), &Silent));
    });
    group.bench_function("tool, in a child", |b| {
        b.iter(|| child.call(black_box(&none), &Silent));
    });
    group.finish();
}

/// The time of `other` as a multiple of that of `one`, by the medians of many short turns.
fn ratio(one: impl Fn(), other: impl Fn()) -> f64 {
    let turn = |run: &dyn Fn()| {
        let begin = Instant::now();
        for _ in 0..200 {
            run();
        }
        begin.elapsed()
    };
    let mut turns: Vec<_> = (0..1001).map(|_| (turn(&one), turn(&other))).collect();
    turns.sort_unstable_by_key(|turn| turn.0);
    let median = turns[500].0;
    turns.sort_unstable_by_key(|turn| turn.1);
    turns[500].1.as_secs_f64() / median.as_secs_f64()
}

fn library_name() -> String {
    format!("{}it{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX)
}

fn main() {
    // The children are this program.
    if std::env::args().nth(1).as_deref() == Some(CHILD) {
        worker_main();
    }
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3))
        .sample_size(30)
        .configure_from_args();
    let (hello, failing) = (built("calls-toolset"), built("failing-toolset"));
    loads(&mut criterion, &hello);
    calls(&mut criterion, &hello, &failing);
    criterion.final_summary();
}
