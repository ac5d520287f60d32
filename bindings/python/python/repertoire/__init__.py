"""An embeddable skill engine for LLM agents.

For each message of a user, the engine decides which skills matter, and how much of each the model
should read::

    import repertoire

    engine = repertoire.Engine(["skills"])
    session = engine.session("chat-7")
    turn = engine.turn("write a commit message", session)
    turn.text    # goes into the context, with the message
    turn.tools   # the model's tools

``engine.prompt().text`` goes into the system prompt.
"""

from ._errors import (
    CallbackError,
    ConsentRequiredError,
    ExecutionError,
    InternalError,
    InvalidParamError,
    NotFoundError,
    PermissionDeniedError,
    RepertoireError,
    TimedOutError,
)
from ._native import (
    Activation,
    Candidate,
    CatalogPrompt,
    Command,
    Config,
    ConsentRequest,
    Diagnostic,
    Disclosure,
    DisclosureOptions,
    Engine,
    Envelope,
    Event,
    Explanation,
    Fault,
    FoundSkill,
    Hit,
    KnowledgeDocument,
    Lack,
    Match,
    Needed,
    PromptOptions,
    Reason,
    Refreshed,
    Rejection,
    Relevant,
    ScriptOptions,
    Session,
    Skill,
    SkillState,
    Source,
    Subscription,
    SubSkill,
    Task,
    Tool,
    Tools,
    ToolsetOptions,
    TrustRequest,
    Turn,
    Watch,
    Weighed,
    WeighedTerm,
    enable_logging,
)

__version__ = "0.1.0"

__all__ = [
    "Activation",
    "CallbackError",
    "Candidate",
    "CatalogPrompt",
    "Command",
    "Config",
    "ConsentRequest",
    "ConsentRequiredError",
    "Diagnostic",
    "Disclosure",
    "DisclosureOptions",
    "Engine",
    "Envelope",
    "Event",
    "ExecutionError",
    "Explanation",
    "Fault",
    "FoundSkill",
    "Hit",
    "InternalError",
    "InvalidParamError",
    "KnowledgeDocument",
    "Lack",
    "Match",
    "Needed",
    "NotFoundError",
    "PermissionDeniedError",
    "PromptOptions",
    "Reason",
    "Refreshed",
    "Rejection",
    "Relevant",
    "RepertoireError",
    "ScriptOptions",
    "Session",
    "Skill",
    "SkillState",
    "Source",
    "SubSkill",
    "Subscription",
    "Task",
    "TimedOutError",
    "Tool",
    "Tools",
    "ToolsetOptions",
    "TrustRequest",
    "Turn",
    "Watch",
    "Weighed",
    "WeighedTerm",
    "__version__",
    "enable_logging",
]
