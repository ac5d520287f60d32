"""A tool loop with the Anthropic SDK and skills.

With an API key, use ``Agent(anthropic.Anthropic().messages.create, Engine(["skills"]))``. Without
one, a scripted model answers: ``python anthropic_loop.py ../../../skills``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, cast

from anthropic.types import (
    Message,
    MessageParam,
    TextBlock,
    ToolResultBlockParam,
    ToolUseBlock,
    Usage,
)
from repertoire import Engine

Create = Callable[..., Message]


class Agent:
    """One conversation with a model."""

    def __init__(self, create: Create, engine: Engine, chat: str = "chat-1") -> None:
        self.create = create
        self.engine = engine
        self.session = engine.session(chat)
        self.system = f"You are a helpful assistant.\n\n{engine.prompt(session=self.session).text}"
        self.messages: list[MessageParam] = []

    def say(self, message: str) -> str:
        """Answer a message from the user."""
        turn = self.engine.turn(message, self.session)
        content = f"{message}\n\n{turn.text}" if turn.text else message
        self.messages.append({"role": "user", "content": content})
        while True:
            reply = self.create(
                model="claude-sonnet-5",
                max_tokens=4096,
                system=self.system,
                messages=self.messages,
                # The list may have grown: a loaded skill adds its tools.
                tools=turn.tools.definitions("anthropic"),
            )
            self.messages.append({"role": "assistant", "content": reply.content})
            calls = [block for block in reply.content if isinstance(block, ToolUseBlock)]
            if not calls:
                return "".join(b.text for b in reply.content if isinstance(b, TextBlock))
            results: list[ToolResultBlockParam] = []
            for call in calls:
                answer = turn.tools.call(call.name, cast("dict[str, Any]", call.input))
                results.append(
                    {
                        "type": "tool_result",
                        "tool_use_id": call.id,
                        "content": answer.text,
                        "is_error": not answer.ok,
                    }
                )
            self.messages.append({"role": "user", "content": results})


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
    agent = Agent(ScriptedModel(engine.skills("model")[0].id).create, engine)
    print(agent.say("please help me with this"))


if __name__ == "__main__":
    main()
