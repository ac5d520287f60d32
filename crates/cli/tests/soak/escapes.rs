//! Paths out of a skill, each tried on every surface that takes a path, and attempts to break out of
//! the sandbox.

use std::fs;
use std::path::Path;

use repertoire::activation::{MountLimits, ReadOptions, mount, read_resource};
use repertoire::catalog::Environment;
use repertoire::script::{FilesystemLevel, ScriptIo, ScriptOptions};
use repertoire::{Engine, Source};
use serde_json::{Value, json};

use crate::tally::Tally;
use crate::{Run, escape_paths, probes};

/// The content of every file outside of the skill.
const CANARY: &str = "canary 7f3d1c, never to be seen";

/// The surfaces on which models and hosts name a file of a skill.
const SURFACES: [&str; 5] =
    ["library", "read_skill_file", "use_skill", "run_skill_script", "mount"];

/// A skill among files that it must not reach, and an engine that has it.
struct Place {
    dir: tempfile::TempDir,
    engine: Engine,
}

impl Place {
    fn new() -> Place {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        for file in [
            "canary.txt",
            "skills/canary.txt",
            "skills/review-two/canary.txt",
            "skills/review/sub/canary.txt",
            "skills/review/group/sub/deep/canary.txt",
            "skills/review/.git/config",
            "skills/review/.env.example",
            "skills/review/..almost/...",
        ] {
            write(file, CANARY);
        }
        write("skills/review/SKILL.md", "---\nname: review\ndescription: d\n---\nLook twice.\n");
        // These are skills themselves, so anyone may have their instructions.
        write("skills/review/sub/SKILL.md", "Sub.");
        write("skills/review/group/sub/SKILL.md", "Sub.");
        write("skills/review/references/one.md", "one");
        write("skills/review/a/b/c.md", "c");
        write("skills/review/scripts/probes.py", probes::PROGRAM);
        let mut scripts = ScriptOptions::default();
        scripts.network = false;
        scripts.limits.arg_bytes = 1 << 16;
        let path = ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into());
        scripts.environment = Environment::Fixed([path].into());
        let engine = Engine::builder()
            .source(Source::user(dir.path().join("skills")))
            .scripts(scripts)
            .build()
            .unwrap();
        Place { dir, engine }
    }

    /// Tries a path, or an id of a skill, on a surface. Returns the answer, and whether it is a
    /// refusal.
    fn attempt(&self, surface: &str, path: &str) -> (String, bool) {
        let skill = self.dir.path().join("skills/review");
        let call = |tool: &str, arguments: Value| {
            let session = self.engine.session("escape");
            let answer = self.engine.tools(&session).call(tool, &arguments);
            (serde_json::to_string(&answer).unwrap(), answer.code().is_some())
        };
        match surface {
            "library" => {
                let read = read_resource("review", &skill, path, &ReadOptions::default());
                (format!("{read:?}"), read.is_err())
            }
            "mount" => {
                let tasks = self.dir.path().join("tasks");
                fs::create_dir_all(&tasks).unwrap();
                // As an id, a path that ends with a name stands for that name.
                let mounted = mount(path, &skill, &tasks, &MountLimits::default());
                let is_inside = |dir: &Path| dir.parent() == Some(&*tasks.canonicalize().unwrap());
                let is_safe = mounted.as_ref().map_or(true, |mounted| is_inside(&mounted.dir));
                let _ = fs::remove_dir_all(&tasks);
                (format!("{:?}", mounted.map(|_| ())), is_safe)
            }
            // This tool returns instructions of skills, whatever their names are.
            "use_skill" => (call("use_skill", json!({"skill": format!("review/{path}")})).0, true),
            "run_skill_script" => {
                call("run_skill_script", json!({"skill": "review", "script": path}))
            }
            tool => call(tool, json!({"skill": "review", "path": path})),
        }
    }
}

/// Tries all paths once, and then repeats them while there is time.
pub(crate) fn tried(run: Run) -> Vec<Tally> {
    let mut paths = Tally::new("paths that lead out of a skill", "refusals");
    let mut sandbox = Tally::new("ways out of the sandbox", "refusals");
    loop {
        let place = Place::new();
        let canary = place.dir.path().join("canary.txt");
        let before = walkdir::WalkDir::new(place.dir.path()).into_iter().count();
        for (path, _) in escape_paths::paths(canary.to_str().unwrap()) {
            for surface in SURFACES {
                let (answer, is_refused) = place.attempt(surface, &path);
                let is_shut = is_refused && !answer.contains(CANARY);
                paths.fault(Ok(()));
                paths.holds(is_shut, || format!("{surface}, {path:?}: {answer}"));
            }
        }
        let after = walkdir::WalkDir::new(place.dir.path()).into_iter().count();
        paths.fault(if before == after {
            Ok(())
        } else {
            Err(format!("{before} files, then {after}"))
        });
        sandbox = probe(&place, sandbox);
        if !run.goes_on() {
            return vec![paths, sandbox];
        }
    }
}

/// Runs the program that tries to break out of the sandbox.
fn probe(place: &Place, mut tally: Tally) -> Tally {
    if !Path::new("/usr/bin/python3").exists() && !Path::new("/usr/local/bin/python3").exists() {
        return tally.skip("no Python");
    }
    let outside = probes::Outside::new();
    let aim = outside.aim(&repertoire::script::allowed_calls(), false, true).to_string();
    let session = place.engine.session("sandbox");
    let ran = place.engine.run_script("review", "probes.py", &[aim], &session, ScriptIo::default());
    let output = match ran {
        Ok(output) => output,
        Err(error) => {
            tally.fault(Err(format!("{error:#}")));
            return tally;
        }
    };
    if output.sandbox.filesystem != FilesystemLevel::Full || !output.sandbox.contained {
        return tally.skip("this kernel has not all of Landlock and seccomp");
    }
    for line in output.stdout.lines() {
        tally.fault(Ok(()));
        tally.holds(line.contains(": closed ("), || line.to_owned());
    }
    outside.assert_shut(&output.stdout);
    tally
}
