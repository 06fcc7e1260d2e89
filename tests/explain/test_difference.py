"""The difference of two requests is exact: what came, what went, what changed, and how far they begin alike."""

from hypothesis import given
from hypothesis import strategies as st

from callsheet.explain.difference import Shown, difference, text
from callsheet.graph.enums import Level
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Selection
from tests.explain.making import assembly, fact, place


def shown(id: str, selections: tuple[Selection, ...], blocks: tuple[str, ...] = ()) -> Shown:
    return Shown(id=RecordId(id), assembly=assembly(), selections=selections, blocks=blocks)


def test_what_came_went_and_changed_is_told_with_its_place() -> None:
    one = shown("s1", (place("art_1", Level.DENSE), place("msg_1")), ("tools", "a", "b"))
    other = shown("s2", (place("art_1", Level.GIST, note=1), place("msg_2")), ("tools", "a", "c"))
    known = {RecordId("art_1"): fact("art_1", tool="moisture")}
    found = difference(one, other, known)
    assert [change.record for change in found.came] == ["msg_2"]
    assert [change.record for change in found.went] == ["msg_1"]
    assert [(change.before, change.after, change.note_after) for change in found.changed] == [
        (Level.DENSE, Level.GIST, 1)
    ]
    assert (found.same_envelope, found.common_messages) == (True, 1)
    assert "~ result art_1 of moisture: dense form in its place, now in a line in note 1" in text(found)


def test_a_record_that_was_brought_back_counts_where_it_says_most() -> None:
    one = shown("s1", (place("art_1", Level.REF),))
    other = shown("s2", (place("art_1", Level.REF), place("art_1", Level.DENSE, note=1)))
    (change,) = difference(one, other, {}).changed
    assert (change.before, change.after) == (Level.REF, Level.DENSE)


requests = st.dictionaries(
    st.sampled_from([f"art_{number}" for number in range(8)]), st.tuples(st.sampled_from(Level), st.integers(0, 2))
).map(lambda found: tuple(place(id, level, note=note) for id, (level, note) in found.items()))


@given(one=requests, other=requests)
def test_every_record_is_counted_once_and_both_directions_agree(
    one: tuple[Selection, ...], other: tuple[Selection, ...]
) -> None:
    there, back = (
        difference(shown("s1", one), shown("s2", other), {}),
        difference(shown("s2", other), shown("s1", one), {}),
    )
    assert len(there.went) + len(there.changed) + there.same == len(one)
    assert len(there.came) + len(there.changed) + there.same == len(other)
    assert {change.record for change in there.came} == {change.record for change in back.went}
    assert difference(shown("s1", one), shown("s3", one), {}).same == len(one)
