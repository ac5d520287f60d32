"""Pydantic AI, with skills.

With an API key, use ``Chat(Engine("skills"), "openai:gpt-5")``. Without one, a scripted
model answers: ``python pydantic_ai_agent.py ../../../skills``.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, FunctionModel
from repertoire import Engine
from repertoire.pydantic_ai import Chat


class ScriptedModel:
    """A model that loads a skill and then answers; it records the requests it receives."""

    def __init__(self, skill: str) -> None:
        self.skill = skill
        self.requests: list[dict[str, Any]] = []

    def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        names = [tool.name for tool in info.function_tools]
        request = {"messages": list(messages), "tools": names, "instructions": info.instructions}
        self.requests.append(request)
        if isinstance(messages[-1].parts[-1], ToolReturnPart):
            return ModelResponse(parts=[TextPart(f"I read the skill {self.skill}.")])
        return ModelResponse(parts=[ToolCallPart("use_skill", {"skill": self.skill})])

    def model(self) -> Model:
        return FunctionModel(self.answer)


def main() -> None:
    engine = Engine(sys.argv[1:])
    chat = Chat(engine, ScriptedModel(engine.skills("model")[0].id).model())
    print(asyncio.run(chat.say("please help me with this")))


if __name__ == "__main__":
    main()
