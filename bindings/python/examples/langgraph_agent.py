"""A LangGraph graph with skills: a node for the model, and a node for its tools.

With an API key, use ``Chat(Engine("skills"), init_chat_model("…"))``. Without one, a
scripted model answers: ``python langgraph_agent.py ../../../skills``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from pydantic import Field
from repertoire import Engine
from repertoire.langchain import Chat


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
    chat = Chat(engine, ScriptedModel(skill=engine.skills("model")[0].id))
    print(chat.say("please help me with this"))


if __name__ == "__main__":
    main()
