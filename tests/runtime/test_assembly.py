"""Laws of every request: valid, within the budget, the same from the same records, and blind to what is hidden."""

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import callsheet
from callsheet import Conversation, Sheet
from callsheet.graph.ids import RecordId, StreamId
from callsheet.graph.record import NONCE_BYTES
from callsheet.testing import FixedClock, memory_runtime
from callsheet.wire.names import Wire
from callsheet.wire.validate import problems
from tests.runtime.acts import Act, Asking, acts, asking, content, play, records
from tests.runtime.replies import asks, call, result, user

FEW = settings(max_examples=10, deadline=None)


def sheets(acted: Sequence[Act], asked: Asking) -> list[Sheet]:
    with memory_runtime() as runtime:
        return list(play(runtime.conversation("hives"), acted, asked))


@given(acts, asking)
@FEW
def test_every_request_is_valid_and_within_its_budget(acted: list[Act], asked: Asking) -> None:
    for sheet in sheets(acted, asked):
        request = sheet.request()
        assert not problems(request, Wire(asked.provider))
        assert json.loads(json.dumps(request).encode("utf-8")) == request
        assert sheet.tokens <= asked.budget
        parts = sheet.record.tokens
        assert sheet.tokens == parts.instructions + parts.tools + parts.memories + parts.window


@given(acts, asking)
@FEW
def test_the_same_records_give_the_same_bytes(acted: list[Act], asked: Asking) -> None:
    one, other = sheets(acted, asked), sheets(acted, asked)
    assert [sheet.blocks for sheet in one] == [sheet.blocks for sheet in other]
    assert [sheet.selections for sheet in one] == [sheet.selections for sheet in other]


@given(acts, asking)
@settings(max_examples=5, deadline=None)
def test_a_new_process_assembles_what_the_old_one_would(acted: list[Act], asked: Asking) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "hives.db"
        clock = FixedClock()
        with callsheet.open(path, clock=clock) as runtime:
            for sheet in play(runtime.conversation("hives"), acted, asked):
                with callsheet.open(path, clock=clock) as fresh:
                    again = asked.sheet(fresh.conversation("hives"))
                assert again is not None
                assert sheet.blocks == again.blocks
                assert sheet.selections == again.selections


@given(acts, asking)
@FEW
def test_what_is_not_rewritten_is_appended(acted: list[Act], asked: Asking) -> None:
    for before, after in itertools.pairwise(sheets(_settled(acted), asked)):
        if not after.record.rewritten:
            assert before.selections == after.selections[: len(before.selections)]
            # The last message may be continued: two turns of one role in a row are one message for Anthropic.
            seam = len(before.blocks) - (asked.provider == "anthropic")
            assert before.blocks[1:seam] == after.blocks[1:seam]


def _settled(acted: Sequence[Act]) -> list[Act]:
    """Without what may move earlier messages: late results take the place of a stand-in, instructions come first in
    some formats, and where two answers follow each other a provider sees one."""
    settled: list[Act] = []
    for act in acted:
        if act[0] in ("silent", "system"):
            continue
        if act[0] in ("answer", "calls") and (not settled or settled[-1][0] == "answer"):
            settled.append(("user", act[1], 1))
        settled.append(act)
    return settled


@given(acts, asking)
@FEW
def test_assembling_changes_nothing_that_the_next_request_rests_on(acted: list[Act], asked: Asking) -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("hives")
        for sheet in play(talk, acted, asked):
            again = asked.sheet(talk)
            assert again is not None
            assert sheet.blocks == again.blocks
            assert sheet.record.carried == again.record.carried


# --------------------------------------------------------------------------- non-interference


class TwoIds:
    """Ids in sequence by kind, of their own for what is hidden, so that hiding more shifts no visible id."""

    def __init__(self) -> None:
        self.hidden = False
        self._numbers: dict[tuple[str, bool], itertools.count[int]] = {}

    def _next(self, kind: str) -> str:
        number = next(self._numbers.setdefault((kind, self.hidden), itertools.count(1)))
        return f"{kind}_{'x' * self.hidden}{number}"

    def record(self, kind: str) -> RecordId:
        return RecordId(self._next(kind))

    def stream(self) -> StreamId:
        return StreamId(self._next("stream"))

    def nonce(self) -> bytes:
        return self._next("nonce").encode().rjust(NONCE_BYTES, b"0")[-NONCE_BYTES:]


def hive_ids(number: int) -> object:
    """Names the same hives as `content`, so that a reader who counted it would count differently."""
    return content(2 + 7 * number, 12)


class Hiding:
    """Records what this reader may not see, between the acts of a conversation that it may see."""

    def __init__(self, runtime: callsheet.Runtime, ids: TwoIds, ways: Sequence[str]) -> None:
        self._runtime, self._ids, self._ways = runtime, ids, itertools.cycle(ways)
        self._number = 0

    def __call__(self, talk: Conversation) -> None:
        way = next(self._ways)
        self._ids.hidden = True
        try:
            self._record(way, talk)
        finally:
            self._ids.hidden = False
        # Who writes next finds the head moved: an attempt that fails would use up ids.
        talk.pending()

    def _record(self, way: str, talk: Conversation) -> None:
        self._number += 1
        id = f"h{self._number}"
        exchange: list[object] = [asks(call(id, "weigh")), result(id, hive_ids(self._number))]
        match way:
            case "participant":
                talk.participant("drone").record(exchange)
            case "branch":
                branch = talk.branch()
                branch.record([user("How is HV-003?"), *exchange])
            case "conversation":
                self._runtime.conversation("apiary").record([user("How is HV-003?"), *exchange])
            case "user":
                self._runtime.conversation("hives of ana", user="ana").record([user("How is HV-003?"), *exchange])
            case _:
                return


def hidden_run(acted: Sequence[Act], asked: Asking, ways: Sequence[str]) -> list[Sheet]:
    ids = TwoIds()
    with callsheet.open(":memory:", ids=ids, clock=FixedClock()) as runtime:
        talk = runtime.conversation("hives")
        talk.record(user("The hives need looking after."))
        hide = Hiding(runtime, ids, ways)
        found: list[Sheet] = []
        for place, act in enumerate(acted):
            hide(talk)
            sheet = asked.sheet(talk) if act[0] in ("answer", "calls", "silent") else None
            found += [sheet] if sheet is not None else []
            for each in records(act, place):
                talk.record(each, sheet=sheet if any("choices" in value for value in each) else None)
                hide(talk)
        last = asked.sheet(talk)
        return [*found, last] if last is not None else found


@given(
    acts, asking, st.lists(st.sampled_from(["participant", "branch", "conversation", "user"]), min_size=1, max_size=3)
)
@settings(max_examples=15, deadline=None)
def test_what_is_hidden_changes_no_byte(acted: list[Act], asked: Asking, ways: list[str]) -> None:
    open_, hidden = hidden_run(acted, asked, ["none"]), hidden_run(acted, asked, ways)
    assert [sheet.blocks for sheet in open_] == [sheet.blocks for sheet in hidden]
    assert [sheet.selections for sheet in open_] == [sheet.selections for sheet in hidden]


def long_season(turns: int) -> list[Act]:
    """Many turns that come back to the same few hives, so that what went out of view is named again."""
    season: list[Act] = []
    for turn in range(turns):
        number = turn * 11 % 31
        season += [("user", number, 1), ("calls", number, (1, 12, 40)[turn % 3]), ("answer", number, 1)]
    return season


@pytest.mark.parametrize("ways", [["participant"], ["branch", "participant", "conversation"]])
def test_what_is_hidden_changes_nothing_of_what_comes_back_into_view(ways: list[str]) -> None:
    season = long_season(36)
    asked = Asking(provider="anthropic", budget=6_000)
    open_, hidden = hidden_run(season, asked, ["none"]), hidden_run(season, asked, ways)
    assert any(selection.note > 1 for sheet in open_ for selection in sheet.selections)
    assert any(sheet.record.rewritten == "high_water" for sheet in open_)
    assert [sheet.blocks for sheet in open_] == [sheet.blocks for sheet in hidden]
    assert [sheet.selections for sheet in open_] == [sheet.selections for sheet in hidden]
