"""Skills in a conversation: offered in a catalogue, activated by the program or the model, and what is active now."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from callsheet.assemble import blocks
from callsheet.errors import InvalidOption, NotFound
from callsheet.graph.changes import Superseded
from callsheet.graph.enums import InstructionScope, Role, StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message, SkillState
from callsheet.graph.query import NodeQuery, StateQuery
from callsheet.graph.record import Record
from callsheet.runtime.children import tools_of
from callsheet.runtime.drafting import Drafting
from callsheet.runtime.equipping import Clash, brought, clash
from callsheet.runtime.options import label
from callsheet.runtime.seeing import Sight, sight
from callsheet.runtime.session import Session, View
from callsheet.runtime.skills import USE_SKILL, Skill, Skills
from callsheet.wire import formats

_LOOKED_AT = 16
"""States of skills on a branch, the newest, among which the one of this view is looked for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SkillsInUse:
    """The skills of one view."""

    #: The names in the catalogue.
    offered: tuple[str, ...]
    active: tuple[Skill, ...]
    #: The tools of the active skills, as far as a sub-agent's brief allows them, and the one that activates the others.
    tools: tuple[Mapping[str, object], ...]
    #: Tools of active skills that are not offered because a skill before them, or we, have one of their name: the
    #: names of the skill and of the tool. New ones are refused, so these come from elsewhere.
    left_out: tuple[tuple[str, str], ...] = ()


def use_skill() -> dict[str, object]:
    """The tool in the shape of OpenAI's Chat Completions. Its schema names no skill, so it stays the same for all."""
    name = {"type": "string", "description": "as in the list of skills"}
    parameters = {"type": "object", "properties": {"name": name}, "required": ["name"]}
    told = "Load the instructions and tools of a skill."
    return {"type": "function", "function": {"name": USE_SKILL, "description": told, "parameters": parameters}}


def offer(session: Session, view: View, skills: Skills, names: Sequence[str]) -> RecordId:
    """Put skills into the catalogue of a view; none given: all there are. Returns the id of the catalogue."""
    listed = [skills.get(name) for name in dict.fromkeys(names)] or skills.list()
    if not listed:
        raise InvalidOption("there are no skills to offer; runtime.skills.add() makes one")
    lines = "\n".join(f"- {skill.name}: {skill.summary}" for skill in listed)
    text = f"Skills; {USE_SKILL}(name) loads one:\n{lines}"
    made: list[RecordId] = []

    def draft(drafting: Drafting) -> None:
        older = tuple(record.id for record in _instructions(sight(session, view), InstructionScope.CATALOGUE))
        made[:] = [_say(drafting, text, InstructionScope.CATALOGUE, [skill.id for skill in listed])]
        if older:
            replaced = Superseded(current=made[0], replaced=older, reason="newer catalogue")
            drafting.add(replaced, kind="superseded", scope=drafting.scope_of(made[0]))

    session.append(view, draft)
    return made[0]


def activate(session: Session, view: View, skills: Skills, name: str) -> Skill:
    """Load a skill in the version that is newest now. One that is active already stays as it is.

    Raises `InvalidOption` where a tool of it has the name of another tool of a skill that is active.
    """
    loaded = _load(session, view, skills, skills.get(name))
    if isinstance(loaded, Clash):
        raise InvalidOption(
            f"skill {name!r} brings a tool {loaded.tool!r} that is another than that of skill {loaded.skill!r}, "
            "which is active; deactivate that one first, or rename a tool"
        )
    return loaded


def _load(session: Session, view: View, skills: Skills, wanted: Skill) -> Skill | Clash:
    """Make a skill active, unless a tool of those that are stands against it."""
    against: list[Clash] = []

    def draft(drafting: Drafting) -> None:
        against.clear()
        state, active = _state(session, view), _active(session, view, skills)
        if any(skill.name == wanted.name for skill in active):
            return
        if (found := clash(active, wanted, tools_of(session, view))) is not None:
            against.append(found)
            return
        _say(drafting, f"Skill {wanted.name}:\n{wanted.instructions}", InstructionScope.SKILL, [wanted.id])
        _put(drafting, state, (*(state.skills if state is not None else ()), wanted.id))

    session.append(view, draft)
    if against:
        return against[0]
    return next(skill for skill in _active(session, view, skills) if skill.name == wanted.name)


def deactivate(session: Session, view: View, skills: Skills, name: str) -> None:
    """Unload a skill. Raises `NotFound` where it is not active."""

    def draft(drafting: Drafting) -> None:
        state, active = _state(session, view), _active(session, view, skills)
        gone = [skill.id for skill in active if skill.name == name]
        if not gone:
            raise NotFound(f"skill {name!r} is not active; active: {', '.join(s.name for s in active) or 'none'}")
        told = _instructions(sight(session, view), InstructionScope.SKILL)
        messages = tuple(record.id for record in told if set(_cited(record)) & set(gone))
        now = _put(drafting, state, tuple(id for id in (state.skills if state is not None else ()) if id not in gone))
        if messages:
            drafting.add(Superseded(current=now, replaced=messages, reason="deactivated"), kind="superseded")

    session.append(view, draft)


def in_use(session: Session, view: View, skills: Skills) -> SkillsInUse:
    """The skills that a view is offered and those that are active."""
    catalogues = _instructions(sight(session, view), InstructionScope.CATALOGUE)
    listed = _versions(skills, _cited(catalogues[-1]) if catalogues else ())
    active = _active(session, view, skills)
    found = brought(active, tools_of(session, view))
    loaded = {skill.name for skill in active}
    loads = (use_skill(),) if any(skill.name not in loaded for skill in listed) else ()
    return SkillsInUse(
        offered=tuple(skill.name for skill in listed),
        active=active,
        tools=(*found.tools, *loads),
        left_out=found.left_out,
    )


def answer(session: Session, view: View, skills: Skills, arguments: str | Mapping[str, object]) -> str:
    """What a call of `use_skill` is answered. Whatever the model wrote is answered."""
    used = in_use(session, view, skills)
    try:
        given = json.loads(arguments) if isinstance(arguments, str) else arguments
        name = given.get("name") if isinstance(given, Mapping) else None
    except (ValueError, RecursionError):
        name = None
    if not isinstance(name, str) or name not in used.offered:
        return f"There is no skill of that name; the list has: {', '.join(used.offered) or 'none'}."
    wanted = next((skill for skill in used.active if skill.name == name), None)
    try:
        wanted = wanted or skills.get(name)
    except NotFound:
        return f"Skill {name} is not there any more; nothing was loaded."
    skill = _load(session, view, skills, wanted)
    if isinstance(skill, Clash):
        return (
            f"Skill {name} is not active: its tool {skill.tool} has the name of another tool, of skill {skill.skill}, "
            "which is active."
        )
    offered = brought([skill], tools_of(session, view)).tools
    tools = ", ".join(formats.tool_name(tool, "a skill's tool") for tool in offered)
    return f"Skill {skill.name} is active." + (f" Its tools: {tools}." if tools else "")


# ---------------------------------------------------------------------------------------------- records


def _say(drafting: Drafting, text: str, scope: InstructionScope, cites: Sequence[RecordId]) -> RecordId:
    said = blocks.Said(role=Role.SYSTEM, parts=(blocks.Text(text=text),))
    return drafting.message(said, drafting.private(None), scope, cites=tuple(cites))


def _put(drafting: Drafting, state: SkillState | None, skills: tuple[RecordId, ...]) -> RecordId:
    before = state or SkillState()
    body = SkillState(skills=skills, profiles=before.profiles, tools=before.tools, integrations=before.integrations)
    return drafting.add(body, kind="skill_state", scope=drafting.private(None))


def _state(session: Session, view: View) -> SkillState | None:
    seen = sight(session, view)
    query = NodeQuery(kinds=("skill_state",), lineage=seen.lineage, newest=True, limit=_LOOKED_AT)
    for record in reversed(session.ledger.nodes(session.conversation.key, query)):
        if isinstance(record.body, SkillState) and seen.shows(record):
            return record.body
    return None


def _active(session: Session, view: View, skills: Skills) -> tuple[Skill, ...]:
    state = _state(session, view)
    return _versions(skills, state.skills if state is not None else ())


def _versions(skills: Skills, ids: Sequence[RecordId]) -> tuple[Skill, ...]:
    """Those that this store holds: a conversation may have come from another one."""
    found: list[Skill] = []
    for id in ids:
        with suppress(NotFound):
            found.append(skills.version(id))
    return tuple(found)


def _instructions(seen: Sight, scope: InstructionScope) -> list[Record]:
    """The instructions of a scope that this view may see, oldest first."""
    session = seen.session
    query = StateQuery(field=StateField.INSTRUCTION, value=scope.value, lineage=seen.lineage)
    ids = [RecordId(row.target) for row in session.ledger.states(session.conversation.key, query)]
    found = session.ledger.get(session.conversation.key, ids) if ids else []
    return sorted((record for record in found if seen.shows(record)), key=lambda record: record.position)


def _cited(record: Record) -> tuple[RecordId, ...]:
    return record.body.cites if isinstance(record.body, Message) else ()


def named(name: str) -> str:
    """The name of a skill, checked. Raises `InvalidOption`."""
    return label(name, "skill")
