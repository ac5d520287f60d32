"""Real servers for sessions, on free ports of this machine; each ends with its test."""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

PASSWORD = "s3cret"

#: Servers refuse to run as root; this is the user `nobody` on all current systems.
NOBODY = 65534


class Server:
    """A server with the URL of its database, which can be stopped and started again."""

    def __init__(self, url: str, command: list[str], place: Path, stop: signal.Signals) -> None:
        self.url = url
        self.command = command
        self.place = place
        self.stop_signal = stop
        self.process: subprocess.Popen[Any] | None = None

    def start(self) -> None:
        path = self.place / "log"
        known = path.stat().st_size if path.exists() else 0
        with path.open("ab") as log:
            process: subprocess.Popen[Any] = subprocess.Popen(
                self.command, cwd="/", stdout=log, stderr=log, **as_nobody()
            )
        self.process = process
        deadline = time.monotonic() + 60
        # A server that listens may be starting up still.
        while b"eady to accept connections" not in path.read_bytes()[known:]:
            assert process.poll() is None and time.monotonic() < deadline, path.read_text()
            time.sleep(0.05)

    def stop(self) -> None:
        if self.process is not None:
            self.process.send_signal(self.stop_signal)
            self.process.wait(60)
            self.process = None


def as_nobody() -> dict[str, Any]:
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}


def free_port() -> int:
    """Return a port below those that the system gives to whoever asks for any."""
    while True:
        port = random.randrange(10_000, 32_000)
        with socket.socket() as listener:
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def program(*names: str) -> str:
    """Return the path of a program; skip with a warning if it is not installed, or fail in CI."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    for name in names:
        if found := shutil.which(name):
            return found
        if name == "postgres" and installed:
            return str(installed[-1])
    if os.environ.get("REPERTOIRE_SERVERS"):
        raise AssertionError(f"there is no {names[0]}")
    message = f"SKIPPED: there is no {names[0]} on this machine"
    warnings.warn(message, stacklevel=2)
    pytest.skip(message)


@contextmanager
def server(kind: str) -> Iterator[Server]:
    """Start a server, ``postgres`` or ``redis``, and stop it afterwards."""
    place = Path(tempfile.mkdtemp(prefix="repertoire-"))
    if os.getuid() == 0:
        os.chown(place, NOBODY, NOBODY)
    running = postgres(place) if kind == "postgres" else redis(place)
    try:
        running.start()
        yield running
    finally:
        running.stop()
        shutil.rmtree(place, ignore_errors=True)


def postgres(place: Path) -> Server:
    path = program("postgres")
    initdb = Path(path).resolve().with_name("initdb")
    secret, data, port = place / "password", place / "data", free_port()
    secret.write_text(PASSWORD)
    secret.chmod(0o644)
    options = ["--no-sync", "--username=ann", "--auth=scram-sha-256", "--locale=C"]
    made = [str(initdb), *options, f"--pwfile={secret}", f"--pgdata={data}"]
    subprocess.run(made, cwd="/", check=True, capture_output=True, **as_nobody())
    settings = ["listen_addresses=127.0.0.1", "fsync=off", f"unix_socket_directories={place}"]
    command = [path, "-D", str(data), "-p", str(port)]
    command += [part for setting in settings for part in ("-c", setting)]
    url = f"postgres://ann:{PASSWORD}@127.0.0.1:{port}/postgres"
    return Server(url, command, place, signal.SIGINT)


def redis(place: Path) -> Server:
    path, port = program("redis-server", "valkey-server"), free_port()
    command = [path, "--port", str(port), "--dir", str(place), "--bind", "127.0.0.1"]
    command += ["--requirepass", PASSWORD, "--appendonly", "yes", "--save", ""]
    return Server(f"redis://:{PASSWORD}@127.0.0.1:{port}/1", command, place, signal.SIGTERM)
