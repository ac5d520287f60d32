//! `repertoire tool build`: builds the libraries of a skill from their code, copies them into the
//! skill, and trusts what it built.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::BufRead as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use repertoire::toolset::{C_HEADER, TARGET, ToolsetEntry, server_files};
use repertoire::trust::Owner;
use repertoire::{Error, ErrorCode};
use serde_json::Value as Json;

use super::cargo_help;
use crate::args::{Common, ToolBuildArgs};
use crate::exit_code::ExitCode;
use crate::output::Output;
use crate::shell::quoted;
use crate::trust::Built;
use crate::{sanitize, trust};

/// The extensions of source files in C and in C++.
const C: [&str; 1] = ["c"];
const CPP: [&str; 4] = ["cpp", "cc", "cxx", "c++"];

pub(crate) fn run(args: &ToolBuildArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let plan = Plan::of(args)?;
    let mut built = Built {
        code: plan.code().map(Path::to_owned).collect(),
        servers: plan.servers.clone(),
        ..Built::default()
    };
    for library in &plan.libraries {
        for target in targets(args) {
            let name = sanitize::line(&library.path).into_owned();
            let of = target.map(|target| format!(" for {target}")).unwrap_or_default();
            out.note(&format!("building `{name}`{of}"));
            let place = tempfile::tempdir()?;
            let file = library.build(target, args.debug, place.path())?;
            let copied = library.copy(&file, target, &plan.owner.dir)?;
            let is_for_this_system = target.is_none_or(|target| target == TARGET);
            if is_for_this_system { &mut built.libraries } else { &mut built.others }.push(copied);
        }
    }
    if built.libraries.is_empty() && built.servers.is_empty() {
        return Ok(ExitCode::Done);
    }
    trust::add_built(&built, args.yes, common, out)
}

/// Returns the targets to build for. `None` is this system; its libraries get no directory of their
/// own.
fn targets(args: &ToolBuildArgs) -> Vec<Option<&str>> {
    if args.targets.is_empty() {
        return vec![None];
    }
    args.targets.iter().map(|target| Some(&**target)).collect()
}

/// The libraries and MCP servers of a skill, found before anything is built.
pub(super) struct Plan {
    pub(super) owner: Owner,
    libraries: Vec<Library>,
    /// The files of MCP servers, which need not be built.
    pub(super) servers: Vec<PathBuf>,
}

/// A library and its code.
struct Library {
    /// The path of the library, as the skill's entry gives it.
    path: String,
    /// The directory of the library's code.
    code: PathBuf,
}

impl Plan {
    pub(super) fn of(args: &ToolBuildArgs) -> anyhow::Result<Plan> {
        let dir = &*args.skill;
        let owner = trust::skill_in(dir).ok_or_else(|| {
            let message = format!("{} is not the directory of a skill", dir.display());
            Error::new(ErrorCode::NotFound, message, "name the directory of a `SKILL.md`")
        })?;
        let entries = owner.toolsets.iter().map(|entry| entry.parse::<ToolsetEntry>());
        let entries = entries.collect::<Result<Vec<_>, _>>()?;
        if entries.is_empty() {
            let message = format!("the skill {} has no toolsets", dir.display());
            let help = "name them in its `SKILL.md`, as in `toolsets: [toolsets/hello:Hello]`";
            return Err(Error::new(ErrorCode::NotFound, message, help).into());
        }
        let servers = server_files(&owner)?;
        let libraries = entries.iter().filter(|entry| !entry.is_server());
        let paths: BTreeSet<&str> = libraries.map(ToolsetEntry::path).collect();
        if args.code.is_some() && paths.len() > 1 {
            let message = format!("the skill {} has {} libraries", dir.display(), paths.len());
            let help = "`--code` is for one; put the code of each beside the skill, in a directory \
                        of the library's name";
            return Err(Error::new(ErrorCode::InvalidParam, message, help).into());
        }
        let libraries = paths.into_iter().map(|path| {
            let code = args.code.clone().map_or_else(|| code_of(path, dir), Ok)?;
            Ok(Library { path: path.to_owned(), code })
        });
        let libraries = libraries.collect::<Result<_, Error>>()?;
        Ok(Plan { owner, libraries, servers })
    }

    /// Iterates over the directories of the code.
    pub(super) fn code(&self) -> impl Iterator<Item = &Path> {
        self.libraries.iter().map(|library| &*library.code)
    }
}

/// Returns the directory of a library's code: beside the skill or in it, with the library's name.
fn code_of(path: &str, skill: &Path) -> Result<PathBuf, Error> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let inside = skill.join(name);
    // `skill/..` would be wrong: if the skill is a link, it leads elsewhere.
    let beside = std::path::absolute(skill).unwrap_or_else(|_| skill.to_owned());
    let beside = beside.parent().map(|parent| parent.join(name));
    let places: Vec<PathBuf> = beside.into_iter().chain([inside]).collect();
    places.iter().find(|place| place.is_dir()).cloned().ok_or_else(|| {
        let tried: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
        let message = format!("there is no code of `{path}`; tried {}", tried.join(", "));
        Error::new(ErrorCode::NotFound, message, "name its directory with `--code DIR`")
    })
}

impl Library {
    /// Builds the library, and returns its file. `place` is a directory for intermediate files.
    fn build(&self, target: Option<&str>, debug: bool, place: &Path) -> anyhow::Result<PathBuf> {
        if self.code.join("Cargo.toml").is_file() {
            return cargo(&self.code, target, debug);
        }
        for (extensions, variable, usual) in [(&C[..], "CC", "cc"), (&CPP[..], "CXX", "c++")] {
            let sources = sources(&self.code, extensions);
            if !sources.is_empty() {
                let compiler = compiler(variable, usual, target)?;
                return compile(&compiler, &sources, debug, &self.code, place);
            }
        }
        let message = format!("{} has neither a crate nor code in C or C++", self.code.display());
        let help = "it needs a `Cargo.toml`, or files such as `toolset.c` and `toolset.cpp`; copy a \
                    library in another language to its place and trust it";
        Err(Error::new(ErrorCode::NotFound, message, help).into())
    }

    /// Copies a library to the place where the skill expects it. A host that has the old library open
    /// keeps using that.
    fn copy(&self, built: &Path, target: Option<&str>, skill: &Path) -> anyhow::Result<PathBuf> {
        let (dir, name) = self.path.rsplit_once('/').unwrap_or(("", &self.path));
        let (prefix, suffix) = affixes(target.unwrap_or(TARGET));
        let file = format!("{prefix}{}{suffix}", name.replace('-', "_"));
        let dir = skill.join(dir);
        let of_target = |target: &str| dir.join(target);
        let dir = match target {
            Some(target) => of_target(target),
            // A library in the directory of this target is found first, so that is the one to
            // replace.
            None if of_target(TARGET).join(&file).exists() => of_target(TARGET),
            None => dir,
        };
        let failed = |error: std::io::Error| {
            let message = format!("cannot write {}: {error}", dir.join(&file).display());
            Error::new(ErrorCode::ExecutionError, message, "check the directory's permissions")
        };
        fs::create_dir_all(&dir).map_err(failed)?;
        let new = tempfile::NamedTempFile::new_in(&dir).map_err(failed)?;
        fs::copy(built, new.path()).map_err(failed)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(new.path(), mode).map_err(failed)?;
        }
        let path = dir.join(&file);
        new.persist(&path).map_err(|error| failed(error.error))?;
        Ok(path)
    }
}

/// Returns the prefix and the suffix of the names of libraries for a target.
fn affixes(target: &str) -> (&'static str, &'static str) {
    if target.contains("windows") {
        ("", ".dll")
    } else if target.contains("apple") {
        ("lib", ".dylib")
    } else {
        ("lib", ".so")
    }
}

/// Builds a crate, and returns its library.
fn cargo(krate: &Path, target: Option<&str>, debug: bool) -> anyhow::Result<PathBuf> {
    let manifest = krate.join("Cargo.toml");
    let mut command = Command::new(cargo_help::program());
    command.args(["build", "--lib", "--message-format=json-render-diagnostics"]);
    command.arg("--manifest-path").arg(&manifest);
    if !debug {
        command.args(["--release", "--config", "profile.release.strip=true"]);
    }
    if let Some(target) = target {
        command.args(["--target", target]);
    }
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| not_started(&command, &error))?;
    let wanted = manifest.canonicalize()?;
    let suffix = affixes(target.unwrap_or(TARGET)).1;
    let mut library = None;
    for line in child.stdout.take().into_iter().flat_map(|out| std::io::BufReader::new(out).lines())
    {
        let Ok(message) = serde_json::from_str::<Json>(&line?) else { continue };
        let of = message["manifest_path"].as_str().map(Path::new);
        if of.and_then(|path| path.canonicalize().ok()).as_ref() != Some(&wanted) {
            continue;
        }
        let files = message["filenames"].as_array().into_iter().flatten().filter_map(Json::as_str);
        library = files.map(PathBuf::from).find(|file| is_named(file, suffix)).or(library);
    }
    let status = child.wait()?;
    if !status.success() {
        let help = cargo_help::of(&manifest, target);
        return Err(failed(&command, status, krate, help).into());
    }
    library.ok_or_else(|| {
        let message = format!("{} builds no library", manifest.display());
        let help = match target.unwrap_or(TARGET) {
            target if target.contains("musl") => {
                "programs for musl are linked statically, and load no libraries: build for a target \
                 that ends in `-gnu`"
            }
            _ => "write `crate-type = [\"cdylib\"]` in its `[lib]`",
        };
        Error::new(ErrorCode::ExecutionError, message, help).into()
    })
}

fn is_named(file: &Path, suffix: &str) -> bool {
    file.to_string_lossy().ends_with(suffix)
}

/// Returns the files of a directory, and of `src` in it, that have one of these extensions.
fn sources(dir: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let files =
        [dir.to_owned(), dir.join("src")].into_iter().filter_map(|dir| fs::read_dir(dir).ok());
    let files = files.flatten().filter_map(Result::ok).map(|entry| entry.path());
    let is_it = |path: &PathBuf| {
        let extension = path.extension().and_then(OsStr::to_str);
        extension.is_some_and(|extension| extensions.contains(&extension)) && path.is_file()
    };
    let mut files: Vec<PathBuf> = files.filter(is_it).collect();
    files.sort();
    files
}

/// Returns the command of a compiler. For a target other than this system, the user must name it in
/// an environment variable.
fn compiler(variable: &str, usual: &str, target: Option<&str>) -> Result<Vec<String>, Error> {
    let words = |name: &str| {
        let text = std::env::var(name).ok()?;
        Some(text.split_whitespace().map(str::to_owned).collect())
            .filter(|it: &Vec<_>| !it.is_empty())
    };
    let Some(target) = target.filter(|target| *target != TARGET) else {
        return Ok(words(variable).unwrap_or_else(|| vec![usual.to_owned()]));
    };
    let name = format!("{variable}_{}", target.replace('-', "_"));
    words(&name).ok_or_else(|| {
        let message = format!("no compiler for {target} is named in the variable `{name}`");
        let help = format!("set it, as in `{name}=\"zig cc -target …\"`, or build on that system");
        Error::new(ErrorCode::NotFound, message, help)
    })
}

/// Compiles code in C or C++ to a library.
fn compile(
    compiler: &[String],
    sources: &[PathBuf],
    debug: bool,
    code: &Path,
    place: &Path,
) -> anyhow::Result<PathBuf> {
    // The compiler uses this header only if the code does not have its own.
    fs::write(place.join("repertoire.h"), C_HEADER)?;
    let library = place.join("library");
    let (program, first) = compiler.split_first().map_or(("cc", &[][..]), |(a, b)| (&**a, b));
    let mut command = Command::new(program);
    command.args(first).args(["-shared", "-fPIC", "-fvisibility=hidden"]);
    command.arg(if debug { "-O0" } else { "-O2" });
    if !debug && !cfg!(target_os = "macos") {
        command.arg("-s");
    }
    command.arg("-I").arg(code).arg("-idirafter").arg(place);
    command.arg("-o").arg(&library).args(sources);
    let ended_with = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
    let status = ended_with.map_err(|error| not_started(&command, &error))?;
    if !status.success() {
        return Err(failed(&command, status, code, "fix the errors above").into());
    }
    Ok(library)
}

fn not_started(command: &Command, error: &std::io::Error) -> Error {
    let program = command.get_program().to_string_lossy();
    let message = format!("cannot start `{program}`: {error}");
    let help = "install it, or name another one in `CARGO`, `CC` or `CXX`";
    Error::new(ErrorCode::NotFound, message, help)
}

fn failed(command: &Command, status: ExitStatus, code: &Path, help: impl Into<String>) -> Error {
    let program = command.get_program().to_string_lossy();
    let message = format!("`{program}` cannot build {}: {status}", quoted(&code.to_string_lossy()));
    Error::new(ErrorCode::ExecutionError, message, help)
}
