"""Whether a rewrite can pay at all is told before its note is chosen: by what it leaves at least."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from callsheet.assemble.items import SecondHand
from callsheet.assemble.plans import Fresh, Rewrite, Standing
from callsheet.assemble.rewriting import SPARE, SPARE_SHARE, begin, end, rewritten
from callsheet.graph.enums import Level, Reason
from callsheet.graph.nodes import Selection
from callsheet.policy.sets import BALANCED
from tests.assemble.items import Story
from tests.assemble.test_episodes import item

TOLD = st.lists(st.tuples(st.sampled_from(SecondHand), st.sampled_from([Level.NONE, Level.REF])), max_size=16)


@given(
    told=TOLD,
    exchanges=st.integers(min_value=2, max_value=12),
    tokens=st.integers(min_value=5, max_value=400),
    low=st.integers(min_value=0, max_value=4_000),
    shown=st.sampled_from([0.0, 0.25, 1.0]),
    focus=st.integers(min_value=0, max_value=3),
)
def test_a_rewrite_leaves_no_less_than_was_told_beforehand(
    *, told: list[tuple[SecondHand, Level]], exchanges: int, tokens: int, low: int, shown: float, focus: int
) -> None:
    story = Story()
    for _ in range(exchanges):
        story.exchange(tokens)
    view = tuple(Selection(record=id, level=Level.RAW, reason=Reason.INCLUDED) for id in story.items)
    beside = [item(f"told{place}", kind, place, least=least) for place, (kind, least) in enumerate(told, start=1)]
    story.items.update((one.id, one) for one in beside)
    ids = tuple(one.id for one in beside)
    policy = replace(BALANCED, name="shown", compaction=replace(BALANCED.compaction, shown=shown))
    basis, fresh = story.basis(low=low, policy=policy), Fresh(brought=ids[:focus], memories=ids)
    standing = Standing(selections=view)
    begun = begin(basis, standing, fresh)
    plan = end(basis, begun, standing, fresh, Rewrite.PAYS)
    assert begun.least <= basis.size(plan.selections)


@given(
    told=st.integers(min_value=0, max_value=12),
    exchanges=st.integers(min_value=2, max_value=12),
    tokens=st.integers(min_value=5, max_value=400),
)
def test_what_was_compacted_makes_a_rewrite_larger_by_little(*, told: int, exchanges: int, tokens: int) -> None:
    story = Story()
    for _ in range(exchanges):
        story.exchange(tokens)
    view = tuple(Selection(record=id, level=Level.RAW, reason=Reason.INCLUDED) for id in story.items)
    basis = story.basis(low=6_000, policy=BALANCED)
    plain = basis.size(rewritten(basis, Standing(selections=view), Fresh(), Rewrite.PAYS).selections)
    beside = [item(f"told{place}", SecondHand.EPISODE, place) for place in range(1, told + 1)]
    story.items.update((one.id, one) for one in beside)
    basis, fresh = story.basis(low=6_000, policy=BALANCED), Fresh(memories=tuple(one.id for one in beside))
    size = basis.size(rewritten(basis, Standing(selections=view), fresh, Rewrite.PAYS).selections)
    assert size <= plain + max(SPARE, plain // SPARE_SHARE)
    assert not told or size > plain
