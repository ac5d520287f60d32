"""Pydantic AI, with skills.

With an API key, use ``SkilledAgent(Engine(["skills"]), "openai:gpt-5")``. Without one, a scripted
model answers: ``python pydantic_ai_agent.py ../../../skills``.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from pydantic_ai import Agent, RunContext
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
from pydantic_core import SchemaValidator, core_schema
from repertoire import Engine, Tools


class SkillToolset(AbstractToolset[None]):
    """The tools of a session, listed again for each request, as a loaded skill adds its own."""

    def __init__(self, tools: Tools) -> None:
        self.tools = tools

    @property
    def id(self) -> str | None:
        return None

    async def get_tools(self, ctx: RunContext[None]) -> dict[str, ToolsetTool[None]]:
        # The engine checks the arguments itself, and tells the model what is wrong with them.
        any_arguments = SchemaValidator(core_schema.any_schema())
        return {
            tool.name: ToolsetTool(
                toolset=self,
                tool_def=ToolDefinition(
                    name=tool.name,
                    description=tool.description,
                    parameters_json_schema=tool.parameters,
                ),
                max_retries=1,
                args_validator=any_arguments,
            )
            for tool in self.tools.functions()
        }

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[None], tool: ToolsetTool[None]
    ) -> Any:
        return (await self.tools.acall(name, tool_args)).text


class SkilledAgent:
    """One conversation with a model."""

    def __init__(self, engine: Engine, model: str | Model, chat: str = "chat-1") -> None:
        self.engine = engine
        self.session = engine.session(chat)
        self.agent: Agent[None, str] = Agent(
            model,
            deps_type=type(None),
            instructions=f"You are a helpful assistant.\n\n{engine.prompt(session=self.session).text}",
            toolsets=[SkillToolset(engine.tools(self.session))],
        )
        self.history: list[ModelMessage] = []

    async def say(self, message: str) -> str:
        """Answer a message from the user."""
        turn = await self.engine.aturn(message, self.session)
        content = f"{message}\n\n{turn.text}" if turn.text else message
        result = await self.agent.run(content, message_history=self.history, deps=None)
        self.history = result.all_messages()
        return result.output


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
    agent = SkilledAgent(engine, ScriptedModel(engine.skills("model")[0].id).model())
    print(asyncio.run(agent.say("please help me with this")))


if __name__ == "__main__":
    main()
