"""The types of the native module, which is written in Rust."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, final

from ._errors import RepertoireError
from .types import (
    Arguments,
    Audience,
    Budget,
    Cancellation,
    EventKind,
    Format,
    HitKind,
    MetaQuestion,
    Path,
    Provider,
    ProviderScope,
    ScoringRetriever,
    SessionStore,
    ToolFormat,
)

_Source: TypeAlias = "Path | Source | Provider | dict[str, Any]"

@final
class Engine:
    """A catalog of skills and its compiled index.

    It decides for each message which skills matter, and how much of each the model should read.
    All methods may be called from any thread; each lets other threads of Python run while it works.
    """

    def __new__(
        cls,
        sources: _Source | Iterable[_Source] | None = ...,
        *,
        skills: str | Iterable[str] | None = ...,
        brand: str | None = None,
        allow: str | Iterable[str] | None = None,
        enable: str | Iterable[str] | None = ...,
        bundled_off: str | None = None,
        environment: Mapping[str, str] | None = None,
        inflect: bool | None = None,
        max_query_bytes: int | None = None,
        meta_phrases: Mapping[str, MetaQuestion] | None = None,
        meaning: bool | Path | None = None,
        disclosure: DisclosureOptions | None = None,
        prompt: PromptOptions | None = None,
        config: Config | None = None,
        session_store: Path | SessionStore | None = None,
        consent: Literal["never", "first-use", "always"] | None = None,
        ask_consent: Callable[[ConsentRequest], bool] | None = None,
        token_counter: Callable[[str], int] | None = None,
        retriever: ScoringRetriever
        | Callable[[str, tuple[Candidate, ...]], Sequence[float]]
        | None = None,
        task_spawner: Callable[[Task], str] | None = None,
        toolsets: bool | ToolsetOptions | None = None,
        scripts: bool | ScriptOptions | None = None,
        trust: Path | None = None,
        approve: Callable[[TrustRequest], bool | None] | None = None,
        cache: Path | None = None,
        progress: Callable[[str, int, int], object] | None = None,
    ) -> Engine:
        """Read the sources and compile the triggers.

        ``sources`` is a directory of skills, or several, lowest precedence first; ``skills`` are texts
        of ``SKILL.md``, which win over all sources. ``diagnostics()`` returns problems in skill files.
        """
    @classmethod
    async def acreate(
        cls,
        sources: _Source | Iterable[_Source] | None = ...,
        **options: Any,
    ) -> Engine:
        """Build an engine, as ``Engine(…)`` does, without blocking the event loop."""
    def session(self, id: str) -> Session:
        """Return the session with this id; it begins with its first event."""
    def turn(
        self,
        message: str,
        session: Session,
        *,
        paths: Path | Iterable[Path] | None = ...,
        budget: Budget | None = None,
        options: DisclosureOptions | None = None,
    ) -> Turn:
        """Answer a message of a conversation, and record in the session the skills shown."""
    async def aturn(
        self,
        message: str,
        session: Session,
        *,
        paths: Path | Iterable[Path] | None = ...,
        budget: Budget | None = None,
        options: DisclosureOptions | None = None,
    ) -> Turn:
        """Answer a message, as ``turn`` does, without blocking the event loop."""
    def preview(
        self,
        message: str,
        session: Session,
        *,
        paths: Path | Iterable[Path] | None = ...,
        budget: Budget | None = None,
        options: DisclosureOptions | None = None,
    ) -> Disclosure:
        """Return what ``turn`` would disclose, without recording it in the session."""
    def disclose(self, message: str, *, paths: Path | Iterable[Path] | None = ...) -> Disclosure:
        """Return the disclosure for a message outside of any conversation."""
    async def adisclose(
        self, message: str, *, paths: Path | Iterable[Path] | None = ...
    ) -> Disclosure:
        """Return a disclosure, as ``disclose`` does, without blocking the event loop."""
    def matches(
        self,
        message: str,
        session: Session | None = None,
        *,
        paths: Path | Iterable[Path] | None = ...,
    ) -> list[Match]:
        """Return every skill that matches a message, best first."""
    def explain(
        self,
        message: str,
        limit: int | None = 3,
        session: Session | None = None,
        *,
        paths: Path | Iterable[Path] | None = ...,
    ) -> Explanation:
        """Return the best matches, and the reasons why other skills are not among them."""
    def find_skills(self, query: str, limit: int | None = 5) -> list[FoundSkill]:
        """Return the best skills for a query, by triggers and by relevance."""
    def prompt(
        self, options: PromptOptions | None = None, *, session: Session | None = None
    ) -> CatalogPrompt:
        """Return the list of skills for the system prompt.

        With a ``session``, messages do not list the skills again.
        """
    def activate(
        self,
        name: str,
        args: Arguments | None = None,
        *,
        session: Session,
        audience: Audience | None = "model",
        by: str | None = None,
        inline: bool | None = False,
    ) -> Activation:
        """Activate the skill that ``name`` refers to: an id, a path, or a unique name."""
    async def aactivate(
        self,
        name: str,
        args: Arguments | None = None,
        *,
        session: Session,
        audience: Audience | None = "model",
        by: str | None = None,
        inline: bool | None = False,
    ) -> Activation:
        """Activate a skill, as ``activate`` does, without blocking the event loop."""
    def user_message(self, message: str, session: Session) -> Activation | None:
        """Activate the skill of a message such as ``/review PR 42``; ``None`` for any other."""
    def commands(self) -> list[Command]:
        """Return the slash commands that users can type, in the order of skill ids."""
    def tools(
        self,
        session: Session,
        *,
        names_chars: int | None = None,
        read_bytes: int | None = None,
        output_bytes: int | None = None,
        all_toolsets: bool | None = None,
    ) -> Tools:
        """Return the model's tools in a session."""
    def skills(self, audience: Audience | None = None) -> list[Skill]:
        """Return the skills of the catalog, or those an audience can use, in the order of ids."""
    def skill(self, name: str) -> Skill:
        """Return the skill that ``name`` refers to, whatever its status."""
    def diagnostics(self) -> list[Diagnostic]:
        """Return the problems found in skill files and sources."""
    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of a text, as counted for budgets."""
    def refresh(self) -> Refreshed:
        """Apply changes in the sources since they were last read."""
    async def arefresh(self) -> Refreshed:
        """Apply changes, as ``refresh`` does, without blocking the event loop."""
    def subscribe(self, listener: Callable[[Refreshed], object]) -> Subscription:
        """Call a listener after each refresh with changes, until the subscription is closed."""
    def watch(self) -> Watch:
        """Refresh the engine whenever its sources change, until the watch is closed."""
    def view(self, allow: str | Iterable[str] | None = None) -> Engine:
        """Return the engine of a role, for which only the skills of ``allow`` exist.

        It shares catalog, indexes, sessions, callbacks and the watch with this engine.
        """
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Skill]: ...
    def __contains__(self, skill: object, /) -> bool: ...
    def __getitem__(self, name: str, /) -> Skill:
        """Return the skill that ``name`` refers to, or raise ``KeyError``."""
    def _repr_markdown_(self) -> str: ...

@final
class Session:
    """One conversation: the skills it used, and what its user agreed to."""

    @property
    def id(self) -> str:
        """The session's name in the store."""
    @property
    def unsaved(self) -> RepertoireError | None:
        """The error because of which the session is kept in memory at the moment, if any."""
    def state(self) -> list[SkillState]:
        """Return the session's history: one state for each skill, most recently used first."""
    def record_use(self, skill: str) -> None:
        """Record that a skill is used now."""
    def consent(self, skill: str) -> None:
        """Record that the user agreed to activate a skill."""
    def compacted(self) -> None:
        """Record that the host compacted the context."""
    def end(self) -> None:
        """Forget the conversation."""

@final
class Turn:
    """The answer to one message of a conversation."""

    @property
    def text(self) -> str:
        """The text to put into the context together with the message; may be empty."""
    @property
    def disclosure(self) -> Disclosure:
        """The skills that were disclosed and omitted; for a command, the command's skill."""
    @property
    def activation(self) -> Activation | None:
        """The skill that the message activated, if the message is a command."""
    @property
    def refused(self) -> RepertoireError | None:
        """The error, if the message is a command whose skill could not be activated."""
    @property
    def unsaved(self) -> RepertoireError | None:
        """The error of the session's store, if the answer comes from memory or is kept there only."""
    @property
    def tools(self) -> Tools:
        """The model's tools, always up to date. A turn restored from a pickle has none."""
    def __new__(
        cls,
        text: str,
        disclosure: Disclosure,
        activation: Activation | None,
        refused: RepertoireError | None,
        unsaved: RepertoireError | None = None,
    ) -> Turn: ...
    def to_dict(self) -> dict[str, Any]: ...
    def _repr_markdown_(self) -> str: ...

@final
class Disclosure:
    """The decision for one message: the text for the prompt, and the skills shown and omitted."""

    @property
    def tier(self) -> Literal[0, 1, 2, 3]:
        """The highest tier shown: 0 nothing, 1 a count of skills, 2 lines, 3 full instructions."""
    @property
    def meta(self) -> MetaQuestion | None:
        """The kind of question, if the message asks about the skills themselves."""
    @property
    def full(self) -> list[str]:
        """Skills shown in full, best first."""
    @property
    def relevant(self) -> Relevant | None:
        """The skill that is shown in full because it is relevant, if any."""
    @property
    def registry(self) -> list[str]:
        """Skills shown as one line each, in the order of the text."""
    @property
    def hidden(self) -> int:
        """Number of skills that are only counted."""
    @property
    def below_limit(self) -> int:
        """Number of skills that rank below the limit."""
    @property
    def omitted(self) -> list[Rejection]:
        """Skills shown in less detail than possible, or not at all, with the reasons."""
    @property
    def failure(self) -> str | None:
        """Failure of the retriever of the configuration: skills were ranked by words alone."""
    @property
    def text(self) -> str:
        """The text for the prompt; may be empty."""
    def __new__(
        cls,
        tier: int,
        meta: MetaQuestion | None,
        full: Sequence[str],
        relevant: Relevant | None,
        registry: Sequence[str],
        hidden: int,
        below_limit: int,
        omitted: Sequence[Rejection],
        failure: str | None,
        text: str,
    ) -> Disclosure: ...
    __match_args__ = ("tier", "full", "text")
    def _repr_markdown_(self) -> str: ...
    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary of plain values, fit for JSON."""

@final
class Tools:
    """The tools for the model of one session. The list only grows within a session."""

    def definitions(self, format: ToolFormat | None = "openai") -> list[dict[str, Any]]:
        """Return the current tool definitions in the format of a provider."""
    def call(
        self,
        name: str,
        arguments: dict[str, Any] | str | None = None,
        *,
        progress: Callable[[float, str], object] | None = None,
        cancelled: Cancellation | Callable[[], bool] | None = None,
        timeout: float | None = None,
    ) -> Envelope:
        """Answer a tool call of the model. A failure is returned as an envelope, too."""
    async def acall(
        self,
        name: str,
        arguments: dict[str, Any] | str | None = None,
        *,
        progress: Callable[[float, str], object] | None = None,
        timeout: float | None = None,
    ) -> Envelope:
        """Answer a tool call without blocking the event loop. Cancelling the task ends the call."""
    def finish(self, task_id: str, result: str, *, failed: bool | None = False) -> Envelope:
        """Tell that a task has ended, and return the answer to put into the conversation.

        ``result`` is the result of the task or, if it ``failed``, the reason why.
        """
    def functions(self) -> list[Tool]:
        """Return the tools as functions, for frameworks that take functions."""

@final
class Tool:
    """A tool as a function: call it with keyword arguments."""

    @property
    def name(self) -> str:
        """The tool's name, in a form that providers accept."""
    @property
    def description(self) -> str:
        """The tool's description, for the model."""
    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON Schema of the tool's arguments."""
    @property
    def annotations(self) -> dict[str, Any]:
        """Hints with MCP's names, such as ``readOnlyHint``."""
    @property
    def __name__(self) -> str: ...
    def __call__(self, **arguments: Any) -> Any:
        """Call the tool and return its data; on failure, raise the exception for the error code."""
    def envelope(self, **arguments: Any) -> Envelope:
        """Call the tool and return its envelope, which may hold an error."""

@final
class Skill:
    """A skill: the content of a ``SKILL.md`` and, if it is in a catalog, its status there."""

    @staticmethod
    def parse(text: str, brand: str | None = "repertoire") -> Skill:
        """Read the text of a ``SKILL.md``; it must have a ``name``."""
    @staticmethod
    def load(path: Path, brand: str | None = "repertoire") -> Skill:
        """Read a ``SKILL.md``."""
    @property
    def id(self) -> str:
        """The skill's id in its catalog; the skill's name if it is in no catalog."""
    @property
    def name(self) -> str:
        """The name in the front matter, or else the name of the directory."""
    @property
    def description(self) -> str:
        """What the skill does and when to use it."""
    @property
    def brief(self) -> str:
        """The description in one line."""
    @property
    def body(self) -> str:
        """The instructions; read on first use."""
    @property
    def triggers(self) -> dict[str, list[str]]:
        """The triggers by kind: keywords, verbs, patterns, exclude and paths."""
    @property
    def toolsets(self) -> list[str]:
        """The ``path:Class`` entries of the skill's toolsets."""
    @property
    def scope(self) -> Literal["bundled", "user", "project", "memory"]:
        """The scope of the skill's source."""
    @property
    def status(self) -> Literal["available", "unavailable", "shadowed", "disabled"]:
        """The skill's status in its catalog."""
    @property
    def reason(self) -> str | None:
        """The reason why the model cannot use the skill; ``None`` if it can."""
    @property
    def path(self) -> os.PathLike[str] | None:
        """The path of the skill's ``SKILL.md``; ``None`` for a skill in memory."""
    @property
    def dir(self) -> os.PathLike[str] | None:
        """The skill's directory; ``None`` for a skill in memory."""
    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The findings about the skill's file."""
    def __hash__(self) -> int: ...
    def to_dict(self) -> dict[str, Any]: ...
    @staticmethod
    def _restore(id: str, scope: str, status: str, reason: str | None, content: bytes) -> Skill: ...
    def _repr_markdown_(self) -> str: ...

@final
class Source:
    """A directory of skills, or a provider of them.

    A plain path stands for a source with the scope ``project``, whose code runs only once it is trusted.
    A provider is an object with ``list()`` and ``read(path)``, or a dictionary of files: texts, bytes, or
    functions that make a file when it is read. Its scope is ``memory``, unless another one is given, and
    its name begins the paths in diagnostics: by default that of the class, or ``memory`` for a dictionary.
    With an alias, the ids of its skills begin with it, so that two sources may have a skill of the same name.
    """

    def __new__(
        cls,
        path: Path | Provider | Mapping[str, Any],
        scope: ProviderScope | None = None,
        *,
        optional: bool | None = False,
        links_outside: bool | None = False,
        name: str | None = None,
        alias: str | None = None,
    ) -> Source: ...
    @property
    def path(self) -> os.PathLike[str] | None:
        """The directory; ``None`` for a provider."""
    @property
    def scope(self) -> ProviderScope:
        """The scope: who provides the skills."""
    @property
    def alias(self) -> str | None:
        """The prefix of the ids of its skills: ``r1`` for ``r1/review``."""

@final
class Config:
    """The directories in which a host's ``config.toml`` and standard sources are found."""

    def __new__(
        cls,
        project: Path,
        *,
        home: Path | None = None,
        working_dir: Path | None = None,
        brand: str | None = "repertoire",
    ) -> Config: ...

@final
class DisclosureOptions:
    """The options of disclosures. Options that are not given keep the engine's values.

    A budget is a number of characters, or text: ``1000t`` for tokens, ``2%`` for a share of the
    context window, ``unlimited``. ``how_to_load`` is ``file``, ``tool:NAME`` or a sentence.
    """

    def __new__(
        cls,
        *,
        format: Format | None = None,
        max_skills: int | None = None,
        max_all_skills: int | None = None,
        max_lines: int | None = None,
        relevance: bool | None = None,
        budget: Budget | None = None,
        restore: Budget | None = None,
        context_window: int | None = None,
        how_to_load: str | None = None,
        native_roots: Path | Iterable[Path] | None = None,
        native_words: str | None = None,
    ) -> DisclosureOptions: ...

@final
class PromptOptions:
    """The options of the catalog prompt. Options that are not given keep the engine's values."""

    def __new__(
        cls,
        *,
        format: Format | None = None,
        budget: Budget | None = None,
        context_window: int | None = None,
        locations: bool | None = None,
        how_to_load: str | None = None,
        native_roots: Path | Iterable[Path] | None = None,
        native_words: str | None = None,
    ) -> PromptOptions: ...

@final
class ToolsetOptions:
    """Options for loading toolsets. By default, each library runs in its own process."""

    def __new__(
        cls,
        *,
        in_process: bool | None = False,
        policy: Literal["disclosed", "all"] | None = None,
        cache: Path | None = None,
        config: dict[str, Any] | None = None,
        call_timeout: float | None = None,
        network: bool | list[str] | None = None,
        write: Path | Iterable[Path] | None = ...,
    ) -> ToolsetOptions: ...

@final
class ScriptOptions:
    """Options for running scripts. Times are in seconds."""

    def __new__(
        cls,
        *,
        timeout: float | None = None,
        output_bytes: int | None = None,
        env: str | Iterable[str] | None = ...,
        write: Path | Iterable[Path] | None = ...,
        hidden: Path | Iterable[Path] | None = ...,
        network: bool | None = None,
    ) -> ScriptOptions: ...

@final
class Subscription:
    """A subscription made by ``Engine.subscribe``."""

    def close(self) -> None:
        """End the subscription."""
    def __enter__(self) -> Subscription: ...
    def __exit__(self, *args: object) -> None: ...

@final
class Watch:
    """A watch that keeps an engine up to date; see ``Engine.watch``."""

    def close(self) -> None:
        """End the watch."""
    def __enter__(self) -> Watch: ...
    def __exit__(self, *args: object) -> None: ...

def enable_logging(level: int | None = 30) -> None:
    """Pass log events of this level or above to ``logging``, to loggers below ``repertoire``."""

def run_worker() -> None:
    """Run the child process of a toolset; never return."""

@final
class Hit:
    """One trigger found in a message, at its first occurrence."""

    @property
    def kind(self) -> HitKind:
        """``name``, ``keyword``, ``verb``, ``pattern`` or ``path``."""
    @property
    def trigger(self) -> str:
        """The trigger as its author wrote it."""
    @property
    def start(self) -> int:
        """The index of the first character that the trigger covers."""
    @property
    def end(self) -> int:
        """The index of the first character after the trigger."""
    @property
    def path(self) -> str | None:
        """The path that matched, if the trigger is a glob for paths."""
    def __new__(
        cls, kind: HitKind, trigger: str, start: int, end: int, path: str | None
    ) -> Hit: ...
    __match_args__ = (
        "kind",
        "trigger",
        "start",
        "end",
        "path",
    )
    def to_dict(self) -> dict[str, Any]: ...

@final
class Match:
    """A skill that matches a message, with its hits.

    Its rank is its place in the list it comes in.
    """

    @property
    def id(self) -> str:
        """The skill's id."""
    @property
    def explicit(self) -> bool:
        """True if the message asks for the skill by its name."""
    @property
    def phrase_words(self) -> int:
        """The number of words of the longest literal found; 0 if only patterns or paths matched."""
    @property
    def hits(self) -> list[Hit]:
        """Every trigger found, in the order of the message."""
    def __new__(cls, id: str, explicit: bool, phrase_words: int, hits: list[Hit]) -> Match: ...
    __match_args__ = (
        "id",
        "explicit",
        "phrase_words",
        "hits",
    )
    def to_dict(self) -> dict[str, Any]: ...

@final
class Reason:
    """A reason why a skill is shown in less detail than possible. ``str()`` returns its text."""

    @property
    def code(self) -> str:
        """The code, stable and in kebab-case: ``below-limit``, ``vetoed`` and so on."""
    @property
    def text(self) -> str:
        """The reason in words."""
    @property
    def help(self) -> str:
        """The remedy for the user, the skill's author or the host."""
    def __new__(cls, code: str, text: str, help: str) -> Reason: ...
    __match_args__ = (
        "code",
        "text",
        "help",
    )
    def to_dict(self) -> dict[str, Any]: ...

@final
class Rejection:
    """A skill that relates to a message but is shown in less detail than possible or not at all."""

    @property
    def id(self) -> str:
        """The skill's id."""
    @property
    def reason(self) -> Reason:
        """The first reason."""
    @property
    def also(self) -> list[Reason]:
        """Other reasons that also apply."""
    def __new__(cls, id: str, reason: Reason, also: list[Reason]) -> Rejection: ...
    __match_args__ = (
        "id",
        "reason",
        "also",
    )
    def to_dict(self) -> dict[str, Any]: ...

@final
class Relevant:
    """The skill that is shown in full because it is relevant, although no trigger matches."""

    @property
    def id(self) -> str:
        """The skill's id."""
    @property
    def worth(self) -> float:
        """The total weight of the words that skill and message share."""
    @property
    def lead(self) -> float:
        """The lead of ``worth`` over the next skill."""
    @property
    def words(self) -> int:
        """The number of distinct words that skill and message share."""
    @property
    def head_words(self) -> int:
        """The number of those words that are in the skill's front matter."""
    def __new__(
        cls, id: str, worth: float, lead: float, words: int, head_words: int
    ) -> Relevant: ...
    __match_args__ = (
        "id",
        "worth",
        "lead",
        "words",
        "head_words",
    )
    def to_dict(self) -> dict[str, Any]: ...

@final
class WeighedTerm:
    """A word, or two adjacent words, that a skill and a message share."""

    @property
    def term(self) -> str:
        """The word, as the message has it."""
    @property
    def fields(self) -> list[str]:
        """The fields of the skill that have it, such as ``description``."""
    @property
    def worth(self) -> float:
        """The share of the skill's ``worth`` that it adds, about."""
    @property
    def places(self) -> list[list[int]]:
        """The start and the end of each place in the message, in characters, as a list of two."""
    def __new__(
        cls, term: str, fields: list[str], worth: float, places: list[list[int]]
    ) -> WeighedTerm: ...
    __match_args__ = (
        "term",
        "fields",
        "worth",
        "places",
    )
    def to_dict(self) -> dict[str, Any]: ...

@final
class Needed:
    """The margin that a skill must reach to be shown in full because it is relevant."""

    @property
    def worth(self) -> float:
        """The minimum of ``worth``."""
    @property
    def lead(self) -> float:
        """The minimum of ``lead``."""
    @property
    def words(self) -> int:
        """The minimum of ``head_words``."""
    @property
    def evidence(self) -> float:
        """The minimum evidence of words and nearness; 0 if the nearness is not known."""
    def __new__(cls, worth: float, lead: float, words: int, evidence: float) -> Needed: ...
    __match_args__ = (
        "worth",
        "lead",
        "words",
        "evidence",
    )
    def to_dict(self) -> dict[str, Any]: ...

@final
class Lack:
    """Something that keeps a skill from being shown in full. ``str()`` returns its text."""

    @property
    def code(self) -> str:
        """``worth``, ``lead``, ``words`` and so on, or the code of a reason."""
    @property
    def text(self) -> str:
        """The lack in words."""
    @property
    def has(self) -> float | None:
        """The figure, if the code is ``worth``, ``lead`` or ``words``."""
    @property
    def needs(self) -> float | None:
        """The figure that is needed."""
    def __new__(cls, code: str, text: str, has: float | None, needs: float | None) -> Lack: ...
    __match_args__ = (
        "code",
        "text",
        "has",
        "needs",
    )
    def to_dict(self) -> dict[str, Any]: ...

@final
class Weighed:
    """A relevant skill, and what decided how much of it is shown."""

    @property
    def id(self) -> str:
        """The skill's id."""
    @property
    def worth(self) -> float:
        """The total weight of the words that skill and message share."""
    @property
    def lead(self) -> float:
        """The lead of ``worth`` over the next skill."""
    @property
    def words(self) -> int:
        """The number of distinct words that skill and message share."""
    @property
    def head_words(self) -> int:
        """The number of those words that are in the skill's front matter."""
    @property
    def tier(self) -> int:
        """1 a count, 2 a line, 3 full instructions."""
    @property
    def terms(self) -> list[WeighedTerm]:
        """The words that skill and message share, the heaviest first."""
    @property
    def near(self) -> str | None:
        """How near the skill is to the message in meaning, and by which words."""
    @property
    def needed(self) -> Needed | None:
        """The margin; ``None`` if relevance shows no skill in full."""
    @property
    def is_decisive(self) -> bool:
        """True if its relevance shows the skill in full."""
    @property
    def lacking(self) -> list[Lack]:
        """Everything that keeps the skill from being shown in full."""
    def __new__(
        cls,
        id: str,
        worth: float,
        lead: float,
        words: int,
        head_words: int,
        tier: int,
        terms: list[WeighedTerm],
        near: str | None,
        needed: Needed | None,
        is_decisive: bool,
        lacking: list[Lack],
    ) -> Weighed: ...
    __match_args__ = (
        "id",
        "worth",
        "lead",
        "words",
        "head_words",
        "tier",
        "terms",
        "near",
        "needed",
        "is_decisive",
        "lacking",
    )
    def to_dict(self) -> dict[str, Any]: ...

@final
class Explanation:
    """The matches of a message, and the reasons why other skills are not among them."""

    @property
    def matches(self) -> list[Match]:
        """The matches, best first."""
    @property
    def rejected(self) -> list[Rejection]:
        """Skills that relate to the message but are not among the matches, with the reasons."""
    @property
    def relevant(self) -> list[Weighed]:
        """The most relevant skills with the decisions on them, best first."""
    @property
    def n_beyond(self) -> int:
        """The number of further matches, which rank below the limit."""
    @property
    def meta(self) -> MetaQuestion | None:
        """``registry`` or ``show_all`` if the message asks about the skills themselves."""
    def __new__(
        cls,
        matches: list[Match],
        rejected: list[Rejection],
        relevant: list[Weighed],
        n_beyond: int,
        meta: MetaQuestion | None,
    ) -> Explanation: ...
    __match_args__ = (
        "matches",
        "rejected",
        "relevant",
        "n_beyond",
        "meta",
    )
    def to_dict(self) -> dict[str, Any]: ...

@final
class Candidate:
    """A skill that a retriever may rank."""

    @property
    def id(self) -> str:
        """Its id."""
    @property
    def name(self) -> str:
        """Its name."""
    @property
    def description(self) -> str:
        """Its description."""
    @property
    def when_to_use(self) -> str:
        """Its ``when_to_use``; may be empty."""
    @property
    def headings(self) -> list[str]:
        """The headings of its body, in their order."""
    @property
    def body(self) -> str:
        """Its body; empty if it cannot be read."""
    def __new__(
        cls,
        id: str,
        name: str,
        description: str,
        when_to_use: str,
        headings: Sequence[str],
        body: str,
    ) -> Candidate: ...
    __match_args__ = (
        "id",
        "name",
        "description",
        "when_to_use",
        "headings",
        "body",
    )
    def to_dict(self) -> dict[str, Any]: ...

@final
class FoundSkill:
    """A skill that was found for a query, with the reason."""

    @property
    def id(self) -> str:
        """The skill's id."""
    @property
    def brief(self) -> str:
        """The skill's description in one line."""
    @property
    def why(self) -> str:
        """The triggers that the query matches; if none, the words that skill and query share."""
    def __new__(cls, id: str, brief: str, why: str) -> FoundSkill: ...
    __match_args__ = (
        "id",
        "brief",
        "why",
    )
    def to_dict(self) -> dict[str, Any]: ...

@final
class CatalogPrompt:
    """The list of skills for a system prompt."""

    @property
    def included(self) -> list[str]:
        """Skills in the text, in the order of the text."""
    @property
    def shortened(self) -> list[str]:
        """Skills in the text whose description was shortened."""
    @property
    def omitted(self) -> list[str]:
        """Skills for which there was no room."""
    @property
    def text(self) -> str:
        """The text for the system prompt; empty if there is nothing to list."""
    def __new__(
        cls, included: list[str], shortened: list[str], omitted: list[str], text: str
    ) -> CatalogPrompt: ...
    __match_args__ = (
        "included",
        "shortened",
        "omitted",
        "text",
    )
    def _repr_markdown_(self) -> str: ...
    def to_dict(self) -> dict[str, Any]: ...

@final
class Diagnostic:
    """A coded finding about a skill file or a source."""

    @property
    def code(self) -> str:
        """The code, in kebab-case."""
    @property
    def severity(self) -> Literal["error", "warning", "info"]:
        """``error``, ``warning`` or ``info``."""
    @property
    def path(self) -> str:
        """The file or directory the finding is about; empty for a skill that was never a file."""
    @property
    def line(self) -> int:
        """Line of the finding, from 1."""
    @property
    def column(self) -> int:
        """Column of the finding in characters, from 1."""
    @property
    def message(self) -> str:
        """The problem."""
    @property
    def help(self) -> str:
        """The advice on what to do."""
    def __new__(
        cls,
        code: str,
        severity: Literal["error", "warning", "info"],
        path: str,
        line: int,
        column: int,
        message: str,
        help: str,
    ) -> Diagnostic: ...
    __match_args__ = (
        "code",
        "severity",
        "path",
        "line",
        "column",
        "message",
        "help",
    )
    def to_dict(self) -> dict[str, Any]: ...

@final
class Command:
    """A slash command of the user, for menus and completion."""

    @property
    def command(self) -> str:
        """The command as it is typed."""
    @property
    def id(self) -> str:
        """The skill that the command activates."""
    @property
    def brief(self) -> str:
        """The skill's description in one line."""
    @property
    def argument_hint(self) -> str | None:
        """The arguments that the command takes, in the words of the skill's author."""
    def __new__(cls, command: str, id: str, brief: str, argument_hint: str | None) -> Command: ...
    __match_args__ = (
        "command",
        "id",
        "brief",
        "argument_hint",
    )
    def to_dict(self) -> dict[str, Any]: ...

@final
class Refreshed:
    """The changes that a refresh found, as ids of skills."""

    @property
    def added(self) -> list[str]:
        """Skills that are new."""
    @property
    def changed(self) -> list[str]:
        """Skills that changed."""
    @property
    def removed(self) -> list[str]:
        """Skills that no longer exist."""
    @property
    def kept(self) -> list[str]:
        """Skills whose file no longer loads; their last loaded version stays in use."""
    def __new__(
        cls, added: list[str], changed: list[str], removed: list[str], kept: list[str]
    ) -> Refreshed: ...
    __match_args__ = (
        "added",
        "changed",
        "removed",
        "kept",
    )
    def to_dict(self) -> dict[str, Any]: ...
    def __bool__(self) -> bool: ...

@final
class SubSkill:
    """A skill nested below another one."""

    @property
    def id(self) -> str:
        """The skill's id."""
    @property
    def brief(self) -> str:
        """The skill's description in one line."""
    def __new__(cls, id: str, brief: str) -> SubSkill: ...
    __match_args__ = (
        "id",
        "brief",
    )
    def to_dict(self) -> dict[str, Any]: ...

@final
class RequiredSkill:
    """A skill that another one builds on."""

    @property
    def id(self) -> str:
        """The skill's id; of a missing one, its name as it is written."""
    @property
    def brief(self) -> str:
        """The skill's description in one line."""
    @property
    def is_missing(self) -> bool:
        """True if there is no such skill that a model may load."""
    def __new__(cls, id: str, brief: str, is_missing: bool) -> RequiredSkill: ...
    __match_args__ = (
        "id",
        "brief",
        "is_missing",
    )
    def to_dict(self) -> dict[str, Any]: ...

@final
class KnowledgeDocument:
    """A document that a skill names for further reading."""

    @property
    def path(self) -> str:
        """The path, from the skill's directory or absolute."""
    @property
    def title(self) -> str | None:
        """The first heading of the document; ``None`` if it has none, or was not found."""
    def __new__(cls, path: str, title: str | None) -> KnowledgeDocument: ...
    __match_args__ = ("path", "title")
    def to_dict(self) -> dict[str, Any]: ...

@final
class Activation:
    """A skill loaded by name: instructions with arguments, and the files that come with them."""

    @property
    def id(self) -> str:
        """The skill's id."""
    @property
    def name(self) -> str:
        """Its name."""
    @property
    def mode(self) -> Literal["inline", "fork"]:
        """``inline``, or ``fork`` if the instructions are meant for a separate task."""
    @property
    def content(self) -> str:
        """The body with arguments filled in; empty if the instructions went to a task."""
    @property
    def text(self) -> str:
        """The text for the model: base directory, instructions, and hints about files."""
    @property
    def base_dir(self) -> str | None:
        """The skill's directory; ``None`` for a skill in memory."""
    @property
    def files(self) -> list[str]:
        """The skill's other files, below its directory."""
    @property
    def more_files(self) -> int:
        """The number of further files, which ``files`` does not list."""
    @property
    def sub_skills(self) -> list[SubSkill]:
        """The skills directly below this one."""
    @property
    def knowledge(self) -> list[KnowledgeDocument]:
        """Documents worth reading along with the instructions."""
    @property
    def allowed_tools(self) -> list[str] | None:
        """The tools that the skill's author wants to allow; ``None`` allows all."""
    @property
    def model(self) -> str | None:
        """The model that the skill's author wants."""
    @property
    def agent(self) -> str | None:
        """The kind of agent that the skill's author wants."""
    @property
    def risk(self) -> Literal["risky", "safe"]:
        """``risky`` for the first activation of the skill in the session, otherwise ``safe``."""
    @property
    def task_id(self) -> str | None:
        """The host's name for the spawned task, if the instructions went to one."""
    @property
    def scope(self) -> str:
        """The scope of the skill's source: who wrote it."""
    @property
    def required_skills(self) -> list[RequiredSkill]:
        """The skills that this one builds on, those that are missing included."""
    def __new__(
        cls,
        id: str,
        name: str,
        mode: Literal["inline", "fork"],
        content: str,
        text: str,
        base_dir: str | None,
        files: list[str],
        more_files: int,
        sub_skills: list[SubSkill],
        knowledge: list[KnowledgeDocument],
        allowed_tools: list[str] | None,
        model: str | None,
        agent: str | None,
        risk: Literal["risky", "safe"],
        task_id: str | None,
        scope: str,
        required_skills: list[RequiredSkill],
    ) -> Activation: ...
    __match_args__ = (
        "id",
        "name",
        "mode",
        "content",
        "text",
        "base_dir",
        "files",
        "more_files",
        "sub_skills",
        "knowledge",
        "allowed_tools",
        "model",
        "agent",
        "risk",
        "task_id",
        "scope",
        "required_skills",
    )
    def to_dict(self) -> dict[str, Any]: ...
    def permits(self, tool: str) -> bool: ...
    def preapproved(self, tool: str) -> bool:
        """Tell whether the skill asks that a tool runs without a question to the user.

        Grant that only to skills whose author you trust: strangers wrote those of the scopes
        ``project`` and ``fetched``.
        """

@final
class ConsentRequest:
    """The information that a user should see before agreeing to an activation."""

    @property
    def id(self) -> str:
        """The skill's id."""
    @property
    def session(self) -> str:
        """The id of the session in which the skill is to be activated."""
    @property
    def description(self) -> str:
        """The skill's description."""
    @property
    def audience(self) -> Audience:
        """``model``, or ``user`` for a command that the user typed."""
    @property
    def scope(self) -> str:
        """The scope of the skill's source."""
    @property
    def dir(self) -> str | None:
        """The skill's directory, if it has one."""
    @property
    def tree(self) -> str:
        """The file tree of the skill's directory, as lines of text."""
    @property
    def toolsets(self) -> list[str]:
        """The ``path:Class`` entries of the skill's toolsets."""
    @property
    def allowed_tools(self) -> list[str] | None:
        """The tools that the skill's author wants to allow; ``None`` leaves it to the host."""
    @property
    def scripts(self) -> list[str]:
        """The skill's scripts."""
    @property
    def risk(self) -> Literal["risky", "safe"]:
        """``risky`` for the first activation of the skill in the session, otherwise ``safe``."""
    def __new__(
        cls,
        id: str,
        session: str,
        description: str,
        audience: Audience,
        scope: str,
        dir: str | None,
        tree: str,
        toolsets: list[str],
        allowed_tools: list[str] | None,
        scripts: list[str],
        risk: Literal["risky", "safe"],
    ) -> ConsentRequest: ...
    __match_args__ = (
        "id",
        "session",
        "description",
        "audience",
        "scope",
        "dir",
        "tree",
        "toolsets",
        "allowed_tools",
        "scripts",
        "risk",
    )
    def to_dict(self) -> dict[str, Any]: ...

@final
class TrustRequest:
    """A question to the host: may this code run?"""

    @property
    def skill(self) -> str:
        """The skill that wants to run the code."""
    @property
    def path(self) -> str:
        """The library or the script."""
    @property
    def sha256(self) -> str:
        """The SHA-256 of the file's content."""
    @property
    def classes(self) -> list[str]:
        """The classes that a library exports; empty for a script."""
    @property
    def may(self) -> str:
        """All that the code may do once it is trusted, in one line.

        Such as "reads its skill alone · no network · writes nothing".
        """
    @property
    def verdict(self) -> str:
        """``untrusted``, or ``changed`` if different content was approved before."""
    @property
    def changes(self) -> list[str]:
        """The files changed since the code was approved; approval applies to all of them.

        Each is a text such as "`lib/f.sh` (changed)".
        """
    def __new__(
        cls,
        skill: str,
        path: str,
        sha256: str,
        classes: list[str],
        may: str,
        verdict: str,
        changes: list[str],
    ) -> TrustRequest: ...
    __match_args__ = (
        "skill",
        "path",
        "sha256",
        "classes",
        "may",
        "verdict",
        "changes",
    )
    def to_dict(self) -> dict[str, Any]: ...

@final
class Task:
    """A task for the host to spawn: a separate agent with these instructions."""

    @property
    def skill(self) -> str:
        """The skill's id."""
    @property
    def session(self) -> str:
        """The session that requests the task."""
    @property
    def prompt(self) -> str:
        """The instructions, with arguments filled in."""
    @property
    def base_dir(self) -> str | None:
        """The directory of the skill, if it has one."""
    @property
    def agent(self) -> str | None:
        """The kind of agent that the skill's author wants."""
    @property
    def model(self) -> str | None:
        """The model that the skill's author wants."""
    @property
    def allowed_tools(self) -> list[str] | None:
        """The tools that the skill's author wants to allow; ``None`` allows all."""
    def __new__(
        cls,
        skill: str,
        session: str,
        prompt: str,
        base_dir: str | None,
        agent: str | None,
        model: str | None,
        allowed_tools: list[str] | None,
    ) -> Task: ...
    __match_args__ = (
        "skill",
        "session",
        "prompt",
        "base_dir",
        "agent",
        "model",
        "allowed_tools",
    )
    def to_dict(self) -> dict[str, Any]: ...

@final
class Event:
    """An event of a session, for stores that a host implements."""

    @property
    def kind(self) -> EventKind:
        """The kind: see ``repertoire.types.EventKind``."""
    @property
    def skill(self) -> str | None:
        """The skill that the event is about; ``None`` if it is about all skills."""
    @property
    def body(self) -> int | None:
        """A hash of the instructions that entered the context, if any did."""
    @property
    def by(self) -> str | None:
        """The skill whose instructions asked for an activation, if any."""
    def __new__(
        cls, kind: EventKind, skill: str | None, body: int | None, by: str | None
    ) -> Event: ...
    __match_args__ = (
        "kind",
        "skill",
        "body",
        "by",
    )
    def to_dict(self) -> dict[str, Any]: ...
    @property
    def is_use(self) -> bool: ...

@final
class SkillState:
    """The history of one skill in a session."""

    @property
    def skill(self) -> str:
        """The skill's id."""
    @property
    def uses(self) -> int:
        """The number of times the skill was used."""
    @property
    def activations(self) -> int:
        """The number of times the skill was activated."""
    @property
    def activated_by(self) -> str | None:
        """The skill whose instructions asked for the last activation, if any."""
    @property
    def in_context(self) -> bool:
        """True if the skill's instructions are in the context."""
    @property
    def body(self) -> int | None:
        """A hash of the instructions that were last put into the context."""
    @property
    def lost(self) -> bool:
        """True if the skill's instructions were lost when the context was compacted."""
    @property
    def consented(self) -> bool:
        """True if the user agreed to activate the skill."""
    @property
    def listed(self) -> bool:
        """True if a line for the skill is in the context."""
    @property
    def joined(self) -> int | None:
        """The skill's position, from 1, in the order in which skills first entered the context."""
    def __new__(
        cls,
        skill: str,
        uses: int,
        activations: int,
        activated_by: str | None,
        in_context: bool,
        body: int | None,
        lost: bool,
        consented: bool,
        listed: bool,
        joined: int | None,
    ) -> SkillState: ...
    __match_args__ = (
        "skill",
        "uses",
        "activations",
        "activated_by",
        "in_context",
        "body",
        "lost",
        "consented",
        "listed",
        "joined",
    )
    def to_dict(self) -> dict[str, Any]: ...
    @staticmethod
    def of_new(skill: str) -> SkillState: ...
    def apply(self, event: Event) -> SkillState: ...
    @property
    def joins(self) -> bool: ...
    def with_joined(self, joined: int) -> SkillState: ...

@final
class Fault:
    """The reason why a tool failed."""

    @property
    def code(self) -> str:
        """The code, for programs."""
    @property
    def message(self) -> str:
        """The problem and the advice on what to do."""
    def __new__(cls, code: str, message: str) -> Fault: ...
    __match_args__ = (
        "code",
        "message",
    )
    def to_dict(self) -> dict[str, Any]: ...

@final
class Envelope:
    """The result of a tool call."""

    @property
    def status(self) -> Literal["success", "error"]:
        """``success`` or ``error``."""
    @property
    def data(self) -> Any:
        """The result for programs; for an error, the partial result, if there is one."""
    @property
    def text(self) -> str:
        """The result for a model; for an error its code and message, and the partial result."""
    @property
    def error(self) -> Fault | None:
        """The reason, if the tool failed."""
    def __new__(
        cls, status: Literal["success", "error"], data: Any, text: str, error: Fault | None
    ) -> Envelope: ...
    __match_args__ = (
        "status",
        "data",
        "text",
        "error",
    )
    def _repr_markdown_(self) -> str: ...
    def to_dict(self) -> dict[str, Any]: ...
    @property
    def ok(self) -> bool: ...
    def to_json(self) -> str: ...
