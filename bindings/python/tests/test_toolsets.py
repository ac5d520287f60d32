"""Tools of a compiled toolset, run in a process of their own and in this process."""

from __future__ import annotations

import os
import shutil
import warnings
from pathlib import Path

import pytest
import repertoire
from repertoire import Engine, Source, ToolsetOptions, TrustRequest

from .conftest import ROOT

NAMES = ("libhello_toolset.so", "libhello_toolset.dylib", "hello_toolset.dll")


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    """Copy the example skill and its library; skip with a warning if it was not built."""
    folders = [ROOT / "target/debug"]
    if named := os.environ.get("CARGO_TARGET_DIR"):
        folders.append(Path(named) / "debug")
    found = [folder / name for folder in folders for name in NAMES if (folder / name).exists()]
    if not found:
        message = "SKIPPED: build the library with `cargo build --package hello-toolset`"
        warnings.warn(message, stacklevel=2)
        pytest.skip(message)
    skill = tmp_path / "skills/hello-extended"
    shutil.copytree(ROOT / "examples/skills/hello-extended", skill)
    (skill / "toolsets").mkdir(exist_ok=True)
    shutil.copy(found[0], skill / "toolsets" / found[0].name)
    return tmp_path / "skills"


@pytest.mark.parametrize("options", [True, ToolsetOptions(in_process=True)])
def test_the_tools_of_a_toolset_are_called(skills: Path, options: bool | ToolsetOptions) -> None:
    asked: list[TrustRequest] = []

    def approve(request: TrustRequest) -> bool:
        asked.append(request)
        return True

    engine = Engine([Source(skills, "project")], toolsets=options, approve=approve)
    session = engine.session("s")
    turn = engine.turn("say hello to Ana", session)
    functions = {tool.name: tool for tool in turn.tools.functions()}
    [name] = [name for name in functions if "greet" in name and "hello" in name]
    assert asked and asked[0].skill == "hello-extended" and len(asked[0].sha256) == 64
    greeted = turn.tools.call(name, {"name": "Ana", "language": "German"})
    assert greeted.ok and "Ana" in greeted.to_json(), greeted
    assert "Ana" in str(functions[name](name="Ana"))
    with pytest.raises(repertoire.InvalidParamError):
        functions[name](nobody=1)


def test_a_toolset_that_is_not_trusted_is_left_out(skills: Path) -> None:
    engine = Engine([Source(skills, "project")], toolsets=True, approve=lambda _: False)
    turn = engine.turn("say hello to Ana", engine.session("s"))
    assert not any("greet" in tool.name for tool in turn.tools.functions())
