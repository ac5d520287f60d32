"""The façade: the result of each call, and its errors."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import repertoire
from repertoire import (
    Config,
    DisclosureOptions,
    Engine,
    PromptOptions,
    Reason,
    Rejection,
    Skill,
    Source,
    ToolsetOptions,
)

from .conftest import GIT


def untyped(value: object) -> Any:
    """Hide the type of a value that the type stubs do not allow."""
    return value


@pytest.fixture
def engine() -> Engine:
    triggers = "triggers: {keywords: [query], exclude: [sparql]}"
    other = f"---\nname: sql\ndescription: Tunes SQL.\n{triggers}\n---\nB\n"
    return Engine(skills=[GIT, other])


def test_a_turn_has_text_disclosure_and_tools(engine: Engine) -> None:
    session = engine.session("chat-7")
    turn = engine.turn("a commit message, please", session)
    assert turn.disclosure.full == ["commit-message"] and turn.disclosure.tier == 3
    assert turn.text == turn.disclosure.text == str(turn) and "imperative" in turn.text
    assert turn.activation is None and turn.refused is None
    names = [tool["name"] for tool in turn.tools.definitions("anthropic")]
    assert names == ["use_skill", "find_skills", "read_skill_file"]
    # The instructions are in the context now.
    again = engine.turn("a commit message, please", session)
    assert again.disclosure.full == []
    assert [omitted.reason.code for omitted in again.disclosure.omitted] == ["in-context"]
    session.compacted()
    assert engine.preview("go on", session).full == ["commit-message"]
    session.end()
    assert session.state() == []


def test_a_command_activates_its_skill(engine: Engine) -> None:
    turn = engine.turn("/commit-message for the parser", engine.session("s"))
    assert turn.activation is not None and turn.activation.id == "commit-message"
    assert turn.activation.content.rstrip().endswith("for the parser")
    assert turn.activation.permits("Bash(git status)") and turn.activation.risk == "risky"
    assert [command.command for command in engine.commands()] == ["/commit_message", "/sql"]


def test_a_skill_may_use_the_tools_it_was_allowed() -> None:
    engine = Engine(skills=["---\nname: x\ndescription: d\nallowed-tools: Bash(git:*)\n---\nB"])
    activation = engine.activate("x", session=engine.session("s"))
    assert activation.permits("Bash(git status)") and not activation.permits("Bash(rm -r .)")
    assert not pickle.loads(pickle.dumps(activation)).permits("Bash(git a; rm b)")


def test_places_of_hits_are_those_of_python(engine: Engine) -> None:
    message = "für die Königin: ein “commit message” 🙂 query"
    hits = [hit for match in engine.matches(message) for hit in match.hits]
    assert {message[hit.start : hit.end] for hit in hits} == {"commit message", "query"}


def test_reasons_are_told(engine: Engine) -> None:
    explanation = engine.explain("a query in sparql")
    assert explanation.matches == [] and explanation.meta is None
    [rejection] = explanation.rejected
    assert (rejection.id, rejection.reason.code) == ("sql", "vetoed")
    assert str(rejection) == "vetoed by its exclude `sparql`" == rejection.reason.text
    assert rejection.reason.help
    assert [found.id for found in engine.find_skills("tune a query")][:1] == ["sql"]
    assert engine.disclose("what can you do?").meta == "registry"


def test_relevance_is_explained_with_words_places_and_what_is_lacking(engine: Engine) -> None:
    message = "grüß dich, any tuning?"
    [weighed] = engine.explain(message).relevant[:1]
    assert weighed.id == "sql" and weighed.tier < 3 and not weighed.is_decisive
    places = [message[start:end] for term in weighed.terms for start, end in term.places]
    assert places == ["tuning"]
    assert weighed.terms[0].fields and weighed.needed is not None
    [lack] = weighed.lacking[:1]
    assert lack.code in ("worth", "lead", "words") and str(lack) == lack.text
    assert lack.has is not None and lack.needs is not None and lack.has < lack.needs
    session = engine.session("s")
    engine.turn("a commit message, please", session)
    after = engine.explain("a commit message, please", 3, session).relevant[0]
    assert after.id == "commit-message" and after.tier < 3 and after.lacking


def test_results_are_values(engine: Engine) -> None:
    session = engine.session("s")
    turn = engine.turn("a commit message and a query", session)
    explanation = engine.explain("a query in sparql", 1)
    tools = turn.tools
    results: list[Any] = [
        turn.disclosure,
        engine.disclose("what skills are there?"),
        explanation,
        explanation.rejected[0].reason,
        *engine.matches("query"),
        *engine.commands(),
        *engine.find_skills("query"),
        *session.state(),
        engine.prompt(),
        engine.activate("sql", "x", session=session),
        engine.refresh(),
        tools.call("use_skill", {"skill": "sql"}),
        tools.call("use_skill", {"skill": "nothing"}),
        *Skill.parse("---\nname: a\ndescription: Use when: b\n---\n").diagnostics,
    ]
    assert len(results) >= 14
    for result in results:
        again = pickle.loads(pickle.dumps(result))
        assert again == result and copy.deepcopy(result) == result, result
        assert repr(again) == repr(result) and repr(result).startswith(type(result).__name__)
        assert json.loads(json.dumps(result.to_dict())) == result.to_dict()
        with pytest.raises(AttributeError):
            result.text = "other"
    restored = pickle.loads(pickle.dumps(turn))
    assert restored.text == turn.text and restored.disclosure == turn.disclosure
    with pytest.raises(repertoire.NotFoundError, match="pickled"):
        _ = restored.tools


def test_results_match_by_their_fields(engine: Engine) -> None:
    match engine.explain("a query in sparql").rejected:
        case [Rejection(id, Reason(code="vetoed"))]:
            assert id == "sql"
        case other:
            raise AssertionError(other)


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda e: e.skill("comit-message"), "NotFoundError", "did you mean `commit-message`"),
        (lambda e: e.activate("x", session=e.session("s")), "NotFoundError", "x"),
        (lambda e: e.skills("robot"), "InvalidParamError", "choose `model` or `user`"),
        (lambda e: e.prompt(PromptOptions(budget="much")), "InvalidParamError", "is not a budget"),
        (lambda e: e.tools(e.session("s")).definitions("x"), "InvalidParamError", "anthropic"),
        (lambda e: Engine(consent=untyped("perhaps")), "InvalidParamError", "first-use"),
        (lambda e: Engine(skills=["nothing"]), "InvalidParamError", "front matter"),
        (lambda e: Engine([Source("a", untyped("mine"))]), "InvalidParamError", "project"),
        (lambda e: Engine(meta_phrases={"x": untyped("y")}), "InvalidParamError", "registry"),
        (lambda e: Skill.load("/nothing/SKILL.md"), "ExecutionError", "/nothing"),
    ],
)
def test_errors_have_a_class_for_each_code(
    engine: Engine, make: Callable[[Engine], object], error: str, says: str
) -> None:
    with pytest.raises(repertoire.RepertoireError) as raised:
        make(engine)
    value = raised.value
    assert type(value).__name__ == error, value
    assert says in str(value) and value.code in str(value)
    again = pickle.loads(pickle.dumps(value))
    assert (type(again), str(again), again.remedy) == (type(value), str(value), value.remedy)


def test_errors_are_those_of_python_too(engine: Engine) -> None:
    with pytest.raises(LookupError):
        engine.skill("nothing")
    with pytest.raises(ValueError, match="choose"):
        Engine(consent=untyped("perhaps"))
    with pytest.raises(TypeError, match="source"):
        untyped(Engine)(source=["skills"])
    with pytest.raises(TypeError, match="budget"):
        DisclosureOptions(budget=untyped(1.5))
    disabled = Engine(skills=["---\nname: x\ndescription: d\nrequires_bins: [nothing-such]\n---\n"])
    turn = disabled.turn("/x", disabled.session("s"))
    assert turn.refused is not None and turn.refused.code == "NOT_FOUND"
    assert "nothing-such" in turn.text


def test_sources_reload_and_subscribers_hear_of_it(tmp_path: Path) -> None:
    engine = Engine([Source(tmp_path, "project")], cache=tmp_path / "cache")
    heard: list[repertoire.Refreshed] = []
    with engine.subscribe(heard.append):
        (tmp_path / "ship").mkdir()
        (tmp_path / "ship/SKILL.md").write_text("---\ndescription: Ships.\n---\nPush.\n")
        assert engine.refresh().added == ["ship"] and not engine.refresh()
    (tmp_path / "ship/SKILL.md").unlink()
    assert engine.refresh().removed == ["ship"]
    assert [refreshed.added for refreshed in heard] == [["ship"]]


def test_a_watch_takes_up_changes_by_itself(tmp_path: Path) -> None:
    import threading

    engine, heard = Engine([tmp_path]), threading.Event()
    with engine.watch(), engine.subscribe(lambda _: heard.set()):
        (tmp_path / "ship").mkdir()
        (tmp_path / "ship/SKILL.md").write_text("---\ndescription: Ships.\n---\nPush.\n")
        assert heard.wait(10)
    assert [skill.id for skill in engine.skills()] == ["ship"]


def test_a_skill_says_what_its_file_says(tmp_path: Path) -> None:
    (tmp_path / "ship").mkdir()
    path = tmp_path / "ship/SKILL.md"
    path.write_text("---\ndescription: Ships. Fast.\ntriggers: [ship it]\n---\nPush.\n")
    [skill] = Engine([tmp_path]).skills("model")
    assert (skill.id, skill.name, skill.brief, skill.scope) == ("ship", "ship", "Ships.", "project")
    assert skill.triggers["keywords"] == ["ship it"] and skill.body == "Push.\n"
    assert (skill.path, skill.dir, skill.status) == (path, path.parent, "available")
    assert Skill.load(path).description == skill.description


def test_sessions_in_a_file_outlive_the_engine(tmp_path: Path) -> None:
    def make() -> Engine:
        return Engine(skills=[GIT], session_store=tmp_path / "sessions.db")

    engine = make()
    engine.turn("a commit message", engine.session("s"))
    engine = make()
    [state] = engine.session("s").state()
    assert state.in_context and state.uses == 1
    assert engine.turn("a commit message", engine.session("s")).disclosure.full == []


def test_options_reach_the_engine(engine: Engine) -> None:
    session = engine.session("s")
    options = DisclosureOptions(format="xml", how_to_load="Ask me.", max_skills=1)
    shown = engine.preview("commit message query", session, options=options)
    assert len(shown.full) == 1 and shown.text.startswith("<")
    assert engine.preview("commit message", session, budget=40).full == []
    assert engine.preview("commit message", session, budget="4000t").full == ["commit-message"]
    assert engine.prompt(PromptOptions(format="json")).text.startswith("{")
    assert "commit-message" in str(engine.prompt()) and engine.count_tokens("12345678") == 2
    assert Engine(skills=[GIT], allow=[]).disclose("commit message").tier == 0
    assert engine.disclose("x", paths=["a.rs"]).full == []


def test_a_configuration_counts(tmp_path: Path) -> None:
    (tmp_path / ".acme/skills/a").mkdir(parents=True)
    (tmp_path / ".acme/skills/a/SKILL.md").write_text("---\ndescription: d\n---\nB\n")
    (tmp_path / ".acme/config.toml").write_text("[limits]\nmax_skills = 1\n")
    engine = Engine(skills=[GIT], config=Config(tmp_path, brand="acme"))
    assert [skill.id for skill in engine.skills()] == ["a", "commit-message"]
    assert len(engine.disclose("the a skill and a commit message").full) == 1


def test_fetched_skills_of_a_configuration_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    settings = tmp_path / ".acme"
    settings.mkdir()
    (settings / "config.toml").write_text('[fetch.team]\nsource = "https://example.org/t/s"\n')
    config = Config(tmp_path, home=tmp_path, brand="acme")
    findings = [found.code for found in Engine(config=config).diagnostics()]
    assert findings == ["source-not-fetched"]

    # Write the files that the command line installs.
    skill = tmp_path / ".local/share/acme/skills/team/ship"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: ship\ndescription: d\n---\nB\n")
    engine = Engine(config=config)
    assert [skill.id for skill in engine.skills()] == ["ship"] and engine.diagnostics() == []


def test_tools_are_called(engine: Engine) -> None:
    tools = engine.tools(engine.session("s"))
    answer = tools.call("use_skill", {"skill": "commit-message", "args": "now"})
    assert answer.ok and answer.status == "success" and answer.text is not None
    assert json.loads(answer.to_json())["data"]["id"] == "commit-message"
    assert answer.text.count("imperative") == 1
    for name in ("sql", "/sql", "$sql", "toolkit:sql", "SQL"):
        assert tools.call("use_skill", {"skill": name, "args": None}).ok, name
    for arguments in ({"skill": "nothing"}, "{", {"skil": 1}, None, [1]):
        refused = tools.call("use_skill", untyped(arguments))
        assert refused.error is not None and not refused.ok and refused.error.message
        assert json.loads(refused.to_json())["status"] == "error"
        assert refused.text.startswith(f"{refused.error.code}: "), refused.text
    missing = tools.call("nothing", {}).error
    assert missing is not None and missing.code == "NOT_FOUND"
    with pytest.raises(TypeError, match="set"):
        tools.call("use_skill", {"skill": {1}})


def test_skills_are_named_in_any_form() -> None:
    sql = "---\nname: sql\ndescription: Tunes queries.\n---\nB\n"
    for allow, ids in (
        (["/sql"], ["sql"]),
        (["Commit-*"], ["commit-message"]),
        (["kit:sql, commit-message"], ["commit-message", "sql"]),
        (["kit:*"], []),
    ):
        engine = Engine(skills=[GIT, sql], allow=allow)
        assert [skill.id for skill in engine.skills()] == ids, allow


def test_a_prompt_is_remembered_by_its_session(engine: Engine) -> None:
    session = engine.session("prompt")
    prompt = engine.prompt(session=session)
    assert "`use_skill`" in prompt.text and prompt.text == engine.prompt().text
    assert {state.skill for state in session.state() if state.listed} == set(prompt.included)


def test_tools_are_functions(engine: Engine) -> None:
    functions = {tool.name: tool for tool in engine.tools(engine.session("s")).functions()}
    use = functions["use_skill"]
    assert use.__name__ == use.name == "use_skill" and "instructions" in use.description
    assert use.parameters["type"] == "object" and use.annotations["readOnlyHint"] is True
    assert use(skill="sql")["id"] == "sql"
    with pytest.raises(repertoire.NotFoundError):
        use(skill="nothing")
    assert not use.envelope(skill="nothing").ok


def test_toolsets_need_no_options() -> None:
    assert Engine(toolsets=True, scripts=True).diagnostics() == []
    assert Engine(toolsets=ToolsetOptions(in_process=True), scripts=False).skills() == []
