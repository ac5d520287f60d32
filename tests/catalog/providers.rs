//! Providers: the same skills in a directory, in memory, and behind another program are the same to everybody.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
#[cfg(feature = "watch")]
use std::time::{Duration, Instant};

use repertoire::activation::ReadOptions;
use repertoire::catalog::{MemoryFiles, ProvidedFile, Provider};
use repertoire::{ConsentPolicy, Error};
use serde_json::{Value, json};

use super::*;

/// The files of the table: good skills, nested ones, and one of each fault that a scan or a load reports.
fn files() -> Vec<(&'static str, String)> {
    let review = "---\nname: review\ndescription: Reviews code.\ntriggers: [review]\nknowledge: [notes/a.md]\n\
                  ---\nReview $ARGUMENTS as `notes/a.md` says.\n";
    vec![
        ("review/SKILL.md", review.to_owned()),
        ("review/notes/a.md", "# First\none\ntwo\n".to_owned()),
        ("review/z.bin", "\u{0}\u{1}".to_owned()),
        ("review/.env", "SECRET=1".to_owned()),
        ("review/deep/SKILL.md", manifest("name: deep")),
        ("review/deep/own.md", "own".to_owned()),
        ("closed/SKILL.md", manifest("name: closed")),
        ("closed/agents/openai.yaml", "policy: {allow_implicit_invocation: false}\n".to_owned()),
        ("twice/SKILL.md", manifest("name: twice")),
        ("twice/skill.md", manifest("name: thrice")),
        ("broken/SKILL.md", "---\nname: broken\n---\n".to_owned()),
        ("odd/SKILL.md", manifest("name: odd\nunknown-key: 1\ntriggers: {patterns: ['(']}")),
        ("needs/SKILL.md", manifest("requires_env: [NO_SUCH_VARIABLE]")),
        ("group/unnamed/SKILL.md", manifest("")),
        ("a/SKILL.md", manifest("name: same")),
        ("b/SKILL.md", manifest("name: same")),
        (".hidden/SKILL.md", manifest("name: hidden")),
        ("node_modules/m/SKILL.md", manifest("name: module")),
    ]
}

/// Another program: lists and reads files by running a command for each question.
struct Program(TempDir);

impl Program {
    fn run(&self, script: &str, path: &str) -> Result<Vec<u8>, Error> {
        let mut command = Command::new("sh");
        let output = command.args(["-ec", script, "sh", path]).current_dir(self.0.path()).output();
        let failed = |why: String| Error::new(ErrorCode::ExecutionError, why, "try again");
        match output {
            Ok(output) if output.status.success() => Ok(output.stdout),
            Ok(output) => Err(failed(String::from_utf8_lossy(&output.stderr).into_owned())),
            Err(error) => Err(failed(error.to_string())),
        }
    }
}

impl Provider for Program {
    fn list(&self) -> Result<Vec<ProvidedFile>, Error> {
        let listed = self.run("find . -type f -exec cksum {} +", "")?;
        let listed = String::from_utf8(listed).unwrap();
        let file = |line: &str| {
            let (revision, path) = line.split_once(" ./").unwrap();
            ProvidedFile::new(path, revision)
        };
        Ok(listed.lines().map(file).collect())
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, Error> {
        self.run("cat -- \"$1\"", path)
    }
}

fn written() -> TempDir {
    let files = files();
    tree(&files.iter().map(|(path, text)| (*path, text.as_str())).collect::<Vec<_>>())
}

fn memory() -> MemoryFiles {
    let memory = MemoryFiles::new();
    for (path, text) in files() {
        if path.ends_with("a.md") {
            memory.put_function(path, move || Ok(text.clone().into()));
        } else {
            memory.put(path, text);
        }
    }
    memory
}

fn engine_of(source: Source) -> Engine {
    Engine::builder()
        .source(source)
        .environment(Environment::Fixed(BTreeMap::new()))
        .build()
        .unwrap()
}

/// All that a host and a model see of an engine, with the root of its source replaced by `ROOT`. Only models
/// are told the directory of a skill, which a provider has not.
fn seen(engine: &Engine, root: &str) -> Value {
    let session = engine.session("chat-7");
    let catalog = engine.catalog();
    let entry = |entry: &repertoire::catalog::Entry| {
        json!([
            entry.id.as_str(),
            entry.relative_path,
            format!("{:?}", entry.status),
            entry.reason()
        ])
    };
    let tools = engine.tools(&session);
    let call = |skill: &str, path: &str| {
        let answer = tools.call("read_skill_file", &json!({"skill": skill, "path": path}));
        serde_json::to_value(answer).unwrap()
    };
    let reads = [
        ("review", "notes/a.md"),
        ("review", "./notes//a.md"),
        ("review", "z.bin"),
        ("review", "note/a.md"),
        ("review", "notes"),
        ("review", "SKILL.md"),
        ("review", ".env"),
        ("review", "deep/own.md"),
        ("review", "../b/SKILL.md"),
        ("review/deep", "own.md"),
    ];
    let activate = |name| match engine.activate(name, "this", &session) {
        Ok(activation) => {
            let mut activation = serde_json::to_value(activation).unwrap();
            activation.as_object_mut().unwrap().remove("base_dir");
            activation
        }
        Err(error) => json!(error.to_string()),
    };
    let nested = catalog.nested(catalog.get("review").unwrap(), Audience::Model);
    let disclosures =
        ["review this", "deep", "odd", "nothing"].map(|text| engine.disclose(text).text);
    let skills = ["review", "review/deep", "closed", "broken", "group/unnamed", "twice"];
    let nested: Vec<_> = nested.map(|(path, entry)| (path, entry.id.to_string())).collect();
    let entries: Vec<_> = catalog.entries().map(entry).collect();
    let seen = json!({
        "entries": entries,
        "diagnostics": &*engine.diagnostics(),
        "nested": nested,
        "prompt": engine.prompt().text,
        "disclosures": disclosures,
        "activations": skills.map(activate),
        "reads": reads.map(|(skill, path)| call(skill, path)),
    });
    let base = |text: &str| text.find("\\n\\nBase directory: ").map(|at| (at, at + 4));
    let mut text = seen.to_string();
    while let Some((at, line)) = base(&text) {
        let end = line + text[line..].find("\\n").unwrap();
        text.replace_range(at..end, "");
    }
    let text = text.replace("Files in the base directory", "Files of the skill");
    serde_json::from_str(&text.replace(root, "ROOT")).unwrap()
}

#[test]
fn skills_of_a_directory_of_memory_and_of_a_program_are_the_same() {
    let dir = written();
    let expected =
        seen(&engine_of(Source::new(Scope::User, dir.path())), dir.path().to_str().unwrap());
    assert_eq!(expected["diagnostics"].as_array().unwrap().len(), 4, "{expected:#}");
    let sources = [
        Source::provided(Scope::User, "code", memory()),
        Source::provided(Scope::User, "code", Program(written())),
    ];
    for source in sources {
        let found = seen(&engine_of(source), "code:");
        for (part, expected) in expected.as_object().unwrap() {
            assert_eq!(&found[part], expected, "{part}");
        }
    }
}

#[test]
fn a_refresh_reads_what_has_another_revision_and_keeps_what_no_longer_loads() {
    #[derive(Clone)]
    struct Counted(MemoryFiles, Arc<AtomicUsize>, Arc<AtomicBool>);
    impl Provider for Counted {
        fn list(&self) -> Result<Vec<ProvidedFile>, Error> {
            let is_down = self.2.load(Ordering::Relaxed);
            let down = || Error::new(ErrorCode::ExecutionError, "the table is locked", "wait");
            if is_down { Err(down()) } else { self.0.list() }
        }
        fn read(&self, path: &str) -> Result<Vec<u8>, Error> {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.read(path)
        }
    }
    let provider = Counted(memory(), Arc::default(), Arc::default());
    let Counted(files, reads, is_down) = provider.clone();
    let engine = engine_of(Source::provided(Scope::User, "code", provider));
    let told = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&told);
    let _subscription =
        engine.subscribe(move |changes| listener.lock().unwrap().push(changes.clone()));
    let n_reads = || reads.swap(0, Ordering::Relaxed);
    n_reads();
    assert!(engine.refresh().unwrap().is_empty());
    assert_eq!(n_reads(), 0);

    files.put("new/SKILL.md", manifest("name: new"));
    files.put("review/more.md", "more");
    files.put("odd/SKILL.md", "---\nname: odd\n---\n");
    files.remove("closed/agents/openai.yaml");
    files.remove("b/SKILL.md");
    let refreshed = engine.refresh().unwrap();
    assert_eq!(refreshed.added, ["new"]);
    assert_eq!(refreshed.changed, ["closed", "same"]);
    assert_eq!(refreshed.kept, ["odd"]);
    assert_eq!(n_reads(), 3, "new, odd and closed are read, and nothing else");
    assert_eq!(told.lock().unwrap().len(), 1);
    let session = engine.session("chat-7");
    let activation = engine.activate("review", "", &session).unwrap();
    assert_eq!(activation.files, ["more.md", "z.bin", "notes/a.md"]);

    is_down.store(true, Ordering::Relaxed);
    assert!(engine.refresh().unwrap().is_empty(), "skills of a table that is down stay");
    let is_told = |text: &str| engine.diagnostics().iter().any(|d| d.message.contains(text));
    assert!(is_told("the table is locked"));
    is_down.store(false, Ordering::Relaxed);
    files.remove("odd/SKILL.md");
    assert_eq!(engine.refresh().unwrap().removed, ["odd"]);
    assert!(!is_told("the table is locked"));
}

#[test]
fn a_file_that_could_not_be_read_is_read_again() {
    struct Busy(MemoryFiles, Arc<AtomicBool>);
    impl Provider for Busy {
        fn list(&self) -> Result<Vec<ProvidedFile>, Error> {
            self.0.list()
        }
        fn read(&self, path: &str) -> Result<Vec<u8>, Error> {
            let is_busy = self.1.load(Ordering::Relaxed) && path == "b/SKILL.md";
            let busy = || Error::new(ErrorCode::ExecutionError, "the table is locked", "wait");
            if is_busy { Err(busy()) } else { self.0.read(path) }
        }
    }
    let is_busy = Arc::new(AtomicBool::new(true));
    let provider = Busy(memory(), Arc::clone(&is_busy));
    let engine = engine_of(Source::provided(Scope::User, "code", provider));
    let n_skills = || engine.catalog().entries().count();
    let n_without = n_skills();
    assert!(engine.refresh().unwrap().is_empty());
    is_busy.store(false, Ordering::Relaxed);
    assert!(!engine.refresh().unwrap().is_empty());
    assert_eq!(n_skills(), n_without + 1);
    assert!(engine.refresh().unwrap().is_empty());
}

#[test]
fn a_provider_that_lies_or_panics_costs_its_own_skills_only() {
    struct Strange;
    impl Provider for Strange {
        fn list(&self) -> Result<Vec<ProvidedFile>, Error> {
            let paths = [
                "../out/SKILL.md", "/etc/SKILL.md", "gone/SKILL.md", "panics/SKILL.md",
                "ok/SKILL.md",
            ];
            Ok(paths.map(|path| ProvidedFile::new(path, "")).into())
        }
        fn read(&self, path: &str) -> Result<Vec<u8>, Error> {
            match path {
                "ok/SKILL.md" => Ok(manifest("name: fine").into()),
                "panics/SKILL.md" => panic!("as it was asked to"),
                _ => Err(Error::new(ErrorCode::NotFound, format!("no row {path}"), "add it")),
            }
        }
    }
    let strange = || Source::provided(Scope::Memory, "strange", Strange);
    let engine = Engine::builder().source(strange()).source(strange()).build().unwrap();
    assert_eq!(ids(&engine.catalog()), ["fine"]);
    assert_eq!(codes(&engine.catalog()), ["unreadable"; 4]);
    let findings = engine.diagnostics();
    let of = |path: &str| findings.iter().find(|found| found.path == Path::new(path)).unwrap();
    assert!(of("strange:/gone/SKILL.md").message.contains("no row"));
    assert!(of("strange:/panics/SKILL.md").message.contains("panicked"));
    let error = engine.catalog().find("gone", Audience::Model).unwrap_err();
    assert_eq!(error.code(), ErrorCode::ExecutionError);
}

#[test]
fn consent_names_the_files_and_the_model_needs_it_to_read_them() {
    let consent = repertoire::Consent::new(ConsentPolicy::FirstUse);
    let source = Source::provided(Scope::User, "code", memory());
    let engine = Engine::builder().source(source).consent(consent).build().unwrap();
    let session = engine.session("chat-7");
    let request = engine.consent_request("review", &session, Audience::Model).unwrap();
    assert_eq!(request.tree, "z.bin\nnotes/a.md");
    let read = engine.read_resource("review", "z.bin", &session, &ReadOptions::default());
    assert_eq!(read.unwrap_err().code(), ErrorCode::ConsentRequired);
}

#[cfg(feature = "watch")]
#[test]
fn a_watched_engine_asks_its_provider_at_intervals() {
    let files = memory();
    let engine = engine_of(Source::provided(Scope::User, "code", files.clone()));
    let mut options = repertoire::WatchOptions::default();
    options.poll = Duration::from_millis(20);
    let _watch = engine.watch(options).unwrap();
    files.put("new/SKILL.md", manifest("name: new"));
    let start = Instant::now();
    while engine.catalog().get("new").is_none() {
        assert!(start.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(5));
    }
}
