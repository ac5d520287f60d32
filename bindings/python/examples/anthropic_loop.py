"""A tool loop with the Anthropic SDK and skills.

With an API key, use ``Chat(Engine("skills"), "…", create=anthropic.Anthropic().messages.create)``.
Without one, a scripted model answers: ``python anthropic_loop.py ../../../skills``.
"""

from __future__ import annotations

import sys
from typing import Any

from anthropic.types import Message, TextBlock, ToolUseBlock, Usage
from repertoire import Engine
from repertoire.anthropic import Chat


class ScriptedModel:
    """A model that loads a skill and then answers; it records the requests it receives."""

    def __init__(self, skill: str) -> None:
        self.skill = skill
        self.requests: list[dict[str, Any]] = []

    def create(self, **request: Any) -> Message:
        self.requests.append({**request, "messages": list(request["messages"])})
        last = request["messages"][-1]["content"]
        block: TextBlock | ToolUseBlock
        if isinstance(last, str):
            arguments: dict[str, object] = {"skill": self.skill}
            block = ToolUseBlock(type="tool_use", id="call-1", name="use_skill", input=arguments)
        else:
            block = TextBlock(type="text", text=f"I read the skill {self.skill}.")
        return Message(
            id="message-1",
            type="message",
            role="assistant",
            model="scripted",
            content=[block],
            stop_reason="end_turn",
            usage=Usage(input_tokens=1, output_tokens=1),
        )


def main() -> None:
    engine = Engine(sys.argv[1:])
    model = ScriptedModel(engine.skills("model")[0].id)
    chat = Chat(engine, "scripted", create=model.create)
    print(chat.say("please help me with this"))


if __name__ == "__main__":
    main()
