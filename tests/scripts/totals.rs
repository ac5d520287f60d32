//! Limits on a script together with all that it started, as root and as another user.

use super::*;

/// The first thread of a child ends, another one goes on: the process looks like one that has ended.
const LEADER: &str = "python3 -c 'import ctypes, mmap, os, threading, time
def work():
    m = mmap.mmap(-1, 300 << 20)
    for i in range(300): m.write(bytes(1 << 20))
    time.sleep(100)
if os.fork(): time.sleep(100)
threading.Thread(target=work).start()
ctypes.CDLL(None).pthread_exit(None)'";

const THREADS: &str = "python3 -c 'import threading, time
threading.stack_size(1 << 16)
for _ in range(60): threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
time.sleep(100)'";

const PIPES: &str = "for i in 1 2 3; do python3 -c 'import os, resource, time
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
kept = [os.pipe() for _ in range(1500)]
time.sleep(100)' & done; wait";

/// Removed files that no process has open: they are on their way to one.
const PASSED_ON: &str = "python3 -c 'import os, socket, tempfile, time
one, other = socket.socketpair()
for _ in range(10):
    with tempfile.TemporaryFile() as file:
        os.posix_fallocate(file.fileno(), 0, 30 << 20)
        socket.send_fds(one, [b\"x\"], [file.fileno()])
time.sleep(100)'";

/// Removed files that no process has open, but of which a page is mapped.
const MAPPED: &str = "python3 -c 'import ctypes, os, tempfile, time
libc = ctypes.CDLL(None)
for _ in range(10):
    with tempfile.TemporaryFile() as file:
        os.posix_fallocate(file.fileno(), 0, 30 << 20)
        libc.mmap(None, ctypes.c_size_t(4096), 1, 1, file.fileno(), ctypes.c_long(0))
time.sleep(100)'";

/// Files where the user who counts them may not look, unless that is root.
const CLOSED: &str = "mkdir -m 300 $TMPDIR/a; cd $TMPDIR/a
for i in 1 2 3 4 5 6 7 8; do fallocate -l 30M $i; done; sleep 100";

/// Files that no path is short enough to name.
const DEEP: &str = "python3 -c 'import os, time
os.chdir(os.environ[\"TMPDIR\"])
for _ in range(60):
    os.mkdir(200 * \"d\"); os.chdir(200 * \"d\")
for n in range(8):
    with open(str(n), \"w\") as file: os.posix_fallocate(file.fileno(), 0, 30 << 20)
time.sleep(100)'";

const EMPTY: &str = "python3 -c 'import os, time
for n in range(1000): open(os.environ[\"TMPDIR\"] + f\"/{n}\", \"w\").close()
time.sleep(100)'";

const LOCKS: &str = "python3 -c 'import fcntl, os, time
files = [open(os.environ[\"TMPDIR\"] + f\"/{n}\", \"w\") for n in range(100)]
for at in range(1100):
    for file in files: fcntl.lockf(file, fcntl.LOCK_EX, 1, 2 * at)
time.sleep(100)'";

const WATCHES: &str = "python3 -c 'import os, select, time
pipe = os.pipe()
descriptors = [os.dup(pipe[0]) for _ in range(850)]
polls = [select.epoll() for _ in range(120)]
for poll in polls:
    for descriptor in descriptors: poll.register(descriptor, 0)
time.sleep(100)'";

#[test]
fn what_a_script_takes_altogether_is_bounded() {
    let space =
        "i=0; while :; do i=$((i+1)); head -c 200000 /dev/zero >$TMPDIR/$i; sleep 0.01; done";
    let processes = "for i in $(seq 60); do sleep 100 & done; wait";
    let memory = "python3 -c 'import mmap, time
m = mmap.mmap(-1, 300 << 20)
for i in range(300): m.write(bytes(1 << 20))
time.sleep(100)'";
    let several = "for i in 1 2 3; do python3 -c 'import time; x = bytearray(90 << 20)
time.sleep(100)' & done; wait";
    let removed = "for i in 3 4 5 6 7 8 9; do eval \"exec $i>$TMPDIR/a\"; rm $TMPDIR/a
eval \"head -c 500000 /dev/zero >&$i\"; done; sleep 100";
    let sockets = "python3 -c 'import socket, time
kept = [socket.socketpair() for _ in range(300)]
time.sleep(100)'";
    let tables = "python3 -c 'import mmap, time
m = mmap.mmap(-1, 150 << 30, mmap.MAP_PRIVATE | 0x4000, mmap.PROT_READ)
for at in range(0, len(m), 2 << 20): m[at]
time.sleep(100)'";
    for (text, told) in [
        (LEADER, "more than 200000000 bytes of memory altogether"),
        (THREADS, "more than 40 processes and threads"),
        (PIPES, "more than 200000000 bytes of memory altogether"),
        (PASSED_ON, "temporary files"),
        (MAPPED, "temporary files"),
        (CLOSED, "temporary files"),
        (DEEP, "temporary files"),
        (EMPTY, "temporary files"),
        (LOCKS, "more than 100000 locks on files"),
        (WATCHES, "watched more than 100000 files"),
        (tables, "more than 200000000 bytes of memory altogether"),
        (sockets, "more than 200000000 bytes of memory altogether"),
        (space, "temporary files"),
        (removed, "temporary files"),
        (processes, "more than 40 processes"),
        (memory, "more than 200000000 bytes of memory altogether"),
        (several, "more than 200000000 bytes of memory altogether"),
    ] {
        if text.contains("python3") && !has("python3") {
            continue;
        }
        let place = Place::sh(text).limited(|limits| {
            limits.scratch_bytes = Some(2_000_000);
            limits.group_processes = Some(40);
            limits.memory = Some(200_000_000);
            limits.timeout = LONG;
        });
        let output = place.only(&[]);
        assert!(output.reason.as_ref().is_some_and(|why| why.contains(told)), "{output:?}");
        assert!(!output.timed_out && !output.is_success(), "{output:?}");
    }
    // A script within the limit runs to its end, even if it takes long.
    let place = Place::sh("head -c 1000000 /dev/zero >$TMPDIR/a; sleep 0.6; echo done");
    let output = place.limited(|limits| limits.scratch_bytes = Some(2_000_000)).only(&[]);
    assert_eq!((&*output.stdout, output.is_success()), ("done\n", true), "{output:?}");
    let name = "totals::what_a_script_takes_altogether_is_bounded";
    probes::reach::again_as_another(name, support::say);
}
