"""What was replaced is found behind what replaced it, and says so; what a view may not see replaces nothing for it."""

import json

import pytest

from callsheet import Conversation
from callsheet.graph.ids import RecordId
from callsheet.runtime.outdated import behind
from callsheet.testing import memory_runtime
from tests.runtime.replies import asks, call, result, user


@pytest.fixture
def talk() -> Conversation:
    return memory_runtime().conversation("staging")


def read(talk: Conversation, number: int, content: str) -> RecordId:
    talk.record(user("Which host is it?"))
    talk.record(asks(call(f"c{number}", "read_host")))
    made = talk.record(result(f"c{number}", content)).ids[0]
    talk.record({"role": "assistant", "content": "Noted."})
    return made


OLD = "staging database host staging host is db-oak-2"
NEW = "moved: it is db-elm-1 on staging"


def found(talk: Conversation, query: str = "staging host database") -> list[tuple[RecordId, tuple[RecordId, ...]]]:
    return [(one.reference, one.replaced_by) for one in talk.search(query) if one.origin == "read_host"]


@pytest.mark.parametrize("by", ["results", "memories", "a memory"])
def test_what_was_replaced_comes_behind_what_replaced_it_and_says_so(talk: Conversation, by: str) -> None:
    old, new = read(talk, 1, OLD), read(talk, 2, NEW)
    assert found(talk) == [(old, ()), (new, ())]
    if by == "results":
        talk.supersede(new, old)
    elif by == "a memory":
        talk.supersede(talk.promote(new, summary="db-elm-1"), old)
    else:
        first = talk.promote(old, summary="db-oak-2")
        talk.promote(new, summary="db-elm-1", supersedes=[first])
    assert found(talk) == [(new, ()), (old, (new,))]
    talk.record(user("Which host?"))
    talk.assemble(provider="openai", model="gpt-5.2")
    answer = talk.answer_recall(json.dumps({"query": "staging host database"}))
    assert f"{old} (read_host(), {len(OLD)} bytes, replaced since by {new}): " in answer
    assert answer.index(new) < answer.index(old)


def test_it_is_told_also_where_what_replaced_it_is_not_found(talk: Conversation) -> None:
    old, new = read(talk, 1, OLD), read(talk, 2, "moved elsewhere")
    talk.supersede(new, old)
    assert found(talk, "db-oak-2") == [(old, (new,))]


def test_a_replacement_that_is_hidden_replaces_nothing(talk: Conversation) -> None:
    old = read(talk, 1, OLD)
    before = talk.search("staging host database")
    cook = talk.participant("cook")
    cook.record(asks(call("c2", "read_host")))
    new = cook.record(result("c2", NEW)).ids[0]
    cook.supersede(new, old)
    assert talk.search("staging host database") == before
    assert found(cook) == [(new, ()), (old, (new,))]


def test_chains_are_told_newest_first_and_rings_end() -> None:
    a, b, c = map(RecordId, "abc")
    assert behind([a, b, c], lambda one: one, {a: (b,), b: (c,)}) == [c, b, a]
    assert behind([a, b], lambda one: one, {a: (b,), b: (a,)}) == [a, b]
    assert behind([a, b], lambda one: one, {a: (c,)}) == [a, b]
