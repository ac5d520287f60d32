"""A retriever of the host ranks, on any scale, and its mistakes are exceptions."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from repertoire import CallbackError, Candidate, Engine, InvalidParamError

KEEP = """---
name: keeper
description: We keep things.
when_to_use: Before a flood.
---
# First

## Second
Body
"""
OTHER = "---\nname: other\ndescription: Others.\n---\nB\n"
MESSAGE = "please convert the quarterly numbers"


class Scale:
    """Scores ``other`` above ``keeper`` for one message, from ``low`` up by ``step``."""

    def __init__(self, low: float, step: float) -> None:
        self.low, self.step = low, step
        self.levels = (low, low + step / 2)
        self.prepared: list[Sequence[Candidate]] = []
        self.ranked: list[Sequence[Candidate]] = []

    def prepare(self, candidates: Sequence[Candidate]) -> None:
        self.prepared.append(candidates)

    def rank(self, message: str, candidates: Sequence[Candidate]) -> list[float]:
        self.ranked.append(candidates)
        is_meant = [message == MESSAGE and c.id == "other" for c in candidates]
        return [self.low + self.step * meant for meant in is_meant]


@pytest.mark.parametrize("low", [0.0, -5.0, 0.8])
@pytest.mark.parametrize("step", [1.0, 12.0, 400.0])
def test_scores_of_any_scale_find_a_skill(low: float, step: float) -> None:
    engine = Engine(skills=[KEEP, OTHER], retriever=Scale(low, step))
    assert [found.id for found in engine.find_skills(MESSAGE)] == ["other"]
    assert engine.find_skills("something else") == []
    assert engine.disclose(MESSAGE).failure is None


def test_equal_scores_find_nothing() -> None:
    class Equal(Scale):
        def rank(self, message: str, candidates: Sequence[Candidate]) -> list[float]:
            return [self.low] * len(candidates)

    assert Engine(skills=[KEEP, OTHER], retriever=Equal(0.5, 1.0)).find_skills(MESSAGE) == []


def test_levels_that_are_not_given_are_measured() -> None:
    asked: list[str] = []

    def rank(message: str, candidates: Sequence[Candidate]) -> list[float]:
        asked.append(message)
        return [float(message == MESSAGE and c.id == "other") for c in candidates]

    engine = Engine(skills=[KEEP, OTHER], retriever=rank)
    assert len(set(asked)) > 50
    assert [found.id for found in engine.find_skills(MESSAGE)] == ["other"]


def test_candidates_are_records_that_are_converted_once() -> None:
    scale = Scale(0.0, 1.0)
    engine = Engine(skills=[KEEP, OTHER], retriever=scale)
    (prepared,) = scale.prepared
    description = "We keep things. Before a flood."
    body = "# First\n\n## Second\nBody\n"
    headings = ["First", "Second"]
    keeper = Candidate("keeper", "keeper", description, "Before a flood.", headings, body)
    assert prepared[0] == keeper
    assert prepared[0].to_dict()["headings"] == headings
    for _ in range(3):
        engine.disclose(MESSAGE)
    assert scale.ranked and all(ranked is prepared for ranked in scale.ranked)


def test_a_changed_catalog_is_prepared_again(tmp_path: Path) -> None:
    for name, text in [("keeper", KEEP), ("other", OTHER)]:
        (tmp_path / name).mkdir()
        (tmp_path / name / "SKILL.md").write_text(text)
    scale = Scale(0.0, 1.0)
    engine = Engine([tmp_path], retriever=scale)
    (tmp_path / "third").mkdir()
    (tmp_path / "third" / "SKILL.md").write_text(OTHER.replace("other", "third"))
    # On another thread, as a watch does.
    thread = threading.Thread(target=engine.refresh)
    thread.start()
    thread.join()
    assert [len(prepared) for prepared in scale.prepared] == [2, 3]
    engine.disclose(MESSAGE)
    assert scale.ranked[-1] is scale.prepared[-1]


NUMBERS = "return a number for each candidate, in their order"


@pytest.mark.parametrize(
    ("scores", "cause", "told"),
    [
        ([1.0], ValueError, "1 scores for 2 candidates"),
        ([], ValueError, "0 scores for 2 candidates"),
        ([1.0, 2.0, 3.0], ValueError, "3 scores for 2 candidates"),
        ([1.0, math.nan], ValueError, "the score of `other` is NaN"),
        ([math.inf, 1.0], ValueError, "the score of `keeper` is inf"),
        ([1e300, 1.0], ValueError, "the score of `keeper` is inf"),
        ([None, 1.0], TypeError, "not a list of numbers"),
        (None, TypeError, "not a list of numbers"),
        ("ab", TypeError, "not a list of numbers"),
    ],
)
def test_scores_that_do_not_fit_are_exceptions(
    scores: Any, cause: type[Exception], told: str
) -> None:
    class Wrong(Scale):
        def rank(self, message: str, candidates: Sequence[Candidate]) -> Any:
            return scores

    engine = Engine(skills=[KEEP, OTHER], retriever=Wrong(0.0, 1.0))
    for call in (engine.disclose, engine.find_skills):
        with pytest.raises(CallbackError, match=told) as raised:
            call(MESSAGE)
        assert isinstance(raised.value.__cause__, cause)
        assert NUMBERS in str(raised.value)
    # Without levels, the engine asks while it is built.
    with pytest.raises(CallbackError, match=told):
        Engine(skills=[KEEP, OTHER], retriever=lambda *_: scores)


@pytest.mark.parametrize("levels", [1.0, "ab", (1.0,), (math.nan, 1.0), ("a", "b")])
def test_levels_that_do_not_fit_are_exceptions(levels: Any) -> None:
    scale = Scale(0.0, 1.0)
    scale.levels = levels
    with pytest.raises(CallbackError, match="`levels`"):
        Engine(skills=[KEEP], retriever=scale)


def test_an_exception_of_prepare_is_raised_while_building() -> None:
    class Broken(Scale):
        def prepare(self, candidates: Sequence[Candidate]) -> None:
            raise OSError("no weights")

    with pytest.raises(CallbackError, match="no weights") as raised:
        Engine(skills=[KEEP], retriever=Broken(0.0, 1.0))
    assert isinstance(raised.value.__cause__, OSError)


def test_meaning_is_a_switch_or_a_path(tmp_path: Path) -> None:
    for meaning in (True, False):
        assert Engine(skills=[KEEP], meaning=meaning).disclose("keeper").full == ["keeper"]
    near = "what should we do when the water rises into our cellar"
    assert Engine(skills=[KEEP, OTHER], meaning=False).find_skills(near) == []
    with pytest.raises(InvalidParamError, match="not a table"):
        (tmp_path / "x.table").write_bytes(b"nonsense")
        Engine(meaning=tmp_path / "x.table")
    with pytest.raises(LookupError, match="tokenizer.json"):
        Engine(meaning=tmp_path)
    with pytest.raises(TypeError, match="meaning"):
        Engine(meaning=3)  # type: ignore[arg-type]
