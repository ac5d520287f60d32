"""Code of a bare path and of a project runs only after a yes; the page says so, and here is what it denies."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from repertoire import Engine, RepertoireError, Source, TrustRequest

from .conftest import ROOT
from .test_toolsets import skills as with_library

__all__ = ["with_library"]

SKILL = """---
name: trio
description: Has each kind of code.
triggers: [trio]
toolsets: ["tools/server.py:mcp"]
scripts: [scripts/say.sh]
---
Body
"""

SOURCES: list[tuple[Callable[[Path], str | Path | Source], bool]] = [
    (lambda path: str(path), False),
    (lambda path: path, False),
    (lambda path: path / ".." / path.name, False),
    (lambda path: os.path.relpath(path), False),
    (lambda path: Source(path), False),
    (lambda path: Source(path, "project"), False),
    (lambda path: Source(path, "user"), True),
    (lambda path: Source(path, "bundled"), True),
]


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    """Write a skill with a script and an MCP server."""
    skill = tmp_path / "skills/trio"
    (skill / "tools").mkdir(parents=True)
    (skill / "scripts").mkdir()
    (skill / "SKILL.md").write_text(SKILL)
    (skill / "scripts/say.sh").write_text("#!/bin/sh\necho ran\n")
    shutil.copy(ROOT / "crates/cli/src/tool/server.py", skill / "tools/server.py")
    return tmp_path / "skills"


def ran(engine: Engine, skill: str = "trio", tool: str = "trio_greet") -> list[str]:
    """Return the kinds of code that ran."""
    session = engine.session("s")
    tools = engine.turn(f"/{skill}", session).tools
    say = tools.call("run_skill_script", {"skill": skill, "script": "scripts/say.sh"})
    greet = tools.call(tool, {"name": "Ada"})
    return [kind for kind, answer in (("script", say), ("toolset", greet)) if answer.ok]


@pytest.mark.parametrize(("source", "is_trusted"), SOURCES)
def test_a_bare_path_is_a_projects(
    skills: Path, source: Callable[[Path], str | Path | Source], is_trusted: bool
) -> None:
    asked: list[TrustRequest] = []

    def no(request: TrustRequest) -> bool:
        asked.append(request)
        return False

    both = ["script", "toolset"] if is_trusted else []
    assert ran(Engine([source(skills)], toolsets=True, scripts=True)) == both
    assert ran(Engine([source(skills)], toolsets=True, scripts=True, approve=no)) == both
    assert bool(asked) != is_trusted
    yes = Engine([source(skills)], toolsets=True, scripts=True, approve=lambda _: True)
    assert ran(yes) == ["script", "toolset"]


def test_a_fetched_skill_is_none_of_the_users_own_wherever_an_agent_lists_it(
    skills: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (skills / ".config-dir").write_text("/home/ann/.acme")
    (own / "trio").symlink_to(skills / "trio")
    assert ran(Engine([Source(own, "user")], toolsets=True, scripts=True)) == []
    (own / "trio").unlink()
    shutil.copytree(skills / "trio", own / "trio")
    (own / "trio/.fetched").touch()
    assert ran(Engine([Source(own, "user")], toolsets=True, scripts=True)) == []
    (own / "trio/.fetched").unlink()
    assert ran(Engine([Source(own, "user")], toolsets=True, scripts=True)) == ["script", "toolset"]


def test_a_url_is_no_path(skills: Path) -> None:
    assert ran(Engine([skills.as_uri()], toolsets=True, scripts=True)) == []


def test_a_compiled_toolset_of_a_bare_path_needs_a_yes(with_library: Path) -> None:
    for source, is_trusted in SOURCES:
        engine = Engine([source(with_library)], toolsets=True, approve=lambda _: False)
        wanted = ["toolset"] if is_trusted else []
        assert ran(engine, "hello-extended", "hello-extended_greet") == wanted
    assert Source("skills").scope == "project"


def test_a_no_is_remembered_and_no_answer_is_not(skills: Path, tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(value: bool | None) -> Callable[[TrustRequest], bool | None]:
        def ask(request: TrustRequest) -> bool | None:
            asked.append(request.may)
            return value

        return ask

    def engine(value: bool | None) -> Engine:
        trust = tmp_path / "trust.json"
        return Engine([skills], scripts=True, approve=answer(value), trust=trust)

    for value, n_questions in [(None, 1), (None, 2), (False, 3), (False, 3), (True, 3)]:
        assert ran(engine(value)) == []
        assert len(asked) == n_questions, value
    assert asked[0].startswith("reads its skill")
    assert asked[0].endswith(" · no network · writes nothing")


async def a_coroutine(_: object) -> bool:
    return False


def a_generator(_: object) -> Iterator[bool]:
    yield False


def an_exception(_: object) -> bool:
    raise RuntimeError("no")


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")
@pytest.mark.parametrize(
    "answer",
    [
        a_coroutine,
        a_generator,
        an_exception,
        *(
            lambda _, said=said: said
            for said in (
                None,
                False,
                0,
                1,
                "",
                "no",
                "yes",
                (False, "why"),
                {"approved": False},
                object(),
            )
        ),
    ],
)
def test_only_true_is_a_yes(skills: Path, answer: Any) -> None:
    """What is true in Python, as the coroutine of an async callback is, is no answer."""

    def attempt(engine: Engine, tool: str, arguments: Any) -> bool:
        try:
            tools = engine.turn("/trio", engine.session("s")).tools
            return tools.call(tool, arguments).ok
        except RepertoireError:
            return False

    script = {"skill": "trio", "script": "scripts/say.sh"}
    for tool, arguments in (("run_skill_script", script), ("trio_greet", {"name": "Ada"})):
        engine = Engine([skills], toolsets=True, scripts=True, approve=answer)
        assert not attempt(engine, tool, arguments), tool
    engine = Engine([skills], consent="always", ask_consent=answer)
    assert not attempt(engine, "use_skill", {"skill": "trio"})
