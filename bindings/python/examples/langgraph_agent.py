"""A LangGraph graph with skills: a node for the model, and a node for its tools.

With an API key, use ``SkilledGraph(Engine(["skills"]), init_chat_model("…"))``. Without one, a
scripted model answers: ``python langgraph_agent.py ../../../skills``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Literal, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langgraph.graph import END, START, MessagesState, StateGraph
from pydantic import Field
from repertoire import Engine


class SkilledGraph:
    """One conversation with a model."""

    def __init__(self, engine: Engine, model: BaseChatModel, chat: str = "chat-1") -> None:
        self.engine = engine
        self.model = model
        self.session = engine.session(chat)
        self.tools = engine.tools(self.session)
        system = f"You are a helpful assistant.\n\n{engine.prompt(session=self.session).text}"
        self.messages: list[BaseMessage] = [SystemMessage(system)]
        graph = StateGraph(MessagesState)
        graph.add_node("model", self.ask_model)
        graph.add_node("tools", self.call_tools)
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", self.next_node)
        graph.add_edge("tools", "model")
        self.graph = graph.compile()

    def ask_model(self, state: MessagesState) -> dict[str, Any]:
        """Ask the model, with the current tools: a loaded skill adds its own."""
        model = self.model.bind_tools(self.tools.definitions("openai"))
        return {"messages": [model.invoke(state["messages"])]}

    def call_tools(self, state: MessagesState) -> dict[str, Any]:
        """Answer the model's tool calls."""
        last = state["messages"][-1]
        assert isinstance(last, AIMessage)
        answers: list[ToolMessage] = []
        for call in last.tool_calls:
            answer = self.tools.call(call["name"], call["args"])
            status: Literal["success", "error"] = "success" if answer.ok else "error"
            answers.append(ToolMessage(answer.text, tool_call_id=call["id"], status=status))
        return {"messages": answers}

    def next_node(self, state: MessagesState) -> str:
        """Go on to the tools if the model called any, and otherwise end."""
        last = state["messages"][-1]
        return "tools" if isinstance(last, AIMessage) and last.tool_calls else END

    def say(self, message: str) -> str:
        """Answer a message from the user."""
        turn = self.engine.turn(message, self.session)
        content = f"{message}\n\n{turn.text}" if turn.text else message
        start = {"messages": [*self.messages, HumanMessage(content)]}
        self.messages = self.graph.invoke(cast(MessagesState, start))["messages"]
        return str(self.messages[-1].content)


class ScriptedModel(BaseChatModel):
    """A model that loads a skill and then answers; it records the requests it receives."""

    skill: str
    requests: list[dict[str, Any]] = Field(default_factory=list)
    offered: list[dict[str, Any]] = Field(default_factory=list)

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        self.offered = list(tools)
        return self

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        self.requests.append({"messages": messages, "tools": self.offered})
        if isinstance(messages[-1], ToolMessage):
            answer = AIMessage(f"I read the skill {self.skill}.")
        else:
            call = {"name": "use_skill", "args": {"skill": self.skill}, "id": "call-1"}
            answer = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=answer)])

    @property
    def _llm_type(self) -> str:
        return "scripted"


def main() -> None:
    engine = Engine(sys.argv[1:])
    agent = SkilledGraph(engine, ScriptedModel(skill=engine.skills("model")[0].id))
    print(agent.say("please help me with this"))


if __name__ == "__main__":
    main()
