//! A complete agent: toolsets, scripts, tasks, consent, sessions in a file, and skills that change
//! while the agent runs. A scripted model stands in for a remote one, and a scripted user for you:
//!
//! ```console
//! $ cargo build --package hello-toolset
//! $ cargo run -p agent-loop
//! ```
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

mod script;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use repertoire::script::ScriptOptions;
use repertoire::toolset::{HostProgram, ToolsetOptions, worker_main};
use repertoire::{
    CallIo, Consent, ConsentPolicy, Engine, Error as SkillError, Session, Source, Task,
    TaskSpawner, ToolFormat, WatchOptions,
};
use repertoire_sessions::SqliteStore;

use script::{Model, Step, TURNS};

/// The argument with which this program starts itself as the child process for a tool library.
const HOST: &str = "toolset-host";

fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().nth(1).as_deref() == Some(HOST) {
        worker_main();
    }
    let place = tempfile::tempdir()?;
    let skills = install_skills(place.path())?;
    let mut engine = build(&skills, place.path())?;
    let mut session = engine.session("chat-1");
    let mut watch = Some(engine.watch(WatchOptions::default())?);

    for (number, turn) in TURNS.iter().enumerate() {
        println!("\n{}. {}", number + 1, turn.message);
        match turn.before {
            Step::Nothing => {}
            Step::Compact => session.compacted()?,
            Step::AddSkill(name, text) => {
                fs::create_dir_all(skills.join(name))?;
                fs::write(skills.join(name).join("SKILL.md"), text)?;
                while engine.catalog().get(name).is_none() {
                    std::thread::sleep(std::time::Duration::from_millis(20));
                }
            }
            Step::Restart => {
                drop((watch.take(), engine));
                engine = build(&skills, place.path())?;
                session = engine.session("chat-1");
                watch = Some(engine.watch(WatchOptions::default())?);
            }
        }
        answer(&engine, &session, turn.message, Model::new(turn))?;
    }
    Ok(())
}

/// Builds the engine, with everything that an agent sets up.
fn build(skills: &Path, state: &Path) -> Result<Engine, Box<dyn Error>> {
    let this = HostProgram { program: std::env::current_exe()?, args: vec![HOST.into()] };
    let ask = |request: &repertoire::ConsentRequest| {
        println!("   [the user agrees to `{}`]", request.id);
        true
    };
    Ok(Engine::builder()
        .source(Source::user(skills))
        .session_store(SqliteStore::open(state.join("sessions.db"))?)
        .consent(Consent::new(ConsentPolicy::FirstUse).ask(ask))
        .task_spawner(Spawner::default())
        .toolsets(ToolsetOptions::in_processes_of(this))
        .scripts(ScriptOptions::default())
        .build()?)
}

/// Answers one turn: sends the message with its matching skills, then runs the model's tool calls until
/// the model makes no more.
fn answer(
    engine: &Engine,
    session: &Session,
    message: &str,
    mut model: Model<'_>,
) -> Result<(), Box<dyn Error>> {
    let turn = engine.turn(message, session).run()?;
    let mut told = turn.text;
    loop {
        // The list may have grown: a loaded skill adds its tools.
        let definitions = turn.tools.definitions(ToolFormat::Anthropic);
        let Some((tool, arguments)) = model.next(&told, &definitions) else { return Ok(()) };
        let report = |fraction: f64, step: &str| println!("   {:.0} % {step}", fraction * 100.0);
        let io = CallIo::default().progress(&report);
        told = turn.tools.call_with(tool, &arguments, io).text().into_owned();
    }
}

/// Runs a task apart from the conversation. A real agent would start another agent; this one only
/// prints the task.
#[derive(Debug, Default)]
struct Spawner(Arc<AtomicUsize>);

impl TaskSpawner for Spawner {
    fn spawn(&self, task: &Task) -> Result<String, SkillError> {
        let number = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        println!("   [task {number} of `{}`: {}]", task.skill, script::shortened(&task.prompt));
        Ok(format!("task-{number}"))
    }
}

/// Copies the skills of this example to a directory below `place`, with the library that one of them
/// needs.
fn install_skills(place: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let skills = place.join("skills");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("skills"), &skills)?;
    let name =
        format!("{}hello_toolset{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    // Cargo puts libraries beside programs.
    let this = std::env::current_exe()?;
    let built = this.with_file_name(&name);
    let toolsets = skills.join("greeter/toolsets");
    fs::create_dir_all(&toolsets)?;
    fs::copy(&built, toolsets.join(&name)).map_err(|error| {
        format!("{}: {error}; run `cargo build --package hello-toolset`", built.display())
    })?;
    Ok(skills)
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
