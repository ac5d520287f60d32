"""The examples, each with its SDK and a scripted model."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import sys
from types import ModuleType
from typing import Any

import pytest
from repertoire import Engine
from repertoire._adapters import Conversation

from .conftest import GIT, ROOT

OTHER = "---\nname: tea-time\ndescription: Makes tea.\n---\nBoil water first.\n"


def example(name: str) -> ModuleType:
    """Import an example; skip with a message if its SDK is not installed."""
    folder = str(ROOT / "bindings/python/examples")
    if folder not in sys.path:
        sys.path.append(folder)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        pytest.skip(f"SKIPPED: the example {name} needs {missing.name}")


def texts(value: Any) -> str:
    """Return the whole content of a request as text."""
    return json.dumps(value, default=lambda part: getattr(part, "__dict__", repr(part)))


def check(answers: list[str], requests: list[dict[str, Any]]) -> None:
    """Assert that an example uses the catalog, disclosures, tools and the session correctly."""
    assert answers == ["I read the skill tea-time."] * 2
    assert len(requests) == 4
    sent = [texts(request) for request in requests]
    # The catalog is in the system prompt; the matching skill comes with the message.
    assert "Makes tea." in sent[0] and "imperative" in sent[0]
    assert all(name in sent[0] for name in ("use_skill", "find_skills", "read_skill_file"))
    # The tool's result reached the model.
    assert "Boil water first." not in sent[0] and "Boil water first." in sent[1]
    # A body is sent once: the model gets the text of the answer, not its data beside it.
    assert sent[1].count("Boil water first.") == 1
    # The second message does not repeat the instructions that are in the context already.
    assert sent[2].count("imperative") == 1


@pytest.fixture
def engine() -> Engine:
    return Engine(skills=[GIT, OTHER])


MESSAGES = ("the commit message, please", "once more the commit message")


def test_anthropic(engine: Engine) -> None:
    module = example("anthropic_loop")
    model = module.ScriptedModel("tea-time")
    chat = module.Chat(engine, "scripted", create=model.create)
    check([chat.say(message) for message in MESSAGES], model.requests)


def test_openai_agents(engine: Engine) -> None:
    module = example("openai_agents")
    model = module.ScriptedModel("tea-time")
    config = module.RunConfig(tracing_disabled=True)
    chat = module.Chat(engine, model, run_config=config)
    check([asyncio.run(chat.say(message)) for message in MESSAGES], model.requests)


def test_langgraph(engine: Engine) -> None:
    module = example("langgraph_agent")
    model = module.ScriptedModel(skill="tea-time")
    chat = module.Chat(engine, model)
    check([chat.say(message) for message in MESSAGES], model.requests)


def test_pydantic_ai(engine: Engine) -> None:
    module = example("pydantic_ai_agent")
    model = module.ScriptedModel("tea-time")
    chat = module.Chat(engine, model.model())
    check([asyncio.run(chat.say(message)) for message in MESSAGES], model.requests)


@pytest.mark.parametrize(
    ("module", "sdk", "package", "options"),
    [
        ("anthropic", "anthropic", "anthropic", {"create": print}),
        ("openai_agents", "agents", "openai-agents", {}),
        ("pydantic_ai", "pydantic_ai", "pydantic-ai-slim", {}),
        ("langchain", "langgraph", "langgraph", {}),
    ],
)
def test_a_missing_sdk_is_named(
    monkeypatch: pytest.MonkeyPatch,
    engine: Engine,
    module: str,
    sdk: str,
    package: str,
    options: dict[str, Any],
) -> None:
    for name in [sdk, *(name for name in sys.modules if name.startswith(f"{sdk}."))]:
        monkeypatch.setitem(sys.modules, name, None)
    adapter = importlib.import_module(f"repertoire.{module}")
    with pytest.raises(ModuleNotFoundError, match=f"pip install {package}"):
        adapter.Chat(engine, "model", **options)


@pytest.mark.parametrize("module", ["anthropic", "openai_agents", "pydantic_ai", "langchain"])
def test_all_adapters_take_the_engine_and_then_the_model(module: str, engine: Engine) -> None:
    parameters = inspect.signature(importlib.import_module(f"repertoire.{module}").Chat).parameters
    positional = [one.name for one in parameters.values() if one.kind is one.POSITIONAL_OR_KEYWORD]
    assert positional == ["engine", "model"]
    with pytest.raises(TypeError, match="an Engine, not str"):
        Conversation("model", engine)  # type: ignore[arg-type]
