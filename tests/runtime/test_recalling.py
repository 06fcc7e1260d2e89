"""Recalling through a conversation: exact, bounded, and blind to whatever the view may not see."""

import base64
import json
from collections.abc import Iterator
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet import Conversation, Runtime
from callsheet.errors import InvalidOption, NotFound
from callsheet.graph.enums import Reason
from callsheet.graph.nodes import Boundary
from callsheet.graph.record import Record
from callsheet.recall.request import RecallRequest
from callsheet.runtime.recalling import Recalled, answer, recall, search_all
from callsheet.runtime.session import Session, View
from callsheet.testing import memory_runtime
from tests.runtime.replies import asks, call, openai_reply, result, user

STOCK = "\n".join(
    ["part,shelf,count,minimum", *(f"P{i:05d},{i % 40},{(i * 13) % 97},{(i * 5) % 60}" for i in range(9000))]
)


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with memory_runtime() as opened:
        yield opened


def inside(talk: Conversation) -> tuple[Session, View]:
    return talk._session, talk._view


def read(talk: Conversation, content: object, *, tool: str = "read_stock") -> str:
    talk.record(asks(call("c", tool)))
    return talk.record(result("c", content)).ids[-1]


def get(talk: Conversation, request: RecallRequest) -> Recalled:
    return recall(*inside(talk), request)


def said(talk: Conversation, **arguments: object) -> str:
    return answer(*inside(talk), json.dumps(arguments))


def test_a_row_is_found_with_its_header_and_the_rest_is_reachable(runtime: Runtime) -> None:
    talk = runtime.conversation("shop")
    talk.record(user("Is there enough of P08177?"))
    id = read(talk, STOCK)
    found = said(talk, reference=id, search="P08177")
    assert found.split("\n")[1:] == ["part,shelf,count,minimum", "row 8177: P08177,17,86,25"]
    assert "to read on" in said(talk, reference=id)


@pytest.mark.parametrize("content", ["zähler\n" * 20_000, STOCK[:60_000], "€" * 9_000 + "\nend"])
def test_slices_joined_are_the_recorded_bytes(runtime: Runtime, content: str) -> None:
    talk = runtime.conversation("shop")
    talk.record(user("Read."))
    id = read(talk, content)
    for request in (RecallRequest(reference=id), RecallRequest(reference=id, bytes=(0, None))):
        joined = b""
        more: RecallRequest | None = request
        while more is not None:
            part = get(talk, more)
            joined += part.bytes
            more = part.more
        assert sha256(joined).digest() == sha256(talk.raw(id)).digest()


@pytest.mark.parametrize("content", [b"\x00\x00x7\x00 valve 9 shut\n", "valve 9 shut\n".encode("utf-16")])
def test_bytes_of_any_encoding_are_searched_as_text(runtime: Runtime, content: bytes) -> None:
    talk = runtime.conversation("plant")
    talk.record(user("Look."))
    id = read(talk, content)
    assert "valve 9 shut" in said(talk, reference=id, search="VALVE 9")
    assert get(talk, RecallRequest(reference=id, bytes=(0, None))).bytes == content
    assert search_all(*inside(talk), "valve 9")[0].reference == id


def test_a_value_is_given_as_it_was_written(runtime: Runtime) -> None:
    talk = runtime.conversation("plant")
    talk.record(user("Look."))
    id = read(talk, '{"sensors": [{"max": 1e999, "max": 1.50}]}')
    assert said(talk, reference=id, pointer="/sensors/0/max").endswith("\n1.50")
    assert "/sensors has 1 items" in said(talk, reference=id, pointer="/sensors/4")


def test_a_beginning_that_one_record_has_is_a_reference(runtime: Runtime) -> None:
    talk = runtime.conversation("plant")
    talk.record(user("Look."))
    id = read(talk, "pressure fine")
    assert get(talk, RecallRequest(reference=f"[{id}]")).bytes == b"pressure fine"
    assert get(talk, RecallRequest(reference=id[:-1])).reference == id
    read(talk, "pressure low")
    with pytest.raises(NotFound, match=f"2 references begin with 'artifact': {id}"):
        get(talk, RecallRequest(reference="artifact"))


def test_messages_are_recalled_with_the_calls_they_make(runtime: Runtime) -> None:
    talk = runtime.conversation("plant")
    id = talk.record(user("Close valve 12, please.")).ids[0]
    made = talk.record(asks(call("c", "close", '{"valve": 12}'), content="At once.")).ids[0]
    assert said(talk, reference=id).endswith("\nClose valve 12, please.")
    assert said(talk, reference=made).endswith('\nAt once.\nclose({"valve": 12})')


def test_pictures_are_told_by_type_and_size(runtime: Runtime) -> None:
    talk = runtime.conversation("plant")
    talk.record(user("Look."))
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    id = read(talk, [picture])
    assert said(talk, reference=id) == (
        f"({id}, image/png, 8 bytes, not text; ask for bytes, or in Python conversation.raw('{id}'))"
    )


def test_words_and_identifiers_are_found_exact_ones_first(runtime: Runtime) -> None:
    talk = runtime.conversation("depot")
    talk.record(user("Which parcels are late?"))
    late = read(talk, "Parcel AX-7731 is late because of the flood on the northern route. Parcels wait.")
    other = read(talk, "The parcel policy: late parcels are refunded after nine days. Parcels, parcels, parcels.")
    assert search_all(*inside(talk), "refunded parcels")[0].reference == other
    found = search_all(*inside(talk), "parcels AX-7731")
    assert found[0].reference == late
    assert found[0].exact
    assert "AX-7731" in found[0].snippet
    assert said(talk, query="AX-7731").startswith('(query "AX-7731": ')
    assert said(talk, query="zeppelin") == '(query "zeppelin": nothing found)'


def test_an_identifier_beyond_what_an_index_holds_is_found(runtime: Runtime) -> None:
    talk = runtime.conversation("shop")
    asked = talk.record(user("Is there enough of P08177?")).ids[0]
    id = read(talk, STOCK)
    found = search_all(*inside(talk), "P08177")
    assert {one.reference for one in found if one.exact} == {id, asked}
    assert all("P08177" in one.snippet for one in found)
    assert next(one.snippet for one in found if one.reference == id) == (
        "(header) part,shelf,count,minimum (row) P08177,17,86,25"
    )


def test_a_run_of_base64_is_not_shown_as_text(runtime: Runtime) -> None:
    talk = runtime.conversation("plant")
    talk.record(user("Look."))
    id = read(talk, base64.b64encode(bytes(range(256)) * 40).decode())
    assert len(said(talk, reference=id)) < 200
    assert said(talk, query="AAECAwQ") == '(query "AAECAwQ": nothing found)'


def views(runtime: Runtime, name: str, *, hidden: bool) -> tuple[Conversation, str]:
    """A conversation in which, with `hidden`, others hold records that this view may not see."""
    talk = runtime.conversation(name)
    talk.record(user("Compare the bids for lot 55."))
    critic = talk.participant("critic")
    writer = talk.participant("writer")
    before = talk.branch(name="other")
    id = read(writer, "bid A: 900 for lot 55, secret margin")
    if hidden:
        read(critic, "bid B: 700 for lot 55, lot 55, lot 55")
        read(before, "bid C: 100 for lot 55")
        read(runtime.conversation("elsewhere"), "bid D: lot 55")
    return writer, id


def test_what_is_hidden_changes_no_result_score_or_error() -> None:
    answers: list[list[str]] = []
    for hidden in (False, True):
        with memory_runtime() as runtime:
            writer, id = views(runtime, "auction", hidden=hidden)
            found = search_all(*inside(writer), "bid for lot 55")
            answers.append(
                [
                    repr(found),
                    said(writer, query="lot 55"),
                    said(writer, reference=id),
                    said(writer, reference="artifact"),
                    said(writer, reference="artifact_999"),
                    said(writer, reference="art", search="bid"),
                ]
            )
    assert answers[0] == answers[1]


def test_a_hidden_reference_is_answered_like_one_that_is_not_there(runtime: Runtime) -> None:
    talk = runtime.conversation("auction")
    talk.record(user("Compare."))
    id = read(talk.participant("critic"), "my own notes")
    writer = talk.participant("writer")
    assert said(writer, reference=id).replace(id, "X") == said(writer, reference="artifact_none").replace(
        "artifact_none", "X"
    )
    with pytest.raises(NotFound):
        get(writer, RecallRequest(reference=id, lines=(0, 1)))
    assert b"my own notes" == get(talk.participant("critic"), RecallRequest(reference=id)).bytes


def test_what_a_policy_refuses_is_neither_read_nor_counted(runtime: Runtime) -> None:
    talk = runtime.conversation("bank")
    talk.record(user("Look."))
    kept = read(talk, "balance of account 100 200 300", tool="balance")
    read(talk, "account terms", tool="terms")

    def admit(record: Record, boundary: Boundary) -> Reason | None:
        return Reason.PRIVACY_CLASS if record.id == kept else None

    session, view = inside(talk)
    refused = answer(session, view, {"reference": kept}, admit=admit)
    assert refused == f"(recall: the content of {kept} may not be read here (privacy_class))"
    assert kept not in {found.reference for found in search_all(session, view, "account balance", admit=admit)}


def test_an_answer_is_bounded_whatever_was_recorded(runtime: Runtime) -> None:
    talk = runtime.conversation("plant")
    talk.record(user("Look."))
    ids = [
        read(talk, "x" * 40_000),
        read(talk, "€\n" * 20_000),
        read(talk, json.dumps([{"k": i} for i in range(6_000)])),
    ]
    for id in ids:
        for part in (
            {},
            {"lines": [0]},
            {"bytes": [5]},
            {"rows": [0]},
            {"search": "x"},
            {"pointer": ""},
            {"search": "k"},
        ):
            assert len(said(talk, reference=id, **part).encode()) < 8_000 + 400
    assert len(said(talk, query="x k").encode()) < 8_000 + 400


@given(
    st.text(max_size=40) | st.dictionaries(st.sampled_from(["reference", "query", "lines"]), st.text()).map(json.dumps)
)
def test_whatever_a_model_writes_is_answered(arguments: str) -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("plant")
        talk.record(user("Look."))
        assert answer(*inside(talk), arguments).startswith("(")


def test_a_query_is_no_reference(runtime: Runtime) -> None:
    talk = runtime.conversation("plant")
    talk.record(openai_reply("Hello."))
    with pytest.raises(InvalidOption):
        get(talk, RecallRequest(query="hello"))
