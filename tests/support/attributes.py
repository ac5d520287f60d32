"""Changes what the system keeps about files: each system call that does, with each way to name a file. Prints a
line for each try: `FILE: CALL: done` or `FILE: CALL: ERROR`.

The first argument is JSON with the files; see `attributes.rs` in this directory."""

import ctypes
import errno
import json
import os
import struct
import sys
import threading
import time

aim, scratch = json.loads(sys.argv[1]), os.environ["TMPDIR"]
HERE, NOFOLLOW, EMPTY = -100, 0x100, 0x1000
NAME, VALUE = b"user.tried", b"value"
TIMES = struct.pack("qqqq", 86400, 0, 86400, 0)
USER, GROUP = os.getuid(), os.getgid()

# Calls that take a path, by whether they follow a link at its end.
following = {
    "fchmodat": lambda path: call(268, 53, HERE, path, 0o640),
    "fchmodat2": lambda path: call(452, 452, HERE, path, 0o640, 0),
    "fchownat": lambda path: call(260, 54, HERE, path, USER, GROUP, 0),
    "utimensat": lambda path: call(280, 88, HERE, path, TIMES, 0),
    "utimensat now": lambda path: call(280, 88, HERE, path, 0, 0),
    "setxattr": lambda path: call(188, 5, path, NAME, VALUE, len(VALUE), 0),
    "removexattr": lambda path: call(197, 14, path, NAME),
}
staying = {
    "fchmodat2 of a link": lambda path: call(452, 452, HERE, path, 0o640, NOFOLLOW),
    "fchownat of a link": lambda path: call(260, 54, HERE, path, USER, GROUP, NOFOLLOW),
    "utimensat of a link": lambda path: call(280, 88, HERE, path, TIMES, NOFOLLOW),
    "lsetxattr": lambda path: call(189, 6, path, NAME, VALUE, len(VALUE), 0),
    "lremovexattr": lambda path: call(198, 15, path, NAME),
}
if X86:
    following |= {
        "chmod": lambda path: call(90, 0, path, 0o640),
        "chown": lambda path: call(92, 0, path, USER, GROUP),
        "futimesat": lambda path: call(261, 0, HERE, path, TIMES),
        "utime": lambda path: call(132, 0, path, TIMES),
        "utimes": lambda path: call(235, 0, path, TIMES),
    }
    staying["lchown"] = lambda path: call(94, 0, path, USER, GROUP)
# Calls that take a descriptor.
opened = {
    "fchmod": lambda file: call(91, 52, file, 0o640),
    "fchmodat2 of a descriptor": lambda file: call(452, 452, file, b"", 0o640, EMPTY),
    "fchown": lambda file: call(93, 55, file, USER, GROUP),
    "fchownat of a descriptor": lambda file: call(260, 54, file, b"", USER, GROUP, EMPTY),
    "utimensat of a descriptor": lambda file: call(280, 88, file, 0, TIMES, 0),
    "fsetxattr": lambda file: call(190, 7, file, NAME, VALUE, len(VALUE), 0),
    "fremovexattr": lambda file: call(199, 16, file, NAME),
}


def tried(file, name, attempt, *args):
    try:
        attempt(*args)
        print(f"{file}: {name}: done")
    except OSError as error:
        print(f"{file}: {name}: {errno.errorcode[error.errno]}")


def descriptor(path):
    """Opens a file for reading or, where that is not allowed, as a mere path."""
    try:
        return os.open(path, os.O_RDONLY)
    except OSError:
        return os.open(path, os.O_PATH)


def named(file, path):
    """Returns the ways to name a file."""
    directory, base = os.path.split(path)
    links = os.path.join(scratch, f"to-{file}")
    os.makedirs(links)
    os.symlink(path, os.path.join(links, "link"))
    os.symlink(directory, os.path.join(links, "directory"))
    number = descriptor(path)
    up = os.path.join(scratch, *[".."] * scratch.count("/"), path.lstrip("/"))
    yield "a path", path
    yield "a path with dots", up
    yield "a relative path", os.path.relpath(path)
    yield "a path through a directory that is a link", os.path.join(links, "directory", base)
    yield "a link", os.path.join(links, "link")
    yield "a descriptor's path", f"/proc/self/fd/{number}"
    yield "a descriptor's path by number", f"/proc/{os.getpid()}/fd/{number}"
    yield "a descriptor's device", f"/dev/fd/{number}"


for file, path in {"own": os.path.join(scratch, "file"), **aim}.items():
    if file == "own":
        open(path, "w").close()
    for name, attempt in opened.items():
        tried(file, name, attempt, descriptor(path))
    for way, other in named(file, path):
        for name, attempt in following.items():
            tried(file, f"{name} by {way}", attempt, other.encode())
        if way.startswith("a path") or way.startswith("a relative"):
            for name, attempt in staying.items():
                tried(file, f"{name} by {way}", attempt, other.encode())
    base, name = descriptor(os.path.dirname(path)), os.path.basename(path).encode()
    tried(file, "fchmodat in a directory", call, 268, 53, base, name, 0o640)
    tried(file, "fchmodat2 in a directory", call, 452, 452, base, name, 0o640, 0)
    tried(file, "fchownat in a directory", call, 260, 54, base, name, USER, GROUP, 0)
    tried(file, "utimensat in a directory", call, 280, 88, base, name, TIMES, 0)
# The rights of the owner are not for whoever starts a file.
os.chmod(os.path.join(scratch, "file"), 0o755)
tried("foreign", "chmod to a program of its owner", os.chmod, os.path.join(scratch, "file"), 0o4755)
tried("foreign", "chmod to a program of its group", os.chmod, os.path.join(scratch, "file"), 0o2755)

def made(flags, *name):
    path = os.path.join(scratch, *name)
    file = os.open(path, flags | os.O_WRONLY, 0o6755)
    assert os.fstat(file).st_mode & 0o6000, "it was made without these rights"


tried("foreign", "open of a program of its owner", made, os.O_CREAT, "program")
tried("foreign", "open of a nameless program of its owner", made, os.O_TMPFILE)
tried("foreign", "mknod of a program of its owner", os.mknod, os.path.join(scratch, "node"), 0o104755)

# Links, directories and the text of a path that others change while a call is made.
swapped, end = os.path.join(scratch, "swapped"), time.time() + 0.5
os.makedirs(swapped)
own, foreign = os.path.join(swapped, "own"), aim["foreign"]
open(own, "w").close()
text = ctypes.create_string_buffer(4096)
directories = [os.path.dirname(own), os.path.dirname(foreign)]


def swap():
    turn = 0
    while time.time() < end:
        turn += 1
        new = os.path.join(swapped, f"new{turn % 2}")
        os.symlink([own, foreign][turn % 2], new)
        os.replace(new, os.path.join(swapped, "link"))
        text.value = [own, foreign][turn % 2].encode()


def turn_around():
    while time.time() < end:
        for directory in directories:
            os.chdir(directory)


swapping = [threading.Thread(target=swap), threading.Thread(target=turn_around)]
for thread in swapping:
    thread.start()
done = 0
while time.time() < end:
    for path in [os.path.join(swapped, "link").encode(), text, b"file", b"own"]:
        for attempt in following["fchmodat"], following["utimensat"]:
            try:
                attempt(path)
                done += 1
            except OSError:
                pass
for thread in swapping:
    thread.join()
print(f"own: calls during swaps: {'done' if done else 'EPERM'}")
