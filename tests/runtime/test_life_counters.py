"""Counters: what was measured, the same however it was counted, and counted once."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import callsheet
from callsheet import Conversation, Counters, Runtime, Sheet, Spoken, ToolCard
from callsheet.audit.erasing import erase
from callsheet.graph.changes import Counted
from callsheet.graph.nodes import Message, ModelRun, ToolArtifact, ToolCall
from callsheet.graph.query import NodeQuery
from callsheet.runtime import tallying
from callsheet.testing import memory_runtime
from callsheet.wire.tokens import count
from tests.runtime.replies import asks, call, openai_reply, result, user


def assembled(talk: Conversation) -> Sheet:
    return talk.assemble(provider="openai", model="gpt-5.2")


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with memory_runtime() as opened:
        yield opened


@pytest.fixture
def talk(runtime: Runtime) -> Conversation:
    return runtime.conversation("barge")


def counted(talk: Conversation) -> list[Counted]:
    """The figures that are recorded."""
    found = talk._session.ledger.nodes(talk._session.conversation.key, NodeQuery(kinds=("counted",)))
    return [record.body for record in found if isinstance(record.body, Counted)]


def told(counters: Counters) -> tuple[int, ...]:
    names = ("turns", "messages", "calls", "artifacts", "runs", "tokens_in", "tokens_out", "cached_in")
    return tuple(getattr(counters, name) for name in names)


def by_hand(talk: Conversation) -> tuple[int, ...]:
    """The same figures from all records of the branch at once."""
    ledger, key = talk._session.ledger, talk._session.conversation.key
    seen = talk._session.tail(talk._view, fresh=True).lineage
    records = ledger.nodes(key, NodeQuery(kinds=("message", "run", "call", "artifact"), lineage=seen))
    runs = {record.id: record.body for record in records if isinstance(record.body, ModelRun)}
    messages = [record for record in records if isinstance(record.body, Message)]
    calls = [record for record in records if isinstance(record.body, ToolCall)]
    usages = [run.usage for run in runs.values() if run.usage is not None]
    sheets = {sheet.id: sheet for sheet in talk.sheets()}
    unreported = {id for id, run in runs.items() if run.usage is None}
    out = sum(usage.output for usage in usages)
    for record in messages:
        body = record.body
        assert isinstance(body, Message)
        if body.role.value == "assistant" and record.header.scope.run in unreported:
            out += sum(part.o200k for part in body.parts if hasattr(part, "o200k"))
    for record in calls:
        assert isinstance(record.body, ToolCall)
        out += record.body.o200k if record.header.scope.run in unreported else 0
    sent = [runs[id].sheet for id in unreported if runs[id].status.value == "completed"]
    return (
        sum(isinstance(m.body, Message) and m.body.role.value in ("user", "assistant") for m in messages),
        len(messages),
        len(calls),
        sum(isinstance(record.body, ToolArtifact) for record in records),
        len(runs),
        sum(usage.input for usage in usages) + sum(sheets[sheet].tokens for sheet in sent if sheet is not None),
        out,
        sum(usage.cached_input for usage in usages),
    )


# ------------------------------------------------------------------------------------------ what counts


def test_what_providers_report_counts_before_what_was_counted(talk: Conversation) -> None:
    talk.record(user("Where is B-17?"))
    talk.record(openai_reply(asks(call("c", "moor", '{"bay": 4}')), prompt=40))
    talk.record(result("c", "bay 4"))
    assert told(talk.counters()) == (2, 2, 1, 1, 1, 40, 7, 0)


def test_what_a_run_without_a_report_was_sent_is_what_its_sheet_took(talk: Conversation) -> None:
    talk.record(user("Where is B-17?"))
    sheet = assembled(talk)
    talk.record(openai_reply("In bay 4."), sheet=sheet)
    expected = (2, 2, 0, 0, 1, sheet.tokens, count("In bay 4.", "o200k_base"), 0)
    assert told(talk.counters()) == expected
    talk.record(user("And B-18?"))
    talk.failed(assembled(talk), error="timeout")
    assert told(talk.counters())[4:6] == (2, sheet.tokens)  # whether that one was read is not known


def test_a_call_without_a_report_counts_its_name_and_arguments(talk: Conversation) -> None:
    talk.record([user("?"), asks(call("c", "moor", '{"bay": 4}'))])
    assert talk.counters().tokens_out == count("moor", "o200k_base") + count('{"bay": 4}', "o200k_base")


def test_tokens_and_time_of_each_message(talk: Conversation) -> None:
    talk.record(user("Where is B-17?"), at="2026-03-01T09:00:00Z")
    talk.record(asks(call("c", "moor", '{"bay": 4}'), content="I look."), at="2026-03-01T09:01:00Z")
    talk.record(result("c", "It lies in bay 4."), at="2026-03-01T09:02:00Z")
    question, said, card = talk.transcript()
    assert isinstance(question, Spoken)
    assert isinstance(said, Spoken)
    assert isinstance(card, ToolCard)
    assert question.tokens == count("Where is B-17?", "o200k_base")
    assert said.tokens == count("I look.", "o200k_base")
    texts = ("moor", '{"bay": 4}', "It lies in bay 4.")
    assert card.tokens == sum(count(text, "o200k_base") for text in texts)
    assert [item.at.minute for item in (question, said, card)] == [0, 1, 1]


# ------------------------------------------------------------------------------------------ counted once

NAMES = itertools.count()


def _answers(talk: Conversation) -> None:
    talk.record(user("And?"))
    talk.record(openai_reply("In bay 5."), sheet=assembled(talk))


def _spawns(talk: Conversation) -> None:
    talk.spawn("Sound the channel.", name=f"scout {next(NAMES)}").record(openai_reply("Done.", prompt=3))


def _erases(talk: Conversation) -> None:
    records, _ = talk.history()
    if records:
        erase(talk._session, [records[len(records) // 2].id])


ACTS: dict[str, Callable[[Conversation], object]] = {
    "say": lambda talk: talk.record(user("Where is B-17?")),
    "reply": lambda talk: talk.record(openai_reply("In bay 4.", prompt=40)),
    "answer": _answers,
    "call": lambda talk: talk.record(asks(call("c", "moor", '{"bay": 4}'))),
    "result": lambda talk: talk.record(result("c", "moored")),
    "failed": lambda talk: talk.failed(error="timeout"),
    "spawn": _spawns,
    "erase": _erases,
    "ask": lambda talk: talk.counters(),
}


@settings(max_examples=50, deadline=None)
@given(
    acts=st.lists(st.sampled_from((*ACTS, "branch", "main", "another opening")), max_size=40),
    every=st.integers(1, 12),
    at_a_time=st.integers(1, 7),
)
def test_the_figures_are_those_of_all_records_however_they_were_come_by(
    acts: list[str], every: int, at_a_time: int
) -> None:
    with pytest.MonkeyPatch.context() as patch, memory_runtime() as opened:
        patch.setattr(tallying, "EVERY", every)
        patch.setattr(tallying, "_AT_A_TIME", at_a_time)
        views = [opened.conversation("barge")]
        for act in acts:
            if act == "branch":
                views.append(views[-1].branch(name=f"branch {next(NAMES)}"))
            elif act == "main":
                views.append(views[0])
            elif act == "another opening":
                opened.conversation("barge").record(openai_reply("Elsewhere.", prompt=2))
            else:
                ACTS[act](views[-1])
            if act in ("ask", "failed"):
                assert told(views[-1].counters()) == by_hand(views[-1])
        anew = opened.conversation("barge")
        for view in (views[-1], views[0], anew.on(views[-1].branch_id), anew):
            assert told(view.counters()) == by_hand(view)


def test_what_was_erased_counts_no_more_whoever_counted_it_before(runtime: Runtime, talk: Conversation) -> None:
    ids = [talk.record(user(f"Where is B-{number}?")).ids[0] for number in range(3)]
    other = runtime.conversation("barge")
    assert talk.counters().messages == other.counters().messages == 3
    erase(talk._session, [ids[0]])
    assert [told(view.counters()) for view in (talk, other, runtime.conversation("barge"))] == [by_hand(talk)] * 3
    erase(other._session, [ids[1]])
    assert [view.counters().messages for view in (talk, other, runtime.conversation("barge"))] == [1] * 3


def test_what_another_opening_recorded_in_between_counts_too(runtime: Runtime, talk: Conversation) -> None:
    other = runtime.conversation("barge")
    talk.record(user("Where is B-17?"))
    assert talk.counters().messages == other.counters().messages == 1
    other.record(user("And B-18?"))
    talk.record(user("And B-19?"))
    assert [view.counters().messages for view in (talk, other)] == [3, 3]


def test_a_new_process_reads_what_came_since_the_figures_were_recorded_and_no_more(tmp_path: Path) -> None:
    path = tmp_path / "long.db"
    steps = 3 * tallying.EVERY // 4
    with callsheet.open(path) as runtime:
        talk = runtime.conversation("barge")
        for number in range(steps):
            talk.record([user(f"Where is B-{number}?"), {"role": "assistant", "content": f"In bay {number}."}])
        expected = told(talk.counters())
        assert len(counted(talk)) == steps * 3 // tallying.EVERY
        assert expected[:2] == (2 * steps, 2 * steps)
    with callsheet.open(path) as runtime:
        talk = runtime.conversation("barge")
        read = _reading(talk)
        assert told(talk.counters()) == expected
        assert 0 < sum(read) <= tallying.EVERY
        read.clear()
        assert told(talk.counters()) == expected
        talk.record(user("And now?"))
        assert talk.counters().messages == expected[1] + 1
        assert sum(read) <= 1


def _reading(talk: Conversation) -> list[int]:
    """The numbers of records that counting reads from here on."""
    read: list[int] = []
    tally = talk._session.tallying
    nodes = tally.ledger.nodes

    class Watched:
        def __getattr__(self, name: str) -> object:
            return getattr(talk._session.ledger, name)

        def nodes(self, key: object, query: NodeQuery) -> object:
            found = nodes(key, query)  # type: ignore[arg-type]
            read.append(len(found))
            return found

    tally.ledger = Watched()  # type: ignore[assignment]
    return read


def test_recording_counts_as_it_goes_and_reads_nothing_for_it(tmp_path: Path) -> None:
    with callsheet.open(tmp_path / "long.db") as runtime:
        talk = runtime.conversation("barge")
        talk.record(user("?"))
        talk.counters()
        read = _reading(talk)
        for number in range(tallying.EVERY):
            talk.record([user(f"{number}"), openai_reply("Yes.", prompt=2)] if number % 2 else user(f"{number}"))
        assert counted(talk)
        assert sum(read) == 0  # looks for erasures find none
        assert told(talk.counters()) == by_hand(talk)


def test_figures_that_are_recorded_are_for_no_reader(talk: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tallying, "EVERY", 3)
    for _ in range(5):
        talk.record([user("Where is B-17?"), {"role": "assistant", "content": "In bay 4."}])
    assert counted(talk)
    monkeypatch.setattr(tallying, "EVERY", 10_000)
    with memory_runtime() as runtime:
        plain = runtime.conversation("barge")
        for _ in range(5):
            plain.record([user("Where is B-17?"), {"role": "assistant", "content": "In bay 4."}])
        assert assembled(plain).request() == assembled(talk).request()
        assert not counted(plain)


def test_what_could_not_be_read_to_the_end_is_counted_anew(talk: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tallying, "_AT_A_TIME", 2)
    talk.record(user("?"))
    talk.counters()
    other = memory_of(talk)
    for _ in range(5):
        other.record(user("Where is B-17?"))
    nodes, failing = talk._session.tallying.ledger.nodes, [True]

    class Breaks:
        def __getattr__(self, name: str) -> object:
            return getattr(talk._session.ledger, name)

        def nodes(self, key: object, query: NodeQuery) -> object:
            if failing and "message" in query.kinds and query.after > 6:
                failing.clear()
                raise callsheet.CallsheetError("the disk is away")
            return nodes(key, query)  # type: ignore[arg-type]

    talk._session.tallying.ledger = Breaks()  # type: ignore[assignment]
    with pytest.raises(callsheet.CallsheetError, match="away"):
        talk.counters()
    assert talk.counters().messages == 6


def memory_of(talk: Conversation) -> Conversation:
    """The same conversation, opened once more."""
    return Conversation(replace(talk._session))
