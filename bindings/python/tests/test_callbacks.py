"""Callbacks of the host are called, and the exceptions they raise reach the caller."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import pytest
from repertoire import (
    CallbackError,
    Candidate,
    ConsentRequest,
    ConsentRequiredError,
    DisclosureOptions,
    Engine,
    Event,
    SkillState,
    Task,
)

from .conftest import GIT

FORK = (
    "---\nname: research\ndescription: Looks things up.\ncontext: fork\n---\nLook up $ARGUMENTS.\n"
)


class Boom(Exception):
    """An exception that only these tests raise."""


def boom(*_: Any) -> NoReturn:
    raise Boom("the disk is on fire")


def boom_on(wanted: str) -> Callable[[str, Sequence[Candidate]], list[float]]:
    """A retriever that fails for one message, but not while the engine is built."""
    return lambda message, candidates: boom() if message == wanted else [0.0] * len(candidates)


class DictStore:
    """A session store in a dictionary, as a host might write it."""

    def __init__(self) -> None:
        self.sessions: dict[str, list[SkillState]] = {}

    def record(self, session: str, event: Event) -> SkillState | None:
        skills = self.sessions.setdefault(session, [])
        if event.skill is None:
            skills[:] = [state.apply(event) for state in skills]
            return None
        before = next((state for state in skills if state.skill == event.skill), None)
        after = (before or SkillState.of_new(event.skill)).apply(event)
        if after.joins:
            after = after.with_joined(max((s.joined or 0 for s in skills), default=0) + 1)
        if before is None:
            skills.append(after)
        else:
            skills[skills.index(before)] = after
        if event.is_use:
            skills.remove(after)
            skills.insert(0, after)
        return before

    def state(self, session: str) -> Sequence[SkillState]:
        return self.sessions.get(session, [])

    def end(self, session: str) -> None:
        self.sessions.pop(session, None)


def test_a_token_counter_is_asked() -> None:
    seen: list[str] = []

    def count(text: str) -> int:
        seen.append(text)
        return len(text.split())

    options = DisclosureOptions(budget="1000t")
    engine = Engine(skills=[GIT], token_counter=count, disclosure=options)
    assert engine.count_tokens("one two three") == 3
    assert engine.disclose("a commit message").full == ["commit-message"]
    assert any("imperative" in text for text in seen)


def test_a_task_is_spawned() -> None:
    tasks: list[Task] = []

    def spawn(task: Task) -> str:
        tasks.append(task)
        return f"task-{len(tasks)}"

    engine = Engine(skills=[FORK], task_spawner=spawn)
    activation = engine.activate("research", "bees", session=engine.session("s"))
    assert (activation.task_id, activation.mode) == ("task-1", "fork")
    assert tasks[0].skill == "research" and "Look up bees." in tasks[0].prompt


def test_consent_is_asked_for() -> None:
    asked: list[ConsentRequest] = []
    answer = [False]

    def ask(request: ConsentRequest) -> bool:
        asked.append(request)
        return answer[0]

    engine = Engine(skills=[GIT], consent="first-use", ask_consent=ask)
    session = engine.session("s")
    with pytest.raises(ConsentRequiredError):
        engine.activate("commit-message", session=session)
    answer[0] = True
    engine.activate("commit-message", session=session)
    engine.activate("commit-message", session=session)
    assert [request.id for request in asked] == ["commit-message"] * 2
    assert asked[0].audience == "model"


def test_progress_is_reported() -> None:
    told: list[tuple[str, int, int]] = []

    def tell(phase: str, done: int, total: int) -> None:
        told.append((phase, done, total))

    Engine(skills=[GIT], progress=tell)
    phases = list(dict.fromkeys(phase for phase, _, _ in told))
    assert phases == ["reading", "compiling", "indexing"]


def test_a_store_of_the_host_remembers() -> None:
    store, mirror = DictStore(), Engine(skills=[GIT, FORK])
    engine = Engine(skills=[GIT, FORK], session_store=store)
    steps: list[Callable[[Engine], object]] = [
        lambda e: e.turn("a commit message", e.session("s")),
        lambda e: e.session("s").record_use("research"),
        lambda e: e.turn("research bees", e.session("s")),
        lambda e: e.session("s").compacted(),
        lambda e: e.turn("go on", e.session("s")),
        lambda e: e.activate("research", session=e.session("s"), inline=True),
        lambda e: e.session("s").consent("research"),
    ]
    for number, step in enumerate(steps):
        step(engine)
        step(mirror)
        assert engine.session("s").state() == mirror.session("s").state(), number
    assert store.sessions.keys() == {"s"}
    engine.session("s").end()
    assert store.sessions == {}


class BoomStore(DictStore):
    """A session store with one method that fails."""

    def __init__(self, method: str) -> None:
        super().__init__()
        setattr(self, method, boom)


TOKENS = DisclosureOptions(budget="1000t")
CALLS: dict[str, tuple[dict[str, Any], Callable[[Engine], object]]] = {
    "token counter": (
        {"token_counter": boom, "disclosure": TOKENS},
        lambda e: e.turn("commit message", e.session("s")),
    ),
    "counting": ({"token_counter": boom}, lambda e: e.count_tokens("x")),
    "retriever": ({"retriever": boom_on("x")}, lambda e: e.find_skills("x")),
    "disclosing": (
        {"retriever": boom_on("some messages")},
        lambda e: e.disclose("some messages"),
    ),
    "spawner": (
        {"task_spawner": boom},
        lambda e: e.activate("research", session=e.session("s")),
    ),
    "consent": (
        {"consent": "always", "ask_consent": boom},
        lambda e: e.activate("commit-message", session=e.session("s")),
    ),
    "record": ({"session_store": BoomStore("record")}, lambda e: e.session("s").compacted()),
    "state": ({"session_store": BoomStore("state")}, lambda e: e.session("s").state()),
    "end": ({"session_store": BoomStore("end")}, lambda e: e.session("s").end()),
}


@pytest.mark.parametrize("name", CALLS)
def test_an_exception_of_a_callback_reaches_the_caller(name: str) -> None:
    options, call = CALLS[name]
    engine = Engine(skills=[GIT, FORK], **options)
    for _ in range(2):
        with pytest.raises(CallbackError, match="the disk is on fire") as raised:
            call(engine)
        assert isinstance(raised.value.__cause__, Boom)
        assert raised.value.code == "EXECUTION_ERROR"
    # The engine still works, and the failed turn was not recorded in the session.
    assert engine.skill("commit-message").body
    if "session_store" not in options:
        assert engine.session("s").state() == []


@pytest.mark.parametrize("callback", [{"progress": boom}, {"retriever": boom}])
def test_an_exception_while_building_reaches_the_caller(callback: dict[str, Any]) -> None:
    with pytest.raises(CallbackError, match="the disk is on fire"):
        Engine(skills=[GIT], **callback)


def test_a_tool_says_what_a_callback_raised() -> None:
    engine = Engine(skills=[GIT, FORK], task_spawner=boom)
    answer = engine.tools(engine.session("s")).call("use_skill", {"skill": "research"})
    assert answer.error is not None and "the disk is on fire" in answer.error.message


def test_an_exception_that_ends_the_program_is_not_wrapped() -> None:
    def interrupt(_: str) -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Engine(token_counter=interrupt).count_tokens("x")


@pytest.mark.parametrize("result", [None, "many", -1, 1.5])
def test_a_result_of_another_type_is_an_error(result: Any) -> None:
    with pytest.raises(CallbackError, match="the token counter failed"):
        Engine(token_counter=lambda _: result).count_tokens("x")


def test_a_callback_may_call_the_engine() -> None:
    engines: list[Engine] = []

    def count(text: str) -> int:
        if engines and text != "inner":
            assert engines[0].count_tokens("inner") == 1
        return 1

    engines.append(Engine(skills=[GIT], token_counter=count, disclosure=TOKENS))
    assert engines[0].turn("commit message", engines[0].session("s")).disclosure.full


def test_a_program_killed_in_a_callback_leaves_its_sessions_whole(tmp_path: Path) -> None:
    program = textwrap.dedent(
        """
        import os, signal, sys
        import repertoire

        def count(text):
            if "imperative" in text and len(sys.argv) > 2:
                os.kill(os.getpid(), signal.SIGKILL)
            return len(text)

        options = repertoire.DisclosureOptions(budget="9000t")
        skill = open(sys.argv[1] + "/SKILL.md").read()
        engine = repertoire.Engine(
            skills=[skill], token_counter=count, disclosure=options,
            session_store=sys.argv[1] + "/sessions.db",
        )
        session = engine.session("s")
        session.record_use("commit-message")
        print(engine.turn("commit message", session).disclosure.full)
        """
    )
    (tmp_path / "SKILL.md").write_text(GIT)
    run = [sys.executable, "-c", program, str(tmp_path)]
    killed = subprocess.run([*run, "kill"], capture_output=True, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed
    after = subprocess.run(run, capture_output=True, text=True, check=True, env={**os.environ})
    # The killed turn was not recorded, but the use before it was.
    assert after.stdout == "['commit-message']\n"
    engine = Engine(skills=[GIT], session_store=tmp_path / "sessions.db")
    assert engine.session("s").state()[0].uses == 3
