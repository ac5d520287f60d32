"""Skills for the Anthropic SDK: ``Chat(engine, "…", create=client.messages.create).say(message)``.

Install the SDK with ``pip install anthropic``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from ._adapters import Conversation, sdk
from ._native import Engine, Session

if TYPE_CHECKING:
    from anthropic.types import Message, MessageParam, ToolResultBlockParam

__all__ = ["Chat"]


class Chat(Conversation):
    """One conversation with a model. Each answer of a tool reaches the model as text."""

    def __init__(
        self,
        engine: Engine,
        model: str,
        *,
        create: Callable[..., Message],
        chat: str | Session | None = None,
        instructions: str | None = None,
        max_tokens: int | None = None,
    ) -> None:
        sdk("anthropic", "anthropic")
        super().__init__(engine, chat, instructions)
        self.create = create
        self.model = model
        self.max_tokens = 4096 if max_tokens is None else max_tokens
        self.messages: list[MessageParam] = []

    def say(self, message: str) -> str:
        """Answer a message from the user, with as many calls of tools as the model wants."""
        self.messages.append({"role": "user", "content": self.content(message)})
        while True:
            reply = self.create(
                model=self.model,
                max_tokens=self.max_tokens,
                system=self.system,
                messages=self.messages,
                # The list may have grown: a loaded skill adds its tools.
                tools=self.tools.definitions("anthropic"),
            )
            self.messages.append({"role": "assistant", "content": reply.content})
            calls = [block for block in reply.content if block.type == "tool_use"]
            if not calls:
                return "".join(block.text for block in reply.content if block.type == "text")
            results: list[ToolResultBlockParam] = []
            for call in calls:
                answer = self.tools.call(call.name, cast("dict[str, Any]", call.input))
                results.append(
                    {
                        "type": "tool_result",
                        "tool_use_id": call.id,
                        "content": answer.text,
                        "is_error": not answer.ok,
                    }
                )
            self.messages.append({"role": "user", "content": results})
