"""The part that all adapters share: one conversation of an engine."""

from __future__ import annotations

import importlib
from types import ModuleType

from ._native import Engine, Session, Tools, Turn


def sdk(module: str, package: str) -> ModuleType:
    """Import an SDK; the error for one that is missing names the package to install."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.split(".")[0] != module.split(".")[0]:
            raise
        wrong = f"the module `{module}` is missing; install it: pip install {package}"
        raise ModuleNotFoundError(wrong, name=missing.name) from None


class Conversation:
    """One conversation: a session of an engine, its tools, and the text for its system prompt."""

    def __init__(
        self, engine: Engine, chat: str | Session | None = None, instructions: str | None = None
    ) -> None:
        if not isinstance(engine, Engine):  # pyright: ignore[reportUnnecessaryIsInstance]
            kind = type(engine).__name__
            raise TypeError(f"the first argument of a Chat is an Engine, not {kind}")
        self.engine = engine
        chat = "chat-1" if chat is None else chat
        self.session: Session = engine.session(chat) if isinstance(chat, str) else chat
        self.tools: Tools = engine.tools(self.session)
        skills = engine.prompt(session=self.session).text
        self.system = "\n\n".join(part for part in (instructions, skills) if part)

    def content(self, message: str) -> str:
        """Return a message of the user, with what the skills say about it."""
        return with_skills(message, self.engine.turn(message, self.session))

    async def acontent(self, message: str) -> str:
        """Return the same as ``content``, without blocking the event loop."""
        return with_skills(message, await self.engine.aturn(message, self.session))


def with_skills(message: str, turn: Turn) -> str:
    """Return a message followed by the text of its turn."""
    return f"{message}\n\n{turn.text}" if turn.text else message
