"""Recalling through a conversation: exact, bounded, and blind to whatever the view may not see."""

import base64
import dataclasses
import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import callsheet
from callsheet import Conversation, PendingCall, Runtime, Sheet
from callsheet.errors import InvalidMessage, InvalidOption, NotFound, RecallRefused
from callsheet.graph.changes import MarkedStale, Superseded
from callsheet.graph.enums import Level, Privacy, Reason
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary, ToolArtifact
from callsheet.graph.record import Record
from callsheet.policy.contracts import ToolContract
from callsheet.policy.sets import BALANCED, PolicySetDocument
from callsheet.policy.settings import ProviderForm
from callsheet.recall.request import RecallRequest
from callsheet.runtime.admitting import Admitting
from callsheet.runtime.drafting import Drafting
from callsheet.runtime.recalling import Recalled, answer, recall, recalled, search_all
from callsheet.runtime.seeing import sight
from callsheet.runtime.session import Session, View
from callsheet.testing import FixedClock, memory_runtime
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
    talk.record({"role": "assistant", "content": "There is."})
    found = search_all(*inside(talk), "P08177")
    assert [one.reference for one in found if one.exact] == [id, asked]
    assert all("P08177" in one.snippet for one in found)
    assert next(one.snippet for one in found if one.reference == id) == (
        "(header) part,shelf,count,minimum (row) P08177,17,86,25"
    )


def test_a_search_does_not_find_the_question_that_it_is_made_for(runtime: Runtime) -> None:
    talk = runtime.conversation("depot")
    talk.record(user("Note that pallet QX-19 is fragile."))
    talk.record({"role": "assistant", "content": "Noted: QX-19 is fragile."})
    talk.record(user("Where is pallet QX-19, and is it fragile?"))
    before = [one.origin for one in talk.search("pallet QX-19 fragile")]
    assert before == ["user", "assistant"]
    found_in = read(talk, "pallet QX-19: fragile, bay 4", tool="bays")
    talk.record(asks(call("r", "recall", '{"query": "pallet QX-19"}'), content="Looking for QX-19."))
    found = talk.search("pallet QX-19 fragile")
    assert [one.origin for one in found] == ["bays", "user", "assistant"]
    assert found[0].reference == found_in
    assert said(talk, query="QX-19").count("QX-19") == 4  # its own query and three lines


def test_what_was_asked_is_found_once_it_was_answered(runtime: Runtime) -> None:
    talk = runtime.conversation("depot")
    asked = talk.record(user("Where is pallet QX-19?")).ids[0]
    assert talk.search("QX-19") == []
    talk.record({"role": "assistant", "content": "In bay 4."})
    assert [one.reference for one in talk.search("QX-19")] == [asked]


def test_the_present_turn_is_as_long_as_its_question_is_open(runtime: Runtime) -> None:
    talk = runtime.conversation("depot")
    old = talk.record(user("Is scale ZZ-4 exact?")).ids[0]
    talk.record({"role": "assistant", "content": "Yes."})
    talk.record(user("Weigh ZZ-4 again, forty times."))
    for _ in range(40):
        read(talk, "12 kg", tool="weigh")
    assert [one.reference for one in talk.search("ZZ-4")] == [old]


def test_results_come_before_what_was_said_of_them(runtime: Runtime) -> None:
    talk = runtime.conversation("depot")
    talk.record(user("Lift report, lift report, lift report of gate BB-2?"))
    exact = read(talk, "gate BB-2: the lift is out of order since the flood of march and waits for a part", tool="gate")
    other = read(talk, "a report on every other lift in the house, with much beside it that nobody asked for")
    talk.record({"role": "assistant", "content": "Lift report: the lift is out of order."})
    found = talk.search("lift report BB-2")
    assert found[0].reference == exact
    assert [one.origin for one in found] == ["gate", "user", "read_stock", "assistant"]
    assert found[2].reference == other


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


# ---------------------------------------------------------------------------------------------- the public face


def log_of(day: int) -> str:
    return "\n".join(
        f"day {day} run {i}: kiln K-{day:03d}{i:03d} at {900 + i} degrees, glaze {i % 7}" for i in range(60)
    )


def long_talk(talk: Conversation, turns: int) -> list[str]:
    """Some turns with a result each. Gives the results' ids."""
    ids: list[str] = []
    for day in range(turns):
        talk.record(user(f"What did the kilns do on day {day}?"))
        talk.record(asks(call(f"c{day}", "read_log", json.dumps({"day": day}))))
        ids += talk.record(result(f"c{day}", log_of(day))).ids
        talk.record({"role": "assistant", "content": f"Day {day} was quiet."})
    talk.record(user("And what was hottest?"))
    return ids


def stepped(talk: Conversation, *, recall: bool) -> tuple[list[str], Sheet]:
    """A conversation that is assembled at every step, so that older results stand shortened and in notes."""
    ids: list[str] = []
    for day in range(9):
        talk.record(user(f"What did kiln K-{max(0, day - 3):03d}007 do on day {day}?"))
        lean_sheet(talk, recall=recall)
        talk.record(openai_reply(asks(call(f"c{day}", "read_log", json.dumps({"day": day})))))
        ids += talk.record(result(f"c{day}", log_of(day))).ids
        sheet = lean_sheet(talk, recall=recall)
        talk.record(openai_reply(f"Day {day} was quiet."))
    return ids, sheet


def lean_sheet(talk: Conversation, *, recall: bool) -> Sheet:
    return talk.assemble(provider="openai", model="gpt-5.2", policy="lean", budget=9_000, recall=recall)


def asked(talk: Conversation, arguments: str, *, id: str = "r") -> PendingCall:
    return talk.record(asks(call(id, "recall", arguments))).pending[-1]


@pytest.mark.parametrize("recall", [True, False])
def test_a_sheet_names_what_it_does_not_show_in_full_and_each_can_be_fetched(runtime: Runtime, recall: bool) -> None:
    talk = runtime.conversation("kilns")
    ids, sheet = stepped(talk, recall=recall)
    named = sheet.references()
    short = {one.record for one in sheet.selections if one.note or one.level not in (Level.RAW, Level.DENSE)}
    # What a milestone states is fetched by the reference of its source, which stands in its line.
    assert {one.id for one in named} == {id for id in short if not id.startswith("milestone_")}
    results = [one for one in named if one.kind == "artifact"]
    assert results
    for one in results:
        assert one.tool == "read_log"
        assert talk.recall(one.reference).bytes == log_of(ids.index(one.id)).encode()
    assert talk.sheet(sheet.id).references() == named
    unlisted = set(ids) - {one.record for one in sheet.selections}
    for id in unlisted:
        assert id in {one.reference for one in talk.search(f"K-{ids.index(id):03d}007")}


def test_each_way_to_ask_gives_that_part(runtime: Runtime) -> None:
    talk = runtime.conversation("shop")
    talk.record(user("Read."))
    id = read(talk, STOCK)
    assert talk.recall(id, lines=(0, 1)).bytes == b"part,shelf,count,minimum\n"
    assert talk.recall(id, rows=(2, 3)).bytes.strip() == b"P00002,2,26,10"
    assert talk.recall(id, bytes=(0, 4)).bytes == b"part"
    assert b"P00777" in talk.recall(id, search="P00777").bytes
    assert talk.recall(id, limit=100).more is not None
    with pytest.raises(InvalidOption, match="at most one"):
        talk.recall(id, lines=(0, 1), rows=(0, 1))
    with pytest.raises(NotFound):
        talk.recall("artifact_none")


def test_the_short_form_is_the_id_without_its_prefix_even_where_others_begin_alike(runtime: Runtime) -> None:
    talk = runtime.conversation("plant")
    talk.record(user("Look."))
    ids = [read(talk, f"reading {number}") for number in range(40)]
    for number, id in enumerate(ids):
        assert talk.recall(id.partition("_")[2]).bytes == f"reading {number}".encode()
        assert talk.recall(f"[{id.partition('_')[2]}]").reference == id


def test_a_call_is_answered_in_whichever_shape_it_is_given(runtime: Runtime) -> None:
    talk = runtime.conversation("plant")
    talk.record(user("Look."))
    id = read(talk, "pressure fine")
    arguments = json.dumps({"reference": id})
    pending = asked(talk, arguments)
    shapes = (
        pending,
        arguments,
        {"reference": id},
        call("c", "recall", arguments),
        call("c", "recall", arguments)["function"],
        {"type": "tool_use", "id": "c", "name": "recall", "input": {"reference": id}},
    )
    assert {talk.answer_recall(shape) for shape in shapes} == {f"({id}, whole: 1 lines, 13 bytes)\npressure fine"}
    assert "not JSON" in talk.answer_recall("{")
    with pytest.raises(InvalidMessage):
        talk.answer_recall(7)


def test_the_answer_of_a_recall_is_kept_as_shown_points_to_the_original_and_is_not_found_again(
    runtime: Runtime,
) -> None:
    talk = runtime.conversation("kilns")
    ids = long_talk(talk, 3)
    pending = asked(talk, json.dumps({"reference": ids[1], "search": "K-001007"}))
    text = talk.answer_recall(pending)
    (given,) = talk.record(result("r", text)).ids
    (record,) = talk._get((RecordId(given),))
    assert isinstance(record.body, ToolArtifact)
    assert record.body.recalls == ids[1]
    assert talk.raw(given).decode() == text
    searched = asked(talk, '{"query": "K-001007"}', id="s")
    (other,) = talk.record(result("s", talk.answer_recall(searched))).ids
    found = {one.reference for one in talk.search("K-001007")}
    assert ids[1] in found
    assert not found & {given, other}


@pytest.mark.parametrize("text", ["(artifact_999, whole: 1 lines)\nx", "no reference", "(recall: no)", "(\x00, x"])
def test_an_answer_that_names_nothing_that_was_asked_for_is_a_result_like_any(runtime: Runtime, text: str) -> None:
    talk = runtime.conversation("plant")
    talk.record(user("Look."))
    read(talk, "pressure fine")
    asked(talk, '{"reference": "artifact_999"}')
    (given,) = talk.record(result("r", text)).ids
    (record,) = talk._get((RecordId(given),))
    assert isinstance(record.body, ToolArtifact)
    assert record.body.recalls is None


def closed(*, rehydrate: int = 65_536, providers: tuple[ProviderForm, ...] = ()) -> PolicySetDocument:
    tools = (ToolContract(name="ledger", privacy=Privacy.CONNECTED_ACCOUNT, recheck=("ledger_now",)),)
    version = f"{rehydrate}-{len(providers)}"
    return replace(BALANCED, name="closed", version=version, tools=tools, rehydrate=rehydrate, providers=providers)


def test_a_class_that_may_not_go_to_the_provider_is_told_by_metadata_alone(runtime: Runtime) -> None:
    talk = runtime.conversation("bank")
    talk.record(user("Look."))
    kept = read(talk, "account 77 holds 1234.56", tool="ledger")
    talk.assemble(provider="openai", model="gpt-5.2", policy=closed())
    text = talk.answer_recall({"reference": kept})
    assert "'connected_account' may not go to 'openai'" in text
    assert "a result of ledger, 24 bytes, of 2026-01-01T00:00:00Z, to check again: ledger_now" in text
    assert "1234" not in text
    assert talk.answer_recall({"query": "account 1234.56"}) == '(query "account 1234.56": nothing found)'
    assert talk.recall(kept).bytes == b"account 77 holds 1234.56"
    opened = ProviderForm(provider="openai", privacy=Privacy.CONNECTED_ACCOUNT, form=Level.RAW)
    talk.assemble(provider="openai", model="gpt-5.2", policy=closed(providers=(opened,)))
    assert talk.answer_recall({"reference": kept}).endswith("\naccount 77 holds 1234.56")


def test_content_that_may_not_be_given_changes_no_answer() -> None:
    answers = []
    for secret in ("aaaa bbbb 1111.11", "cccc dddd 2222.22"):
        with memory_runtime() as runtime:
            talk = runtime.conversation("bank")
            talk.record(user("Look."))
            kept = read(talk, secret, tool="ledger")
            read(talk, "terms of aaaa and dddd", tool="terms")
            talk.assemble(provider="openai", model="gpt-5.2", policy=closed())
            queries = ({"query": "aaaa 1111.11"}, {"query": "dddd"}, {"reference": kept}, {"reference": kept[:9]})
            answers.append([talk.answer_recall(query) for query in queries])
    assert answers[0] == answers[1]


def test_what_one_request_may_load_is_bounded_and_what_was_recorded_since_counts(runtime: Runtime) -> None:
    talk = runtime.conversation("kilns")
    ids = long_talk(talk, 3)
    sheet = talk.assemble(provider="openai", model="gpt-5.2", policy=closed(rehydrate=900))
    talk.record(openai_reply(asks(*(call(f"r{n}", "recall", json.dumps({"reference": ids[n]})) for n in range(3)))))
    given = []
    for pending in talk.pending():
        text = talk.answer_recall(pending)
        given.append(text)
        talk.record(result(pending.provider_id, text))
    assert len(given[0].encode()) <= 900 + 200
    assert "900 bytes of exact evidence that one request may load are used up" in given[2]
    assert sheet.record.pins.policy_set == closed(rehydrate=900).hash


def test_what_is_out_of_date_or_replaced_is_served_with_a_line_that_says_so(runtime: Runtime) -> None:
    talk = runtime.conversation("plant")
    talk.record(user("Look."))
    old, new = read(talk, "pressure 4.1 bar"), read(talk, "pressure 5.2 bar")

    def change(drafting: Drafting) -> None:
        drafting.add(Superseded(current=RecordId(new), replaced=(RecordId(old),)), kind="superseded")
        drafting.add(MarkedStale(records=(RecordId(old),)), kind="marked_stale")

    session, view = inside(talk)
    session.append(view, change)
    talk.assemble(provider="openai", model="gpt-5.2", policy="balanced")
    _, note, content = talk.answer_recall({"reference": old}).split("\n")
    assert content == "pressure 4.1 bar"
    assert note == (f"(observed 2026-01-01T00:00:00Z; out of date: no claim about now; replaced since; now {new})")
    assert talk.answer_recall({"reference": new}).split("\n")[1:] == ["pressure 5.2 bar"]


@pytest.mark.parametrize(
    ("content", "days", "aged"),
    [("plot 4 holds beets", 2, False), ("stock: 7", 2, True), ("stock: 7", 0, False), ("log in /tmp/a.log", 9, False)],
)
def test_a_recalled_result_is_out_of_date_exactly_where_assembly_holds_it_to_be(
    content: str, days: int, aged: bool
) -> None:
    clock = FixedClock()
    with memory_runtime(clock=clock) as runtime:
        talk = runtime.conversation("garden")
        talk.record(user("Look."))
        id = read(talk, content)
        talk.record({"role": "assistant", "content": "So it is."})
        for number in range(12):
            talk.record(user(f"And {number}?"))
            talk.record({"role": "assistant", "content": "Well."})
        clock.advance(days * 86_400 + 1)
        talk.record(user("What holds?"))
        sheet = talk.assemble(provider="openai", model="gpt-5.2")
        shown = {selection.record: selection.level for selection in sheet.selections}
        assert (shown.get(RecordId(id)) in (None, Level.STALE)) is aged
        assert ("out of date" in talk.answer_recall({"reference": id})) is aged


def test_hidden_occurrences_take_no_place_among_the_candidates() -> None:
    answers = []
    for hidden in (0, 150):
        with memory_runtime() as runtime:
            talk = runtime.conversation("auction")
            talk.record(user("Compare the bids for lot 55."))
            writer, critic = talk.participant("writer"), talk.participant("critic")
            id = read(writer, "bid A for lot L-5501: 900")
            for number in range(hidden):
                read(critic, f"bid {number} for lot L-5501")
            answers.append([repr(writer.search("L-5501")), repr(writer.search("bid lot")), writer.recall(id).text])
    assert answers[0] == answers[1]


def test_what_a_call_asked_for_finds_the_message_that_made_it_and_its_result(runtime: Runtime) -> None:
    talk = runtime.conversation("plant")
    talk.record(user("Close it."))
    made = talk.record(asks(call("c", "close", '{"valve": "V-1207"}'))).ids[0]
    done = talk.record(result("c", "done")).ids[0]
    talk.record({"role": "assistant", "content": "It is shut."})
    found = {one.reference: one for one in talk.search("V-1207")}
    assert {id: one.exact for id, one in found.items()} == {made: True, done: True}
    assert "V-1207" in found[made].snippet
    assert talk.search("  ") == []


@pytest.mark.parametrize("arguments", [{"reference": "?"}, {"query": "account 77"}])
def test_what_a_recall_shows_keeps_its_class_for_the_next_provider(runtime: Runtime, arguments: dict[str, str]) -> None:
    talk = runtime.conversation("bank")
    talk.record(user("Look."))
    kept = read(talk, "account 77 holds 1234.56", tool="ledger")
    opened = ProviderForm(provider="openai", privacy=Privacy.CONNECTED_ACCOUNT, form=Level.RAW)
    talk.assemble(provider="openai", model="gpt-5.2", policy=closed(providers=(opened,)))
    talk.record(openai_reply(asks(call("r", "recall", json.dumps(arguments).replace("?", kept)))))
    (given,) = talk.record(result("r", talk.answer_recall(talk.pending()[0]))).ids
    assert b"1234.56" in talk.raw(given)
    assert talk._get((RecordId(given),))[0].header.privacy is Privacy.CONNECTED_ACCOUNT
    elsewhere = talk.assemble(provider="anthropic", model="claude-sonnet-4-5", policy=closed())
    assert b"1234.56" not in b"".join(elsewhere.blocks)


def test_a_refusal_names_the_class_the_provider_and_the_safe_form(runtime: Runtime) -> None:
    talk = runtime.conversation("bank")
    talk.record(user("Look."))
    kept = read(talk, "account 77 holds 1234.56", tool="ledger")
    sheet = talk.assemble(provider="openai", model="gpt-5.2", policy=closed())
    session, view = inside(talk)
    seen = sight(session, view, boundary=sheet.record.boundary)
    with_terms = dataclasses.replace(seen, admit=Admitting(seen=seen, policy=closed()))
    with pytest.raises(RecallRefused) as refused:
        recalled(with_terms, RecallRequest(reference=kept))
    assert (refused.value.privacy, refused.value.provider) == ("connected_account", "openai")
    assert kept in refused.value.safe
    assert "1234" not in str(refused.value)


def test_short_forms_and_the_terms_of_the_last_request_outlive_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "kilns.db"
    with callsheet.open(path) as runtime:
        talk = runtime.conversation("kilns")
        talk.record(user("Look."))
        kept = read(talk, "account 77 holds 1234.56", tool="ledger")
        ids, _ = stepped(talk, recall=True)
        talk.record(user("And now?"))
        sheet = talk.assemble(provider="openai", model="gpt-5.2", policy=closed())
        named = sheet.references()
    with callsheet.open(path) as runtime:
        talk = runtime.conversation("kilns")
        assert "'connected_account' may not go to 'openai'" in talk.answer_recall({"reference": kept})
        assert talk.sheet(sheet.id).references() == named
        for id in ids:
            short = id.partition("_")[2][:6]
            assert talk.recall(short).reference == id
            assert talk.answer_recall({"reference": short}).startswith(f"({id}, ")
