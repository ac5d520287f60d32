"""The OpenAI Agents SDK, with skills.

With an API key, use ``SkilledAgent(Engine(["skills"]), "gpt-5")``. Without one, a scripted model
answers: ``python openai_agents.py ../../../skills``.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any

from agents import Agent, FunctionTool, Model, ModelResponse, RunConfig, Runner, TResponseInputItem
from agents import Tool as AgentTool
from agents.tool_context import ToolContext
from agents.usage import Usage
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseStreamEvent,
)
from repertoire import Engine


class SkilledAgent:
    """One conversation with a model."""

    def __init__(self, engine: Engine, model: str | Model, chat: str = "chat-1") -> None:
        self.engine = engine
        self.session = engine.session(chat)
        self.tools = engine.tools(self.session)
        self.agent: Agent[None] = Agent(
            name="assistant",
            instructions=f"You are a helpful assistant.\n\n{engine.prompt(session=self.session).text}",
            model=model,
        )
        self.take_up_tools()
        self.items: list[TResponseInputItem] = []

    def take_up_tools(self) -> None:
        """Offer the current tools: a loaded skill adds its own."""
        known = {tool.name for tool in self.agent.tools}
        definitions = self.tools.definitions("mcp")
        new: list[AgentTool] = [self.offered(d) for d in definitions if d["name"] not in known]
        self.agent.tools.extend(new)

    def offered(self, definition: dict[str, Any]) -> FunctionTool:
        """Convert a definition to a tool of the SDK."""
        name: str = definition["name"]

        async def call(_: ToolContext[Any], arguments: str) -> str:
            answer = await self.tools.acall(name, arguments)
            self.take_up_tools()
            return answer.text

        return FunctionTool(
            name=name,
            description=definition["description"],
            params_json_schema=definition["inputSchema"],
            on_invoke_tool=call,
            strict_json_schema=False,
        )

    async def say(self, message: str) -> str:
        """Answer a message from the user."""
        turn = await self.engine.aturn(message, self.session)
        self.take_up_tools()
        content = f"{message}\n\n{turn.text}" if turn.text else message
        self.items.append({"role": "user", "content": content})
        config = RunConfig(tracing_disabled=True)
        result = await Runner.run(self.agent, self.items, run_config=config)
        self.items = result.to_input_list()
        return str(result.final_output)


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
    agent = SkilledAgent(engine, ScriptedModel(engine.skills("model")[0].id))
    print(asyncio.run(agent.say("please help me with this")))


if __name__ == "__main__":
    main()
