"""Processes that rank skills: each is asked a message at a time, over pipes, so that all are measured alike."""

import contextlib
import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path


class Process:
    """A program that answers each line of JSON with a line of JSON."""

    def __init__(self, command: list[str | Path], env: dict[str, str] | None = None):
        # In a home of its own: nobody's settings, and no caches from earlier runs.
        self.home = tempfile.TemporaryDirectory()
        plain = {key: os.environ[key] for key in ("PATH", "LANG") if key in os.environ}
        env = plain | {"HOME": self.home.name, "HF_HUB_OFFLINE": "1"} | (env or {})
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, env=env, cwd=self.home.name
        )

    def send(self, value: dict) -> None:
        self.process.stdin.write(json.dumps(value).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict:
        line = self.process.stdout.readline()
        if not line:
            self.log.seek(0)
            raise RuntimeError(f"{self.process.args} ended: {self.log.read().decode('utf8', 'replace')[-2000:]}")
        return json.loads(line)

    def load(self, skills: Path) -> None:
        """Lets the program index the skills of a directory, in place of those before."""
        self.send({"load": str(skills)})
        self.receive()

    def rank(self, message: str) -> list[str]:
        """Returns the names of the best five skills."""
        self.send({"rank": message})
        return self.receive()["ranked"]

    def peak_memory(self) -> int | None:
        """Returns the largest resident memory so far, in bytes; none where the system has no `/proc`."""
        try:
            status = Path(f"/proc/{self.process.pid}/status").read_text()
        except OSError:
            return None
        peak = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
        return int(peak.split()[1]) * 1024

    def close(self) -> None:
        self.process.stdin.close()
        self.process.stdout.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        self.home.cleanup()


class Repertoire:
    """The program's MCP server, asked with `find_skills` as a model would; a new one for each directory of skills."""

    def __init__(self, binary: Path, by_words: bool = False):
        self.binary = binary
        self.settings = tempfile.TemporaryDirectory()
        self.server = None
        if by_words:
            config = Path(self.settings.name) / ".repertoire/config.toml"
            config.parent.mkdir()
            config.write_text("[routing]\nmeaning = false\n")

    def load(self, skills: Path) -> None:
        self.stop()
        command = [self.binary, "mcp", "--no-cache", "--refresh", "off", "--source", skills]
        self.server = Process(command, {"HOME": self.settings.name})
        self.n_sent = 0
        client = {"name": "rivals", "version": "0"}
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        self.request("initialize", hello)
        self.server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def request(self, method: str, params: dict) -> dict:
        self.n_sent += 1
        self.server.send({"jsonrpc": "2.0", "id": self.n_sent, "method": method, "params": params})
        while (answer := self.server.receive()).get("id") != self.n_sent:
            pass  # a notification
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def rank(self, message: str) -> list[str]:
        found = self.request("tools/call", {"name": "find_skills", "arguments": {"query": message}})
        text = found["content"][0]["text"]
        if found.get("isError"):
            raise RuntimeError(f"find_skills: {text}")
        return [line[2:].split(": ")[0] for line in text.split("\n") if line.startswith("- ")]

    def peak_memory(self) -> int | None:
        return self.server.peak_memory()

    def stop(self) -> None:
        if self.server:
            self.server.close()
            self.server = None

    def close(self) -> None:
        self.stop()
        self.settings.cleanup()


def ask(start, catalogs: list[tuple[Path, list[str]]], n_starts: int) -> dict:
    """Starts a contestant and asks it the messages of all catalogs, each with the directory of its skills.

    Returns the names that it ranked, by catalog and message; and for the first catalog the median seconds from the
    start to the first answer, the median seconds of each later message, and the peak memory in bytes.
    """
    skills, messages = catalogs[0]
    starts = [until_first_answer(start, skills, messages[0]) for _ in range(n_starts - 1)]
    began = time.perf_counter()
    with contextlib.closing(start()) as contestant:
        contestant.load(skills)
        ranked = [[contestant.rank(messages[0])]]
        starts.append(time.perf_counter() - began)
        times = []
        for message in messages[1:]:
            began = time.perf_counter()
            ranked[0].append(contestant.rank(message))
            times.append(time.perf_counter() - began)
        memory = contestant.peak_memory()
        for skills, messages in catalogs[1:]:
            contestant.load(skills)
            ranked.append([contestant.rank(message) for message in messages])
    start, message = statistics.median(starts), statistics.median(times)
    return {"ranked": ranked, "start": start, "message": message, "memory": memory}


def until_first_answer(start, skills: Path, message: str) -> float:
    """Returns the seconds from the start of a process to its first answer."""
    began = time.perf_counter()
    with contextlib.closing(start()) as contestant:
        contestant.load(skills)
        contestant.rank(message)
        return time.perf_counter() - began
