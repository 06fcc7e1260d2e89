"""After an erasure the next request does without what is gone, in the process that had it at hand and in a new one."""

from pathlib import Path

import pytest

import callsheet
from callsheet import Conversation, Sheet
from callsheet.graph.changes import Erased
from callsheet.graph.ids import RecordId
from callsheet.testing import memory_runtime
from callsheet.wire.names import Wire
from callsheet.wire.validate import problems
from tests.runtime.acts import MODELS
from tests.runtime.replies import asks, call, openai_reply, result, user

POLICIES = ["balanced", "lean", "faithful", "replay"]


def plots(season: str, worst: str) -> str:
    """What a garden's book says of a season: long, and mostly the same from one season to the next."""
    rows = "\n".join(f"plot {plot:02d} holds beets, row {plot % 5}, watered twice" for plot in range(30))
    return f"{season}: the worst is {worst}\n{rows}"


def assembled(talk: Conversation, provider: str, policy: str) -> Sheet:
    return talk.assemble(provider=provider, model=MODELS[provider], policy=policy)


def garden(talk: Conversation, provider: str, policy: str) -> dict[str, RecordId]:
    """Two looks into the book, the second told against the first, and an answer. The records by what they are."""
    ids: dict[str, RecordId] = {}
    ids["question"] = talk.record(user("Did the MARIGOLD bed do well in spring?")).ids[0]
    for season, worst in (("spring", "QUINCE-4"), ("autumn", "MEDLAR-9")):
        asked = asks(call(season, "look_up", f'{{"season": "{season}"}}'), content=f"Looking at {season.upper()}.")
        sheet = assembled(talk, provider, policy)
        (ids[f"asks {season}"],) = talk.record(openai_reply(asked), sheet=sheet).ids
        ids[f"call {season}"] = talk.pending()[0].id
        (ids[season],) = talk.record(result(season, plots(season, worst))).ids
    talk.record(openai_reply("It did."), sheet=assembled(talk, provider, policy))
    return ids


def erase(talk: Conversation, id: RecordId) -> None:
    """Record an erasure and take the body away, as its caller has to."""
    session = talk._session
    (record,) = session.ledger.get(session.conversation.key, (id,))
    note = Erased(bodies=((session.conversation.id, record.position),), records=(id,))
    session.append(talk._view, lambda drafting: drafting.add(note, kind="erased"))
    session.ledger.erase_bodies(session.conversation.key, (record.position,))


@pytest.mark.parametrize("provider", MODELS)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("gone", "said"),
    [
        ("question", "MARIGOLD"),
        ("asks spring", "Looking at SPRING"),
        ("call spring", '"spring\\'),
        ("spring", "QUINCE-4"),
        ("autumn", "MEDLAR-9"),
    ],
)
def test_what_is_gone_stands_nowhere_and_the_rest_stays(provider: str, policy: str, gone: str, said: str) -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("garden")
        ids = garden(talk, provider, policy)
        erase(talk, ids[gone])
        talk.record(user("And all in all?"))
        warm = assembled(talk, provider, policy)
        cold = assembled(runtime.conversation("garden"), provider, policy)
        assert warm.blocks == cold.blocks
        assert warm.selections == cold.selections
        assert not problems(warm.request(), Wire(provider))
        text = b"\n".join(warm.blocks).decode()
        assert said not in text
        assert "QUINCE-4" in text or gone == "spring"
        assert "MEDLAR-9" in text or gone == "autumn"


@pytest.mark.parametrize("policy", POLICIES)
def test_a_body_that_is_simply_not_there_any_more_is_done_without_in_a_new_process(policy: str) -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("garden")
        ids = garden(talk, "openai", policy)
        session = talk._session
        for id in ids.values():
            (record,) = session.ledger.get(session.conversation.key, (id,))
            session.ledger.erase_bodies(session.conversation.key, (record.position,))
            fresh = runtime.conversation("garden")
            fresh.record(user("What is left?"))
            sheet = assembled(fresh, "openai", policy)
            assert id not in {selection.record for selection in sheet.selections}
            assert not problems(sheet.request(), Wire.OPENAI)


@pytest.mark.parametrize("provider", MODELS)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("gone", ["question", "asks spring", "call spring", "spring", "autumn"])
def test_an_erasure_that_was_recorded_elsewhere_is_seen_by_the_next_request(
    provider: str, policy: str, gone: str
) -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("garden")
        ids = garden(talk, provider, policy)
        session = talk._session
        (record,) = session.ledger.get(session.conversation.key, (ids[gone],))
        log = runtime.conversation("erasures")
        note = Erased(bodies=((session.conversation.id, record.position),), records=(ids[gone],))
        log._session.append(log._view, lambda drafting: drafting.add(note, kind="erased"))
        session.ledger.erase_bodies(session.conversation.key, (record.position,))
        talk.record(user("And all in all?"))
        warm = assembled(talk, provider, policy)
        cold = assembled(runtime.conversation("garden"), provider, policy)
        assert warm.blocks == cold.blocks
        assert ids[gone] not in {selection.record for selection in warm.selections}


def test_another_process_sees_that_a_body_is_gone_at_its_next_request(tmp_path: Path) -> None:
    path = tmp_path / "garden.db"
    with callsheet.open(path) as here, callsheet.open(path) as there:
        talk = here.conversation("garden")
        ids = garden(talk, "openai", "balanced")
        assert b"QUINCE-4" in b"".join(assembled(talk, "openai", "balanced").blocks)
        erase(there.conversation("garden"), ids["spring"])
        assert b"QUINCE-4" not in b"".join(assembled(talk, "openai", "balanced").blocks)


def test_an_open_call_that_was_erased_is_pending_no_more() -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("garden")
        talk.record([user("Dig."), asks(call("d", "dig", '{"plot": "FIG-2"}'))])
        (pending,) = talk.pending()
        session = talk._session
        (record,) = session.ledger.get(session.conversation.key, (pending.id,))
        session.ledger.erase_bodies(session.conversation.key, (record.position,))
        assert "FIG-2" not in str(talk.pending())
        assert talk.pending() == runtime.conversation("garden").pending()
