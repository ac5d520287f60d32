"""Tries to break out of a sandbox. Prints a line for each try: `name: closed (ERROR)` or `name: THROUGH`.

The first argument is JSON with the targets to reach; see `probes.rs` in this directory."""

import ctypes
import fcntl
import json
import os
import signal
import socket
import sys

aim = json.loads(sys.argv[1])
host, victim, outside, scratch = aim["host"], aim["victim"], aim["outside"], os.environ["TMPDIR"]
file = os.path.join(outside, "file")
# List the inherited files before this program opens any.
inherited = []
for number in range(3, 512):
    try:
        inherited.append(os.readlink(f"/proc/self/fd/{number}") if os.fstat(number) else "")
    except OSError:
        pass


def connect(family, kind, address):
    with socket.socket(family, kind) as made:
        made.settimeout(5)
        made.connect(address)
        made.send(b"x")


def bind(family, kind, address):
    with socket.socket(family, kind) as made:
        made.bind(address)


def make(family, kind, protocol=0):
    socket.socket(family, kind, protocol).close()


def datagram_pair():
    one, _other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendto(b"x", aim["datagrams"])


def write_through_link():
    link = os.path.join(scratch, "link")
    os.symlink(file, link)
    open(link, "a").close()


def read_from(path):
    with open(path, "rb") as opened:
        assert opened.read(16), "empty"


def memory_of(process):
    with open(f"/proc/{process}/mem", "rb") as memory:
        memory.seek(0x400000)
        memory.read(1)


def descriptors_of(process):
    for number in os.listdir(f"/proc/{process}/fd"):
        os.readlink(f"/proc/{process}/fd/{number}")


def vectors_of(process):
    class Part(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    here = ctypes.create_string_buffer(8)
    local, remote = Part(ctypes.addressof(here), 8), Part(aim["address"], 8)
    call(310, 270, process, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)


def limit(process):
    one = (ctypes.c_ulong * 2)(1, 1)
    call(302, 261, process, 7, ctypes.byref(one), None)


def root_in_a_namespace():
    call(272, 97, 0x10000000)


def chroot_in_a_namespace():
    root_in_a_namespace()
    os.chroot("/")


def clone_into_a_namespace():
    child = call(56, 220, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def secrets():
    found = [name for name in ("CARGO_MANIFEST_DIR", "PROBE_SECRET") if name in os.environ]
    if not found:
        raise OSError("none is there")


def open_files():
    # The interpreter may hold the program itself open.
    if not [path for path in inherited if not path.endswith("probes.py")]:
        raise OSError("none is there")


stream, datagram = socket.SOCK_STREAM, socket.SOCK_DGRAM
tries = {
    "write a file": lambda: open(file, "a").close(),
    "write a file through a link": write_through_link,
    "make a file": lambda: open(os.path.join(outside, "new"), "w").close(),
    "remove a file": lambda: os.remove(file),
    "move a file": lambda: os.rename(file, os.path.join(scratch, "moved")),
    "link a file": lambda: os.link(file, os.path.join(scratch, "linked")),
    "cut a file": lambda: os.truncate(file, 0),
    "make a device": lambda: os.mknod(os.path.join(scratch, "device"), 0o20600, os.makedev(1, 8)),
    "connect to a path": lambda: connect(socket.AF_UNIX, stream, aim["stream"]),
    "send to a path": lambda: connect(socket.AF_UNIX, datagram, aim["datagrams"]),
    "send to a path by a pair": datagram_pair,
    "connect to an abstract name": lambda: connect(socket.AF_UNIX, stream, "\0" + aim["abstract"]),
    "listen at a path": lambda: bind(socket.AF_UNIX, stream, os.path.join(scratch, "s")),
    "TCP": lambda: connect(socket.AF_INET, stream, ("127.0.0.1", aim["port"])),
    "TCP over IPv6": lambda: make(socket.AF_INET6, stream),
    "UDP": lambda: connect(socket.AF_INET, datagram, ("127.0.0.1", aim["port"])),
    "netlink": lambda: make(socket.AF_NETLINK, socket.SOCK_RAW),
    "raw packets": lambda: make(socket.AF_PACKET, socket.SOCK_RAW),
    "virtual machines' sockets": lambda: make(40, stream),
    "the kernel's ciphers": lambda: make(38, socket.SOCK_SEQPACKET),
    "a ring": lambda: call(425, 425, 1, ctypes.create_string_buffer(120)),
    "environment of the host": lambda: read_from(f"/proc/{host}/environ"),
    "environment of another process": lambda: read_from(f"/proc/{victim}/environ"),
    "memory of the host": lambda: memory_of(host),
    "memory of the host by vectors": lambda: vectors_of(host),
    "descriptors of the host": lambda: descriptors_of(host),
    "descriptors of another process": lambda: descriptors_of(victim),
    "a descriptor of the host": lambda: call(438, 438, os.pidfd_open(host), 0, 0),
    "trace the host": lambda: call(101, 117, 16, host, 0, 0),
    "trace another process": lambda: call(101, 117, 16, victim, 0, 0),
    "signal the host": lambda: os.kill(host, 0),
    "signal another process": lambda: os.kill(victim, signal.SIGTERM),
    "signal by a descriptor": lambda: signal.pidfd_send_signal(os.pidfd_open(victim), 15),
    "limits of another process": lambda: limit(victim),
    "priorities of all processes": lambda: os.setpriority(os.PRIO_USER, 0, 5),
    "another root directory": lambda: os.chroot(scratch),
    "root in a namespace": root_in_a_namespace,
    "root in a cloned namespace": clone_into_a_namespace,
    "another root directory in a namespace": chroot_in_a_namespace,
    "another user": lambda: os.setuid(12345),
    "the user's keys": lambda: call(250, 219, 0, -4, 1),
    "leave the group": lambda: os.setpgid(0, 0),
    "leave the session": lambda: os.setsid(),
    "secrets in the environment": secrets,
    "inherited open files": open_files,
}
# What the right to the network opens.
network = ["connect to a path", "send to a path", "send to a path by a pair", "listen at a path",
           "TCP", "TCP over IPv6", "UDP", "netlink", "virtual machines' sockets", "the kernel's ciphers"]
if not aim["network_is_closed"]:
    tries = {name: attempt for name, attempt in tries.items() if name not in network}
if aim["reads_are_closed"]:
    tries["read a file"] = lambda: read_from(file)
    tries["read users"] = lambda: read_from("/etc/passwd")

# What tells one from another process, or reaches it without a file: numbers on x86-64, and elsewhere.
tries.update({
    "shared memory of others": lambda: call(29, 194, aim["segment"], 4096, 0),
    "new shared memory": lambda: call(29, 194, 0, 4096, 0o1600),
    "messages": lambda: call(68, 186, 0, 0o1600),
    "semaphores": lambda: call(64, 190, 0, 1, 0o1600),
    "queues by name": lambda: call(240, 180, b"/probe", os.O_CREAT | os.O_RDWR, 0o600, 0),
    "memory files": lambda: os.memfd_create("probe"),
    "priority of another process": lambda: os.setpriority(os.PRIO_PROCESS, victim, 5),
    "priority of a group": lambda: os.setpriority(os.PRIO_PGRP, 0, 5),
    "idle class of another process": lambda: call(144, 119, victim, 5, ctypes.byref(ctypes.c_int())),
    "processors of another process": lambda: os.sched_setaffinity(victim, {0}),
    "disk priority of another process": lambda: call(251, 30, 1, victim, 3 << 13),
    "a lease on a file": lambda: fcntl.fcntl(os.open(scratch, os.O_RDONLY), 1024, 0),
    "the terminal": lambda: os.open("/dev/tty", os.O_RDONLY),
    "a terminal of another": lambda: os.open(aim["terminal"], os.O_RDONLY | os.O_NOCTTY),
    "a sibling instead of a child": lambda: call(56, 220, 0x8000 | signal.SIGCHLD, 0, 0, 0, 0),
})
# The kernel's table: whatever is not on the list. Numbers above the newest call are among them.
x32 = [0x40000000 | number for number in range(1024)] if X86 else []
# Kernels since 6.13 filter neither of the calls with which they themselves end a probe. From any other
# place, these calls end the process that makes them.
unfiltered = [335, 336] if X86 else []
for number in [*(n for n in range(1024) if n not in aim["calls"] + unfiltered), *x32]:
    tries[f"call {number}"] = lambda number=number: call(number, number, 0, 0, 0, 0, 0, 0)

for name, attempt in tries.items():
    try:
        attempt()
        print(f"{name}: THROUGH")
    except OSError as error:
        print(f"{name}: closed ({error})")
    except Exception as error:
        print(f"{name}: BROKEN ({error!r})")
