"""The types of the native module."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, final

from ._errors import RepertoireError
from .types import (
    Audience,
    Budget,
    Cancellation,
    EventKind,
    Format,
    HitKind,
    MetaQuestion,
    Path,
    Scope,
    ScoringRetriever,
    SessionStore,
    ToolFormat,
)

@final
class Engine:
    """A catalog of skills and its compiled index.

    It decides for each message which skills matter, and how much of each the model should read.
    All methods may be called from any thread; each lets other threads of Python run while it works.
    """

    def __new__(
        cls,
        sources: Sequence[Path | Source] = ...,
        *,
        skills: Sequence[str] = ...,
        brand: str | None = None,
        allow: Sequence[str] | None = None,
        enable: Sequence[str] = ...,
        bundled_off: str | None = None,
        environment: Mapping[str, str] | None = None,
        inflect: bool | None = None,
        mask_quoted: bool | None = None,
        max_query_bytes: int | None = None,
        meta_phrases: Mapping[str, MetaQuestion] | None = None,
        disclosure: DisclosureOptions | None = None,
        prompt: PromptOptions | None = None,
        config: Config | None = None,
        session_store: Path | SessionStore | None = None,
        consent: Literal["never", "first-use", "always"] | None = None,
        ask_consent: Callable[[ConsentRequest], bool] | None = None,
        token_counter: Callable[[str], int] | None = None,
        retriever: ScoringRetriever
        | Callable[[str, list[tuple[str, str]]], Sequence[float]]
        | None = None,
        task_spawner: Callable[[Task], str] | None = None,
        toolsets: bool | ToolsetOptions | None = None,
        scripts: bool | ScriptOptions | None = None,
        trust: Path | None = None,
        approve: Callable[[TrustRequest], bool] | None = None,
        cache: Path | None = None,
        progress: Callable[[str, int, int], object] | None = None,
    ) -> Engine:
        """Read the sources and compile the triggers.

        ``sources`` are directories of skills, lowest precedence first; ``skills`` are texts of
        ``SKILL.md``, which win over all sources. Problems of skill files are ``diagnostics()``.
        """
    @classmethod
    async def acreate(
        cls,
        sources: Sequence[Path | Source] = ...,
        **options: Any,
    ) -> Engine:
        """As ``Engine(…)``, without blocking the event loop."""
    def session(self, id: str) -> Session:
        """Return the session with this id; it begins with its first event."""
    def turn(
        self,
        message: str,
        session: Session,
        *,
        paths: Sequence[str] = ...,
        budget: Budget | None = None,
        options: DisclosureOptions | None = None,
    ) -> Turn:
        """Answer a message of a conversation, and note in the session what was shown."""
    async def aturn(
        self,
        message: str,
        session: Session,
        *,
        paths: Sequence[str] = ...,
        budget: Budget | None = None,
        options: DisclosureOptions | None = None,
    ) -> Turn:
        """As ``turn``, without blocking the event loop."""
    def preview(
        self,
        message: str,
        session: Session,
        *,
        paths: Sequence[str] = ...,
        budget: Budget | None = None,
        options: DisclosureOptions | None = None,
    ) -> Disclosure:
        """Return what ``turn`` would disclose, without noting it."""
    def disclose(self, message: str, *, paths: Sequence[str] = ...) -> Disclosure:
        """Return the text for a message outside of any conversation."""
    async def adisclose(self, message: str, *, paths: Sequence[str] = ...) -> Disclosure:
        """As ``disclose``, without blocking the event loop."""
    def matches(
        self, message: str, session: Session | None = None, *, paths: Sequence[str] = ...
    ) -> list[Match]:
        """Return every skill that a message matches, best first."""
    def explain(
        self,
        message: str,
        limit: int = 3,
        session: Session | None = None,
        *,
        paths: Sequence[str] = ...,
    ) -> Explanation:
        """Return the best matches, and the reasons why other skills are not among them."""
    def find_skills(self, query: str, limit: int = 5) -> list[FoundSkill]:
        """Return the best skills for a query, by triggers and by relevance."""
    def prompt(self, options: PromptOptions | None = None) -> CatalogPrompt:
        """Return the list of skills for the system prompt."""
    def activate(
        self,
        name: str,
        args: str = "",
        *,
        session: Session,
        audience: Audience = "model",
        by: str | None = None,
        inline: bool = False,
    ) -> Activation:
        """Activate the skill that is meant by an id, a path, or a unique name."""
    async def aactivate(
        self,
        name: str,
        args: str = "",
        *,
        session: Session,
        audience: Audience = "model",
        by: str | None = None,
        inline: bool = False,
    ) -> Activation:
        """As ``activate``, without blocking the event loop."""
    def user_message(self, message: str, session: Session) -> Activation | None:
        """Activate the skill of a message such as ``/review PR 42``; ``None`` for any other."""
    def commands(self) -> list[Command]:
        """Return the slash commands that users have, in the order of ids."""
    def tools(
        self,
        session: Session,
        *,
        names_chars: int | None = None,
        read_bytes: int | None = None,
        output_bytes: int | None = None,
        all_toolsets: bool | None = None,
    ) -> Tools:
        """Return the tools of the model in a session."""
    def skills(self, audience: Audience | None = None) -> list[Skill]:
        """Return the skills of the catalog, in the order of ids."""
    def skill(self, name: str) -> Skill:
        """Return the skill that is meant by a name, whatever its status."""
    def diagnostics(self) -> list[Diagnostic]:
        """Return the problems found in skill files and sources."""
    def count_tokens(self, text: str) -> int:
        """Return the tokens of a text, by the counter that budgets use."""
    def refresh(self) -> Refreshed:
        """Take up the changes in the sources since they were read last."""
    async def arefresh(self) -> Refreshed:
        """As ``refresh``, without blocking the event loop."""
    def subscribe(self, listener: Callable[[Refreshed], object]) -> Subscription:
        """Call a listener after each refresh that found changes, until it is closed."""
    def watch(self) -> Watch:
        """Refresh the engine whenever its sources change, until the watch is closed."""
    def __len__(self) -> int: ...

@final
class Session:
    """One conversation: which skills it used, and what its user agreed to."""

    @property
    def id(self) -> str:
        """Its name in the store."""
    def state(self) -> list[SkillState]:
        """Return its history, a state for each skill, the last used first."""
    def record_use(self, skill: str) -> None:
        """Note that a skill was used, now."""
    def consent(self, skill: str) -> None:
        """Note that the user agreed to the activation of a skill."""
    def compacted(self) -> None:
        """Note that the host made its context shorter."""
    def end(self) -> None:
        """Forget the conversation."""

@final
class Turn:
    """The answer to one message of a conversation."""

    @property
    def text(self) -> str:
        """The text for the context with the message; may be empty."""
    @property
    def disclosure(self) -> Disclosure:
        """The skills disclosed and left out; for a command, its skill."""
    @property
    def activation(self) -> Activation | None:
        """The skill that the message activated, if it is a command."""
    @property
    def refused(self) -> RepertoireError | None:
        """The error that says why the command of a skill activated nothing, if so."""
    @property
    def tools(self) -> Tools:
        """The model's tools, as of any moment. A turn that was pickled has none."""
    def __new__(
        cls,
        text: str,
        disclosure: Disclosure,
        activation: Activation | None,
        refused: RepertoireError | None,
    ) -> Turn: ...

@final
class Disclosure:
    """The decision for one message: the text for the prompt, and the skills in it and left out."""

    @property
    def tier(self) -> Literal[0, 1, 2, 3]:
        """The highest tier: 0 nothing, 1 a count of skills, 2 lines, 3 instructions in full."""
    @property
    def meta(self) -> MetaQuestion | None:
        """The question about the skills themselves that the message is, if it is one."""
    @property
    def full(self) -> list[str]:
        """Skills in full, best first."""
    @property
    def relevant(self) -> Relevant | None:
        """The skill that is shown in full for its relevance, if any."""
    @property
    def registry(self) -> list[str]:
        """Skills in a line, in the order of the text."""
    @property
    def hidden(self) -> int:
        """Number of skills that are only counted."""
    @property
    def below_limit(self) -> int:
        """Number of skills that rank below the limit."""
    @property
    def omitted(self) -> list[Rejection]:
        """Skills that are shown less than they might be, and why."""
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
        text: str,
    ) -> Disclosure: ...
    __match_args__ = ("tier", "full", "text")
    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary of plain values, fit for JSON."""

@final
class Tools:
    """The tools of one session's model. The list only grows within a session."""

    def definitions(self, format: ToolFormat = "openai") -> list[dict[str, Any]]:
        """Return the definitions as they are now, in the shape of a provider."""
    def call(
        self,
        name: str,
        arguments: dict[str, Any] | str | None = None,
        *,
        progress: Callable[[float, str], object] | None = None,
        cancelled: Cancellation | Callable[[], bool] | None = None,
        timeout: float | None = None,
    ) -> Envelope:
        """Answer a call of a model. A failure is an answer, too."""
    async def acall(
        self,
        name: str,
        arguments: dict[str, Any] | str | None = None,
        *,
        progress: Callable[[float, str], object] | None = None,
        timeout: float | None = None,
    ) -> Envelope:
        """As ``call``, without blocking the event loop. Cancelling the task ends the call."""
    def functions(self) -> list[Tool]:
        """Return the tools as functions, for frameworks that take functions."""

@final
class Tool:
    """A tool as a function: call it with keyword arguments."""

    @property
    def name(self) -> str:
        """Its name, as providers take it."""
    @property
    def description(self) -> str:
        """Its description, for the model."""
    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
    @property
    def annotations(self) -> dict[str, Any]:
        """Hints in MCP's words, such as ``readOnlyHint``."""
    @property
    def __name__(self) -> str: ...
    def __call__(self, **arguments: Any) -> Any:
        """Call the tool, and return its data; raise the error of its code if it fails."""
    def envelope(self, **arguments: Any) -> Envelope:
        """Call the tool, and return its answer, which may be an error."""

@final
class Skill:
    """A skill: the content of a ``SKILL.md`` and, if it is in a catalog, its place there."""

    @staticmethod
    def parse(text: str, brand: str = "repertoire") -> Skill:
        """Read the text of a ``SKILL.md``; it must have a ``name``."""
    @staticmethod
    def load(path: Path, brand: str = "repertoire") -> Skill:
        """Read a ``SKILL.md``."""
    @property
    def id(self) -> str:
        """Its identity in the catalog; its name if it is in none."""
    @property
    def name(self) -> str:
        """The name of the front matter, else that of the directory."""
    @property
    def description(self) -> str:
        """What the skill does and when to use it."""
    @property
    def brief(self) -> str:
        """The description in one line."""
    @property
    def body(self) -> str:
        """The instructions, read when they are first asked for."""
    @property
    def triggers(self) -> dict[str, list[str]]:
        """The triggers by kind: keywords, verbs, patterns, exclude and paths."""
    @property
    def toolsets(self) -> list[str]:
        """The ``path:Class`` entries of its toolsets."""
    @property
    def scope(self) -> Literal["bundled", "user", "project", "memory"]:
        """The scope of its source."""
    @property
    def status(self) -> Literal["available", "unavailable", "shadowed", "disabled"]:
        """Its status, by which it can or cannot be used."""
    @property
    def reason(self) -> str | None:
        """The reason why the model cannot use it, if so."""
    @property
    def path(self) -> os.PathLike[str] | None:
        """Its ``SKILL.md``; ``None`` for a skill in memory."""
    @property
    def dir(self) -> os.PathLike[str] | None:
        """Its directory; ``None`` for a skill in memory."""
    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The findings about its file."""

@final
class Source:
    """A directory of skills. A plain path stands for one of the user."""

    def __new__(
        cls,
        path: Path,
        scope: Scope = "user",
        *,
        optional: bool = False,
        links_outside: bool = False,
    ) -> Source: ...
    @property
    def path(self) -> os.PathLike[str]:
        """The directory."""
    @property
    def scope(self) -> Scope:
        """Who put the skills there."""

@final
class Config:
    """The place of ``config.toml`` and of the standard sources of a host."""

    def __new__(
        cls,
        project: Path,
        *,
        home: Path | None = None,
        working_dir: Path | None = None,
        brand: str = "repertoire",
    ) -> Config: ...

@final
class DisclosureOptions:
    """The options of disclosures. What is not given stays as the engine has it.

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
        native_roots: Sequence[str] | None = None,
        native_words: str | None = None,
    ) -> DisclosureOptions: ...

@final
class PromptOptions:
    """The options of the catalog prompt. What is not given stays as the engine has it."""

    def __new__(
        cls,
        *,
        format: Format | None = None,
        budget: Budget | None = None,
        context_window: int | None = None,
        locations: bool | None = None,
        how_to_load: str | None = None,
        native_roots: Sequence[str] | None = None,
        native_words: str | None = None,
    ) -> PromptOptions: ...

@final
class ToolsetOptions:
    """The way toolsets are loaded; by default each library in a process of its own."""

    def __new__(
        cls,
        *,
        in_process: bool = False,
        policy: Literal["disclosed", "all"] | None = None,
        cache: Path | None = None,
        config: dict[str, Any] | None = None,
        call_timeout: float | None = None,
        network: bool | None = None,
        write: Sequence[Path] = ...,
    ) -> ToolsetOptions: ...

@final
class ScriptOptions:
    """The way scripts are run. Times are in seconds."""

    def __new__(
        cls,
        *,
        timeout: float | None = None,
        output_bytes: int | None = None,
        env: Sequence[str] = ...,
        write: Sequence[Path] = ...,
        network: bool | None = None,
    ) -> ScriptOptions: ...

@final
class Subscription:
    """Keeps a listener of ``Engine.subscribe``."""

    def close(self) -> None:
        """End it."""
    def __enter__(self) -> Subscription: ...
    def __exit__(self, *args: object) -> None: ...

@final
class Watch:
    """Keeps an engine up to date; see ``Engine.watch``."""

    def close(self) -> None:
        """End it."""
    def __enter__(self) -> Watch: ...
    def __exit__(self, *args: object) -> None: ...

def enable_logging(level: int = 30) -> None:
    """Pass log events on to ``logging``, to loggers below ``repertoire``, from this level on."""

def run_worker() -> None:
    """Run the child process of a toolset; it never returns."""

@final
class Hit:
    """One trigger found in one message, where it stands first."""

    @property
    def kind(self) -> HitKind:
        """``name``, ``keyword``, ``verb``, ``pattern`` or ``path``."""
    @property
    def trigger(self) -> str:
        """The trigger as its author wrote it."""
    @property
    def start(self) -> int:
        """The first character of the message that it covers."""
    @property
    def end(self) -> int:
        """The first character behind it."""
    @property
    def path(self) -> str | None:
        """The path a glob was found in."""
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
        """Words of the longest literal found; 0 if only patterns or paths were."""
    @property
    def hits(self) -> list[Hit]:
        """Every trigger found, in the order of the text."""
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
    """A reason why a skill is shown less than it might be. ``str()`` gives its text."""

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
    """A skill that has to do with a message and is shown less than it might be, or not at all."""

    @property
    def id(self) -> str:
        """The skill's id."""
    @property
    def reason(self) -> Reason:
        """The first reason."""
    @property
    def also(self) -> list[Reason]:
        """Further reasons that hold as well."""
    def __new__(cls, id: str, reason: Reason, also: list[Reason]) -> Rejection: ...
    __match_args__ = (
        "id",
        "reason",
        "also",
    )
    def to_dict(self) -> dict[str, Any]: ...

@final
class Relevant:
    """The skill that is shown in full for its relevance, although no trigger is hit."""

    @property
    def id(self) -> str:
        """The skill's id."""
    @property
    def worth(self) -> float:
        """The weight of the words that skill and message share."""
    @property
    def lead(self) -> float:
        """The lead over the next skill."""
    @property
    def words(self) -> int:
        """Number of distinct words they share."""
    @property
    def head_words(self) -> int:
        """The number of these in the skill's front matter."""
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
class Explanation:
    """The matches of a message, and why other skills are not among them."""

    @property
    def matches(self) -> list[Match]:
        """The matches, best first."""
    @property
    def rejected(self) -> list[Rejection]:
        """Skills that have to do with the message and are not among the matches, and why."""
    @property
    def n_beyond(self) -> int:
        """Number of matches below the limit."""
    @property
    def meta(self) -> MetaQuestion | None:
        """``registry`` or ``show_all`` if the message asks about the skills themselves."""
    def __new__(
        cls,
        matches: list[Match],
        rejected: list[Rejection],
        n_beyond: int,
        meta: MetaQuestion | None,
    ) -> Explanation: ...
    __match_args__ = (
        "matches",
        "rejected",
        "n_beyond",
        "meta",
    )
    def to_dict(self) -> dict[str, Any]: ...

@final
class FoundSkill:
    """A skill that was found for a query, and why."""

    @property
    def id(self) -> str:
        """The skill's id."""
    @property
    def brief(self) -> str:
        """Its description in one line."""
    @property
    def why(self) -> str:
        """The triggers that the query hits, else the words they share."""
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
        """Skills in the text, in its order."""
    @property
    def shortened(self) -> list[str]:
        """Those of them whose description was shortened."""
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
        """The file or directory it is about; empty for a skill that was never a file."""
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
        """The skill it activates."""
    @property
    def brief(self) -> str:
        """The skill's description in one line."""
    @property
    def argument_hint(self) -> str | None:
        """The arguments it takes, in its author's words."""
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
    """The changes that a refresh took up, by the ids of skills."""

    @property
    def added(self) -> list[str]:
        """Skills that were not there before."""
    @property
    def changed(self) -> list[str]:
        """Skills with a change."""
    @property
    def removed(self) -> list[str]:
        """Skills that are no longer there."""
    @property
    def kept(self) -> list[str]:
        """Skills whose file no longer loads; they stay as they were."""
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
    """A skill below another one."""

    @property
    def id(self) -> str:
        """The skill's id."""
    @property
    def brief(self) -> str:
        """Its description in one line."""
    def __new__(cls, id: str, brief: str) -> SubSkill: ...
    __match_args__ = (
        "id",
        "brief",
    )
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
        """``inline``, or ``fork`` if the instructions are for a task of its own."""
    @property
    def content(self) -> str:
        """The body with arguments put in; empty if the instructions went to a task."""
    @property
    def text(self) -> str:
        """The text for the model: base directory, instructions, and hints at files."""
    @property
    def base_dir(self) -> str | None:
        """Its directory; ``None`` for skills in memory."""
    @property
    def files(self) -> list[str]:
        """Files that come with it, below its directory."""
    @property
    def more_files(self) -> int:
        """The number of files beyond these."""
    @property
    def sub_skills(self) -> list[SubSkill]:
        """The skills directly below it."""
    @property
    def knowledge(self) -> list[str]:
        """Documents worth reading with it."""
    @property
    def allowed_tools(self) -> list[str] | None:
        """Tools its author wants to be allowed; ``None`` stands for all."""
    @property
    def model(self) -> str | None:
        """The model its author wants."""
    @property
    def agent(self) -> str | None:
        """The kind of agent its author wants."""
    @property
    def risk(self) -> Literal["risky", "safe"]:
        """``risky`` for the first activation of the skill in the session, else ``safe``."""
    @property
    def task_id(self) -> str | None:
        """The host's name for the task that does it, if the instructions went to one."""
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
        knowledge: list[str],
        allowed_tools: list[str] | None,
        model: str | None,
        agent: str | None,
        risk: Literal["risky", "safe"],
        task_id: str | None,
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
    )
    def to_dict(self) -> dict[str, Any]: ...
    def permits(self, tool: str) -> bool: ...

@final
class ConsentRequest:
    """The information that a user should see before agreeing to an activation."""

    @property
    def id(self) -> str:
        """The skill's id."""
    @property
    def description(self) -> str:
        """Its description."""
    @property
    def audience(self) -> Audience:
        """``model``, or ``user`` for a command that the user typed."""
    @property
    def scope(self) -> str:
        """The scope of its source."""
    @property
    def dir(self) -> str | None:
        """Its directory, if it has one."""
    @property
    def tree(self) -> str:
        """The tree of its directory, as lines of text."""
    @property
    def toolsets(self) -> list[str]:
        """The ``path:Class`` entries of its toolsets."""
    @property
    def allowed_tools(self) -> list[str] | None:
        """Tools its author wants to be allowed; ``None`` if that is left to the host."""
    @property
    def scripts(self) -> list[str]:
        """Its scripts."""
    @property
    def risk(self) -> Literal["risky", "safe"]:
        """``risky`` for the first activation of the skill in the session, else ``safe``."""
    def __new__(
        cls,
        id: str,
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
    """A question to the host about code that wants to run."""

    @property
    def skill(self) -> str:
        """The skill that wants it."""
    @property
    def path(self) -> str:
        """The library or the script."""
    @property
    def sha256(self) -> str:
        """The SHA-256 of its content."""
    @property
    def classes(self) -> list[str]:
        """The classes that a library exports; none for a script."""
    @property
    def verdict(self) -> str:
        """``untrusted``, or ``changed`` if another content was approved."""
    @property
    def changes(self) -> list[str]:
        """The files of the skill that changed since its code was approved; a yes holds for all; as
        in "`lib/f.sh` (changed)"."""
    def __new__(
        cls,
        skill: str,
        path: str,
        sha256: str,
        classes: list[str],
        verdict: str,
        changes: list[str],
    ) -> TrustRequest: ...
    __match_args__ = (
        "skill",
        "path",
        "sha256",
        "classes",
        "verdict",
        "changes",
    )
    def to_dict(self) -> dict[str, Any]: ...

@final
class Task:
    """A task for a host to spawn: an agent of its own with these instructions."""

    @property
    def skill(self) -> str:
        """The skill's id."""
    @property
    def session(self) -> str:
        """The session that wants it."""
    @property
    def prompt(self) -> str:
        """The instructions, with arguments."""
    @property
    def base_dir(self) -> str | None:
        """The directory of the skill, if it has one."""
    @property
    def agent(self) -> str | None:
        """The kind of agent its author wants."""
    @property
    def model(self) -> str | None:
        """The model its author wants."""
    @property
    def allowed_tools(self) -> list[str] | None:
        """Tools its author wants to be allowed; ``None`` stands for all."""
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
        """The skill it is about; ``None`` if it is about all of them."""
    @property
    def body(self) -> int | None:
        """A hash of the instructions that came into the context, if any did."""
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
        """The number of its uses."""
    @property
    def activations(self) -> int:
        """The number of its activations."""
    @property
    def activated_by(self) -> str | None:
        """The skill whose instructions asked for its last activation, if any."""
    @property
    def in_context(self) -> bool:
        """True if its instructions stand in the context."""
    @property
    def body(self) -> int | None:
        """A hash of the instructions that were last put there."""
    @property
    def lost(self) -> bool:
        """True if its instructions were lost when the context was made shorter."""
    @property
    def consented(self) -> bool:
        """True if the user agreed to its activation."""
    @property
    def listed(self) -> bool:
        """True if a line for it stands in the context."""
    @property
    def joined(self) -> int | None:
        """Its place, from 1, in the order in which instructions first came into the context."""
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
    """The answer of a tool."""

    @property
    def status(self) -> Literal["success", "error"]:
        """``success`` or ``error``."""
    @property
    def data(self) -> Any:
        """The answer for programs; for an error, the part of it that exists all the same."""
    @property
    def text(self) -> str | None:
        """The answer for a model; ``None`` for an error."""
    @property
    def error(self) -> Fault | None:
        """The reason, if it failed."""
    def __new__(
        cls, status: Literal["success", "error"], data: Any, text: str | None, error: Fault | None
    ) -> Envelope: ...
    __match_args__ = (
        "status",
        "data",
        "text",
        "error",
    )
    def to_dict(self) -> dict[str, Any]: ...
    @property
    def ok(self) -> bool: ...
    def to_json(self) -> str: ...
