//! Trust on every channel: a bare path is a project's, and no code of a project runs before a yes, whether it
//! is a script, a library or an MCP server, and whether the library, the command line, MCP or a hook loads it.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use repertoire::engine::{CallIo, Caller};
use repertoire::script::{ScriptIo, ScriptOptions};
use repertoire::toolset::{HostProgram, ToolsetOptions};
use repertoire::trust::{Approval, TrustRequest, TrustStore};
use repertoire::{Engine, Skill, Source};
use serde_json::{Value, json};

use crate::binary::{self, Place};
use crate::plugin;

const SERVER: &str = include_str!("../../src/tool/server.py");
/// The kinds of code, each with the call that starts it.
const KINDS: [&str; 3] = ["script", "library", "server"];

/// The place of a source, and whether its code runs without a yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    BarePath,
    /// The same by another way: over `..`, and as an absolute path.
    DotDot,
    Absolute,
    /// The same, named twice.
    Twice,
    Project,
    /// The `sources.add` of a project.
    ProjectConfig,
    User,
    /// The same, while the user works in the home directory.
    UserAtHome,
    /// The `sources.add` of the user.
    UserConfig,
    /// A link from the user's directory to a skill of the project that the user works in.
    LinkToProject,
    /// A link from the user's directory to a fetched skill, which no settings name any more.
    LinkToFetched,
    /// A copy of a fetched skill in the user's directory, which no lock file lists any more.
    CopyOfFetched,
}

const ALL: [Of; 12] = [
    Of::BarePath,
    Of::DotDot,
    Of::Absolute,
    Of::Twice,
    Of::Project,
    Of::ProjectConfig,
    Of::User,
    Of::UserAtHome,
    Of::UserConfig,
    Of::LinkToProject,
    Of::LinkToFetched,
    Of::CopyOfFetched,
];

impl Of {
    fn is_trusted(self) -> bool {
        matches!(self, Of::User | Of::UserAtHome | Of::UserConfig)
    }

    fn dir(self) -> &'static str {
        match self {
            Of::BarePath | Of::DotDot | Of::Absolute | Of::Twice | Of::ProjectConfig => "skills",
            Of::Project | Of::LinkToProject => ".agents/skills",
            Of::User | Of::UserAtHome | Of::CopyOfFetched => "home/.agents/skills",
            Of::LinkToFetched => "home/.local/share/other/skills/o/r",
            Of::UserConfig => "home/mine",
        }
    }

    fn working_dir(self, place: &Place) -> PathBuf {
        place.path().join(if self == Of::UserAtHome { "home" } else { "" })
    }

    /// Creates a place with a skill that has each kind of code.
    fn place(self) -> Place {
        let place = Place::new();
        let dir = format!("{}/trio", self.dir());
        let toolsets = ["toolsets/hello:HelloToolset", "tools/server.py:mcp"];
        let head = json!({"name": "trio", "description": "d", "toolsets": toolsets});
        place.write(&format!("{dir}/SKILL.md"), format!("---\n{head}\n---\nBody\n"));
        place.write(&format!("{dir}/scripts/say.sh"), "#!/bin/sh\necho ran\n");
        // The tools of both toolsets need different names.
        place.write(&format!("{dir}/tools/server.py"), SERVER.replace("greet", "salute"));
        fs::create_dir_all(place.path().join(&dir).join("toolsets")).unwrap();
        let library = place.path().join(&dir).join("toolsets/libhello.so");
        fs::copy(plugin::of_workspace("calls-toolset"), library).unwrap();
        match self {
            Of::ProjectConfig => {
                place.write(".repertoire/config.toml", "[sources]\nadd = [\"skills\"]\n");
            }
            Of::UserConfig => {
                place.write("home/.repertoire/config.toml", "[sources]\nadd = [\"~/mine\"]\n");
            }
            Of::LinkToProject | Of::LinkToFetched => {
                place.write("home/.local/share/other/skills/.config-dir", "/home/ann/.other");
                let links = place.path().join("home/.agents/skills");
                fs::create_dir_all(&links).unwrap();
                symlink(place.path().join(dir), links.join("trio")).unwrap();
            }
            Of::CopyOfFetched => place.write(&format!("{dir}/.fetched"), ""),
            _ => {}
        }
        place
    }

    fn command(self, place: &Place, args: &[&str]) -> std::process::Command {
        let mut command = place.command(args);
        command.env_remove("XDG_STATE_HOME").env_remove("XDG_CACHE_HOME");
        command.current_dir(self.working_dir(place));
        let absolute = place.path().join("skills");
        let sources = match self {
            Of::BarePath => vec!["skills"],
            Of::DotDot => vec!["skills/../skills"],
            Of::Absolute => vec![absolute.to_str().unwrap()],
            Of::Twice => vec!["skills", "./skills"],
            _ => Vec::new(),
        };
        command.args(sources.iter().flat_map(|source| ["--source", source]));
        command
    }
}

/// The tool and the arguments of a kind of code, as a model calls it.
fn call_of(kind: &str) -> (&'static str, Value) {
    match kind {
        "script" => ("run_skill_script", json!({"skill": "trio", "script": "scripts/say.sh"})),
        "library" => ("trio_greet", json!({"name": "Ana"})),
        _ => ("trio_salute", json!({"name": "Ana"})),
    }
}

pub(crate) fn engine(
    source: impl Into<Source>,
    approve: Option<Approval>,
    trust: &Arc<TrustStore>,
) -> Engine {
    let program = env!("CARGO_BIN_EXE_repertoire").into();
    let program = HostProgram { program, args: vec!["toolset-host".into()] };
    let mut toolsets = ToolsetOptions::in_processes_of(program);
    let mut scripts = ScriptOptions::default();
    (toolsets.approve, scripts.approve) = (approve.clone(), approve);
    let builder = Engine::builder().source(source).toolsets(toolsets).scripts(scripts);
    builder.trust(Arc::clone(trust)).build().unwrap()
}

/// Returns the kinds of code that ran.
fn ran(engine: &Engine) -> Vec<&'static str> {
    let session = engine.session("s");
    let is_run = |kind: &&&str| match **kind {
        "script" => {
            let (none, io): ([&str; 0], _) = ([], ScriptIo::default());
            let caller = Caller::user(&session);
            engine.run_script("trio", "say.sh", &none, caller, io).is_ok_and(|out| out.is_success())
        }
        kind => {
            let (name, arguments) = call_of(kind);
            let tools = engine.all_tools();
            let name = name.replace('_', ".");
            tools.find(&name).is_ok_and(|tool| tool.call(&arguments, &CallIo::default()).is_ok())
        }
    };
    KINDS.iter().filter(is_run).copied().collect()
}

#[test]
fn a_bare_path_is_a_projects_in_the_library() {
    let place = Of::BarePath.place();
    let root = place.path().join("skills");
    let trust = || Arc::new(TrustStore::in_memory());
    let bare: [Source; 3] =
        [root.clone().into(), root.as_path().into(), root.to_str().unwrap().into()];
    let loaded = Skill::load(&root.join("trio/SKILL.md"), "acme").unwrap();
    let others =
        [Source::project(&root), Source::fetched("x", &root), Source::memory(vec![loaded])];
    for source in bare.into_iter().chain(others) {
        assert_eq!(ran(&engine(source.clone(), None, &trust())), [""; 0], "{source:?}");
        let no = Some(Approval::new(|_| false));
        assert_eq!(ran(&engine(source.clone(), no, &trust())), [""; 0], "{source:?}");
        let yes = Some(Approval::new(|_| true));
        assert_eq!(ran(&engine(source.clone(), yes, &trust())), KINDS, "{source:?}");
    }
    for source in [Source::user(&root), Source::bundled(&root)] {
        assert_eq!(ran(&engine(source.clone(), None, &trust())), KINDS, "{source:?}");
    }
    // What was fetched stays so, wherever an agent lists it.
    for of in [Of::LinkToFetched, Of::CopyOfFetched] {
        let place = of.place();
        let source = Source::user(place.path().join("home/.agents/skills"));
        assert_eq!(ran(&engine(source.clone(), None, &trust())), [""; 0], "{of:?}");
        let yes = Some(Approval::new(|_| true));
        assert_eq!(ran(&engine(source, yes, &trust())), KINDS, "{of:?}");
    }
}

#[test]
fn a_bare_path_is_a_projects_on_the_command_line() {
    for of in ALL {
        let place = of.place();
        let calls = [
            vec!["run", "trio", "say.sh", "--json"],
            vec!["tool", "call", "trio.greet", "{\"name\":\"Ana\"}", "--json"],
            vec!["tool", "call", "trio.salute", "{\"name\":\"Ana\"}", "--json"],
        ];
        for call in calls {
            let answer = binary::finish(of.command(&place, &call), b"");
            assert_eq!(answer.code == 0, of.is_trusted(), "{of:?} {call:?}: {answer:?}");
            if !of.is_trusted() && call[0] == "run" {
                let code = answer.json()["error"]["code"].clone();
                assert_eq!(code, "PERMISSION_DENIED", "{of:?}");
            }
        }
    }
}

#[test]
fn a_bare_path_is_a_projects_over_mcp() {
    for of in ALL {
        let place = of.place();
        let mut command = of.command(&place, &["mcp"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn().unwrap();
        let mut input = server.stdin.take().unwrap();
        let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
        let mut ask = |id: usize, method: &str, params: Value| -> Value {
            let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            writeln!(input, "{request}").unwrap();
            let answers = lines.by_ref().map(|line| serde_json::from_str::<Value>(&line.unwrap()));
            answers.map(Result::unwrap).find(|answer| answer["id"] == id).unwrap()
        };
        let client = json!({"name": "t", "version": "1"});
        let params =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        ask(0, "initialize", params);
        // Tools of a toolset are offered once the skill's instructions were loaded.
        ask(1, "tools/call", json!({"name": "use_skill", "arguments": {"skill": "trio"}}));
        for (nth, kind) in KINDS.iter().enumerate() {
            let (name, arguments) = call_of(kind);
            let answer = ask(nth + 2, "tools/call", json!({"name": name, "arguments": arguments}));
            let is_run = answer["result"]["isError"] == false;
            assert_eq!(is_run, of.is_trusted(), "{of:?} {kind}: {answer}");
        }
        drop(input);
        server.wait().unwrap();
    }
}

/// A hook never starts code, whoever it belongs to: it leaves no copy of a library, and starts no program.
#[test]
fn a_hook_starts_no_code() {
    for of in ALL {
        let place = of.place();
        let marks = place.path().join("marks");
        fs::create_dir(&marks).unwrap();
        let mark = format!("touch {}/$$\n", marks.display());
        place.write(&format!("{}/trio/scripts/say.sh", of.dir()), format!("#!/bin/sh\n{mark}"));
        let server = format!("import os\nopen('{}/s', 'w')\n{SERVER}", marks.display());
        place.write(&format!("{}/trio/tools/server.py", of.dir()), server);
        let config = place.path().join("home/.repertoire/config.toml");
        let settings = fs::read_to_string(&config).unwrap_or_default();
        let marks_dir = marks.display();
        let opened = format!(
            "[scripts]\nwrite = [\"{marks_dir}\"]\n[toolsets.mcp]\nwrite = [\"{marks_dir}\"]\n"
        );
        place.write("home/.repertoire/config.toml", settings + &opened);
        let message = json!({
            "hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": of.working_dir(&place),
            "prompt": "/trio please, use the skill trio",
        });
        let hook = of.command(&place, &["hook", "claude-code"]);
        let answer = binary::finish(hook, message.to_string().as_bytes());
        assert_eq!(answer.code, 0, "{of:?}: {answer:?}");
        assert!(answer.stdout.contains("trio"), "{of:?}: {answer:?}");
        assert_eq!(names(&marks), [""; 0], "{of:?}");
        let copies = place.path().join("home/.cache/repertoire/plugins");
        assert!(!copies.exists(), "{of:?}: {:?}", names(&copies));
    }
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok);
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// A no is asked for once, for each kind of code, and it is listed; other content is asked for again.
#[test]
fn a_no_is_remembered_and_listed() {
    let place = Of::BarePath.place();
    let file = place.path().join("trust.json");
    let asked = Arc::new(std::sync::Mutex::new(Vec::<(PathBuf, String)>::new()));
    let noted = Arc::clone(&asked);
    let no = Approval::new(move |request: &TrustRequest| {
        noted.lock().unwrap().push((request.path.clone(), request.abilities.to_string()));
        false
    });
    let questions = || {
        let mut all = std::mem::take(&mut *asked.lock().unwrap());
        all.sort();
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        all.into_iter().map(|(path, may)| (name(&path), may)).collect::<Vec<_>>()
    };
    // Each is an engine of its own, as a restarted host is.
    for round in 0..3 {
        let trust = Arc::new(TrustStore::open(&file).unwrap());
        let engine = engine(place.path().join("skills"), Some(no.clone()), &trust);
        assert_eq!(ran(&engine), [""; 0]);
        ran(&engine);
        let questions = questions();
        if round > 0 {
            assert_eq!(questions, [], "round {round}");
            continue;
        }
        let alone = "reads its skill alone · no network · writes nothing";
        let of_script =
            "reads its skill and the project in which it runs · no network · writes nothing";
        let wanted = [("say.sh", of_script), ("server.py", alone), ("libhello.so", alone)];
        let wanted = wanted.map(|(name, may)| (name.to_owned(), may.to_owned()));
        assert_eq!(questions.len(), 3, "{questions:?}");
        assert!(wanted.iter().all(|question| questions.contains(question)), "{questions:?}");
        let refused = trust.refusals();
        assert!(refused.len() == 3 && refused.is_sorted_by_key(|it| it.path.clone()));
    }
    place.write("skills/trio/scripts/say.sh", "#!/bin/sh\necho else\n");
    let trust = Arc::new(TrustStore::open(&file).unwrap());
    let skills = place.path().join("skills");
    assert_eq!(ran(&engine(skills.clone(), Some(no.clone()), &trust)), [""; 0]);
    assert_eq!(questions().len(), 3, "the skill has changed");

    let nothing = Approval::new(|_| None);
    let fresh = Arc::new(TrustStore::in_memory());
    assert_eq!(ran(&engine(skills.clone(), Some(nothing), &fresh)), [""; 0]);
    assert_eq!(fresh.refusals(), [], "no answer is not a no");

    let script = place.path().join("skills/trio/scripts/say.sh");
    assert_eq!(trust.forget_refusals([&script]).unwrap().len(), 1);
    ran(&engine(skills.clone(), Some(no), &trust));
    assert_eq!(questions().len(), 1, "it was forgotten");
    trust.add(&script).unwrap();
    assert_eq!(trust.refusals().len(), 2, "a yes replaces a no");
}

#[test]
fn instructions_in_a_session_trust_no_code() {
    let place = Of::BarePath.place();
    let engine = engine(place.path().join("skills"), None, &Arc::new(TrustStore::in_memory()));
    let session = engine.session("s");
    let turn = engine.turn("/trio", &session).run().unwrap();
    for kind in KINDS {
        let (name, arguments) = call_of(kind);
        let answer = turn.tools.call(name, &arguments);
        assert!(answer.code().is_some(), "{kind}: {answer:?}");
    }
}

/// The code that a trusted server runs is what was trusted: the settings of the project do not add to it.
#[test]
fn the_settings_of_a_project_start_no_other_code_in_a_trusted_server() {
    let place = Of::Project.place();
    let trust = Of::Project.command(&place, &["trust", "add", "--yes", ".agents/skills/trio"]);
    binary::finish(trust, b"").exits(0);
    let salute = ["tool", "call", "trio.salute", "{\"name\":\"Ana\"}", "--json"];
    let call = || binary::finish(Of::Project.command(&place, &salute), b"");
    assert_eq!(call().exits(0).json()["text"], "Hello, Ana!");
    for class in ["mcp", "\"trio:mcp\""] {
        // A server that gets this variable prints it and ends, before any code of its own.
        let of_project = format!("[toolsets.{class}.config]\nenv = {{ LD_DEBUG = \"help\" }}\n");
        place.write(".repertoire/config.toml", &of_project);
        assert_eq!(call().exits(0).json()["text"], "Hello, Ana!", "{class}");
        fs::remove_file(place.path().join(".repertoire/config.toml")).unwrap();
        place.write("home/.repertoire/config.toml", &of_project);
        assert_eq!(call().code, 1, "the user may set it");
        fs::remove_file(place.path().join("home/.repertoire/config.toml")).unwrap();
    }
}
