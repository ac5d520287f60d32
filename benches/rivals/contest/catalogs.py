"""Catalogs of skills with messages of two kinds, always told apart: prompts of authors, and messages of people.

The data is outside of the repository, in the directory that `REPERTOIRE_SHARED` names.
"""

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path

AUTHORS = "authors"
PEOPLE = "people"
GERMAN = "people, German"

#: The fields of a published skill that are written to its front matter.
FIELDS = ("name", "description", "when_to_use", "triggers", "metadata", "activation")


@dataclass
class Catalog:
    """The skills of one repository or team, and messages that each call for one of them."""

    name: str
    kind: str
    #: The text of each `SKILL.md`, by the name of the skill.
    skills: dict[str, str]
    #: Messages, each with the names of its right skills.
    messages: list[tuple[str, set[str]]] = field(default_factory=list)

    def thin(self, at_most: int) -> None:
        """Keeps at most so many messages, spread evenly."""
        step = -(-len(self.messages) // at_most)
        self.messages = self.messages[::step]

    def write(self, directory: Path) -> Path:
        """Writes each skill to a folder of its name below `directory`, replacing what is there."""
        shutil.rmtree(directory, ignore_errors=True)
        for name, text in self.skills.items():
            folder = directory / name
            folder.mkdir(parents=True)
            (folder / "SKILL.md").write_text(text, encoding="utf8")
        return directory


def all_catalogs(shared: Path) -> list[Catalog]:
    """Reads the catalogs of both kinds that have more than one skill, and messages that call for one."""
    found = []
    published = shared / "corpus/routing/catalogs"
    if published.is_dir():
        found += [read_published(shared / "corpus", path) for path in sorted(published.iterdir())]
    for kind, path in ((PEOPLE, "field/authors"), (GERMAN, "field/team-de")):
        if (shared / path).is_dir():
            found.append(read_team(kind, shared / path))
    return [catalog for catalog in found if len(catalog.skills) > 1 and catalog.messages]


def read_published(corpus: Path, directory: Path) -> Catalog:
    """Reads the skills of a public repository, and the prompts with which its authors test them."""
    catalog = Catalog(directory.name, AUTHORS, {})
    for row in rows(directory / "catalog.jsonl"):
        file = row.get("path") and corpus / "skills" / directory.name / row["path"]
        body = body_of(file.read_text("utf8", "replace")) if file and file.is_file() else ""
        # JSON is valid YAML.
        head = [f"{key}: {json.dumps(row[key])}" for key in FIELDS if row.get(key) is not None]
        catalog.skills.setdefault(row["name"], "\n".join(["---", *head, "---", body]))
    for row in rows(directory / "cases.jsonl"):
        if row["kind"] == "binary":
            # A prompt that must not fire a skill may say which one it should.
            others = set(row.get("expected") or ()) - {row["skill"]}
            right = {row["skill"]} if row["label"] else others
        else:
            right = set(row["expected"] or ())
        # Expectations that name skills missing from the corpus cannot be judged.
        if right := right & set(catalog.skills):
            catalog.messages.append((row["query"], right))
    return catalog


def read_team(kind: str, directory: Path) -> Catalog:
    """Reads the skills of a team, and messages of people who never saw a skill.

    Messages for two skills, and those for no skill, are left out.
    """
    files = sorted(directory.glob("skills/*/SKILL.md"))
    skills = {file.parent.name: file.read_text("utf8") for file in files}
    asked = rows(directory / "messages.jsonl")
    messages = [(row["message"], {row["skill"]}) for row in asked if isinstance(row["skill"], str)]
    return Catalog(directory.name, kind, skills, messages)


def rows(file: Path) -> list[dict]:
    """Reads a file of JSON lines."""
    return [json.loads(line) for line in file.read_text("utf8").split("\n") if line.strip()]


def body_of(text: str) -> str:
    """Returns the text below the front matter, or the whole text if there is none."""
    lines = text.removeprefix("\ufeff").split("\n")
    if lines and lines[0].rstrip() == "---":
        for at, line in enumerate(lines[1:], 1):
            if line.rstrip() == "---":
                return "\n".join(lines[at + 1 :])
    return text
