"""The OpenAI Agents SDK, with skills.

With an API key, use ``Chat(Engine("skills"), "gpt-5")``. Without one, a scripted model
answers: ``python openai_agents.py ../../../skills``.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any

from agents import Model, ModelResponse, RunConfig, TResponseInputItem
from agents import Tool as AgentTool
from agents.usage import Usage
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseStreamEvent,
)
from repertoire import Engine
from repertoire.openai_agents import Chat


class ScriptedModel(Model):
    """A model that loads a skill and then answers; it records the requests it receives."""

    def __init__(self, skill: str) -> None:
        self.skill = skill
        self.requests: list[dict[str, Any]] = []

    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],
        model_settings: Any,
        tools: list[AgentTool],
        *args: Any,
        **kwargs: Any,
    ) -> ModelResponse:
        items: list[Any] = [input] if isinstance(input, str) else list(input)
        names = [tool.name for tool in tools]
        self.requests.append({"system": system_instructions, "input": items, "tools": names})
        if items[-1].get("type") == "function_call_output":
            text = ResponseOutputText(
                type="output_text", text=f"I read the skill {self.skill}.", annotations=[]
            )
            output: Any = ResponseOutputMessage(
                id="message-1", type="message", role="assistant", status="completed", content=[text]
            )
        else:
            output = ResponseFunctionToolCall(
                type="function_call",
                call_id=f"call-{len(self.requests)}",
                name="use_skill",
                arguments=f'{{"skill": "{self.skill}"}}',
            )
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **kwargs: Any) -> AsyncIterator[ResponseStreamEvent]:
        raise NotImplementedError


def main() -> None:
    engine = Engine(sys.argv[1:])
    model = ScriptedModel(engine.skills("model")[0].id)
    chat = Chat(engine, model, run_config=RunConfig(tracing_disabled=True))
    print(asyncio.run(chat.say("please help me with this")))


if __name__ == "__main__":
    main()
