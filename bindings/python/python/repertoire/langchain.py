"""Skills for LangChain and LangGraph: ``Chat(engine, model).say(message)``, or its ``graph``.

Install the SDK with ``pip install langgraph``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._adapters import Conversation, sdk
from ._native import Engine, Session

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

__all__ = ["Chat"]


class Chat(Conversation):
    """One conversation: a graph with a node for the model, and a node for its tools."""

    def __init__(
        self,
        engine: Engine,
        model: BaseChatModel,
        *,
        chat: str | Session | None = None,
        instructions: str | None = None,
    ) -> None:
        graphs = sdk("langgraph.graph", "langgraph")
        self._sdk = sdk("langchain_core.messages", "langgraph")
        super().__init__(engine, chat, instructions)
        self.model = model
        self.messages: list[BaseMessage] = [self._sdk.SystemMessage(self.system)]
        graph = graphs.StateGraph(graphs.MessagesState)
        graph.add_node("model", self._ask_model)
        graph.add_node("tools", self._call_tools)
        graph.add_edge(graphs.START, "model")
        graph.add_conditional_edges("model", self._next_node, {"tools": "tools", "": graphs.END})
        graph.add_edge("tools", "model")
        self.graph: Any = graph.compile()

    def say(self, message: str) -> str:
        """Answer a message from the user."""
        message_of_user = self._sdk.HumanMessage(self.content(message))
        start = {"messages": [*self.messages, message_of_user]}
        self.messages = self.graph.invoke(start)["messages"]
        return str(self.messages[-1].content)

    def _ask_model(self, state: Any) -> dict[str, Any]:
        """Ask the model, with the current tools: a loaded skill adds its own."""
        model = self.model.bind_tools(self.tools.definitions("openai"))
        return {"messages": [model.invoke(state["messages"])]}

    def _call_tools(self, state: Any) -> dict[str, Any]:
        """Answer the model's tool calls."""
        answers: list[Any] = []
        for call in state["messages"][-1].tool_calls:
            answer = self.tools.call(call["name"], call["args"])
            status = "success" if answer.ok else "error"
            message = self._sdk.ToolMessage(answer.text, tool_call_id=call["id"], status=status)
            answers.append(message)
        return {"messages": answers}

    def _next_node(self, state: Any) -> str:
        """Go on to the tools if the model called any, and otherwise end."""
        return "tools" if getattr(state["messages"][-1], "tool_calls", None) else ""
