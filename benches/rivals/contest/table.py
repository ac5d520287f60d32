"""The results of a run as Markdown, and the page that holds them between markers."""

import statistics
import textwrap
from pathlib import Path

from contest.catalogs import AUTHORS, GERMAN, PEOPLE

BEGIN, END = "<!-- rivals -->", "<!-- end of rivals -->"
KINDS = (AUTHORS, PEOPLE, GERMAN)
TITLES = ("", "authors' prompts", "people's messages", "people's, in German", "a message", "start", "memory")
#: The right skill is counted among that many.
FIRST = (1, 3, 5)
#: The length of a line of Markdown, in characters.
WIDTH = 120


def shares(ranked: list[list[str]], right: list[set[str]]) -> list[float]:
    """Returns, for each of `FIRST`, the percentage of messages with a right skill among so many."""
    found = []
    for names, wanted in zip(ranked, right):
        wanted = {name.lower() for name in wanted}
        found.append([name.lower() in wanted for name in names])
    return [100 * sum(any(hits[:n]) for hits in found) / len(found) for n in FIRST]


def markdown(run: dict) -> str:
    """Returns the table of a run, and the sentences on how it was made."""
    lines = ["| " + " | ".join(TITLES) + " |", "|---" + "|---:" * (len(TITLES) - 1) + "|"]
    for contestant in run["contestants"].values():
        lines.append("| " + " | ".join(cells(contestant)) + " |")
    return "\n".join([*lines, "", *paragraphs(run)])


def cells(contestant: dict) -> list[str]:
    found = [contestant["label"]]
    for kind in KINDS:
        tops = [catalog["top"] for catalog in contestant["catalogs"].values() if catalog["kind"] == kind]
        means = [f"{statistics.mean(top):.1f}" for top in zip(*tops)]
        found.append(" / ".join(means) or "–")
    memory = contestant["memory"]
    found += [duration(contestant["message"]), duration(contestant["start"])]
    return [*found, f"{memory / 1e6:.0f} MB" if memory else "–"]


def duration(seconds: float) -> str:
    for least, unit, factor in ((1, "s", 1), (1e-3, "ms", 1e3)):
        if seconds >= least:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def paragraphs(run: dict) -> list[str]:
    """Returns the date, the data and the versions, in lines of at most `WIDTH`."""
    counted = []
    any_contestant = next(iter(run["contestants"].values()))
    for kind in KINDS:
        of_kind = [of for of in any_contestant["catalogs"].values() if of["kind"] == kind]
        if of_kind:
            n_messages, n_skills = (sum(of[key] for of in of_kind) for key in ("messages", "skills"))
            catalogs = f" (means over {len(of_kind)} catalogs)" if len(of_kind) > 1 else ""
            counted.append(f"{kind}: {n_messages:,} messages for {n_skills:,} skills{catalogs}")
    versions = ", ".join(f"{name} {version}" for name, version in run["versions"].items())
    least, most = min(run["loads"]), max(run["loads"])
    texts = [
        f"{run['date']}, {run['system']}, {run['cores']} cores, load average {least:.1f} to {most:.1f}. "
        f"{'; '.join(counted)}.",
        f"Times and memory are of the catalog with {run['largest']} skills. A message is the median over its messages, "
        f"and includes a pipe and JSON, which alone take {duration(run['round_trip'])}.",
        f"Versions: {versions}.",
    ]
    return textwrap.wrap(" ".join(texts), WIDTH, break_long_words=False, break_on_hyphens=False)


def write(page: Path, run: dict) -> None:
    """Replaces what is between the markers of a page."""
    text = page.read_text("utf8")
    before, found, rest = text.partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not found or not ended:
        raise SystemExit(f"{page} has no lines `{BEGIN}` and `{END}`: add them where the table belongs")
    page.write_text(f"{before}{BEGIN}\n{markdown(run)}\n{END}{after}", "utf8")
