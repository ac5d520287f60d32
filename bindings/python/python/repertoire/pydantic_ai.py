"""Skills for Pydantic AI: ``await Chat(engine, "…").say(message)``, or a ``SkillToolset``.

Install the SDK with ``pip install pydantic-ai-slim``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._adapters import Conversation, sdk
from ._native import Engine, Session, Tools

if TYPE_CHECKING:
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model
    from pydantic_ai.toolsets import AbstractToolset

__all__ = ["Chat", "skill_toolset"]


def skill_toolset(tools: Tools) -> AbstractToolset[Any]:
    """Return the tools of a session as a toolset for any ``Agent``.

    They are listed again for each request, as a loaded skill adds its own.
    """
    toolsets = sdk("pydantic_ai.toolsets", "pydantic-ai-slim")
    definitions = sdk("pydantic_ai.tools", "pydantic-ai-slim")
    core = sdk("pydantic_core", "pydantic-ai-slim")

    async def get_tools(self: Any, ctx: Any) -> dict[str, Any]:
        # The engine checks the arguments itself, and tells the model what is wrong with them.
        any_arguments = core.SchemaValidator(core.core_schema.any_schema())
        return {
            tool.name: toolsets.ToolsetTool(
                toolset=self,
                tool_def=definitions.ToolDefinition(
                    name=tool.name,
                    description=tool.description,
                    parameters_json_schema=tool.parameters,
                ),
                max_retries=1,
                args_validator=any_arguments,
            )
            for tool in tools.functions()
        }

    async def call_tool(
        self: Any, name: str, tool_args: dict[str, Any], ctx: Any, tool: Any
    ) -> Any:
        return (await tools.acall(name, tool_args)).text

    # The base class is in the SDK, which is imported only here.
    members = {"id": property(lambda _: None), "get_tools": get_tools, "call_tool": call_tool}
    toolset: AbstractToolset[Any] = type("SkillToolset", (toolsets.AbstractToolset,), members)()
    return toolset


class Chat(Conversation):
    """One conversation with an agent; further ``options`` are those of ``pydantic_ai.Agent``."""

    def __init__(
        self,
        engine: Engine,
        model: str | Model,
        *,
        chat: str | Session | None = None,
        instructions: str | None = None,
        **options: Any,
    ) -> None:
        agents = sdk("pydantic_ai", "pydantic-ai-slim")
        super().__init__(engine, chat, instructions)
        others: list[AbstractToolset[Any]] = options.pop("toolsets", None) or []
        own = [skill_toolset(self.tools), *others]
        self.agent: Agent[Any, Any] = agents.Agent(
            model, instructions=self.system, toolsets=own, **options
        )
        self.history: list[ModelMessage] = []

    async def say(self, message: str, deps: Any = None) -> Any:
        """Answer a message from the user."""
        content = await self.acontent(message)
        result = await self.agent.run(content, message_history=self.history, deps=deps)
        self.history = result.all_messages()
        return result.output
