"""Promotion: a recorded decision with its sources, its values located in them; broken locators are found or tell so."""

import json
from collections.abc import Callable, Iterator
from hashlib import sha256

import pytest
from hypothesis import given as generated
from hypothesis import settings
from hypothesis import strategies as st
from msgspec.structs import replace

from callsheet import Conversation, Runtime
from callsheet.derive.locators import ATTEMPTS, resolve
from callsheet.errors import BodyErased, InvalidOption, NotFound
from callsheet.graph.changes import LocatorsRepaired, Promoted
from callsheet.graph.enums import ConfidenceSource, Freshness, Privacy, Reason, StateField, Visibility
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import PolicyDecision, ToolMemory
from callsheet.graph.query import NodeQuery, StateQuery
from callsheet.graph.record import Record
from callsheet.graph.values import Locator
from callsheet.policy.contracts import ToolContract
from callsheet.policy.sets import BALANCED, DEFAULT, policy_set
from callsheet.runtime.drafting import Drafting
from callsheet.runtime.session import Session, View
from callsheet.testing import memory_runtime
from tests.runtime.replies import asks, call, result, user

BOAT = json.dumps({"boat": {"hull": "HX-4410", "length": 11.25, "berths": [4, 2]}, "berth": "north 7"})
TIDES = "station,time,height\nport east,04:10,3.9\nport west,04:31,4.25\nport west,16:52,4.05\n"


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with memory_runtime() as opened:
        yield opened


@pytest.fixture
def talk(runtime: Runtime) -> Conversation:
    opened = runtime.conversation("harbour")
    opened.record(user("What do we know?"))
    return opened


def inside(talk: Conversation) -> tuple[Session, View]:
    return talk._session, talk._view


def read(talk: Conversation, content: object, tool: str = "registry") -> str:
    talk.record(asks(call("c", tool)))
    return talk.record(result("c", content)).ids[-1]


def all_of(talk: Conversation, kind: str) -> list[Record]:
    session, _ = inside(talk)
    return session.ledger.nodes(session.conversation.key, NodeQuery(kinds=(kind,)))


def memory(talk: Conversation, id: str) -> ToolMemory:
    (record,) = talk._get((RecordId(id),))
    assert isinstance(record.body, ToolMemory)
    return record.body


def text(talk: Conversation, body: ToolMemory) -> str:
    return talk._session.read(body.summary).decode()


def state(talk: Conversation, field: StateField, target: str) -> str | None:
    session, view = inside(talk)
    query = StateQuery(field=field, targets=(target,), lineage=session.tail(view, fresh=True).lineage)
    rows = session.ledger.states(session.conversation.key, query)
    return rows[0].value if rows else None


# ---------------------------------------------------------------------------------------------- promoting


def test_a_promotion_is_one_decision_with_its_memory_and_its_sources(talk: Conversation) -> None:
    boat, tides = read(talk, BOAT), read(talk, TIDES, "tides")
    before = talk._session.ledger.head(talk._session.conversation.key)
    id = talk.promote(boat, tides, summary="HX-4410 lies at north 7.", attributes={"boat": "HX-4410"})
    body = memory(talk, id)
    assert body.sources == (boat, tides)
    assert body.tools == ("registry", "tides")
    assert text(talk, body) == "HX-4410 lies at north 7."
    assert (body.tainted, body.extractor, body.extractor_version) == (True, "rule", "2")
    assert [(one.name, one.value) for one in body.attributes] == [("boat", "HX-4410")]
    (decided,) = all_of(talk, "decision")
    assert isinstance(decided.body, PolicyDecision)
    assert decided.body.governs == (id, boat, tides)
    assert decided.body.policy_set == policy_set(DEFAULT).hash
    assert {state(talk, StateField.PROMOTION, source) for source in (boat, tides)} == {id}
    after = talk._session.ledger.head(talk._session.conversation.key)
    assert before is not None
    assert after is not None
    assert after.position == before.position + 4


def test_without_a_summary_the_gists_stand(talk: Conversation) -> None:
    body = memory(talk, talk.promote(read(talk, BOAT)))
    assert text(talk, body).startswith("registry")
    assert "HX-4410" in text(talk, body)
    assert body.confidence_source is ConfidenceSource.RULE


def test_a_demotion_is_a_decision_too_and_the_result_stays_recallable(talk: Conversation) -> None:
    boat = read(talk, BOAT)
    decided = talk.demote(boat, "registry_is_down")
    (record,) = talk._get((decided,))
    assert isinstance(record.body, PolicyDecision)
    assert (record.body.verdict, record.body.reason) == ("demoted", Reason.NOT_PROMOTED)
    (change,) = all_of(talk, "promoted")
    assert change.body == Promoted(artifact=RecordId(boat), decision=decided)
    assert state(talk, StateField.PROMOTION, boat) == ""
    assert talk.recall(boat).bytes == BOAT.encode()
    with pytest.raises(InvalidOption, match="must be a code"):
        talk.demote(boat, "The registry of Mr Smith is down.")


@pytest.mark.parametrize(
    ("content", "payload", "place"),
    [
        (BOAT, {"hull": "HX-4410"}, ("/boat/hull", b'"HX-4410"')),
        (BOAT, {"length": 11.25}, ("/boat/length", b"11.25")),
        (BOAT, {"where": "north 7"}, (None, b"north 7")),
        (TIDES, {"height": 4.25}, (None, b"4.25")),
        (TIDES, ["port east"], (None, b"port east")),
        (TIDES, {"station": "port west"}, (None, b"port west")),
        ("Host ist jetzt „db-elm-1“", {"host": "db-elm-1"}, (None, b"db-elm-1")),
        ("host is «db-elm-1»; db-elm-1.", {"host": "db-elm-1"}, (None, b"db-elm-1")),
        ("検証サーバーは移転、srv-ume-1です", {"host": "srv-ume-1"}, (None, b"srv-ume-1")),
        ("港は東京都にあります", {"port": "東京都"}, (None, "東京都".encode())),
        ("It lies at db-elm-1.", {"host": "db-elm-1"}, (None, b"db-elm-1")),
        ('{"host":"db-elm-1","alias":"db-elm-1"}', {"host": "db-elm-1"}, ("/host", b'"db-elm-1"')),
        ('[{"at":"quay"},{"at":"quay"}]', {"at": "quay"}, ("/0/at", b'"quay"')),
        ("a\x00b HX-4410 \xe9", ["HX-4410"], (None, b"HX-4410")),
    ],
)
def test_a_value_that_stands_at_one_place_is_located(
    talk: Conversation, content: str, payload: object, place: tuple[str | None, bytes]
) -> None:
    id = read(talk, content)
    body = memory(talk, talk.promote(id, summary="Noted.", payload=payload))
    (locator,) = body.locators
    assert (locator.source, locator.pointer) == (id, place[0])
    assert resolve(locator, talk.raw(id)) == place[1]
    assert (body.confidence, body.confidence_source) == (1.0, ConfidenceSource.EXACT_VALUE)


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        ({"height": 9.75}, "stands nowhere"),
        ({"height": 25}, "is only the end of a longer number"),
        ({"height": 4.2}, "only begins a longer number"),
        ({"sure": True, "note": None, "empty": ""}, "is no value that can be looked for"),
    ],
)
def test_no_place_is_invented(talk: Conversation, payload: object, why: str) -> None:
    body = memory(talk, talk.promote(read(talk, TIDES), summary="Noted.", payload=payload))
    assert body.locators == (), why


@generated(st.lists(st.text(min_size=3, max_size=8), min_size=1, max_size=6), st.text(max_size=200))
@settings(max_examples=40, deadline=None)
def test_every_locator_resolves_to_a_stated_value(values: list[str], content: str) -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("harbour")
        talk.record(user("Look."))
        id = read(talk, content + " | ".join(values))
        body = memory(talk, talk.promote(id, summary="Noted.", payload=values))
        stated = {value.encode("utf-8", "surrogatepass") for value in values}
        assert all(resolve(locator, talk.raw(id)) in stated for locator in body.locators)


def test_a_memory_is_as_strict_and_as_short_lived_as_its_strictest_source(talk: Conversation) -> None:
    tools = (
        ToolContract(name="wind", freshness=Freshness.VOLATILE, privacy=Privacy.PUBLIC, recheck=("wind_now",)),
        ToolContract(name="crew", freshness=Freshness.DURABLE, privacy=Privacy.CONNECTED_ACCOUNT),
    )
    policy = replace(BALANCED, name="harbour", version="1", tools=tools)
    wind, crew = read(talk, "wind 12 knots", "wind"), read(talk, "six aboard", "crew")
    talk.assemble(provider="openai", model="gpt-5.2", policy=policy)
    id = talk.promote(wind, crew)
    body = memory(talk, id)
    (record,) = talk._get((id,))
    assert record.header.privacy is Privacy.CONNECTED_ACCOUNT
    assert body.freshness is Freshness.VOLATILE
    assert body.stale_after == body.observed + 900 * 1_000_000
    assert body.recheck_tools == ("wind_now",)
    assert body.promotion_policy == "harbour@1"


def test_a_memory_of_private_results_is_as_private(runtime: Runtime) -> None:
    talk = runtime.conversation("harbour")
    talk.record(user("Look."))
    pilot, cook = talk.participant("pilot"), talk.participant("cook")
    id = pilot.promote(read(pilot, BOAT))
    (record,) = pilot._get((id,))
    assert (record.header.scope.visibility, record.header.scope.owner) == (Visibility.PARTICIPANT, pilot.participant_id)
    with pytest.raises(NotFound):
        cook.check(id)


def test_what_a_model_wrote_is_less_sure_than_what_stands_there(talk: Conversation) -> None:
    boat = read(talk, BOAT)
    body = memory(talk, talk.promote(boat, summary="HX-4410 is at ZZ-9999.", extractor="model:scribe@3"))
    assert (body.extractor, body.extractor_version) == ("model:scribe", "3")
    assert (body.confidence_source, body.confidence) == (ConfidenceSource.MODEL_SUMMARY, 0.3)
    assert body.confidence_reason == "1 of 2 stated values stand in the sources"
    assert memory(talk, talk.promote(boat, confidence=0.25)).confidence == 0.25


@pytest.mark.parametrize(
    "wrong",
    [
        {"summary": " "},
        {"payload": {1, 2}},
        {"payload": float("nan")},
        {"confidence": 1.5},
        {"confidence": float("nan")},
        {"extractor": ""},
        {"attributes": {"": "x"}},
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(talk: Conversation, wrong: dict[str, object]) -> None:
    boat = read(talk, BOAT)
    head = talk._session.ledger.head(talk._session.conversation.key)
    promote: Callable[..., RecordId] = talk.promote
    with pytest.raises(InvalidOption):
        promote(boat, **wrong)
    with pytest.raises(InvalidOption):
        talk.promote()
    with pytest.raises(NotFound):
        talk.promote(talk.history()[0][0].id)
    assert talk._session.ledger.head(talk._session.conversation.key) == head


# ---------------------------------------------------------------------------------------------- checking


def digest(what: bytes) -> str:
    return "sha256:" + sha256(what).hexdigest()


def moved(talk: Conversation, source: str, locators: tuple[Locator, ...], payload: object, attempts: int = 0) -> str:
    """A memory whose locators point where its values do not stand."""
    id = talk.promote(source, summary="Noted.", payload=payload)
    body = replace(memory(talk, id), locators=locators, repair_attempts=attempts)
    session, view = inside(talk)
    ids: list[RecordId] = []

    def draft(drafting: Drafting) -> None:
        ids[:] = [drafting.add(body, kind="tool_memory")]

    session.append(view, draft)
    return ids[0]


def pointing(at: str | tuple[int, int], what: bytes, kind: str = "byte_range") -> Locator:
    """A locator with the digest of `what`, wherever that stands."""
    nowhere = Locator(source=RecordId(""), digest=digest(what))
    return replace(nowhere, pointer=at) if isinstance(at, str) else replace(nowhere, **{kind: at})


#: Why; the content, where the locator points, what the memory states; and what is found.
PLACES: list[tuple[str, tuple[str, Locator, object], bytes | None]] = [
    ("the key moved", (BOAT, pointing("/hull", b'"HX-4410"'), {}), b'"HX-4410"'),
    ("the line moved", (TIDES, pointing((9, 9), b"port east,04:10,3.9", "line_range"), {}), b"port east,04:10,3.9"),
    ("the row moved", (TIDES, pointing((3, 3), b"port west,04:31,4.25", "row_range"), {}), b"port west,04:31,4.25"),
    ("the bytes moved", (TIDES, pointing((1, 5), b"4.25"), ["4.25"]), b"4.25"),
    ("nobody knows what stood there", (TIDES, pointing((1, 5), b"4.25"), {}), None),
    ("it stands twice", (TIDES, pointing((0, 9), b"port west"), ["port west"]), None),
    ("it is gone", (TIDES, pointing((2, 2), b"port south,1,2", "line_range"), {}), None),
]


@pytest.mark.parametrize(("why", "given", "found"), PLACES, ids=[place[0] for place in PLACES])
def test_a_broken_locator_is_found_again_in_its_source_or_the_memory_is_stale(
    talk: Conversation, why: str, given: tuple[str, Locator, object], found: bytes | None
) -> None:
    content, locator, payload = given
    source = RecordId(read(talk, content))
    id = moved(talk, source, (replace(locator, source=source),), payload)
    checked = talk.check(id)
    (record,) = all_of(talk, "locators_repaired")
    assert isinstance(record.body, LocatorsRepaired)
    assert record.body.attempt <= ATTEMPTS
    assert (record.body.found, checked.stale) == (found is not None, found is None), why
    assert (state(talk, StateField.STALE, id) is not None) == checked.stale
    if found is not None:
        assert (checked.whole, checked.repaired, checked.lost) == (0, 1, 0)
        assert resolve(checked.locators[0], content.encode()) == found
        again = talk.check(id)
        assert (again.whole, again.repaired, again.stale) == (1, 0, False)
    else:
        assert talk.check(id) == checked
    assert len(all_of(talk, "locators_repaired")) == 1


def test_a_value_in_another_part_of_the_same_source_is_found(talk: Conversation) -> None:
    parts = [{"type": "text", "text": "nothing here"}, {"type": "text", "text": "draught 2.35 metres"}]
    source = RecordId(read(talk, parts))
    at = Locator(source=source, part=0, byte_range=(8, 12), digest=digest(b"2.35"))
    checked = talk.check(moved(talk, source, (at,), ["2.35"]))
    assert (checked.repaired, checked.attempts, checked.locators[0].part) == (1, 3, 1)


def test_attempts_are_bounded_over_the_life_of_a_memory(talk: Conversation) -> None:
    source = RecordId(read(talk, TIDES))
    at = Locator(source=source, line_range=(9, 9), digest=digest(b"port east,04:10,3.9"))
    checked = talk.check(moved(talk, source, (at,), {}, attempts=ATTEMPTS))
    assert (checked.repaired, checked.lost, checked.attempts, checked.stale) == (0, 1, ATTEMPTS, True)


def test_what_is_whole_is_left_alone(talk: Conversation) -> None:
    id = talk.promote(read(talk, BOAT), summary="Noted.", payload={"hull": "HX-4410", "length": 11.25})
    head = talk._session.ledger.head(talk._session.conversation.key)
    checked = talk.check(id)
    assert (checked.whole, checked.repaired, checked.lost, checked.attempts, checked.stale) == (2, 0, 0, 0, False)
    assert talk._session.ledger.head(talk._session.conversation.key) == head
    with pytest.raises(NotFound):
        talk.check("tool_memory_999")


def test_an_erased_source_makes_its_memory_stale_and_is_promoted_no_more(talk: Conversation) -> None:
    source = read(talk, BOAT)
    id = talk.promote(source, summary="Noted.", payload={"hull": "HX-4410"})
    session, _ = inside(talk)
    (record,) = talk._get((RecordId(source),))
    session.ledger.erase_bodies(session.conversation.key, (record.position,))
    checked = talk.check(id)
    assert (checked.lost, checked.stale) == (1, True)
    with pytest.raises(BodyErased):
        talk.promote(source)
