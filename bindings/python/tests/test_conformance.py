"""Every case of the shared conformance tables, through the package."""

from __future__ import annotations

import time
import unicodedata
from typing import Any

import repertoire
from repertoire import Disclosure, DisclosureOptions, Engine

from .conftest import engine_of, shared, table


def folded(text: str) -> str:
    """Fold a text in the way in which keywords are compared."""
    text = unicodedata.normalize("NFKC", text).replace("’", "'")
    return unicodedata.normalize("NFKC", text.casefold())


def test_keywords_hit_where_words_end() -> None:
    for case in table("boundaries")["cases"]:
        skill = {"name": "x-y-z", "description": "d", "triggers": [case["keyword"]]}
        query: str = case["query"]
        found = engine_of([skill]).matches(query)
        assert bool(found) == case["hit"], case
        for hit in (hit for match in found for hit in match.hits):
            assert hit.kind == "keyword" and hit.trigger == case["keyword"]
            assert 0 <= hit.start < hit.end <= len(query)
            same = " ".join(query[hit.start : hit.end].split())
            assert folded(same) == folded(case["keyword"]), case


def check(case: dict[str, Any], shown: Disclosure, text: str) -> None:
    """Assert the expectations of a case about an answer."""
    context = f"{case}\n{shown!r}"
    known = {
        "say", "query", "catalog", "max_skills", "ordered", "note", "tier", "full", "registry",
        "full_count", "text", "contains", "first", "full_not", "lines", "visible", "lines_none",
        "max_lines", "text_bytes", "max_bytes", "names",
    }  # fmt: skip
    assert case.keys() <= known, f"unknown expectations in {case}"
    in_order = case.get("ordered") is not False
    order = list if in_order else sorted
    seen = [*shown.full, *shown.registry]
    if "tier" in case:
        assert shown.tier == case["tier"], context
    for field, ids in (("full", shown.full), ("registry", shown.registry)):
        if field in case:
            assert order(ids) == order(case[field]), context
    if "full_count" in case:
        assert len(shown.full) == case["full_count"], context
    if "text" in case:
        assert text == case["text"], context
    assert all(part in text for part in case.get("contains", [])), context
    if "first" in case:
        assert seen[:1] == [case["first"]], context
    assert not set(case.get("full_not", [])) & set(shown.full), context
    assert set(case.get("lines", [])) <= set(shown.registry), context
    assert set(case.get("visible", [])) <= set(seen), context
    assert not (case.get("lines_none") and shown.registry), context
    assert len(shown.registry) <= case.get("max_lines", len(shown.registry)), context
    n_bytes = len(text.encode())
    assert n_bytes <= case.get("text_bytes", n_bytes), context
    assert n_bytes <= case.get("max_bytes", n_bytes), context
    assert all(name in text for name in case.get("names", [])), context


def test_disclosures_have_the_tier_and_the_skills_of_the_table() -> None:
    tiers = table("tiers")
    for case in tiers["cases"]:
        options = DisclosureOptions(max_skills=case.get("max_skills"))
        engine = engine_of(tiers["catalogs"][case["catalog"]], options)
        shown = engine.preview(case["query"], engine.session("t"))
        check(case, shown, shown.text)


def test_a_message_gets_the_lines_of_the_table() -> None:
    lines = table("lines")
    engines = {name: engine_of(skills) for name, skills in lines["catalogs"].items()}
    for number, case in enumerate(lines["cases"]):
        engine = engines[case["catalog"]]
        turn = engine.turn(case["query"], engine.session(str(number)))
        check(case, turn.disclosure, turn.text)


def test_a_conversation_is_told_nothing_twice_and_what_it_lost_once_more() -> None:
    conversations = table("conversations")
    for conversation in conversations["conversations"]:
        options = DisclosureOptions(max_skills=conversation.get("max_skills"))
        engine = engine_of(conversations["catalog"], options)
        session = engine.session("t")
        for step in conversation["steps"]:
            if "use" in step:
                engine.activate(step["use"], step.get("args", ""), session=session)
            elif step.get("event") == "compacted":
                session.compacted()
            else:
                turn = engine.turn(step["say"], session)
                check(step, turn.disclosure, turn.text)


def test_arguments_go_where_the_table_says() -> None:
    for case in table("arguments")["cases"]:
        hint = f"argument-hint: {case['argument_hint']}\n" if "argument_hint" in case else ""
        engine = Engine(skills=[f"---\nname: x\ndescription: d\n{hint}---\n{case['body']}"])
        session = engine.session("s")
        assert engine.activate("x", case["args"], session=session).content == case["out"], case
        typed = engine.user_message(f"/x {case['args']}", session)
        assert typed is not None and typed.content == case["out"], case


def test_skill_files_load_as_the_table_says() -> None:
    for case in table("frontmatter")["cases"]:
        start = time.perf_counter()
        engine = Engine([shared("conformance") / case["dir"]])
        n_ms = (time.perf_counter() - start) * 1000
        skills = engine.skills()
        for key, wanted in case.items():
            context = f"{key} of {case}"
            match key:
                case "dir":
                    pass
                case "loads":
                    assert (len(skills) == 1) == wanted, context
                case "name" | "description" | "body":
                    assert getattr(skills[0], key) == wanted, context
                case "description_contains":
                    assert wanted in skills[0].description, context
                case "keywords":
                    assert skills[0].triggers["keywords"] == wanted, context
                case "diagnostics":
                    assert len(engine.diagnostics()) == wanted, context
                case "min_diagnostics":
                    assert len(engine.diagnostics()) >= wanted, context
                case "max_ms":
                    assert n_ms <= wanted, context
                case _:
                    raise AssertionError(f"unknown expectation: {context}")


def test_the_version_is_there() -> None:
    assert repertoire.__version__.count(".") == 2
