"""``None`` for an optional argument is as good as no argument, for every one of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import repertoire
from repertoire import (
    Config,
    DisclosureOptions,
    Engine,
    PromptOptions,
    ScriptOptions,
    Session,
    Skill,
    Source,
    ToolsetOptions,
)

from .conftest import GIT

FORK = "---\nname: dig\ndescription: Digs.\ncontext: fork\n---\nDig.\n"
FILES = {
    "tea/SKILL.md": "---\nname: tea\ndescription: Makes tea.\n---\nBoil.\n",
    "tea/notes.md": "one\ntwo\n",
}


def engine() -> Engine:
    return Engine([FILES], skills=[GIT, FORK], task_spawner=lambda task: "task-1")


def in_session(
    call: Callable[[Engine, Session, dict[str, Any]], Any],
) -> Callable[[dict[str, Any]], Any]:
    """Return a call in a session of an engine of its own."""

    def run(none: dict[str, Any]) -> Any:
        fresh = engine()
        return call(fresh, fresh.session("chat-1"), none)

    return run


def finish(fresh: Engine, session: Session, none: dict[str, Any]) -> str:
    tools = fresh.tools(session)
    tools.call("use_skill", {"skill": "dig"})
    return tools.finish("task-1", "All good.", **none).text


#: Each callable, and what a call of it with these arguments shows.
CALLS: list[tuple[Callable[..., Any], Callable[[dict[str, Any]], Any]]] = [
    (Engine, lambda none: Engine(**none).skills()),
    (Engine.turn, in_session(lambda e, s, none: e.turn("a commit message", s, **none))),
    (Engine.preview, in_session(lambda e, s, none: e.preview("a commit message", s, **none))),
    (Engine.disclose, in_session(lambda e, _, none: e.disclose("a commit message", **none))),
    (Engine.matches, in_session(lambda e, _, none: e.matches("a commit message", **none))),
    (Engine.explain, in_session(lambda e, _, none: e.explain("a commit message", **none))),
    (Engine.find_skills, in_session(lambda e, _, none: e.find_skills("a commit", **none))),
    (Engine.prompt, in_session(lambda e, _, none: e.prompt(**none))),
    (Engine.skills, in_session(lambda e, _, none: [of.id for of in e.skills(**none)])),
    (Engine.view, in_session(lambda e, _, none: [of.id for of in e.view(**none)])),
    (
        Engine.activate,
        in_session(lambda e, s, none: e.activate("commit-message", session=s, **none)),
    ),
    (Engine.tools, in_session(lambda e, s, none: e.tools(s, **none).definitions())),
    (
        repertoire.Tools.definitions,
        in_session(lambda e, s, none: e.tools(s).definitions(**none)),
    ),
    (
        repertoire.Tools.call,
        in_session(lambda e, s, none: e.tools(s).call("find_skills", **none).text),
    ),
    (repertoire.Tools.finish, in_session(finish)),
    (Skill.parse, lambda none: Skill.parse(GIT, **none)),
    (Source, lambda none: Source("skills", **none)),
    (Config, lambda none: Config(".", **none)),
    (DisclosureOptions, lambda none: DisclosureOptions(**none)),
    (PromptOptions, lambda none: PromptOptions(**none)),
    (ScriptOptions, lambda none: ScriptOptions(**none)),
    (ToolsetOptions, lambda none: ToolsetOptions(**none)),
]


@pytest.mark.parametrize(("target", "run"), CALLS, ids=lambda of: getattr(of, "__qualname__", ""))
def test_none_is_no_argument(
    target: Callable[..., Any], run: Callable[[dict[str, Any]], Any]
) -> None:
    parameters = inspect.signature(target).parameters.values()
    optional = [one.name for one in parameters if one.default is not inspect.Parameter.empty]
    assert optional, "its signature names no optional argument"
    plain = run({})
    for name in optional:
        assert run({name: None}) == plain, name
    assert run(dict.fromkeys(optional)) == plain


def test_none_is_no_argument_for_files_and_logs(tmp_path: Path) -> None:
    file = tmp_path / "SKILL.md"
    file.write_text(GIT)
    assert Skill.load(file, None) == Skill.load(file)
    repertoire.enable_logging(None)


async def test_none_is_no_argument_without_blocking() -> None:
    fresh = await Engine.acreate(None, skills=GIT, allow=None)
    session = fresh.session("chat-1")
    turn = await fresh.aturn("a commit message", session, paths=None, budget=None, options=None)
    assert turn.disclosure.full == ["commit-message"]
    activation = await fresh.aactivate("commit-message", None, session=session, audience=None)
    assert activation.content.startswith("Subject")
    answer = await fresh.tools(session).acall("find_skills", None, progress=None, timeout=None)
    assert answer.text.startswith("INVALID_PARAM")
    assert (await fresh.adisclose("hello", paths=None)).tier == 1


@pytest.mark.parametrize(
    ("tool", "arguments", "names"),
    [
        ("use_skill", {"skill": "tea"}, ["args", "by"]),
        ("find_skills", {"query": "tea"}, ["limit"]),
        ("read_skill_file", {"skill": "tea", "path": "notes.md"}, ["offset", "limit"]),
    ],
)
def test_none_is_no_argument_for_tools(
    tool: str, arguments: dict[str, Any], names: list[str]
) -> None:
    def answer(given: Any) -> str:
        fresh = engine()
        answered = fresh.tools(fresh.session("chat-1")).call(tool, given)
        assert answered.ok, answered.text
        return answered.text

    assert answer({**arguments, **dict.fromkeys(names)}) == answer(arguments)
    fresh = engine()
    functions = fresh.tools(fresh.session("chat-1")).functions()
    function = next(function for function in functions if function.name == tool)
    assert function.envelope(**arguments, **dict.fromkeys(names)).text == answer(arguments)
