"""Plays random graphs in a world: through the public face, or as the records that the rest of the program leaves."""

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from callsheet import ArtifactStatus, Sheet
from callsheet.audit.erasing import erase
from callsheet.errors import AmbiguousSheet, BodyErased, InvalidOption, NotFound
from callsheet.graph.enums import Visibility
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message, ToolArtifact, ToolCall
from callsheet.graph.ports import Append
from callsheet.graph.record import Draft, Record
from callsheet.graph.values import Scope
from callsheet.runtime.drafting import Drafting
from callsheet.runtime.recording import Recording
from callsheet.wire import formats
from tests.proofs.acting import act
from tests.proofs.changing import About, bodies
from tests.proofs.contents import content, question
from tests.proofs.steps import ACTS, SPOKEN, Kind, Step, Way
from tests.proofs.world import YARD, World, apart
from tests.runtime.replies import Json, anthropic_reply, asks, call, openai_reply, result, user

TOOLS = ("survey", "weigh", "vault")
CHILD = RecordId("run_child")
FIRST = 6
"""Records of a world before its first step: they are never erased."""

MOST_READ = 10
"""Requests that somebody else makes in one step."""


def play(world: World, steps: Sequence[Step], hidden: Sequence[Step] = ()) -> None:
    """Record steps in order, and between them what the reader may not see, under ids of its own."""
    for place, step in enumerate(steps):
        for one in hidden[place :: len(steps)]:
            with world.aside():
                take(world, one)
        take(world, step)


def take(world: World, step: Step) -> None:
    """Record one step. What does not fit the graph as it is records nothing."""
    try:
        _take(world, step)
    except (NotFound, BodyErased, AmbiguousSheet, InvalidOption):
        return
    finally:
        world.settle()


def _take(world: World, step: Step) -> None:
    if step.kind is Kind.PASSES:
        world.clock.advance(step.size * 60 * (1 + step.number))
    elif step.kind is Kind.ERASES:
        _erase(world, step)
    elif step.kind in SPOKEN:
        _say(world, step)
    elif step.kind is Kind.ANOTHER:
        if step.way in (Way.SIBLING, Way.USER, Way.TENANT):
            world.view(step.way).participant(f"guest {step.number}")
    elif step.kind is Kind.READS:
        if step.way not in (Way.OPEN, Way.AUDIT, Way.CHILD):
            for _ in range(min(step.size, MOST_READ)):
                world.assemble(world.view(step.way))
    elif step.kind in ACTS:
        act(world, step)
    elif step.kind is Kind.PROMOTES:
        _promote(world, step)
    else:
        _change(world, step)


# --------------------------------------------------------------------------- what is said and done


def _say(world: World, step: Step) -> None:
    if step.way is Way.PRIVATE and step.kind not in (Kind.CALLS, Kind.WAITS, Kind.FAILS):
        return  # what a participant says is for everyone
    for values in _spoken(world, step):
        status = ArtifactStatus.FAILED if step.kind is Kind.FAILS and values[0].get("role") == "tool" else None
        if step.way in (Way.AUDIT, Way.CHILD):
            recording = Recording(items=formats.parse(values, None), status=status)
            append_hidden(world, step.way, recording.draft)
            continue
        replies = step.way is Way.OPEN and any("role" not in value or value.get("choices") for value in values)
        world.view(step.way).record(values, sheet=_shown(world) if replies else None, status=status)


def _shown(world: World) -> Sheet | None:
    """The sheet that a reply of the reader answers."""
    sheet = world.assemble()
    if sheet is not None:
        world.sheets.append(sheet)
    return sheet


def _spoken(world: World, step: Step) -> Iterator[list[Json]]:
    """What a step records, one list for each transaction."""
    place = f"{'x' * world.ids.apart}{next(world.places[world.ids.apart])}"
    number, size = step.number, step.size
    match step.kind:
        case Kind.ASKS:
            yield [user(question(number, size))]
        case Kind.INSTRUCTS:
            yield [{"role": "system", "content": f"Speak of boats alone, rule {number}."}]
        case Kind.ANSWERS:
            text = f"BT-{number:03d} lies at berth {size}."
            reply = anthropic_reply if world.reader.provider == "anthropic" else openai_reply
            yield [reply(text, prompt=200 + number)]
        case Kind.STRAY:
            yield [result(None, content(number, size))]
        case _:
            ids = [f"c{place}_{at}" for at in range(1 + number % 2)]
            tool = TOOLS[number % len(TOOLS)]
            yield [openai_reply(asks(*(call(id, tool, f'{{"berth": {number}}}') for id in ids)))]
            if step.kind is not Kind.WAITS:
                yield [result(id, content(number + at, size)) for at, id in enumerate(ids)]


# --------------------------------------------------------------------------- what changes others


def targets(world: World, *kinds: type[object]) -> list[Record]:
    """The records that a change may be about: none of those that were hidden on purpose."""
    return [record for record in world.records() if isinstance(record.body, kinds) and not apart(record)]


def _about(world: World) -> About:
    own = [record for record in world.records() if isinstance(record.body, ToolArtifact) and apart(record)]
    return About(
        records=targets(world, Message, ToolArtifact),
        results=targets(world, ToolArtifact),
        calls=targets(world, ToolCall),
        own=own if world.ids.apart else (),
        people=tuple(world.talk.participants().values())[:2],
    )


def _change(world: World, step: Step) -> None:
    made = bodies(step, _about(world), world.clock.now())

    def draft(drafting: Drafting) -> None:
        for kind, body in made:
            drafting.add(body, kind=kind, scope=drafting.private(None) if step.way is Way.PRIVATE else None)

    if made and step.way in (Way.AUDIT, Way.CHILD):
        append_hidden(world, step.way, draft)
    elif made:
        talk = world.view(step.way)
        talk._session.append(talk._view, draft)


def _promote(world: World, step: Step) -> None:
    """A memory of what the one who records it sees; a participant's of its own results alone is its own."""
    if step.way not in (Way.OPEN, Way.SIBLING, Way.PRIVATE):
        return
    pool = targets(world, ToolArtifact)
    if step.way is Way.PRIVATE:
        mate = world.mate.participant_id
        everything = [record for record in world.records() if isinstance(record.body, ToolArtifact)]
        pool = [one for one in everything if one.header.scope.owner == mate and apart(one) is world.ids.apart]
    if pool:
        summary = f"{question(step.number, 1)} It is known."
        chosen = pool[step.number % len(pool)]
        world.view(step.way).promote(chosen.id, summary=summary, payload={"number": step.number})


def _erase(world: World, step: Step) -> None:
    pool = [record for record in targets(world, ToolArtifact, Message) if record.position > FIRST]
    if pool:
        erase(world.talk._session, (pool[step.number % len(pool)].id,))


# --------------------------------------------------------------------------- for audit, and of a sub-agent


def append_hidden(world: World, way: Way, draft: Callable[[Drafting], object]) -> None:
    """Append what a step records for the auditor alone, or as a sub-agent that has released nothing."""
    session = world.opened().conversation(YARD)._session
    drafting = Drafting(
        ledger=session.ledger,
        stream=session.conversation.key,
        ids=world.ids,
        owner=session.owner,
        tail=session.tail(world.talk._view, fresh=True).copy(),
        at=world.clock.now(),
        now=world.clock.now(),
    )
    # Nobody's result answers a call of the reader: it would be the reader's.
    drafting.tail.open.clear()
    drafting.tail._named.clear()
    draft(drafting)
    drafts = tuple(replace(one, scope=_hidden(one, way)) for one in drafting.drafts)
    if drafts:
        session.ledger.append([Append(stream=session.conversation, drafts=drafts)])


def _hidden(draft: Draft, way: Way) -> Scope:
    if way is Way.AUDIT:
        return replace(draft.scope, visibility=Visibility.AUDIT)
    return replace(draft.scope, visibility=Visibility.PARTICIPANT, sub_agent=CHILD)
