"""Helpers that the tests share: data from outside the repository, and skills from tables."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import repertoire

ROOT = Path(__file__).resolve().parents[3]

GIT = """---
name: commit-message
description: Writes commit messages.
triggers: [commit message]
---
Subject in the imperative. $ARGUMENTS
"""


def shared(relative: str) -> Path:
    """Return a path in the shared test data; skip with a warning if there is none."""
    roots = [ROOT / ".." / "shared"]
    if named := os.environ.get("REPERTOIRE_SHARED"):
        roots.append(Path(named))
    for root in roots:
        if (root / relative).exists():
            return root / relative
    message = f"SKIPPED: no test data `{relative}` in ../shared nor in $REPERTOIRE_SHARED"
    warnings.warn(message, stacklevel=2)
    pytest.skip(message)


def table(name: str) -> dict[str, Any]:
    """Read a conformance table."""
    loaded: dict[str, Any] = json.loads(shared(f"conformance/{name}.json").read_text())
    return loaded


def skill_file(skill: Mapping[str, Any]) -> str:
    """Return a skill of a table as the text of a file. JSON is valid YAML."""
    keys = ("name", "description", "triggers")
    lines = [f"{key}: {json.dumps(skill[key])}" for key in keys if key in skill]
    return "\n".join(["---", *lines, "---", skill.get("body", "")])


def engine_of(
    skills: Sequence[Mapping[str, Any]], disclosure: repertoire.DisclosureOptions | None = None
) -> repertoire.Engine:
    """Make an engine of skills in memory."""
    return repertoire.Engine(skills=[skill_file(skill) for skill in skills], disclosure=disclosure)
