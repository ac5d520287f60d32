//! Toolsets in C and C++, built by the compilers of this system. They work like those in Rust, in this
//! process and in a child.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use repertoire::toolset::{Host, HostProgram, PluginNote, Tool, ToolOutput, ToolsetOptions};
use repertoire::{Engine, Error, ErrorCode, Source};
use serde_json::{Value, json};
use tempfile::TempDir;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const FLAGS: [&str; 7] =
    ["-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror"];

/// Builds a library with `compiler`. Returns false if the compiler is not installed.
fn compile(compiler: &str, more: &[&str], source: &Path, library: &Path) -> bool {
    let include = format!("-I{ROOT}/plugin-api/include");
    let mut command = Command::new(compiler);
    command.args(FLAGS).args(more).arg(include).arg("-o").args([library, source]);
    let Ok(output) = command.output() else {
        eprintln!("SKIPPED: there is no `{compiler}`");
        return false;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    true
}

/// Creates a directory with the skill `it`, whose library is not built yet.
fn place(class: &str) -> TempDir {
    let place = TempDir::new().unwrap();
    fs::create_dir_all(place.path().join("it/toolsets")).unwrap();
    let head =
        json!({"name": "it", "description": "d", "toolsets": [format!("toolsets/it:{class}")]});
    fs::write(place.path().join("it/SKILL.md"), format!("---\n{head}\n---\nBody\n")).unwrap();
    place
}

/// Creates the place of an example; `None` without its compiler.
fn example(compiler: &str, more: &[&str], file: &str, class: &str) -> Option<TempDir> {
    let place = place(class);
    let source = Path::new(ROOT).join("examples").join(file);
    let library = place.path().join("it/toolsets/libit.so");
    compile(compiler, more, &source, &library).then_some(place)
}

/// Creates a place whose library is this code in C, which follows the header.
fn written(code: &str) -> TempDir {
    let place = place("It");
    let source = place.path().join("it.c");
    fs::write(&source, format!("#include \"repertoire.h\"\n{code}")).unwrap();
    let library = place.path().join("it/toolsets/libit.so");
    let is_built = compile("cc", &["-Wno-unused"], &source, &library);
    assert!(is_built, "a Rust compiler links with it");
    place
}

fn in_both() -> [ToolsetOptions; 2] {
    let program = env!("CARGO_BIN_EXE_repertoire").into();
    let program = HostProgram { program, args: vec!["toolset-host".into()] };
    [ToolsetOptions::in_process(), ToolsetOptions::in_processes_of(program)]
}

fn engine(place: &TempDir, options: ToolsetOptions) -> Engine {
    Engine::builder().source(Source::user(place.path())).toolsets(options).build().unwrap()
}

fn tool(engine: &Engine, name: &str) -> Tool {
    let tools = engine.all_tools();
    assert!(tools.failures.is_empty(), "{:?}", tools.failures);
    tools.find(name).unwrap().clone()
}

/// A host that keeps reports, and may have cancelled the call.
#[derive(Default)]
struct Listening {
    told: Mutex<Vec<String>>,
    is_cancelled: bool,
}

impl Host for Listening {
    fn is_cancelled(&self) -> bool {
        self.is_cancelled
    }

    fn progress(&self, fraction: f64, message: &str) {
        self.told.lock().unwrap().push(format!("{fraction} {message}"));
    }
}

fn call(tool: &Tool, arguments: &Value) -> Result<ToolOutput, Error> {
    tool.call(arguments, &Listening::default())
}

fn text(tool: &Tool, arguments: &Value) -> String {
    call(tool, arguments).unwrap().output
}

#[test]
fn a_toolset_in_c_works_as_one_in_rust() {
    let class = "HelloToolset";
    let strict = ["-std=c99", "-Wpedantic"];
    let place = example("cc", &strict, "../plugin-api/include/toolset.c", class).unwrap();
    let note = PluginNote::read(&place.path().join("it/toolsets/libit.so")).unwrap();
    assert_eq!((&*note.name, &*note.version, note.unwinds()), ("hello-toolset", "0.1.0", true));
    assert_eq!(note.classes, [class]);
    for options in in_both() {
        let mut configured = options.clone();
        configured.config.insert(class.to_owned(), json!({"greeting": "Grüß \"Gott\""}));
        let greet = tool(&engine(&place, options), "it.greet");
        assert_eq!(greet.description, "Greets somebody by name.");
        assert_eq!(greet.annotations["readOnlyHint"], true);
        assert_eq!(greet.parameters["required"], json!(["name"]));
        assert_eq!(text(&greet, &json!({"name": "Ada", "times": 2})), "Hello, Ada!\nHello, Ada!");
        let odd = "a\"b\\c\n\t\u{1}\u{7f} é 語 😀 {\"times\":9}";
        assert_eq!(text(&greet, &json!({"name": odd})), format!("Hello, {odd}!"));
        let configured = tool(&engine(&place, configured), "it.greet");
        assert_eq!(text(&configured, &json!({"name": "Ada"})), "Grüß \"Gott\", Ada!");

        let unfit = call(&greet, &json!({"nme": "Ada"})).unwrap_err();
        assert_eq!(unfit.code(), ErrorCode::InvalidParam);
        assert!(unfit.message().contains("do not fit"), "{unfit}");
        let empty = call(&greet, &json!({"name": ""})).unwrap_err();
        assert_eq!(empty.code(), ErrorCode::InvalidParam);
        assert!(empty.message().ends_with("nobody to greet: `name` is empty"), "{empty}");
        let host = Listening::default();
        greet.call(&json!({"name": "Ada", "times": 2}), &host).unwrap();
        assert_eq!(*host.told.lock().unwrap(), ["0 greeting", "0.5 greeting"]);
        let host = Listening { is_cancelled: true, ..Listening::default() };
        let cancelled = greet.call(&json!({"name": "Ada"}), &host).unwrap_err();
        assert_eq!(cancelled.code(), ErrorCode::Cancelled, "{cancelled}");
    }
}

#[test]
fn a_toolset_in_cpp_has_a_state_and_exceptions_that_stay_in_it() {
    let strict = ["-std=c++11", "-Wpedantic"];
    let Some(place) = example("c++", &strict, "cpp-toolset/toolset.cpp", "TallyToolset") else {
        return;
    };
    for options in in_both() {
        let engine = engine(&place, options);
        let count = tool(&engine, "it.count");
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..25).for_each(|_| drop(text(&count, &json!({"word": "a"})))));
            }
        });
        assert_eq!(text(&count, &json!({"word": "a"})), "101");
        assert_eq!(text(&count, &json!({"word": "b"})), "1");
        let thrown = call(&count, &json!({"word": ""})).unwrap_err();
        assert_eq!(thrown.code(), ErrorCode::ExecutionError);
        assert!(thrown.message().ends_with("no word to count"), "{thrown}");
        let said: Value = text(&tool(&engine, "it.where"), &json!({})).parse().unwrap();
        let dir = place.path().join("it");
        assert_eq!(said["skill_dir"], json!(dir), "{said}");
    }
}

/// The functions of a plugin with the tool `it`. A test can replace each of them by a macro.
const FUNCTIONS: &str = r#"
#ifndef CREATE
#define CREATE return REPERTOIRE_OK
#endif
#ifndef DESCRIPTION
#define DESCRIPTION "{\"tools\": [" TOOL("it") "]}"
#endif
#ifndef CALL
#define CALL return repertoire_answer(host, repertoire_str("fine"))
#endif
#define TOOL(NAME) "{\"name\": \"" NAME "\", \"description\": \"d\", \"parameters\": {\"type\": \"object\"}}"
static uint32_t create(repertoire_host *host, repertoire_text class_name, repertoire_text config, void **it) {
    (void)host, (void)class_name, (void)config, (void)it;
    CREATE;
}
static uint32_t describe(repertoire_host *host, void *it) {
    (void)it;
    host->write(host, repertoire_str(DESCRIPTION));
    return REPERTOIRE_OK;
}
static uint32_t call(repertoire_host *host, void *it, repertoire_text tool, repertoire_text arguments) {
    (void)host, (void)it, (void)tool, (void)arguments;
    CALL;
}
static void destroy(void *it) { (void)it; }
"#;

const EXPORT: &str =
    "REPERTOIRE_EXPORT(\"it\", \"1.0.0\", REPERTOIRE_CLASS(It), create, describe, call, destroy)\n";

/// Returns an export whose functions are in this structure instead of the usual one.
fn export_as(structure: &str) -> String {
    let usual = format!("#define repertoire_plugin_c_root usual\n{EXPORT}");
    format!("{usual}#undef repertoire_plugin_c_root\nREPERTOIRE_PUBLIC const {structure};\n")
}

#[test]
fn a_toolset_in_c_of_a_later_version_has_more_functions() {
    let later = export_as(
        "struct { repertoire_plugin first; void *later; } repertoire_plugin_c_root = \
         {{sizeof(repertoire_plugin) + sizeof(void *), create, describe, call, destroy}, NULL}",
    );
    let place = written(&format!("{FUNCTIONS}\n{later}"));
    for options in in_both() {
        assert_eq!(text(&tool(&engine(&place, options), "it.it"), &json!({})), "fine");
    }
}

#[test]
fn a_toolset_in_c_that_cannot_be_made_is_an_error_that_names_the_file() {
    let short = export_as("uint32_t repertoire_plugin_c_root[2] = {8, 0}");
    let missing = EXPORT.replace("describe, call,", "describe, NULL,");
    let no_class = EXPORT.replace("(It)", "(Other)");
    let cases: &[(&str, &str, ErrorCode, &str)] = &[
        ("", &short, ErrorCode::ExecutionError, "the structure of its functions is too short"),
        ("", &missing, ErrorCode::ExecutionError, "one of its functions is missing"),
        ("", &no_class, ErrorCode::NotFound, "has no class `It`"),
        (
            "#define CREATE return repertoire_fail(host, REPERTOIRE_INVALID_ARGUMENTS, \"no level\")",
            EXPORT,
            ErrorCode::InvalidParam,
            "cannot be created: no level",
        ),
        (
            "#define CREATE return 77",
            EXPORT,
            ErrorCode::ExecutionError,
            "it failed with the number 77",
        ),
        (
            "#define DESCRIPTION \"no JSON\"",
            EXPORT,
            ErrorCode::ExecutionError,
            "the description is broken",
        ),
        (
            "#define DESCRIPTION \"{\\\"tools\\\": [\" TOOL(\"a\") \",\" TOOL(\"a\") \"]}\"",
            EXPORT,
            ErrorCode::ExecutionError,
            "two tools are named `a`",
        ),
        (
            "#define DESCRIPTION \"{\\\"tools\\\": [\" TOOL(\"a b\") \"]}\"",
            EXPORT,
            ErrorCode::ExecutionError,
            "the tool name \"a b\" is not",
        ),
    ];
    for (macros, export, code, message) in cases {
        let place = written(&format!("{macros}\n{FUNCTIONS}\n{export}"));
        for options in in_both() {
            let failures = engine(&place, options).all_tools().failures;
            assert_eq!(failures.len(), 1, "{message}: {failures:?}");
            let error = &failures[0].error;
            assert_eq!(error.code(), *code, "{error:#}");
            for part in [message, "libit.so"] {
                assert!(error.message().contains(part), "{part}: {error:#}");
            }
            assert!(!error.help().is_empty(), "{error:#}");
        }
    }
}

#[test]
fn a_call_in_c_that_goes_wrong_is_that_calls_error() {
    let cases = [
        (
            "host->write(host, repertoire_str(\"text\")); return REPERTOIRE_OK",
            "the tool's answer is broken",
        ),
        ("return REPERTOIRE_OK", "the tool's answer is broken"),
        ("return repertoire_answer(host, repertoire_str(\"\\xff\"))", "it is not UTF-8"),
        ("return REPERTOIRE_FAILED", "it failed with the number 1"),
        ("return repertoire_fail(host, 99, \"odd\")", ": odd"),
    ];
    for (body, message) in cases {
        let place = written(&format!("#define CALL {body}\n{FUNCTIONS}\n{EXPORT}"));
        for options in in_both() {
            let error = call(&tool(&engine(&place, options), "it.it"), &json!({})).unwrap_err();
            assert_eq!(error.code(), ErrorCode::ExecutionError, "{error}");
            assert!(error.message().contains(message), "{message}: {error}");
        }
    }
    let place = written(&format!("#define CALL abort(); return 0\n{FUNCTIONS}\n{EXPORT}"));
    let [_, in_child] = in_both();
    let error = call(&tool(&engine(&place, in_child), "it.it"), &json!({})).unwrap_err();
    assert!(error.message().contains("SIGABRT"), "{error}");
}
