"""A session store of the host that fails costs no answer: memory stands in for it, and the host is told."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import repertoire
from repertoire import CallbackError, Engine, Session

from .conftest import GIT
from .test_callbacks import FORK, Boom, DictStore, boom

OWN = "---\nname: own\ndescription: d\ndisable-model-invocation: true\n---\nOWN\n"


def store(**methods: Callable[..., Any]) -> DictStore:
    """A store with these methods in place of those that work."""
    made = DictStore()
    for name, method in methods.items():
        setattr(made, name, method)
    return made


def returns(value: Any) -> Callable[..., Any]:
    return lambda *_: value


async def coroutine(*_: Any) -> None:
    """What a store returns if its author wraps an asynchronous one in a lambda."""


FAULTS: dict[str, Callable[[], DictStore]] = {
    "load": lambda: store(state=boom),
    "save": lambda: store(record=boom),
    "save all": lambda: store(record_all=boom),
    "both": lambda: store(state=boom, record=boom, end=boom),
    "loads nothing": lambda: store(state=returns(None)),
    "loads a number": lambda: store(state=returns(7)),
    "loads a text": lambda: store(state=returns("paint")),
    "loads numbers": lambda: store(state=returns([7])),
    "loads gaps": lambda: store(state=returns([None])),
    "loads a dictionary": lambda: store(state=returns({"skill": "commit-message"})),
    "saves and returns garbage": lambda: store(record=returns("ok")),
    "is not awaited": lambda: store(state=lambda *of: coroutine(*of)),
}


def answer(engine: Engine, session: Session, tool: str, **arguments: str) -> str:
    envelope = engine.tools(session).call(tool, arguments)
    assert envelope.error is None, envelope
    return envelope.text


async def later(engine: Engine, session: Session) -> str:
    turn = await engine.aturn("a commit message", session)
    envelope = await engine.tools(session).acall("use_skill", {"skill": "own-not"})
    return turn.text + str(envelope.error)


# Everything that answers a user, a model or a host, in an order in which each depends on those before.
STEPS: dict[str, Callable[[Engine, Session], object]] = {
    "prompt": lambda e, s: e.prompt(session=s).text,
    "a message": lambda e, s: e.turn("a commit message", s).text,
    "its skill is in the context": lambda e, s: e.turn("a commit message", s).disclosure.full,
    "a preview": lambda e, s: e.preview("a commit message", s).text,
    "matches": lambda e, s: [match.id for match in e.matches("a commit message", session=s)],
    "an explanation": lambda e, s: str(e.explain("a commit message", session=s)),
    "use_skill": lambda e, s: answer(e, s, "use_skill", skill="commit-message"),
    "use_skill with arguments": lambda e, s: answer(e, s, "use_skill", skill="commit-message", args="x"),
    "find_skills": lambda e, s: answer(e, s, "find_skills", query="commit message"),
    "the tools": lambda e, s: e.tools(s).definitions(),
    "a command": lambda e, s: e.turn("/own", s).text,
    "a typed message": lambda e, s: str(e.user_message("/own", s)),
    "an activation": lambda e, s: e.activate("commit-message", "y", session=s).content,
    "a task": lambda e, s: answer(e, s, "use_skill", skill="research"),
    "the end of a task": lambda e, s: e.tools(s).finish("task", "bees").text,
    "later": lambda e, s: asyncio.run(later(e, s)),
}


def engine_with(kept: DictStore | None) -> Engine:
    return Engine(skills=[GIT, FORK, OWN], session_store=kept, task_spawner=lambda _: "task")


@pytest.mark.filterwarnings("ignore:coroutine")
@pytest.mark.parametrize("fault", FAULTS)
def test_each_answer_is_that_of_a_store_that_works(
    fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    engine, healthy = engine_with(FAULTS[fault]()), engine_with(None)
    repertoire.enable_logging()
    with caplog.at_level(logging.WARNING, logger="repertoire"):
        for name, step in STEPS.items():
            wanted = step(healthy, healthy.session("s"))
            assert step(engine, engine.session("s")) == wanted, name
    repertoire.enable_logging(logging.ERROR)
    assert any("kept in memory" in record.message for record in caplog.records)
    turn, session = engine.turn("hello", engine.session("s")), engine.session("s")
    assert healthy.turn("hello", healthy.session("s")).unsaved is None
    for error in [turn.unsaved, session.unsaved]:
        assert isinstance(error, CallbackError) and "the session store failed" in error.message
        if fault in ["load", "save", "save all", "both"]:
            assert "the disk is on fire" in error.message and isinstance(error.__cause__, Boom)
    assert engine.session("another").unsaved is None


def test_what_a_host_asks_the_session_itself_raises_and_is_kept_for_the_answers() -> None:
    session = engine_with(store(record=boom, end=boom)).session("s")
    calls: list[Callable[[], object]] = [
        session.compacted,
        session.end,
        lambda: session.consent("own"),
    ]
    for call in calls:
        with pytest.raises(CallbackError, match="the disk is on fire") as raised:
            call()
        assert isinstance(raised.value.__cause__, Boom)
    assert [state.consented for state in session.state()] == [True]


def test_the_store_counts_again_once_it_works() -> None:
    kept = store(record=boom)
    engine = engine_with(kept)
    assert engine.turn("a commit message", engine.session("s")).unsaved is not None
    del kept.record
    session = engine.session("s")
    assert engine.turn("/commit-message", session).unsaved is None
    assert session.unsaved is None
    assert [state.skill for state in session.state()] == ["commit-message"]


def test_a_database_that_cannot_be_opened_is_told_as_well(tmp_path: Path) -> None:
    (tmp_path / "blocked").write_text("a file")
    engine = Engine(skills=[GIT], session_store=tmp_path / "blocked" / "sessions.db")
    session = engine.session("s")
    turn = engine.turn("a commit message", session)
    assert turn.disclosure.full == ["commit-message"]
    assert turn.unsaved is not None and session.unsaved is not None
    assert turn.to_dict()["unsaved"] is not None


@pytest.mark.parametrize("method", ["record", "record_all", "state", "end"])
def test_a_store_that_must_be_awaited_is_refused(method: str) -> None:
    with pytest.raises(TypeError, match=f"`{method}` of a session store must not be an `async`"):
        engine_with(store(**{method: coroutine}))


@pytest.mark.parametrize("method", ["record", "state"])
def test_a_wrong_argument_and_what_ends_the_program_are_still_errors(method: str) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    engine = engine_with(store(**{method: boom}))
    wrong: Any = 7
    with pytest.raises(TypeError):
        engine.turn(wrong, engine.session("s"))
    with pytest.raises(TypeError):
        engine.turn("hello", wrong)
    engine = engine_with(store(**{method: interrupt}))
    with pytest.raises(KeyboardInterrupt):
        engine.turn("a commit message", engine.session("s"))
