"""A request composed from the last one on has the blocks and sizes that it has when composed from the beginning."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from callsheet.assemble.compose import Composed, compose
from callsheet.assemble.continuing import Composition, composition
from callsheet.graph.enums import ArtifactStatus, Level, Role
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Selection
from callsheet.wire.tokens import TokenCounter, counter_for
from tests.assemble.history import History, material, raw, stands

TABLE = "[" + ", ".join(f'{{"berth": {number}, "tide": "low"}}' for number in range(12)) + "]"
STATUSES = (ArtifactStatus.OK, ArtifactStatus.OK, ArtifactStatus.PENDING, ArtifactStatus.FAILED)


@st.composite
def requests(draw: st.DrawFn) -> tuple[History, list[Selection]]:
    """Records in any order of calls and results, each in its place or in a note."""
    history = History()
    calls: list[RecordId] = []
    for _ in range(draw(st.integers(1, 14))):
        match draw(st.sampled_from(("system", "user", "ask", "result", "result", "orphan"))):
            case "system":
                history.said(Role.SYSTEM, "Moor by the book.")
            case "user":
                history.said(Role.USER, draw(st.sampled_from(("Which berth?", "And the tide?"))))
            case "ask":
                ids = draw(st.lists(st.sampled_from(("a", "b", None)), max_size=2))
                calls += history.said(Role.ASSISTANT, "Looking.", *((id, "berths") for id in ids))
            case "orphan":
                history.result(None, "slack water", tool="tides")
            case _ if calls:
                text = draw(st.sampled_from((TABLE, "berth 4", "")))
                history.result(draw(st.sampled_from(calls)), text, draw(st.sampled_from(STATUSES)))
    return history, _selected(draw, history)


def _selected(draw: st.DrawFn, history: History) -> list[Selection]:
    note = 0
    chosen: list[Selection] = []
    for record in history.records:
        level = draw(st.sampled_from((Level.RAW, Level.RAW, Level.DENSE)))
        if draw(st.integers(0, 4)) == 0:
            note += draw(st.integers(0, 1)) if note else 1
            chosen.append(stands(record.id, Level.DENSE, note=note))
        else:
            chosen.append(stands(record.id, level))
    return chosen


def _sized(blocks: Sequence[Composed]) -> list[int]:
    return [len(repr(item.block)) for item in blocks]


def _counter() -> TokenCounter:
    return counter_for("openai", "gpt-5.2")


@given(made=requests(), cuts=st.lists(st.integers(1, 14), max_size=4))
@settings(max_examples=300, deadline=None)
def test_composing_what_is_added_gives_what_composing_everything_gives(
    made: tuple[History, list[Selection]], cuts: list[int]
) -> None:
    history, selections = made
    drawn = material(history)
    counter = _counter()
    before: Composition | None = None
    for cut in [*sorted(cuts), len(selections)]:
        shown = selections[:cut]
        if not shown:
            continue
        before = composition(shown, replace(drawn), "openai", before)

        whole = compose(shown, drawn)
        assert before.blocks == whole
        assert before.sizes(counter, _sized) == _sized(whole)


def _answered() -> tuple[History, list[Selection]]:
    history = History()
    history.said(Role.USER, "Which berth?")
    (call,) = history.said(Role.ASSISTANT, None, ("a", "berths"))
    history.result(call, "berth 4")
    history.said(Role.ASSISTANT, "Berth 4.")
    return history, [raw(record.id) for record in history.records]


def test_what_stands_is_not_composed_or_measured_again() -> None:
    history, selections = _answered()
    drawn = material(history)
    measured: list[int] = []

    def sized(blocks: Sequence[Composed]) -> list[int]:
        measured.append(len(blocks))
        return _sized(blocks)

    first = composition(selections[:3], drawn, "openai", None)
    blocks = list(first.blocks)
    first.sizes(_counter(), sized)
    then = composition(selections, drawn, "openai", first)
    then.sizes(_counter(), sized)

    assert all(old is new for old, new in zip(blocks, then.blocks, strict=False))
    assert measured == [3, 1]


def test_a_result_for_a_call_above_composes_everything_anew() -> None:
    history, selections = _answered()
    first = composition(selections[:2], material(history), "openai", None)
    then = composition(selections, first.material, "openai", first)

    assert then is not first
    assert then.blocks == compose(selections, first.material)


def test_nothing_is_kept_under_another_format_or_for_other_terms() -> None:
    history, selections = _answered()
    drawn = material(history)
    for changed, wire in (
        (drawn, "anthropic"),
        (replace(drawn, unlisted=3), "openai"),
        (replace(drawn, withheld=frozenset(history.calls)), "openai"),
        (material(history, references=False), "openai"),
    ):
        first = composition(selections[:3], drawn, "openai", None)
        assert composition(selections, changed, wire, first) is not first
