//! Limits on a script together with all that it started, as root and as another user.

use super::*;

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
