"""Types for annotations in a host: the names of choices, and the protocols of callbacks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from ._native import Candidate, Event, SkillState

Audience = Literal["model", "user"]
Budget: TypeAlias = int | str
EventKind = Literal[
    "used",
    "shown",
    "activated",
    "consented",
    "consent-spent",
    "listed",
    "compacted",
    "restored",
    "postponed",
    "stopped",
]
Format = Literal["markdown", "xml", "json"]
HitKind = Literal["name", "keyword", "verb", "pattern", "path"]
MetaQuestion = Literal["registry", "show_all"]
Path: TypeAlias = "str | os.PathLike[str]"
Arguments: TypeAlias = "str | float | Sequence[str | float]"
Scope = Literal["bundled", "user", "project"]
ProviderScope = Literal["bundled", "user", "project", "memory"]
ToolFormat = Literal["openai", "anthropic", "mcp"]


class Provider(Protocol):
    """A place from which a host serves skills, such as a database.

    It looks like the directory of a source. A file is read when somebody asks for it; a ``SKILL.md`` is
    read again only if its revision changed.
    """

    def list(self) -> Iterable[tuple[str, object]] | Mapping[str, object]:
        """Return the path of each file, such as ``review/SKILL.md``, with its revision.

        A revision is anything whose ``str()`` changes whenever the content does.
        """
        ...

    def read(self, path: str, /) -> str | bytes:
        """Return the content of a listed file."""
        ...


class SessionStore(Protocol):
    """A session store that a host implements; ``record_all(session, events)`` is optional.

    While a method raises, answers come from memory, and ``session.unsaved`` says why.
    """

    def record(self, session: str, event: Event, /) -> SkillState | None:
        """Record an event, and return the state that its skill had before the event."""
        ...

    def state(self, session: str, /) -> Sequence[SkillState]:
        """Return the states of a session's skills, most recently used first."""
        ...

    def end(self, session: str, /) -> None:
        """Forget a session."""
        ...


class ScoringRetriever(Protocol):
    """A retriever of the host, as an object.

    Optional are a method ``prepare(candidates)``, called when a catalog is loaded and when it
    changed, and an attribute ``levels``, a pair ``(floor, enough)``: the score up to which a skill
    is near by chance, and the one from which it is evidence of its own. Without ``levels``, the
    engine measures them by some 100 messages.
    """

    def rank(self, message: str, candidates: tuple[Candidate, ...], /) -> Sequence[float]:
        """Return a finite score for each candidate, in their order, on any scale."""
        ...


class Cancellation(Protocol):
    """An event such as ``threading.Event``."""

    def is_set(self) -> bool: ...
