"""A request that goes on from the one before is rendered as if it had been rendered from the beginning."""

from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.assemble.blocks import Block
from callsheet.errors import EmptyRequest
from callsheet.wire.formats import Rendering, Wire, render, render_messages
from tests.wire.histories import histories

MODEL = dict.fromkeys(Wire, "gpt-5.2") | {Wire.ANTHROPIC: "claude-sonnet-4-5"}


@given(blocks=histories, wire=st.sampled_from(Wire), cuts=st.lists(st.integers(0, 24), max_size=4).map(sorted))
def test_a_request_that_grows_equals_one_rendered_whole(blocks: Sequence[Block], wire: Wire, cuts: list[int]) -> None:
    growing = Rendering(wire)
    before: tuple[bytes, ...] = ()
    start = 0
    for end in (*(cut for cut in cuts if 0 < cut < len(blocks)), len(blocks)):
        growing.add(blocks[start:end])
        start = end
        whole = render_messages(blocks[:end], wire)
        assert growing.messages() == whole
        before = growing.encoded()
        assert before == tuple(map(msgspec.json.encode, whole))
        assert growing.request(model=MODEL[wire]) == render(blocks[:end], wire, model=MODEL[wire])
    assert growing.encoded() == before


@pytest.mark.parametrize("wire", Wire)
def test_nothing_is_no_request(wire: Wire) -> None:
    rendering = Rendering(wire)
    rendering.add([])
    assert rendering.messages() == []
    with pytest.raises(EmptyRequest):
        rendering.request(model=MODEL[wire])
