"""Requests and records made by hand, and a gardener's conversation that is long enough to be written anew."""

from collections.abc import Sequence

from msgspec.structs import replace

from callsheet import Conversation
from callsheet.explain.facts import Known
from callsheet.graph.enums import Level, Reason, Role
from callsheet.graph.ids import RecordId, StreamId
from callsheet.graph.nodes import Boundary, ContextAssembly, Pins, Selection
from callsheet.graph.times import Instant
from callsheet.graph.values import Cut, Digest, TokenParts
from callsheet.policy.sets import BALANCED
from callsheet.policy.settings import Water
from callsheet.runtime.sheet import Sheet
from tests.runtime.replies import asks, call, openai_reply, result, user

GREENHOUSE = StreamId("greenhouse")
MAIN = RecordId("main")

TIGHT = replace(
    BALANCED, name="tight", version="1", turns=2, high_water=Water(tokens=1_500), low_water=Water(tokens=600)
)
"""Writes anew after a few results."""


def boundary(participant: str | None = None) -> Boundary:
    return Boundary(
        conversation=GREENHOUSE,
        branch=MAIN,
        participant=RecordId(participant) if participant is not None else None,
        provider="openai",
        model="gpt-5.2",
        budget=10_000,
        now=Instant(0),
    )


def assembly(
    *,
    participant: str | None = None,
    rewritten: str = "",
    omitted: tuple[tuple[Reason, int], ...] = (),
    tokens: int = 100,
) -> ContextAssembly:
    return ContextAssembly(
        boundary=boundary(participant),
        pins=Pins(policy_set=Digest("sha256:0"), assembler="2", counter="o200k_base@1", analysers=("needed@1",)),
        cut=Cut(positions=((GREENHOUSE, 50),)),
        tokens=TokenParts(window=tokens),
        tokens_billed=tokens,
        rewritten=rewritten,
        omitted=omitted,
    )


def place(
    id: str, level: Level = Level.RAW, *, note: int = 0, turn: int = 1, reason: Reason = Reason.INCLUDED
) -> Selection:
    return Selection(record=RecordId(id), level=level, note=note, turn=turn, reason=reason)


def fact(id: str, *, tool: str | None = None, role: Role | None = None, **more: object) -> Known:
    kind = "artifact" if role is None else "message"
    return replace(Known(record=RecordId(id), kind=kind, tool=tool, role=role, branch=MAIN, position=9), **more)


def readings(bed: int) -> str:
    """What a sensor of a bed says: long enough to count, different for each bed."""
    lines = (
        f"bed {bed} sensor {bed}{place:02d} moisture {(bed * 37 + place * 11) % 97} percent" for place in range(40)
    )
    return "\n".join(lines)


def tended(talk: Conversation, beds: Sequence[int]) -> list[Sheet]:
    """Ask for the readings of each bed, a turn for each, and assemble before each answer."""
    sheets: list[Sheet] = []
    for bed in beds:
        talk.record(user(f"How moist is bed {bed}?"))
        sheets.append(talk.assemble(provider="openai", model="gpt-5.2", policy=TIGHT))
        asked = asks(call(f"c{bed}", tool="moisture", arguments=f'{{"bed": {bed}}}'))
        talk.record(openai_reply(asked), sheet=sheets[-1])
        talk.record(result(f"c{bed}", readings(bed)))
        sheets.append(talk.assemble(provider="openai", model="gpt-5.2", policy=TIGHT))
        talk.record(openai_reply(f"Bed {bed} is fine."), sheet=sheets[-1])
    return sheets


def busy(talk: Conversation) -> None:
    """A conversation with a branch, a participant, a sub-agent that reported, a memory of results, and a failure."""
    tended(talk, range(1, 5))
    weeder = talk.participant("weeder", persona="You pull weeds.")
    weeder.record(asks(call("w1", tool="look")))
    weeder.record(result("w1", "dandelions by the shed"))
    weeder.record({"role": "assistant", "content": "The weeds are out."})
    counter = talk.spawn("Count the beds.", name="counter")
    counter.record(asks(call("n1", tool="count")))
    counter.record(result("n1", "twelve"))
    counter.record({"role": "assistant", "content": "There are twelve."})
    counter.complete()
    autumn = talk.branch(name="autumn")
    autumn.record([user("Rake?"), {"role": "assistant", "content": "Raked."}])
    talk.merge("autumn")
    artifacts = [record.id for record in talk.history()[0] if record.header.kind == "artifact"]
    first = talk.promote(artifacts[0], summary="Bed 1 is moist.")
    talk.promote(artifacts[1], summary="Bed 1 is dry.", supersedes=[first])
    talk.record(asks(call("p1", tool="pump")))
    talk.record(result("p1", "no pressure"))
    talk.record(user("So what is to be done?"))
