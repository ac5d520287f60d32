//! The environment of a script: its variables, directories, input, and access to the system.

use std::os::unix::fs::symlink;
use std::process::Command;

use repertoire::ErrorCode;
use repertoire::script::{FilesystemLevel, NetworkLevel, ScriptIo};

use super::*;

/// Returns the lines of an output, sorted.
fn sorted(output: &ScriptOutput) -> Vec<&str> {
    let mut lines: Vec<_> = output.stdout.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn the_environment_is_cleared_but_for_the_allowlist() {
    // Leave out the variables that the shell sets itself.
    let mut place = Place::sh("env | grep -v -e ^PWD= -e ^SHLVL= -e ^_= -e ^OLDPWD=");
    place.options.environment = variables(&[
        ("SECRET_TOKEN", "secret"),
        ("LD_PRELOAD", "/evil.so"),
        ("BASH_ENV", "/evil"),
        ("API_KEY", "key"),
        ("LANG", "C.UTF-8"),
    ]);
    let names = |output: &ScriptOutput| -> Vec<String> {
        sorted(output).iter().map(|line| line.split('=').next().unwrap().to_owned()).collect()
    };
    let basic = [
        "HOME",
        "LANG",
        "PATH",
        "PYTHONDONTWRITEBYTECODE",
        "PYTHONPYCACHEPREFIX",
        "SKILL_DIR",
        "TMPDIR",
    ];
    let output = place.only(&[]);
    assert_eq!(names(&output), basic);
    let page = include_str!("../../docs/scripts.md");
    for name in basic {
        assert!(page.contains(&format!("`{name}`")), "docs/scripts.md does not tell of {name}");
    }
    assert!(output.stdout.contains(&format!("SKILL_DIR={}\n", place.root().display())));

    place.options.skill_env = [
        (SkillId::new("tried"), vec!["API_KEY".to_owned(), "NOT_SET".to_owned()]),
        (SkillId::new("other"), vec!["SECRET_TOKEN".to_owned()]),
    ]
    .into();
    let output = place.only(&[]);
    assert_eq!(names(&output), [&["API_KEY"], &basic[..]].concat());
    assert!(output.stdout.contains("API_KEY=key\n"));
}

#[test]
fn programs_are_not_looked_for_in_the_skill() {
    let mut place =
        Place::with(&[("scripts/a.sh", "#!/usr/bin/env tool\n"), ("tool", "#!/bin/sh\n")]);
    let tool = place.root().join("tool");
    std::fs::set_permissions(&tool, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    place.options.environment = variables(&[("PATH", ".::bin:/usr/bin:/bin")]);
    let error = place.run("a.sh", &[]).unwrap_err();
    assert_eq!(error.code(), ErrorCode::ExecutionError);
    place.write("scripts/a.sh", "#!/bin/sh\necho $PATH; tool");
    let output = place.only(&[]);
    assert_eq!((&*output.stdout, output.exit_code), ("/usr/bin:/bin\n", Some(127)));
}

#[test]
fn the_working_directory_is_that_of_the_skill() {
    let place = Place::sh("pwd; cat references/a.md; cat \"$(dirname \"$0\")/../references/a.md\"");
    place.write("references/a.md", "text\n");
    let output = place.only(&[]);
    assert_eq!(output.stdout, format!("{}\ntext\ntext\n", place.root().display()));
    // The same holds if a link leads to the directory.
    let mut linked = Place::sh("pwd");
    let link = linked.dir.path().join("link");
    symlink(linked.root(), &link).unwrap();
    let real = std::mem::replace(&mut linked.owner.dir, link);
    let output = linked.run("a.sh", &[]).unwrap();
    assert_eq!(output.stdout, format!("{}\n", real.display()));
}

#[test]
fn standard_input_is_empty_unless_given() {
    let place = Place::sh("wc -c; echo read");
    assert_eq!(place.only(&[]).stdout.split_whitespace().collect::<Vec<_>>(), ["0", "read"]);
    for (script, input) in
        [("wc -c", vec![b'x'; 3_000_000]), ("exec <&-; echo 3000000", vec![0; 9])]
    {
        let io = ScriptIo { stdin: &input, ..ScriptIo::default() };
        let output = Place::sh(script).run_with("a.sh", &[], io).unwrap();
        assert_eq!(output.stdout.trim(), "3000000");
    }
    let io = ScriptIo { stdin: b"a\0b\nc", ..ScriptIo::default() };
    assert_eq!(Place::sh("cat").run_with("a.sh", &[], io).unwrap().stdout, "a\0b\nc");
}

#[test]
fn arguments_arrive_as_they_are() {
    let place = Place::sh("for arg; do printf '[%s]' \"$arg\"; done");
    place.write("x1", "");
    let args = [
        "$(touch hacked)", "`touch hacked`", "; touch hacked", "&& touch hacked", "| touch hacked",
        "> hacked", "*", "x?", "~", "$HOME", "{a,b}", "", " two  blanks ", "-n", "--", "new\nline",
        "'", "\"", "\\", "ünï使",
    ];
    let output = place.only(&args);
    let expected = format!("[{}]", args.join("]["));
    assert_eq!(output.stdout, expected);
    assert!(!place.root().join("hacked").exists());
}

#[test]
fn what_is_not_utf8_is_shown_as_such() {
    let output = Place::sh("printf 'a\\377b'; printf '\\303' >&2").only(&[]);
    assert_eq!((&*output.stdout, &*output.stderr), ("a\u{fffd}b", "\u{fffd}"));
}

#[test]
fn a_script_writes_only_where_it_may() {
    let outside = tempfile::tempdir().unwrap();
    let (workspace, home) = (outside.path().join("workspace"), outside.path().join("home"));
    for dir in [&workspace, &home] {
        std::fs::create_dir(dir).unwrap();
    }
    let text = r#"
try() { "$@" 2>/dev/null && echo "did $*" || echo "could not $*"; }
try touch "$TMPDIR/new"
try mkdir -p "$TMPDIR/a/b"
try mv "$TMPDIR/new" "$TMPDIR/a/b"
try dd if=/dev/zero of=/dev/null count=1
try touch "$1/new"
try touch "$HOME/new"
try touch /tmp/repertoire-test-of-scripts
try touch new
try sh -c "echo more >>SKILL.md"
try rm SKILL.md
try mv SKILL.md "$TMPDIR"
try ln SKILL.md "$TMPDIR/linked"
try touch "$(dirname "$0")/new"
try rm "$0"
try cp /bin/true "$0"
try kill -0 "$PPID"
"#;
    let mut place = Place::sh(text);
    place.options.environment = variables(&[("HOME", home.to_str().unwrap())]);
    place.options.write = vec![workspace.clone(), outside.path().join("missing")];
    let output = place.only(&[workspace.to_str().unwrap()]);
    if output.sandbox.filesystem == FilesystemLevel::None {
        let _ = std::fs::remove_file("/tmp/repertoire-test-of-scripts");
        support::say("SKIPPED: no Landlock on this machine");
        return;
    }
    let lines: Vec<_> = output.stdout.lines().collect();
    assert_eq!(lines.len(), 16, "{output:?}");
    for (at, line) in lines.iter().enumerate() {
        let expected = if at < 5 { "did " } else { "could not " };
        assert!(line.starts_with(expected), "{line} of {output:#?}");
    }
    assert!(workspace.join("new").exists());
    assert!(place.root().join("SKILL.md").metadata().unwrap().len() > 0);
    assert!(output.is_success());
}

#[test]
fn the_level_is_told_and_this_machine_has_it_all() {
    let output = Place::sh("grep -e NoNewPrivs -e ^Seccomp: /proc/self/status").only(&[]);
    let level = output.sandbox;
    assert!(level.no_new_privs && level.contained && level.rlimits, "{level:?}");
    assert_eq!(level.network, NetworkLevel::Open);
    assert_eq!(sorted(&output), ["NoNewPrivs:\t1", "Seccomp:\t2"]);
    let json = serde_json::to_value(&output).unwrap();
    for name in ["exit_code", "stdout", "stderr", "truncated", "timed_out", "duration_ms"] {
        assert!(json.get(name).is_some_and(|value| !value.is_null()), "{name} in {json}");
    }
    // The restrictions must not apply to this process.
    let own = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    assert!(own.contains("NoNewPrivs:\t0"), "{own}");
    let ran = Command::new("setsid").arg("true").status();
    assert!(ran.is_err() || ran.unwrap().success());
}

#[test]
fn the_network_can_be_closed() {
    if !has("python3") {
        return;
    }
    let text = "
import socket
for family, kind in [(socket.AF_INET, socket.SOCK_STREAM), (socket.AF_INET, socket.SOCK_DGRAM),
                     (socket.AF_INET6, socket.SOCK_STREAM), (socket.AF_UNIX, socket.SOCK_STREAM)]:
    try:
        socket.socket(family, kind).close()
        print('open')
    except OSError as error:
        print('closed')
";
    let mut place = Place::py(text);
    assert!(place.only(&[]).stdout.starts_with("open\nopen\n"));
    place.options.network = false;
    let output = place.only(&[]);
    assert_eq!(output.stdout, "closed\nclosed\nclosed\nclosed\n");
    assert_eq!(output.sandbox.network, NetworkLevel::All);
}

#[test]
fn nothing_is_left_on_disk() {
    let scratch = tempfile::tempdir().unwrap();
    let mut place =
        Place::sh("touch $TMPDIR/x; mkdir $TMPDIR/y; chmod 0 $TMPDIR/y; echo $TMPDIR $0");
    place.options.scratch = Some(scratch.path().to_owned());
    let output = place.only(&[]);
    assert!(output.stdout.starts_with(scratch.path().to_str().unwrap()), "{output:?}");
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
    // No files remain in the skill or in the targets of its links either.
    assert_eq!(std::fs::read_dir(place.root()).unwrap().count(), 2);
}

/// As root, everything can be removed, so that it is tried as another user, too.
#[test]
fn what_a_script_closes_or_nests_is_removed() {
    for text in [
        "mkdir -p $TMPDIR/a/b/c; touch $TMPDIR/a/b/c/f; chmod 0 $TMPDIR/a/b/c $TMPDIR/a/b $TMPDIR/a $TMPDIR",
        "mkdir -p $TMPDIR/a/b; touch $TMPDIR/a/b/f; chmod 500 $TMPDIR/a/b; chmod 300 $TMPDIR/a",
        "cd $TMPDIR; name=$(printf '%0200d' 0)\nfor i in $(seq 60); do mkdir $name; cd -P $name || exit 1; done
: >f; mkdir -m 0 closed",
    ] {
        let scratch = tempfile::tempdir().unwrap();
        let mut place = Place::sh(text);
        place.options.scratch = Some(scratch.path().to_owned());
        let output = place.only(&[]);
        assert_eq!(output.stderr, "", "{text}");
        assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0, "{text}");
    }
    let name = "surroundings::what_a_script_closes_or_nests_is_removed";
    probes::reach::again_as_another(name, support::say);
}

#[test]
fn a_scratch_directory_that_is_not_there_is_an_error() {
    let mut place = Place::sh("true");
    place.options.scratch = Some("/no/such/place".into());
    let error = place.run("a.sh", &[]).unwrap_err();
    assert_eq!(error.code(), ErrorCode::ExecutionError);
    assert!(error.message().contains("scripts/a.sh"), "{error}");
}

#[test]
fn a_script_cannot_type_into_a_terminal() {
    if !has("python3") {
        return;
    }
    let text = "
import ctypes, errno
ioctl = ctypes.CDLL(None, use_errno=True).ioctl
ioctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_char_p]
# Also with an upper half that the kernel does not read; the last one asks for a size.
for request in [0x5412, 0x7_0000_5412, 0x541c, 0x5413]:
    print(ioctl(0, request, bytes(8)), errno.errorcode[ctypes.get_errno()])
";
    let output = Place::py(text).only(&[]);
    assert_eq!(output.stdout, "-1 EPERM\n-1 EPERM\n-1 EPERM\n-1 ENOTTY\n", "{output:?}");
}

#[test]
fn what_the_host_inherited_open_is_not_passed_on() {
    let outside = tempfile::NamedTempFile::new().unwrap();
    // A file that is open for every program that this process starts, as after `exec 7>file` in a
    // shell.
    let inherited = rustix::io::dup(outside.as_file()).unwrap();
    assert!(rustix::io::fcntl_getfd(&inherited).unwrap().is_empty());
    let output = Place::sh("ls -l /proc/self/fd").only(&[]);
    assert!(output.stdout.contains(" 2 -> "), "{output:?}");
    assert!(!output.stdout.contains(outside.path().to_str().unwrap()), "{output:?}");
}

#[test]
fn attributes_are_as_open_as_the_level_says_since_ordinary_programs_need_them() {
    let ordinary = "cd $TMPDIR; set -e; touch -d 2001-01-01 a; cp -p a b; mkdir c; tar -cf t a b; \
                    tar -xf t -C c; chmod 700 c/a; ls c";
    let output = Place::sh(ordinary).only(&[]);
    assert_eq!((&*output.stdout, output.exit_code), ("a\nb\n", Some(0)), "{output:?}");
    let outside = tempfile::NamedTempFile::new().unwrap();
    let output = Place::sh("chmod 640 \"$1\"").only(&[outside.path().to_str().unwrap()]);
    assert_ne!(output.exit_code == Some(0), output.sandbox.attributes, "{output:?}");
}

/// The variable that is set in a test that was restarted with a terminal.
const WITH_TERMINAL: &str = "REPERTOIRE_TEST_WITH_TERMINAL";

#[test]
fn a_script_has_no_terminal_even_if_its_host_has_one() {
    if !has("python3") {
        return;
    }
    if std::env::var_os(WITH_TERMINAL).is_none() {
        let name = "surroundings::a_script_has_no_terminal_even_if_its_host_has_one";
        let spawn =
            "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
        let mut command = Command::new("python3");
        command.args(["-c", spawn]).arg(std::env::current_exe().unwrap());
        command.args(["--exact", name, "--nocapture"]).env(WITH_TERMINAL, "1");
        let output = command.stdin(std::process::Stdio::null()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
        return;
    }
    let terminal = std::fs::read_link("/proc/self/fd/1").unwrap();
    assert!(terminal.starts_with("/dev/pts"), "{terminal:?}");
    std::fs::File::open("/dev/tty").unwrap();
    let text = "
import os, sys
print(os.getsid(0) == os.getpid() == os.getpgrp())
for path in ['/dev/tty', sys.argv[1], '/dev/console', '/dev/ptmx']:
    for flags in [os.O_RDONLY, os.O_WRONLY, os.O_RDWR]:
        try:
            terminal = os.open(path, flags)
            print(path, 'is open')
            os.tcsetpgrp(terminal, os.getpgrp())
        except OSError as error:
            print('closed' if error.errno in (1, 6, 13, 2) else error)
";
    let output = Place::py(text).only(&[terminal.to_str().unwrap()]);
    assert_eq!(output.stdout, format!("True\n{}", "closed\n".repeat(12)), "{output:?}");
    assert!(output.sandbox.terminal, "{output:?}");
}

#[test]
fn what_a_host_hides_cannot_be_read_or_locked() {
    if !has("python3") {
        return;
    }
    let outside = tempfile::tempdir().unwrap();
    let state = outside.path().join("state/records");
    std::fs::create_dir_all(&state).unwrap();
    std::fs::write(state.join("sessions"), "hidden").unwrap();
    std::fs::write(outside.path().join("state/open"), "open").unwrap();
    symlink(&state, outside.path().join("link")).unwrap();
    let text = "
import fcntl, os, sys
for name in ['state/open', 'state/records/sessions', 'link/sessions']:
    try:
        file = open(os.path.join(sys.argv[1], name))
        fcntl.flock(file, fcntl.LOCK_SH)
        print(file.read())
    except PermissionError:
        print('closed')
";
    let mut place = Place::py(text);
    place.options.hidden = vec![outside.path().join("link"), "/no/such/path".into()];
    let output = place.only(&[outside.path().to_str().unwrap()]);
    assert_eq!(output.stdout, "open\nclosed\nclosed\n", "{output:?}");
}
