"""Sessions on servers, by URL; they need ``postgres`` and ``redis-server``."""

from __future__ import annotations

import os
import time

import pytest
from repertoire import Engine

from .conftest import GIT
from .servers import PASSWORD, server

if os.name == "nt":
    pytest.skip("the servers are started by their Unix names", allow_module_level=True)

MESSAGE = "the commit message, please"


@pytest.mark.parametrize("kind", ["postgres", "redis"])
def test_engines_share_the_sessions_of_a_server(kind: str) -> None:
    with server(kind) as running:
        here = Engine(skills=GIT, session_store=running.url)
        there = Engine(skills=GIT, session_store=running.url)  # another process, another machine
        assert here.turn(MESSAGE, here.session("chat-7")).disclosure.full == ["commit-message"]
        assert there.turn(MESSAGE, there.session("chat-7")).disclosure.full == []
        assert there.session("chat-7").state()[0].in_context

        # While the server is away, each answers from memory; afterwards, what it acknowledged is there.
        running.stop()
        assert there.turn(MESSAGE, there.session("chat-8")).disclosure.full == ["commit-message"]
        running.start()
        deadline = time.monotonic() + 30
        while there.session("chat-7").state() == [] and time.monotonic() < deadline:
            time.sleep(0.2)  # a server that failed is asked again after a pause
        assert there.session("chat-7").state()[0].in_context
        there.session("chat-7").end()
        assert here.session("chat-7").state() == []


def test_a_server_that_is_away_costs_no_answer_and_tells_no_password(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    for scheme in ("postgres", "redis"):
        engine = Engine(skills=GIT, session_store=f"{scheme}://ann:{PASSWORD}@127.0.0.1:9/1")
        turn = engine.turn(MESSAGE, engine.session("chat-7"))
        assert turn.disclosure.full == ["commit-message"]
        assert engine.turn(MESSAGE, engine.session("chat-7")).disclosure.full == []
        assert engine.session("chat-7").state()[0].in_context
    captured = capfd.readouterr()
    assert PASSWORD not in captured.out + captured.err + caplog.text
