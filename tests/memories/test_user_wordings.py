"""What is kept of a user in several wordings stands in the way of nothing else, and no summary beside its sources."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from callsheet import Runtime
from callsheet.graph.enums import Level
from callsheet.policy.sets import BALANCED
from callsheet.policy.settings import ClassForms
from tests.memories.user_worlds import asked, opened, place, shown
from tests.runtime.replies import user

WORDINGS = (
    "The east gate opens at six in the morning",
    "At six in the morning the east gate opens",
    "In the morning at six the east gate opens",
    "East gate: opens at six, in the morning",
)
OTHERS = ("The gate to the harbour opens with a green key", "A gate that opens inwards was painted by Ada")


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Runtime]:
    with opened(place("memory", tmp_path)) as runtime:
        yield runtime


def test_other_facts_come_before_further_wordings(runtime: Runtime) -> None:
    for value in (*OTHERS, *WORDINGS):
        runtime.remember("mia", value)
    found = [one.value for one in runtime.memories("mia", "which gate opens?")]
    assert set(OTHERS) < set(found[:3])
    assert set(found) == {*OTHERS, *WORDINGS}


def test_a_request_tells_other_facts_before_further_wordings(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("callsheet.runtime.personalising.choosing.MOST", 3)
    monkeypatch.setattr("callsheet.runtime.personalising.choosing.ANEW", 3)
    others = [runtime.remember("mia", value).id for value in OTHERS]
    for value in WORDINGS:
        runtime.remember("mia", value)
    assert set(others) < set(shown(asked(runtime.conversation("talk", user="mia"), "which gate opens?")))


def test_the_same_in_german_with_other_endings_and_letters(runtime: Runtime) -> None:
    runtime.remember("mia", "Die Schlüssel hängen am Brett im Flur")
    runtime.remember("mia", "Zum Brett im Flur geht nur Ada")
    runtime.remember("mia", "Der Schluessel haengt am Brett im Flur")
    found = [one.value for one in runtime.memories("mia", "Schlüssel Brett Flur")]
    assert found[1] == "Zum Brett im Flur geht nur Ada"


def test_a_summary_and_its_sources_are_not_told_both(runtime: Runtime) -> None:
    one = runtime.remember("mia", "Grows red roses behind the shed")
    other = runtime.remember("mia", "Bought tulips for the shed")
    whole = runtime.remember(
        "mia", "Gardening behind the shed: roses, tulips", kind="episode", sources=[one.id, other.id]
    )
    found = [kept.id for kept in runtime.memories("mia", "roses and tulips behind the shed")]
    assert found in ([whole.id], [one.id, other.id], [other.id, one.id])
    stand = shown(asked(runtime.conversation("talk", user="mia"), "Do roses and tulips grow behind my shed?"))
    assert stand
    assert not (whole.id in stand and {one.id, other.id} & set(stand))


def test_what_may_not_stand_takes_no_place_from_what_says_the_same(runtime: Runtime) -> None:
    closed = replace(
        BALANCED,
        name="closed",
        version="1",
        privacy=ClassForms(connected_account=Level.NONE),
    )
    plain = runtime.remember("mia", WORDINGS[0])
    runtime.remember("mia", WORDINGS[1], kind="episode", privacy="connected_account", sources=[plain.id])
    talk = runtime.conversation("talk", user="mia")
    talk.record(user("When does the east gate open in the morning?"))
    assert shown(talk.assemble(provider="openai", model="gpt-5.2", policy=closed)) == [plain.id]
