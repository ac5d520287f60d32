"""Times ``engine.disclose`` side by side with plain Python, and with the engine in Rust.

    python bench.py [PROGRAM]

``PROGRAM`` times the engine in Rust; this builds it as ``bindings/target/release/examples/time_disclose``::

    cargo build --release --manifest-path bindings/Cargo.toml \\
        --package repertoire-bindings --example time_disclose

There are 1,000 skills and messages of about 130 bytes. The baseline is plain code for the matching
that the first proposal of skills describes: keywords and verbs with word boundaries, and patterns,
are regular expressions that are compiled once. All matches are ranked, first by whether the message
names the skill, then by the longest phrase, and the best three are shown in full.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from repertoire import DisclosureOptions, Engine

HERE = Path(__file__).resolve().parent
N_SKILLS = 1000
WORDS = [
    "amber",
    "basil",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "harbor",
    "island",
    "jungle",
    "kernel",
    "lantern",
    "meadow",
    "nectar",
    "orchid",
    "prairie",
    "quartz",
    "river",
    "summit",
    "tundra",
    "umber",
    "valley",
    "willow",
    "xenon",
    "yonder",
    "zephyr",
]


class Skill:
    """A skill with its own keywords, verb and pattern; most keywords have two words."""

    def __init__(self, number: int) -> None:
        first, second = WORDS[number % 26], WORDS[number // 26 % 26]
        self.name = f"{first}-{second}-{number}"
        self.keywords = [f"{first}{number} report", f"{second} ledger{number}", f"topic{number}"]
        self.verbs = [f"{first}{second}{number}"]
        self.patterns = [rf"ticket{number}-\d+"]
        self.body = f"# {self.name}\n\n" + "Do the steps in their order, then say so.\n" * 8

    def file(self) -> str:
        triggers = {"keywords": self.keywords, "verbs": self.verbs, "patterns": self.patterns}
        head = f"name: {self.name}\ndescription: Reports of {self.name}.\n"
        return f"---\n{head}triggers: {json.dumps(triggers)}\n---\n{self.body}"


class Plain:
    """The baseline: the matching of the first proposal, in plain Python."""

    def __init__(self, skills: list[Skill]) -> None:
        def words(texts: list[str]) -> list[tuple[int, re.Pattern[str]]]:
            return [
                (text.count(" ") + 1, re.compile(rf"\b{re.escape(text)}\b", re.IGNORECASE))
                for text in texts
            ]

        self.skills = [
            (
                skill,
                re.compile(rf"\b{re.escape(skill.name)}\b", re.IGNORECASE),
                words(skill.keywords + skill.verbs),
                [re.compile(pattern, re.IGNORECASE) for pattern in skill.patterns],
            )
            for skill in skills
        ]

    def disclose(self, message: str) -> tuple[list[str], str]:
        found: list[tuple[bool, int, Skill]] = []
        for skill, name, words, patterns in self.skills:
            named = name.search(message) is not None
            phrase = max((n for n, word in words if word.search(message)), default=0)
            if named or phrase or any(pattern.search(message) for pattern in patterns):
                found.append((named, phrase, skill))
        found.sort(key=lambda hit: (not hit[0], -hit[1], hit[2].name))
        best = [skill for _, _, skill in found[:3]]
        return [s.name for s in best], "\n\n".join(f"## {s.name}\n{s.body}" for s in best)


def messages(skills: list[Skill]) -> list[str]:
    """Make messages of about 130 bytes, three quarters of which match one or two skills."""
    random.seed(7)
    made: list[str] = []
    for number in range(64):
        one, two = random.sample(skills, 2)
        part = [
            f"please look at the {one.keywords[0]} of last week",
            f"write the {one.keywords[2]} and then the {two.keywords[1]}",
            f"what does ticket{two.name.rsplit('-', 1)[1]}-4711 say about it",
            "nothing of this has to do with any of the things you know",
        ][number % 4]
        text = f"Good morning, {part}; it is needed by noon, and Ana and Bob will both read it"
        made.append((text + ", so keep it short and to the point, thanks a lot")[:130])
    return made


def per_call(call: Callable[[str], object], texts: list[str], n_rounds: int) -> float:
    """Return the microseconds per call in the best of many short rounds."""
    best = float("inf")
    for _ in range(n_rounds):
        start = time.perf_counter()
        for text in texts:
            call(text)
        best = min(best, time.perf_counter() - start)
    return best / len(texts) * 1e6


def threads(engine: Engine, texts: list[str], n_threads: int, seconds: float) -> float:
    """Return the total calls per second of several threads."""
    counts = [0] * n_threads
    start = threading.Barrier(n_threads + 1)
    over = [False]

    def work(number: int) -> None:
        start.wait()
        n_calls = 0
        while not over[0]:
            for text in texts:
                engine.disclose(text)
            n_calls += len(texts)
        counts[number] = n_calls

    workers = [threading.Thread(target=work, args=(number,)) for number in range(n_threads)]
    for worker in workers:
        worker.start()
    start.wait()
    time.sleep(seconds)
    over[0] = True
    for worker in workers:
        worker.join()
    return sum(counts) / seconds


def main() -> int:
    skills = [Skill(number) for number in range(N_SKILLS)]
    texts = messages(skills)
    files = [skill.file() for skill in skills]
    # The first proposal does not list relevant skills, so turn that off.
    engine = Engine(skills=files, disclosure=DisclosureOptions(max_lines=0, relevance=False))
    plain = Plain(skills)
    n_hits = 0
    for text in texts:
        ours, (theirs, _) = engine.disclose(text).full, plain.disclose(text)
        assert sorted(ours) == sorted(theirs), (text, ours, theirs)
        n_hits += bool(ours)
    assert n_hits >= len(texts) * 3 // 4 - 1
    figures = {
        "python_us": per_call(engine.disclose, texts, 600),
        "with_text_us": per_call(lambda text: engine.disclose(text).text, texts, 600),
        "plain_us": per_call(plain.disclose, texts[:4], 8),
    }
    figures["times_plain"] = figures["plain_us"] / figures["with_text_us"]
    # Threads share an engine with relevance, as programs use it, and one with triggers only. Calls
    # of the latter are so short that handing over the interpreter's lock takes much of their time.
    for name, shared in ("two_threads", Engine(skills=files)), ("two_briefly", engine):
        one, two = (threads(shared, texts, n, 2.0) for n in (1, 2))
        figures[name] = two / one
    if len(sys.argv) > 1:
        (HERE / "target").mkdir(exist_ok=True)
        data = HERE / "target/bench.json"
        data.write_text(json.dumps({"skills": files, "messages": texts}))
        rust = subprocess.check_output([sys.argv[1], str(data)], text=True)
        figures["rust_us"] = float(rust)
        figures["over_rust_us"] = figures["python_us"] - figures["rust_us"]
    for name, figure in figures.items():
        print(f"{name:14} {figure:10.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
