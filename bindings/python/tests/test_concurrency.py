"""Threads, event loops, cancellation, memory and imports."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import repertoire
from repertoire import Engine, ScriptOptions

from .conftest import GIT

SLOW = """---
name: slow
description: Sleeps.
scripts: [scripts/sleep.sh]
---
Sleep.
"""


@pytest.fixture
def slow(tmp_path: Path) -> Engine:
    scripts = tmp_path / "slow/scripts"
    scripts.mkdir(parents=True)
    (tmp_path / "slow/SKILL.md").write_text(SLOW)
    (scripts / "sleep.sh").write_text("#!/bin/sh\necho begin\nsleep 30\n")
    (scripts / "sleep.sh").chmod(0o755)
    return Engine([tmp_path], scripts=ScriptOptions(), approve=lambda _: True)


ARGUMENTS = {"skill": "slow", "script": "scripts/sleep.sh"}


def test_other_threads_run_while_the_engine_works(slow: Engine) -> None:
    tools = slow.tools(slow.session("s"))
    stop = threading.Event()
    answers: list[repertoire.Envelope] = []
    call = lambda: answers.append(tools.call("run_skill_script", ARGUMENTS, cancelled=stop))  # noqa: E731
    thread = threading.Thread(target=call)
    thread.start()
    n_rounds, end = 0, time.monotonic() + 0.3
    while time.monotonic() < end:
        n_rounds += 1
        time.sleep(0.001)
    stop.set()
    thread.join(10)
    assert n_rounds > 20 and not thread.is_alive()
    assert answers[0].error is not None and "begin" in answers[0].to_json()


def test_a_call_ends_when_its_time_is_over(slow: Engine) -> None:
    start = time.monotonic()
    answer = slow.tools(slow.session("s")).call("run_skill_script", ARGUMENTS, timeout=0.3)
    assert answer.error is not None and time.monotonic() - start < 10


def test_exceptions_of_the_callbacks_of_a_call_reach_the_caller(slow: Engine) -> None:
    def boom() -> bool:
        raise ValueError("no more patience")

    with pytest.raises(repertoire.CallbackError, match="no more patience"):
        slow.tools(slow.session("s")).call("run_skill_script", ARGUMENTS, cancelled=boom)


def test_ctrl_c_ends_a_call(slow: Engine, tmp_path: Path) -> None:
    program = (
        "import signal, sys, repertoire as r\n"
        # The shell that started the tests may have set SIGINT to be ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "e = r.Engine([sys.argv[1]], scripts=True, approve=lambda _: True)\n"
        "print('go', flush=True)\n"
        "e.tools(e.session('s')).call('run_skill_script',"
        " {'skill': 'slow', 'script': 'scripts/sleep.sh'})\n"
    )
    run = [sys.executable, "-c", program, str(tmp_path)]
    process = subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "go\n"
    time.sleep(0.5)
    process.send_signal(2)
    _, errors = process.communicate(timeout=10)
    assert "KeyboardInterrupt" in errors


async def test_an_event_loop_goes_on(slow: Engine) -> None:
    engine = await Engine.acreate(skills=[GIT])
    session = engine.session("s")
    turn = await engine.aturn("commit message", session)
    assert turn.disclosure.full == ["commit-message"]
    assert (await engine.adisclose("commit message", paths=["a"])).full == ["commit-message"]
    assert (await engine.aactivate("commit-message", session=session)).id == "commit-message"
    assert not await engine.arefresh()
    assert (await turn.tools.acall("use_skill", {"skill": "commit-message"})).ok
    with pytest.raises(repertoire.NotFoundError):
        await engine.aactivate("nothing", session=session)

    tools, start = slow.tools(slow.session("s")), time.monotonic()
    task = asyncio.create_task(tools.acall("run_skill_script", ARGUMENTS))
    await asyncio.sleep(0.3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.get_running_loop().shutdown_default_executor()
    assert time.monotonic() - start < 10, "the script went on"


def resident() -> int:
    """Return the resident memory of the process in bytes."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_does_not_grow_with_turns() -> None:
    n_turns = int(os.environ.get("REPERTOIRE_TURNS", "60000"))
    engine = Engine(skills=[GIT], token_counter=lambda text: len(text))

    def turns(n: int) -> None:
        for number in range(n):
            session = engine.session(f"s{number % 10}")
            turn = engine.turn("a commit message", session)
            assert turn.text and turn.disclosure.omitted is not None
            engine.matches("a commit message")
            session.end()

    turns(n_turns // 6)
    gc.collect()
    before = resident()
    turns(n_turns - n_turns // 6)
    gc.collect()
    assert resident() - before < 4 << 20


def test_the_import_is_quick() -> None:
    program = (
        "import time; a = time.perf_counter(); import repertoire; "
        "print((time.perf_counter() - a) * 1000)"
    )
    run = [sys.executable, "-c", program]
    times = [float(subprocess.check_output(run, text=True)) for _ in range(7)]
    assert min(times) < 30, times


def test_events_of_the_engine_are_logged(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    repertoire.enable_logging(logging.INFO)
    engine = Engine([tmp_path])
    (tmp_path / "ship").mkdir()
    (tmp_path / "ship/SKILL.md").write_text("---\ndescription: d\n---\n")
    with caplog.at_level(logging.INFO, logger="repertoire"):
        engine.refresh()
    [record] = [record for record in caplog.records if "refreshed" in record.message]
    assert record.name.startswith("repertoire.") and record.levelname == "INFO"
    assert 'added=["ship"]' in record.message.replace("SkillId(", "").replace(")", "")
    repertoire.enable_logging(logging.ERROR)
    with caplog.at_level(logging.INFO, logger="repertoire"):
        caplog.clear()
        (tmp_path / "ship/SKILL.md").unlink()
        assert engine.refresh() and not caplog.records
