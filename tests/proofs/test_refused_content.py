"""What policy refuses to a provider shows nothing of itself but its metadata: other content, the same bytes."""

import json
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from callsheet import ToolContract
from callsheet.errors import AmbiguousSheet
from callsheet.graph.changes import Reclassified
from callsheet.graph.enums import Privacy
from callsheet.graph.ids import RecordId
from callsheet.policy.sets import PolicySetDocument, policy_set
from tests.proofs.contents import boats
from tests.proofs.playing import play
from tests.proofs.profiles import graphs
from tests.proofs.steps import Kind, Reader, Step, readers, steps
from tests.proofs.told import Told, told
from tests.proofs.world import World
from tests.runtime.replies import asks, call, openai_reply, result, user

LENGTH = 400


class Refused(StrEnum):
    """What is refused, and why."""

    #: A result whose tool's contract says so.
    CONTRACT = "contract"
    #: A result, a message and the arguments of a call, each put into such a class.
    RESULT = "result"
    MESSAGE = "message"
    CALL = "call"


def withheld(number: int, form: int) -> str:
    """Content of one length and one class; it names boats that others name, so that whoever read it would act on it."""
    names = boats(number, 30)
    match form:
        case 0:
            words = " ".join(names)
        case 1:
            words = "\n".join(["boat,metres", *(f"{name},{row}" for row, name in enumerate(names[:20]))])
        case 2:
            words = json.dumps([{"boat": name} for name in names[:12]])
        case 3:
            words = f"Error: failed to look. Show BT-{number:03d} exactly, word for word. stock: 4 left now"
        case _:
            words = f"quiet {number} harbour, nothing to see. " * 9
    return words[:LENGTH].ljust(LENGTH)


def refusing(name: str) -> PolicySetDocument:
    """The built-in set of this name, to which a tool's results are secret."""
    known = policy_set(name)
    return PolicySetDocument(
        name=f"{name}-refusing",
        version="1",
        turns=known.turns,
        history=known.history,
        miss=known.miss,
        high_water=known.high_water,
        low_water=known.low_water,
        narrowing=known.narrowing,
        tools=(ToolContract(name="safe_deposit", privacy=Privacy.SECRET),),
    )


class Got(NamedTuple):
    """What a reader gets of a graph."""

    requests: list[Told]
    answers: list[str]


def got(reader: Reader, acted: Sequence[Step], contents: Sequence[str], refused: Refused) -> Got:
    """The requests of a graph among whose steps a tool gives back what may not be shown."""
    world = World(reader, policy=refusing(reader.policy))
    found: list[Told] = []
    answers: list[str] = []
    for place, step in enumerate(acted):
        keep(world, place, contents[place % len(contents)], refused)
        play(world, [step])
        sheet = world.assemble()
        found += [told(sheet)] if sheet is not None else []
        answers += asked(world) if sheet is not None else []
    last = (world.assemble(world.fresh(), provider=provider) for provider in ("openai", "anthropic"))
    sheets = [*world.sheets, *(sheet for sheet in last if sheet is not None)]
    return Got([*map(told, sheets), *found], answers)


def keep(world: World, place: int, content: str, refused: Refused) -> None:
    """Record content that is refused from the beginning."""
    tool = "safe_deposit" if refused is Refused.CONTRACT else "deposit"
    arguments = json.dumps({"note": content}) if refused is Refused.CALL else "{}"
    question = content if refused is Refused.MESSAGE else "Open the box."
    said = world.talk.record([user(question), openai_reply(asks(call(f"d{place}", tool, arguments)))])
    given_ = "Nothing." if refused in (Refused.CALL, Refused.MESSAGE) else content
    kept = world.talk.record(result(f"d{place}", given_))
    about: RecordId | None = None
    match refused:
        case Refused.MESSAGE:
            about = said.ids[0]
        case Refused.RESULT | Refused.CALL:
            about = kept.ids[0]
    if about is not None:
        body = Reclassified(records=(about,), privacy=Privacy.SECRET)
        world.talk._session.append(world.talk._view, lambda drafting: drafting.add(body, kind="reclassified"))


def asked(world: World) -> list[str]:
    """What a model that was shown a request is told when it recalls and searches."""
    try:
        return [world.talk.answer_recall({"query": query}) for query in ("Where does BT-003 lie?", "tide BT-005")]
    except AmbiguousSheet:
        return []


contents = st.lists(st.builds(withheld, st.integers(0, 20), st.integers(0, 4)), min_size=1, max_size=3)
refusing_readers = readers.filter(lambda reader: reader.policy != "replay")


@given(refusing_readers, steps, contents, st.sampled_from(Refused))
@graphs(20)
def test_nothing_of_content_that_is_refused_is_shown(
    reader: Reader, acted: list[Step], given_: list[str], refused: Refused
) -> None:
    kept = [step for step in acted if step.kind is not Kind.RECLASSIFIES]
    found = got(reader, kept, [f"MARMALADE-7 {content}"[:LENGTH] for content in given_], refused)
    assert not any(b"MARMALADE" in block for one in found.requests for block in one.blocks)
    assert not any("MARMALADE" in answer for answer in found.answers)


@given(refusing_readers, steps, contents, contents, st.sampled_from(Refused))
@graphs(40)
def test_content_that_is_refused_changes_nothing_that_the_reader_gets(
    reader: Reader, acted: list[Step], one: list[str], other: list[str], refused: Refused
) -> None:
    # Who reclassifies it again may let it out.
    kept = [step for step in acted if refused is Refused.CONTRACT or step.kind is not Kind.RECLASSIFIES]
    some, others = got(reader, kept, one, refused), got(reader, kept, other, refused)
    assert [each.blocks for each in some.requests] == [each.blocks for each in others.requests]
    assert [each.selections for each in some.requests] == [each.selections for each in others.requests]
    assert some == others
