"""Skills for the OpenAI Agents SDK: ``await Chat(engine, "…").say(message)``.

Install the SDK with ``pip install openai-agents``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._adapters import Conversation, sdk
from ._native import Engine, Session

if TYPE_CHECKING:
    from agents import Agent, FunctionTool, Model, RunConfig, Tool, TResponseInputItem

__all__ = ["Chat"]


class Chat(Conversation):
    """One conversation with an agent, which has the tools of the skills beside its own ``tools``."""

    def __init__(
        self,
        engine: Engine,
        model: str | Model,
        *,
        chat: str | Session | None = None,
        instructions: str | None = None,
        tools: list[Tool] | None = None,
        run_config: RunConfig | None = None,
    ) -> None:
        self._sdk = sdk("agents", "openai-agents")
        super().__init__(engine, chat, instructions)
        self.agent: Agent[None] = self._sdk.Agent(
            name="assistant", instructions=self.system, model=model, tools=list(tools or [])
        )
        self.run_config = run_config
        self.items: list[TResponseInputItem] = []

    async def say(self, message: str) -> str:
        """Answer a message from the user."""
        content = await self.acontent(message)
        self._take_up_tools()
        self.items.append({"role": "user", "content": content})
        result = await self._sdk.Runner.run(self.agent, self.items, run_config=self.run_config)
        self.items = result.to_input_list()
        return str(result.final_output)

    def _take_up_tools(self) -> None:
        """Offer the current tools: a loaded skill adds its own."""
        known = {tool.name for tool in self.agent.tools}
        definitions = self.tools.definitions("mcp")
        self.agent.tools.extend(self._offered(d) for d in definitions if d["name"] not in known)

    def _offered(self, definition: dict[str, Any]) -> FunctionTool:
        """Convert a definition to a tool of the SDK."""
        name: str = definition["name"]

        async def call(_: Any, arguments: str) -> str:
            answer = await self.tools.acall(name, arguments)
            self._take_up_tools()
            return answer.text

        tool: FunctionTool = self._sdk.FunctionTool(
            name=name,
            description=definition["description"],
            params_json_schema=definition["inputSchema"],
            on_invoke_tool=call,
            strict_json_schema=False,
        )
        return tool
