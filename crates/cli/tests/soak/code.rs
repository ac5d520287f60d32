//! Scripts and libraries that are swapped for untrusted ones while they are called.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use repertoire::script::{ScriptIo, ScriptOptions};
use repertoire::toolset::{Host, HostProgram, Isolation, Limits, ToolsetOptions};
use repertoire::trust::TrustStore;
use repertoire::{Engine, ErrorCode, SkillId, Source};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use crate::Run;
use crate::plugin;
use crate::tally::Tally;

struct Silent;

impl Host for Silent {}

/// A project's skill with a script and a library, of which only the first content is trusted.
struct Place {
    dir: tempfile::TempDir,
    engine: Engine,
}

impl Place {
    fn new() -> Place {
        let dir = tempfile::tempdir().unwrap();
        let skill = dir.path().join("skills/code");
        for sub in ["scripts", "toolsets"] {
            fs::create_dir_all(skill.join(sub)).unwrap();
        }
        let head =
            json!({"name": "code", "description": "d", "toolsets": ["toolsets/code:HelloToolset"]});
        fs::write(skill.join("SKILL.md"), format!("---\n{head}\n---\nBody\n")).unwrap();
        let (script, library) = (skill.join("scripts/a.sh"), skill.join("toolsets/libcode.so"));
        fs::write(&script, "#!/bin/sh\necho trusted\n").unwrap();
        fs::write(dir.path().join("evil.sh"), "#!/bin/sh\necho strange\n").unwrap();
        fs::copy(plugin::of_workspace("calls-toolset"), &library).unwrap();
        fs::copy(plugin::of_workspace("failing-toolset"), dir.path().join("evil.so")).unwrap();
        let trust = TrustStore::in_memory();
        for file in [&script, &library] {
            trust.add(file).unwrap();
        }
        let program = env!("CARGO_BIN_EXE_repertoire").into();
        let program = HostProgram { program, args: vec!["toolset-host".into()] };
        let mut toolsets = ToolsetOptions::in_process();
        toolsets.isolation = Isolation::Process { program, limits: Limits::default() };
        let engine = Engine::builder()
            .source(Source::project(dir.path().join("skills")))
            .scripts(ScriptOptions::default())
            .toolsets(toolsets)
            .trust(Arc::new(trust))
            .build()
            .unwrap();
        Place { dir, engine }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("skills/code").join(name)
    }
}

/// Exchanges two files repeatedly until the end of the run, and leaves them as they were.
fn exchange(one: &Path, other: &Path, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        for _ in 0..2 {
            renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
            // Long enough that a call may meet either of the files.
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Calls a script and a tool while their files are swapped.
pub(crate) fn swapped(run: Run) -> Vec<Tally> {
    let place = Place::new();
    let mut scripts = Tally::new("scripts swapped for untrusted ones", "outputs of trusted code");
    let mut tools = Tally::new("libraries swapped for untrusted ones", "outputs of trusted code");
    let (is_over, evil) = (AtomicBool::new(false), place.dir.path());
    let library = place.path("toolsets/libcode.so");
    thread::scope(|scope| {
        scope.spawn(|| exchange(&place.path("scripts/a.sh"), &evil.join("evil.sh"), &is_over));
        scope.spawn(|| exchange(&library, &evil.join("evil.so"), &is_over));
        scope.spawn(|| call_scripts(&place.engine, run, &mut scripts));
        call_tools(&place.engine, run, &mut tools);
        is_over.store(true, Ordering::Relaxed);
    });
    // With the original content again, everything runs.
    let [mut last_script, mut last_tool] = [(); 2].map(|()| Tally::default());
    let now = Run { deadline: Instant::now() + Duration::from_millis(1), ..run };
    call_scripts(&place.engine, now, &mut last_script);
    call_tools(&place.engine, now, &mut last_tool);
    scripts.add(last_script);
    tools.add(last_tool);
    vec![scripts, tools]
}

/// Judges the result of a call. The trusted output counts as kept, a refusal is right, and anything else
/// is a loss or a fault.
fn judge(tally: &mut Tally, answer: Result<String, repertoire::Error>, trusted: &str) {
    match answer {
        Ok(output) => {
            tally.fault(Ok(()));
            tally.holds(output.trim() == trusted, || format!("the output was {output}"));
        }
        Err(error) => {
            let is_refusal =
                matches!(error.code(), ErrorCode::PermissionDenied | ErrorCode::NotFound);
            tally.fault(if is_refusal { Ok(()) } else { Err(format!("{error:#}")) });
        }
    }
}

fn call_scripts(engine: &Engine, run: Run, tally: &mut Tally) {
    let session = engine.session("scripts");
    loop {
        let args: [&str; 0] = [];
        let ran = engine.run_script("code", "a.sh", &args, &session, ScriptIo::default());
        judge(tally, ran.map(|output| output.stdout), "trusted");
        if !run.goes_on() {
            break;
        }
    }
}

fn call_tools(engine: &Engine, run: Run, tally: &mut Tally) {
    loop {
        // Use a new process for each call, so that the library is opened again.
        engine.restart_tools(&SkillId::new("code"));
        let called = engine.all_tools().find("code.greet").cloned().and_then(|tool| {
            let called = tool.call(&json!({"name": "Ada"}), &Silent);
            called.map(|output| output.output)
        });
        judge(tally, called, "Hello, Ada!");
        if !run.goes_on() {
            break;
        }
    }
}
