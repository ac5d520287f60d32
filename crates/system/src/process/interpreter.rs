//! Finds the interpreter of a script: the one that its first line names, or else one for its extension.
//! A shell is never given a command line to split.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The most bytes of a first line, as on Linux.
const MAX_LINE: usize = 256;

/// The directories of programs when the environment has no `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The first version of Node.js that runs TypeScript directly.
const NODE_WITH_TYPES: (u32, u32) = (22, 18);

/// The interpreter of a script, or the script itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Runner {
    /// The script is itself a program of this system.
    Itself,
    /// An interpreter, with these arguments before the path of the script.
    Program {
        /// The interpreter.
        path: PathBuf,
        /// Its arguments.
        args: Vec<String>,
    },
}

/// The reason why no program can run a script, and the remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoRunner {
    /// The reason, in a phrase.
    pub why: String,
    /// The remedy, in a phrase.
    pub help: String,
}

/// The means by which interpreters are found.
pub struct Search<'a> {
    /// The `PATH` that the script gets.
    pub path: &'a OsStr,
    /// Returns the major and the minor version of a Node.js.
    pub node_version: &'a dyn Fn(&Path) -> Option<(u32, u32)>,
}

/// The interpreters of an extension, the best first, with their arguments.
fn candidates(extension: &str) -> &'static [(&'static str, &'static [&'static str])] {
    match extension {
        "sh" => &[("bash", &[]), ("sh", &[])],
        "bash" => &[("bash", &[])],
        "py" => &[("python3", &[]), ("python", &[])],
        "js" | "mjs" | "cjs" => {
            &[("node", &[]), ("bun", &["run"]), ("deno", &["run", "--allow-all"])]
        }
        "ts" | "mts" | "cts" => {
            &[("bun", &["run"]), ("deno", &["run", "--allow-all"]), ("tsx", &[]), ("node", &[])]
        }
        "rb" => &[("ruby", &[])],
        "ps1" => &[("pwsh", &["-NoProfile", "-File"])],
        _ => &[],
    }
}

impl Search<'_> {
    /// Finds the interpreter of the script at `path`, which starts with `head`.
    pub fn runner(&self, path: &str, head: &[u8], is_executable: bool) -> Result<Runner, NoRunner> {
        let head = without_byte_order_mark(head);
        if let Some(line) = head.strip_prefix(b"#!") {
            return self.by_first_line(line);
        }
        if is_program(head) {
            if is_executable {
                return Ok(Runner::Itself);
            }
            let why = "is a program, but not marked as executable".to_owned();
            return Err(NoRunner { why, help: format!("run `chmod +x {path}` in the skill") });
        }
        self.by_extension(&extension(path))
    }

    fn by_first_line(&self, line: &[u8]) -> Result<Runner, NoRunner> {
        let end = line.iter().position(|byte| *byte == b'\n').unwrap_or(line.len());
        let refuse = |why: &str| {
            let help = "write the first line as in `#!/usr/bin/env python3`".to_owned();
            Err(NoRunner { why: format!("has a first line that {why}"), help })
        };
        if end > MAX_LINE {
            return refuse("is over 256 bytes");
        }
        let Ok(line) = std::str::from_utf8(&line[..end]) else { return refuse("is not UTF-8") };
        if line.contains('\0') {
            return refuse("has a NUL byte");
        }
        let line = line.trim();
        let (program, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim_start();
        if program.is_empty() {
            return refuse("names no interpreter");
        }
        let name = Path::new(program).file_name().unwrap_or_default();
        if name == "env" {
            let rest = rest.strip_prefix("-S").unwrap_or(rest);
            let mut words = rest.split_whitespace();
            let Some(program) = words.next() else { return refuse("names no interpreter") };
            if rest.contains(['\'', '"', '\\', '$', '=']) || program.starts_with('-') {
                return refuse("asks `env` for more than a program and plain arguments");
            }
            return self.program(program.as_ref(), words.map(str::to_owned).collect());
        }
        let args = Some(rest).filter(|rest| !rest.is_empty()).map(str::to_owned);
        if Path::new(program).is_absolute() && Path::new(program).exists() {
            if !is_program_file(Path::new(program)) {
                return refuse(&format!(
                    "names `{program}`, which is not a program that can be run"
                ));
            }
            return Ok(Runner::Program { path: program.into(), args: args.into_iter().collect() });
        }
        if program.contains('/') && !Path::new(program).is_absolute() {
            return refuse("names an interpreter by a relative path");
        }
        // Some systems keep interpreters such as `bash` elsewhere, so search the `PATH` by name.
        self.program(name, args.into_iter().collect())
    }

    fn by_extension(&self, extension: &str) -> Result<Runner, NoRunner> {
        let candidates = candidates(extension);
        for (name, args) in candidates {
            let args = args.iter().map(|arg| (*arg).to_owned()).collect();
            let Ok(Runner::Program { path, args }) = self.program(name.as_ref(), args) else {
                continue;
            };
            let is_old = *name == "node"
                && extension.ends_with("ts")
                && (self.node_version)(&path).is_none_or(|version| version < NODE_WITH_TYPES);
            if !is_old {
                return Ok(Runner::Program { path, args });
            }
        }
        if candidates.is_empty() {
            let why = "has no first line such as `#!/usr/bin/env bash`, and no extension that says \
                       what runs it";
            let help = "write such a line; or, if it is not a script, keep it out of `scripts`";
            return Err(NoRunner { why: why.to_owned(), help: help.to_owned() });
        }
        let names: Vec<_> = candidates.iter().map(|(name, _)| format!("`{name}`")).collect();
        let of_types = if extension.ends_with("ts") { " (22.18 or later)" } else { "" };
        let names = format!("{}{of_types}", names.join(" or "));
        Err(NoRunner {
            why: format!("needs {names}, and it is not on the PATH"),
            help: format!("install {names}"),
        })
    }

    fn program(&self, name: &OsStr, args: Vec<String>) -> Result<Runner, NoRunner> {
        let found = which::which_in(name, Some(self.path), "/");
        found.map(|path| Runner::Program { path, args }).map_err(|_| {
            let name = name.to_string_lossy();
            let why = format!("needs `{name}`, and it is not on the PATH");
            NoRunner { why, help: format!("install `{name}`") }
        })
    }
}

/// Returns true if the extension or the beginning of a file marks it as a script or a program.
pub fn is_marked(path: &str, head: &[u8]) -> bool {
    let head = without_byte_order_mark(head);
    head.starts_with(b"#!") || is_program(head) || !candidates(&extension(path)).is_empty()
}

fn without_byte_order_mark(head: &[u8]) -> &[u8] {
    head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head)
}

fn extension(path: &str) -> String {
    let extension = Path::new(path).extension().and_then(OsStr::to_str).unwrap_or_default();
    extension.to_ascii_lowercase()
}

/// Returns true if `path` is a file that this user may run.
fn is_program_file(path: &Path) -> bool {
    #[cfg(unix)]
    let may_run = rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok();
    #[cfg(not(unix))]
    let may_run = true;
    path.is_file() && may_run
}

/// Returns the absolute entries of `path`, a `PATH`, or the usual directories if there is none. In a
/// skill's directory, relative entries would find files of the skill.
pub fn search_path(path: Option<OsString>) -> OsString {
    let path = path.unwrap_or_else(|| DEFAULT_PATH.into());
    let absolute = std::env::split_paths(&path).filter(|dir| dir.is_absolute());
    std::env::join_paths(absolute).unwrap_or_default()
}

/// Returns true if a file that starts with `head` is a program for this kind of system.
fn is_program(head: &[u8]) -> bool {
    let magics: &[&[u8]] = if cfg!(target_vendor = "apple") {
        &[b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"]
    } else {
        &[b"\x7fELF"]
    };
    magics.iter().any(|magic| head.starts_with(magic))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn place(names: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for name in names {
            let path = dir.path().join(name);
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        dir
    }

    fn shown(found: Result<Runner, NoRunner>) -> String {
        match found {
            Ok(Runner::Itself) => "itself".to_owned(),
            Ok(Runner::Program { path, args }) => {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                [vec![name], args].concat().join(" ")
            }
            Err(NoRunner { why, .. }) => format!("it {why}"),
        }
    }

    #[test]
    fn the_first_line_decides_then_the_extension() {
        let bin = place(&["python3", "bash", "sh", "deno", "node", "ruby", "pwsh", "env", "awk"]);
        let cases: [(&str, &[u8], &str); 25] = [
            ("a.sh", b"#!/usr/bin/env python3\n", "python3"),
            ("a", b"#!/usr/bin/env -S deno run --allow-net\n", "deno run --allow-net"),
            ("a", b"#!/usr/bin/env python3 -u\r\n", "python3 -u"),
            ("a", b"\xef\xbb\xbf#! /usr/bin/env bash", "bash"),
            ("a", b"#!/no/such/place/awk -f -v\n", "awk -f -v"),
            ("a", b"#!awk\n", "awk"),
            ("a", b"#!/usr/bin/env\n", "it has a first line that names no interpreter"),
            ("a", b"#!\n", "it has a first line that names no interpreter"),
            (
                "a",
                b"#!bin/awk\n",
                "it has a first line that names an interpreter by a relative path",
            ),
            (
                "a",
                b"#!/usr/bin/env -S X=1 bash\n",
                "it has a first line that asks `env` for more than a program and plain arguments",
            ),
            (
                "a",
                b"#!/usr/bin/env -i bash\n",
                "it has a first line that asks `env` for more than a program and plain arguments",
            ),
            ("a", b"#!\xff\n", "it has a first line that is not UTF-8"),
            ("a", b"#!/bin/sh\0\n", "it has a first line that has a NUL byte"),
            (
                "a",
                b"#!/etc/passwd\n",
                "it has a first line that names `/etc/passwd`, which is not a program that can be run",
            ),
            (
                "a",
                b"#!/etc -x\n",
                "it has a first line that names `/etc`, which is not a program that can be run",
            ),
            ("a", b"#!/usr/bin/env perl6\n", "it needs `perl6`, and it is not on the PATH"),
            ("a.sh", b"echo", "bash"),
            ("a.bash", b"echo", "bash"),
            ("a.PY", b"print()", "python3"),
            ("a.mjs", b"1", "node"),
            ("a.ts", b"1", "deno run --allow-all"),
            ("a.rb", b"1", "ruby"),
            ("a.ps1", b"1", "pwsh -NoProfile -File"),
            (
                "a.md",
                b"# text",
                "it has no first line such as `#!/usr/bin/env bash`, and no extension that says what runs it",
            ),
            (
                "a",
                b"",
                "it has no first line such as `#!/usr/bin/env bash`, and no extension that says what runs it",
            ),
        ];
        let search = Search { path: bin.path().as_os_str(), node_version: &|_| None };
        for (path, head, expected) in cases {
            assert_eq!(shown(search.runner(path, head, false)), expected, "{path} {head:?}");
        }
        if cfg!(target_os = "linux") {
            assert_eq!(shown(search.runner("a", b"\x7fELF\x02", true)), "itself");
            let refused = shown(search.runner("a", b"\x7fELF\x02", false));
            assert_eq!(refused, "it is a program, but not marked as executable");
        }
    }

    #[test]
    fn typescript_needs_a_node_that_knows_it() {
        let bin = place(&["node"]);
        for (version, expected) in [
            (Some((22, 18)), "node"),
            (Some((24, 0)), "node"),
            (Some((22, 17)), "it needs"),
            (None, "it needs"),
        ] {
            let search = Search { path: bin.path().as_os_str(), node_version: &|_| version };
            let found = shown(search.runner("a.ts", b"", false));
            assert!(found.starts_with(expected), "{version:?}: {found}");
        }
    }

    #[test]
    fn nothing_is_found_in_the_skill_by_a_relative_path() {
        let kept = search_path(Some("/bin:.::bin:/usr/bin".into()));
        assert_eq!(kept, "/bin:/usr/bin");
    }
}
