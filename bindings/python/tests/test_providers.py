"""Skills from objects and dictionaries, what activations tell, and sessions by URL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import repertoire
from repertoire import Engine, Source

from .conftest import GIT


class Table:
    """A provider: rows of a database by path, each with a version."""

    def __init__(self) -> None:
        text = "---\nname: ship\ndescription: Ships.\ntriggers: [ship it]\n---\nShip $ARGUMENTS.\n"
        self.rows: dict[str, tuple[int, str | bytes]] = {
            "ship/SKILL.md": (1, text),
            "ship/logo.bin": (1, b"\xff\x00"),
        }

    def list(self) -> list[tuple[str, int]]:
        return [(path, version) for path, (version, _) in self.rows.items()]

    def read(self, path: str) -> str | bytes:
        return self.rows[path][1]


def test_skills_come_from_an_object_or_a_dictionary() -> None:
    table = Table()
    made: list[str] = []

    def now() -> str:
        made.append("now")
        return "Ana"

    files: dict[str, Any] = {
        "oncall/SKILL.md": "---\nname: oncall\ndescription: On call.\n---\nRead `now.md`.\n",
        "oncall/now.md": now,
    }
    engine = Engine([table, files])
    session = engine.session("a")
    assert [skill.id for skill in engine.skills()] == ["oncall", "ship"]
    activation = engine.activate("ship", "v2", session=session)
    assert (activation.content, activation.files) == ("Ship v2.\n", ["logo.bin"])
    assert (activation.scope, activation.base_dir) == ("memory", None)
    tools = engine.tools(session)
    assert tools.call("read_skill_file", {"skill": "oncall", "path": "now.md"}).text == "Ana"
    assert made == ["now"], "the file is made when it is read"

    table.rows["new/SKILL.md"] = (1, "---\nname: new\ndescription: d\n---\nb\n")
    table.rows["ship/SKILL.md"] = (2, "---\nname: ship\ndescription: Changed.\n---\nb\n")
    del files["oncall/SKILL.md"]
    refreshed = engine.refresh()
    assert (refreshed.added, refreshed.changed, refreshed.removed) == (["new"], ["ship"], ["oncall"])


def test_an_alias_tells_sources_apart(tmp_path: Path) -> None:
    for place in ("a", "my skills"):
        (tmp_path / place / "git").mkdir(parents=True)
        (tmp_path / place / "git" / "SKILL.md").write_text(GIT)
    url = (tmp_path / "my skills").as_uri()
    files = {"git/SKILL.md": GIT}
    sources: list[Path | Source] = [tmp_path / "a", Source(url, alias="r1"), Source(files, name="db", alias="r2")]
    engine = Engine(sources)
    assert [skill.id for skill in engine.skills()] == ["commit-message", "r1/commit-message", "r2/commit-message"]
    session = engine.session("chat")
    for written in ("r1/commit-message", "r1:commit-message", "$r1/commit-message"):
        assert engine.activate(written, session=session).id == "r1/commit-message", written
    assert Source(url, alias="r1").alias == "r1"
    assert Source(tmp_path).alias is None


@pytest.mark.parametrize("place", ["file/x.db", ".", "file"])
def test_a_session_store_that_cannot_be_written_costs_no_answer(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("a file")
    engine = Engine(skills=GIT, session_store=tmp_path / place)
    session = engine.session("chat")
    assert engine.prompt(session=session).included == ["commit-message"]
    assert engine.turn("/commit-message it", session).activation is not None
    assert engine.tools(session).call("find_skills", {"query": "commit"}).status == "success"
    assert engine.activate("commit-message", session=session).id == "commit-message"


@pytest.mark.parametrize(
    ("args", "text"),
    [("a b", "a b"), (["a", 7], "a 7"), (("a",), "a"), (3, "3"), (2.5, "2.5"), (None, ""), ({}, "")],
)
def test_arguments_have_the_types_that_hosts_write(args: Any, text: str) -> None:
    engine = Engine(skills="---\nname: ship\ndescription: d\n---\nShip <$ARGUMENTS>.\n")
    activation = engine.activate("ship", args, session=engine.session("chat"))
    assert activation.content == f"Ship <{text}>.\n"
    wrong: Any = {"a": 1}
    with pytest.raises(TypeError, match="`args` is a str, a number, or a list of them, not dict"):
        engine.activate("ship", wrong, session=engine.session("chat"))


def test_a_provider_that_fails_is_a_finding() -> None:
    table = Table()
    engine = Engine(Source(table, "user", name="rows"))
    table.rows = {"ship/SKILL.md": (2, 7)}  # type: ignore[dict-item]
    engine.refresh()
    assert [skill.id for skill in engine.skills()] == ["ship"], "it stays as it was"
    found = engine.diagnostics()[0]
    assert found.path == "rows:/ship/SKILL.md" and "`bytes` or `str`, not <class 'int'>" in found.message
    with pytest.raises(TypeError, match="an object with `list` and `read`, not <class 'int'>"):
        Engine([7])  # type: ignore[list-item]


def test_an_activation_tells_what_it_requires_and_what_runs_without_a_question() -> None:
    ship = "---\nname: ship\ndescription: d\nrequires_skills: [tests, gone]\nallowed-tools: Bash(git:*)\n---\nb\n"
    tests = "---\nname: tests\ndescription: Runs tests.\n---\nb\n"
    engine = Engine(skills=[ship, tests])
    ship_it = engine.activate("ship", session=engine.session("a"))
    required = [(skill.id, skill.brief, skill.is_missing) for skill in ship_it.required_skills]
    assert required == [("tests", "Runs tests.", False), ("gone", "", True)]
    assert ship_it.preapproved("Bash(git status)") and not ship_it.preapproved("Bash(rm -r .)")
    tests_run = engine.activate("tests", session=engine.session("a"))
    assert tests_run.permits("Bash(ls)") and not tests_run.preapproved("Bash(ls)")


@pytest.mark.parametrize("form", ["{}", "sqlite:{}", "sqlite://{}"])
def test_a_url_names_a_session_store(tmp_path: Path, form: str) -> None:
    file = tmp_path / "sessions.db"
    engine = Engine(skills=GIT, session_store=form.format(file))
    engine.turn("the commit message", engine.session("a"))
    again = Engine(skills=GIT, session_store=file)
    assert again.session("a").state()[0].skill == "commit-message"
    with pytest.raises(repertoire.InvalidParamError, match="unknown kind"):
        Engine(session_store="mysql://localhost/acme")
