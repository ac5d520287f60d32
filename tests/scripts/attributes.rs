//! Modes, owners, times and extended attributes of files, which scripts change only where they may write.

use super::probes::reach::again_as_another;
use super::*;
use files::{Files, PROGRAM};

#[path = "../support/attributes.rs"]
mod files;

#[test]
fn attributes_change_only_where_a_script_may_write() {
    if !has("python3") {
        return;
    }
    for scope in [Scope::User, Scope::Project] {
        let files = Files::new();
        let mut place = Place::py(PROGRAM);
        place.owner.scope = scope;
        place.options.write = vec![files.writable.path().to_owned()];
        let script = place.root().join("scripts/a.py");
        place.store.add(&script).unwrap();
        let output = place.only(&[&files.aim().to_string()]);
        if !output.sandbox.attributes {
            return support::say("SKIPPED: this kernel has not all of Landlock and seccomp");
        }
        assert_eq!((&*output.stderr, output.exit_code), ("", Some(0)), "{output:?}");
        let is_supervised = output.stdout.contains("own: fchmod: done");
        files.assert_changed(&output.stdout, is_supervised);
    }
    let name = "attributes::attributes_change_only_where_a_script_may_write";
    again_as_another(name, support::say);
}

/// A script as people write them, which works in the directory that is the first argument.
const ORDINARY: &str = r#"set -eu
cd "$1"
echo text > a; touch -d '2001-02-03 04:05:06' a; chmod 600 a
cp -p a b; cp -a . "$TMPDIR/copy"; mv b c; install -m 640 a d; mktemp -d ./XXXXXX >&2
ln -s a link; touch -h link; mkdir deep; touch deep/x; chmod -R go-rwx deep
tar -cf t.tar ./a ./c ./link ./deep; mkdir out; tar -C out -xpf t.tar
tar -C "$TMPDIR" -xf t.tar .  2>&- || tar -C "$TMPDIR" -xf t.tar
stat -c '%a %Y' a out/a out/c "$TMPDIR/a" "$TMPDIR/copy/a"
if command -v git > /dev/null; then
  git init -q repository; cd repository; git config core.sharedRepository group
  echo x > f; chmod +x f; git add f
  git -c user.name=n -c user.email=e@example.com commit -qm first
  git clone -q . ../clone; cd ..; test -x clone/f
fi
python3 - <<'END'
import os, shutil, tempfile, zipfile, tarfile, pathlib
with tempfile.TemporaryDirectory() as d, tempfile.NamedTemporaryFile() as f, tempfile.TemporaryFile() as g:
    os.fchmod(g.fileno(), 0o600); os.fchmod(f.fileno(), 0o640)
    shutil.copy("a", d); shutil.copy2("a", d + "/b"); shutil.copytree("deep", d + "/deep")
    os.utime(d + "/b", (1, 2)); os.utime(d); os.chmod(d + "/b", 0o400)
    assert os.stat(d + "/b").st_mtime == 2
    shutil.make_archive(d + "/z", "zip", "deep"); shutil.unpack_archive(d + "/z.zip", d + "/z")
    tarfile.open("t.tar").extractall(d + "/t")
    pathlib.Path(d, "new").touch(); pathlib.Path(d, "new").touch()
END
if command -v npm > /dev/null; then
  mkdir p; cd p; printf '{"name":"p","version":"1.0.0","bin":{"p":"p.js"}}' > package.json
  printf '#!/usr/bin/env node\n' > p.js
  HOME="$TMPDIR" npm pack --silent > /dev/null; cd ..; mkdir q; cd q
  HOME="$TMPDIR" npm install --silent --offline --no-audit --no-fund ../p/p-1.0.0.tgz > /dev/null
  test -x node_modules/.bin/p; cd ..
fi
echo done
"#;

#[test]
fn ordinary_programs_keep_modes_and_times() {
    if !["python3", "tar"].into_iter().all(has) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut place = Place::sh(ORDINARY);
    place.options.write = vec![dir.path().to_owned()];
    place.options.limits.timeout = LONG;
    let run = |arg: &str| {
        let output = place.only(&[arg]);
        let kept = "600 981173106\n";
        assert_eq!(
            (&*output.stdout, output.exit_code),
            (&*format!("{}done\n", kept.repeat(5)), Some(0)),
            "{output:?}"
        );
    };
    if !place.only(&["/nowhere"]).sandbox.attributes {
        return support::say("SKIPPED: this kernel has not all of Landlock and seccomp");
    }
    run(dir.path().to_str().unwrap());
    again_as_another("attributes::ordinary_programs_keep_modes_and_times", support::say);
}

/// Hands over descriptors of a file to all calls that the supervisor makes on a duplicate.
const DESCRIPTORS: &str = r#"import array, ctypes, os, socket, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
file = os.open(sys.argv[1], os.O_RDONLY)
address = bytes([2, 0, 0, 9, 127, 0, 0, 1]) + bytes(8)
passed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file]))]
pair, other = socket.socketpair()
turning = os.dup(other.fileno())
# A pair takes no address, so nothing fills it.
for _ in range(2000):
    assert libc.sendto(other.fileno(), b"x", 1, 0, address, 16) == -1

def tries(number):
    libc.fchmod(number, 0o600)
    libc.connect(number, address, 16)
    libc.bind(number, address, 16)
    libc.listen(number, 1)
    libc.sendto(number, b"x", 1, 0, address, 16)

def swap():
    while time.time() < end:
        os.dup2(file, turning)
        os.dup2(other.fileno(), turning)

tries(file)
try:
    pair.sendmsg([b"x"], passed)
    print("passed")
except OSError:
    print("kept")
end = time.time() + 0.5
thread = threading.Thread(target=swap)
thread.start()
while time.time() < end:
    tries(turning)
thread.join()
"#;

#[test]
fn calls_of_a_script_drop_no_lock_of_its_host() {
    use rustix::fs::{FlockOperation, fcntl_lock};
    if !has("python3") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("locked");
    let file = std::fs::File::create(&path).unwrap();
    fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
    let mut place = Place::py(DESCRIPTORS);
    place.owner.scope = Scope::Project;
    place.owner.script_rights = true.into();
    place.owner.script_rights.read = vec![dir.path().to_str().unwrap().to_owned()];
    let script = place.root().join("scripts/a.py");
    let hash = repertoire::trust::ContentHash::of_file(&script).unwrap();
    place.store.add_with(&script, hash, place.owner.script_rights.clone()).unwrap();
    let output = place.only(&[path.to_str().unwrap()]);
    assert_eq!(output.stderr, "");
    if output.sandbox.network == repertoire::script::NetworkLevel::Named {
        assert_eq!(output.stdout, "kept\n");
    }
    let lock =
        "import fcntl, sys\nfcntl.lockf(open(sys.argv[1], 'a'), fcntl.LOCK_EX | fcntl.LOCK_NB)";
    let other = std::process::Command::new("python3").args(["-c", lock]).arg(&path).output();
    assert!(!other.unwrap().status.success(), "the lock is gone");
}
