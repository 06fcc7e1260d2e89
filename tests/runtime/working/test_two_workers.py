"""Two workers at one store at once: what both have in hand is recorded once, whatever comes of it."""

from pathlib import Path

import pytest
from msgspec.structs import replace

import callsheet
from callsheet import Conversation, Runtime
from callsheet.graph.nodes import Episode, PolicyDecision, ToolMemory
from callsheet.policy.settings import Manner, Narrowing
from callsheet.testing import FixedClock
from tests.runtime.replies import asks, call, result, user
from tests.runtime.test_compacting import ORDER, QUIET, ask, chat, of
from tests.runtime.test_summaries import GOOD, LISTING, Stub

WRONG = "Refund ORD-7F3A-00921 and shelf S-9999."


def spoken(talk: Conversation) -> None:
    """What both an extract and a narrowed result can be made of."""
    talk.record(user(ORDER))
    chat(talk, 12)
    talk.compact(keep=2)


def listed(talk: Conversation) -> None:
    talk.record(asks(call("c", "list_shelves")))
    talk.record(result("c", LISTING))
    talk.record(user("And in hall 3, on S-0003?"))
    ask(talk, replace(QUIET, name="narrowed", turns=1, narrowing=Narrowing(limit=400, manner=Manner.SUMMARY)))


PASSES = {"episodes": GOOD, "narrowing": "Shelves S-0000 to S-0399 hold plates and jugs."}


@pytest.mark.parametrize("passes", [True, False])
@pytest.mark.parametrize("work", ["episodes", "narrowing"])
def test_what_another_recorded_meanwhile_is_not_recorded_again(tmp_path: Path, work: str, passes: bool) -> None:
    path = tmp_path / "a.db"
    says = PASSES[work] if passes else WRONG
    other: list[tuple[int, int, int]] = []

    def meanwhile(material: str) -> str:
        # The other one asks for the same while this one waits for its answer.
        if not other:
            with callsheet.open(path, clock=FixedClock(), summariser=Stub(says)) as second:
                other.append(counts(second, work))
        return says

    with callsheet.open(path, clock=FixedClock(), summariser=Stub(meanwhile)) as first:
        talk = first.conversation("kiln")
        (spoken if work == "episodes" else listed)(talk)
        own = counts(first, work)

        assert (other, own) == ([(passes, 0, not passes)], (0, 1, 0))
        extracts = work == "episodes"
        assert len(of(talk, Episode if extracts else ToolMemory)) == extracts + passes
        decisions = [one.body for one in of(talk, PolicyDecision)]
        assert sum(getattr(one, "kind", "") == "summary" for one in decisions) == (not passes)


def counts(runtime: Runtime, work: str) -> tuple[int, int, int]:
    (worked,) = runtime.work(works=[work])
    return worked.done, worked.nothing, worked.refused
