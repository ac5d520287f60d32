"""The engine as people write Python: paths, collections, and results that are values."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path
from typing import Any

import pytest
from repertoire import (
    Config,
    ConsentRequest,
    Engine,
    NotFoundError,
    ScriptOptions,
    Skill,
    Source,
)

SKILL = """---
name: {name}
description: Reviews | code.
triggers: [look at it]
{fields}---
Do $ARGUMENTS.
"""


def place(tmp_path: Path, *names: str, fields: str = "") -> Path:
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "SKILL.md").write_text(SKILL.format(name=name, fields=fields))
    return tmp_path


@pytest.mark.parametrize(
    "as_path", [str, Path, Source, lambda path: [path], lambda path: (Source(path),)]
)
def test_one_source_or_several(tmp_path: Path, as_path: Callable[[Path], Any]) -> None:
    assert [skill.id for skill in Engine(as_path(place(tmp_path, "review")))] == ["review"]


def test_one_text_stands_for_a_list_of_one(tmp_path: Path) -> None:
    root = place(tmp_path, "review", "ship")
    own = SKILL.format(name="own", fields="")
    engine = Engine(root, allow="review", enable="review", skills=own)
    assert [skill.id for skill in engine] == ["review"]
    assert len(Engine(iter([root]), allow={"review", "ship"})) == 2
    files = place(tmp_path, "tables", fields="paths: ['data/*.csv']\n")
    engine = Engine(files)
    several: list[str | PathLike[str] | Iterable[str | PathLike[str]]] = [
        Path("data/a.csv"),
        "data/a.csv",
        ["data/a.csv"],
        (Path("data/a.csv"),),
    ]
    for paths in several:
        assert "tables" in [found.id for found in engine.matches("sum it up", paths=paths)]
    assert ScriptOptions(env="HOME", write=root) == ScriptOptions(env=["HOME"], write=[root])


@pytest.mark.parametrize("wrong", [3, [None], [3], 1.5])
def test_what_is_no_source_is_a_type_error_in_words_of_python(wrong: Any) -> None:
    with pytest.raises(TypeError) as raised:
        Engine(wrong)
    assert "Vec" not in str(raised.value)


def test_the_engine_is_a_collection_of_skills(tmp_path: Path) -> None:
    engine = Engine(place(tmp_path, "review", "ship"))
    assert "review" in engine and "/Review" in engine and engine["ship"] in engine
    assert "nothing" not in engine and 3 not in engine
    assert engine["$review"].name == "review" and len(engine) == 2
    with pytest.raises(KeyError, match="revieww"):
        engine["revieww"]
    assert list(engine) == engine.skills()
    assert "| review | available | Reviews \\| code. |" in engine._repr_markdown_()


def test_results_are_values(tmp_path: Path) -> None:
    engine = Engine(place(tmp_path, "review", "ship"))
    (session, other) = (engine.session("a"), engine.session("b"))
    results: list[Any] = [
        engine["review"],
        engine.disclose("look at it"),
        engine.turn("/review PR 42", session),
        engine.turn("/revieww", session),
        engine.prompt(),
        engine.explain("look at it"),
        engine.matches("look at it")[0],
        engine.find_skills("review")[0],
        engine.tools(session).call("use_skill", {"skill": "ship"}),
        engine.refresh(),
        session.state()[0],
    ]
    for result in results:
        copy = pickle.loads(pickle.dumps(result))
        assert copy == result and not copy != result
        assert copy.to_dict() == result.to_dict()
        json.dumps(result.to_dict())
    assert engine["review"] != engine["ship"] and hash(engine["ship"]) == hash(engine["ship"])
    assert pickle.loads(pickle.dumps(engine["ship"])).body == engine["ship"].body
    assert engine.turn("/review PR 42", other) == engine.turn("/review PR 42", engine.session("c"))
    assert engine.turn("hello", other) != engine.turn("/review PR 43", other)
    own = Skill.parse(SKILL.format(name="own", fields=""))
    assert pickle.loads(pickle.dumps(own)) == own and own.to_dict()["path"] is None
    assert Config(".") == Config(Path(".")) and ScriptOptions(timeout=1) != ScriptOptions(timeout=2)


def test_half_of_a_character_is_not_the_end_of_a_message(tmp_path: Path) -> None:
    engine = Engine(place(tmp_path, "review"))
    session = engine.session("a")
    message = "\ud83d, look at it \udcff"
    assert engine.disclose(message).full == ["review"]
    assert engine.turn(message, session).disclosure.full == ["review"]
    hit = engine.matches(message)[0].hits[0]
    assert message[hit.start : hit.end] == "look at it"
    assert engine.find_skills("reviews \ud83d")[0].id == "review"
    assert "Do \ufffd." in engine.activate("review", "\ud83d", session=session).content
    assert engine.tools(session).call("find_skills", {"query": "\ud83d reviews"}).ok
    with pytest.raises(TypeError):
        engine.disclose(7)  # type: ignore[arg-type]


def test_notebooks_show_the_text(tmp_path: Path) -> None:
    engine = Engine(place(tmp_path, "review"))
    disclosure = engine.disclose("look at it")
    assert disclosure._repr_markdown_() == disclosure.text
    turn = engine.turn("look at it", engine.session("a"))
    assert turn._repr_markdown_() == turn.text
    assert engine.prompt()._repr_markdown_().startswith("## Available skills")
    assert engine["review"]._repr_markdown_().startswith("### review\n")
    assert repr(engine.tools(engine.session("chat-7"))) == 'Tools(session="chat-7")'


def test_a_view_is_the_engine_of_a_role(tmp_path: Path) -> None:
    engine = Engine(place(tmp_path, "review", "ship"))
    role = engine.view("rev*")
    assert [skill.id for skill in role] == ["review"]
    assert role.prompt().included == ["review"]
    error = role.tools(role.session("a")).call("use_skill", {"skill": "ship"}).error
    assert error is not None and error.code == "NOT_FOUND"
    (tmp_path / "revise").mkdir()
    (tmp_path / "revise" / "SKILL.md").write_text(SKILL.format(name="revise", fields=""))
    assert engine.refresh().added == ["revise"] and "revise" in role


def test_the_host_learns_the_session_and_tells_the_end_of_tasks(tmp_path: Path) -> None:
    asked: list[ConsentRequest] = []

    def consent(request: ConsentRequest) -> bool:
        asked.append(request)
        return True

    engine = Engine(
        place(tmp_path, "review", fields="context: fork\n"),
        consent="first-use",
        ask_consent=consent,
        task_spawner=lambda task: f"task of {task.session}",
    )
    tools = engine.tools(engine.session("chat-7"))
    assert tools.call("use_skill", {"skill": "review"}).ok
    assert [request.session for request in asked] == ["chat-7"]
    assert tools.finish("task of chat-7", "All good.").text.endswith("All good.")
    with pytest.raises(NotFoundError):
        tools.finish("task of chat-7", "again")
    tools.call("use_skill", {"skill": "review"})
    error = tools.finish("task of chat-7", "no disk", failed=True).error
    assert error is not None and "no disk" in error.message
