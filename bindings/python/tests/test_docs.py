"""Every Python block of the docs page and the README runs, or is the file that it names."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import ROOT


def begin(page: str, text: str, project: Path) -> None:
    """Runs the command of the manual that copies a first skill from the checkout beside the project."""
    if page == "bindings/python/README.md":
        shutil.copytree(ROOT / "skills", project / "skills")
        return
    (project.parent / "repertoire").symlink_to(ROOT)
    found = re.search(r"^\$ (mkdir -p skills && cp [^#\n]*)", text, re.MULTILINE)
    assert found
    subprocess.run(found[1], shell=True, cwd=project, check=True)


@pytest.mark.parametrize("page", ["docs/python.md", "bindings/python/README.md"])
def test_the_blocks_of_a_page_run(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = re.compile(r"^`([\w/.-]+)`\n\n```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)
    for path, content in named.findall(text):
        pytest.importorskip("mcp")
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content, encoding="utf-8")
    text = named.sub("", text)
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert blocks
    begin(page, text, tmp_path)
    monkeypatch.chdir(tmp_path)
    # MCP servers of toolsets must run on the interpreter in which the SDK is installed.
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
