"""What is kept at hand of what was compacted decides nothing: with none of it the same requests come out."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from callsheet import Conversation
from callsheet.audit.erasing import erase
from callsheet.graph.nodes import Fact, Milestone
from callsheet.policy.sets import BALANCED
from callsheet.policy.settings import Compaction
from callsheet.testing import memory_runtime
from tests.runtime.replies import user
from tests.runtime.test_compacting import of

OFTEN = replace(BALANCED, name="often", version="1", compaction=Compaction(turns=6, share=None, least=40))
TURNS = 44


def decided(number: int) -> str:
    """What the user lays down: one name all the time, one now and then, one once."""
    seldom = f" with REF-{number % 12:03}" if number % 3 else ""
    return f"We decided: never fire order ORD-00007{seldom} above {1_000 + number} degrees, see LOT-{number:04}."


def requests(*, cold: bool, forgotten: int = 0) -> tuple[list[Sequence[bytes]], Conversation]:
    """The requests of one conversation; `cold`: with nothing at hand before each of them."""
    with memory_runtime() as runtime:
        talk = runtime.conversation("kiln")
        sent: list[Sequence[bytes]] = []
        for number in range(TURNS):
            talk.record(user(decided(number)))
            if number == forgotten > 0:
                stated = [record.id for record in (*of(talk, Milestone), *of(talk, Fact))]
                erase(talk._session, stated[6:])
            if cold:
                talk._session._desks.clear()
            sheet = talk.assemble(provider="openai", model="gpt-5.2", policy=OFTEN, budget=6_000)
            sent.append(sheet.blocks)
            talk.record({"role": "assistant", "content": f"Noted for LOT-{number:04}."})
        if not cold and not forgotten:
            (desk,) = talk._session._desks.values()
            assert {name for name, _ in desk.stated.common if name} == {"=ord-00007"}
            assert desk.compacted.upto > 0
        return sent, talk


@pytest.mark.parametrize("forgotten", [0, TURNS - 8])
def test_what_questions_were_looked_up_among_decides_nothing(forgotten: int) -> None:
    warm, _ = requests(cold=False, forgotten=forgotten)
    assert warm == requests(cold=True, forgotten=forgotten)[0]
