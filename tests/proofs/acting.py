"""Steps through the public face: sub-agents, gifts, merges, skills, executions with approvals, memories."""

from collections.abc import Mapping

import callsheet
from callsheet import Conversation, ToolContract
from callsheet.errors import CallsheetError
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ToolArtifact, ToolMemory
from callsheet.graph.record import Record
from callsheet.runtime.conversation import SubAgent
from callsheet.runtime.executing.tool import AnyTool
from tests.proofs.contents import content, question
from tests.proofs.steps import Kind, Step, Way
from tests.proofs.world import SKILLS, World, apart
from tests.runtime.replies import asks, call, openai_reply, result, user

MINE = (Kind.WORKS, Kind.GIVES, Kind.TAKES)
"""Of these steps those that a participant can take without anybody else seeing it."""


def lend(boat: str) -> str:
    """Lend a boat."""
    return f"{boat} is lent, BT-005 is back"


def tools() -> list[AnyTool]:
    contract = ToolContract(name="lend", side_effects=True, needs_approval=True)
    return [callsheet.tool(contract=contract)(lend)]


NOBODY = RecordId("none")


def act(world: World, step: Step) -> None:
    """Record one step; what does not fit the graph as it is changes nothing."""
    running = step.kind is Kind.SPAWNS and step.size == 1
    if step.way in (Way.AUDIT, Way.CHILD, Way.PRIVATE) and step.kind not in MINE and not running:
        return
    try:
        _act(world, step, world.view(step.way))
    except CallsheetError:
        return


def _act(world: World, step: Step, view: Conversation) -> None:
    match step.kind:
        case Kind.SPAWNS:
            _spawn(world, step, view)
        case Kind.WORKS:
            running = [child for way, child in world.children if world.ids.apart or way is Way.OPEN]
            if running:
                _work(world, step, running[step.number % len(running)])
        case Kind.GIVES | Kind.TAKES:
            _give(world, step)
        case Kind.MERGES:
            branch = view.branch(name=f"b{_place(world)}")
            branch.record([user(question(step.number, 1)), openai_reply(f"BT-{step.number:03d} is there.")])
            view.merge(branch.branch_id)
        case Kind.SKILLS:
            (view.offer_skills, lambda: view.activate(SKILLS[step.number % 2]), lambda: view.deactivate(SKILLS[0]))[
                step.number % 3
            ]()
        case Kind.EXECUTES:
            _execute(world, step, view)
        case _:
            _judge(world, step, view)


def _judge(world: World, step: Step, view: Conversation) -> None:
    """Say something of results and memories."""
    match step.kind:
        case Kind.LEARNS:
            _learned(view, _pick(world, step.number, ToolArtifact), step)
        case Kind.REPLACES if step.size == 1:
            view.supersede(_pick(world, step.number, ToolArtifact), _pick(world, step.number // 2, ToolArtifact))
        case Kind.REPLACES | Kind.CONTRADICTS:
            found = _found(world, step, view)
            before = _pick(world, step.number, ToolMemory)
            now = _learned(view, found, step)
            if step.kind is Kind.REPLACES:
                view.supersede(now, before)
            else:
                view.conflict(now, before)
        case Kind.OUTDATES:
            view.mark_stale(_pick(world, step.number, ToolMemory, ToolArtifact))
        case _:
            view.demote(_pick(world, step.number, ToolArtifact), "not_needed")


def _learned(view: Conversation, result: RecordId, step: Step) -> RecordId:
    """A memory of a result, about something that others are about too."""
    attributes: Mapping[str, str] = {"entity": f"BT-{step.number % 3:03d}"}
    return view.promote(result, summary=f"It is {step.size} long. {question(step.number, 1)}", attributes=attributes)


def _found(world: World, step: Step, view: Conversation) -> RecordId:
    """A new result; and a memory of it, where there is none that anything could be said of."""
    id = f"f{_place(world)}"
    view.record([user("Measure it."), openai_reply(asks(call(id, "measure", f'{{"berth": {step.number}}}')))])
    (made,) = view.record(result(id, content(step.number, step.size))).ids
    if _pick(world, step.number, ToolMemory) == NOBODY:
        _learned(view, made, step)
    return made


def _place(world: World) -> str:
    return f"{'x' * world.ids.apart}{next(world.places[world.ids.apart])}"


def _pick(world: World, number: int, *kinds: type[object]) -> RecordId:
    """A record of these kinds; one that was hidden on purpose only for a step that is hidden too."""
    pool = [one for one in world.records() if isinstance(one.body, kinds) and _of(world, one)]
    return pool[number % len(pool)].id if pool else NOBODY


def _of(world: World, record: Record) -> bool:
    return apart(record) is False or world.ids.apart


def _spawn(world: World, step: Step, view: Conversation) -> None:
    waiting = view.pending()
    answers = waiting[0] if waiting and step.number % 2 else None
    child = view.spawn(question(step.number, 1), name=f"child {_place(world)}", call=answers)
    world.children.append((step.way, child))
    _work(world, step, child)
    if step.size == 9:
        own = [one for one in world.records() if one.header.scope.sub_agent == child.run_id]
        files = [one.id for one in own if isinstance(one.body, ToolArtifact)][: step.number % 2]
        child.complete(f"BT-{step.number:03d} lies well.", release=files)
    elif step.size == 60:
        child.fail("It rained.")


def _work(world: World, step: Step, child: SubAgent) -> None:
    id = f"w{_place(world)}"
    asked = openai_reply(asks(call(id, "survey", f'{{"berth": {step.number}}}')))
    child.record(asked, sheet=world.assemble(child))
    child.record(result(id, content(step.number, step.size)))


def _give(world: World, step: Step) -> None:
    """A participant opens a result of its own to the reader, or to somebody else; or takes that back."""
    mate = world.mate
    pool = [one for one in world.records() if isinstance(one.body, ToolArtifact) and _of(world, one)]
    own = [one.id for one in pool if one.header.scope.owner == mate.participant_id]
    to = "ada" if step.way is Way.OPEN and world.reader.named else "cy"
    if to == "cy":
        mate.participant("cy")
    if own:
        chosen = own[step.number % len(own)]
        give = (mate.share, mate.release)[step.size % 2] if step.kind is Kind.GIVES else mate.withdraw
        give(chosen, to=[to])


def _execute(world: World, step: Step, view: Conversation) -> None:
    id = f"e{_place(world)}"
    view.record([user("Lend it."), openai_reply(asks(call(id, "lend", f'{{"boat": "BT-{step.number:03d}"}}')))])
    given = tools()
    view.execute(given, parallel=1)
    waiting = next((one for one in view.pending() if one.provider_id == id), None)
    if waiting is None:
        return
    match step.number % 4:
        case 0:
            view.approve(waiting, by="the harbour master")
            view.execute(given, parallel=1)
        case 1:
            view.refuse(waiting, by="the harbour master", reason="storm")
        case 2:
            view.settle(waiting, "lent by hand", by="the harbour master")
        case _:
            view.give_up(waiting, by="the harbour master")
