"""The tools that active skills bring: each name once, and only those that a sub-agent's brief allows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from callsheet.runtime.skills import RESERVED, Skill
from callsheet.wire.reading import Fields
from callsheet.wire.tools import Tool, ToolKind, read_tools


@dataclass(frozen=True, kw_only=True, slots=True)
class Brought:
    """What skills bring, in the order in which they were activated."""

    tools: tuple[Mapping[str, object], ...]
    #: Those that are not offered because something else has their name: the skill and the tool.
    left_out: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Clash:
    """A tool of a skill that has the name of another tool of a skill that is active."""

    skill: str
    tool: str


def brought(skills: Sequence[Skill], allowed: frozenset[str] | None) -> Brought:
    """The tools of these skills: of those of one name the first stands. `allowed` are names; None: any.

    Whatever is recorded is taken: names of our own are left out as well.
    """
    tools: dict[str, Mapping[str, object]] = {}
    first: dict[str, Tool] = {}
    left_out: list[tuple[str, str]] = []
    for skill, given, tool in _each(skills, allowed):
        if tool.name in RESERVED or (tool.name in first and not _alike(first[tool.name], tool)):
            left_out.append((skill.name, tool.name))
        elif tool.name not in first:
            first[tool.name], tools[tool.name] = tool, given
    return Brought(tools=tuple(tools.values()), left_out=tuple(left_out))


def clash(active: Sequence[Skill], wanted: Skill, allowed: frozenset[str] | None) -> Clash | None:
    """What of the active skills stands against loading another one; None: nothing.

    Two tools of one name that mean the same are one.
    """
    there = {tool.name: (skill, tool) for skill, _, tool in reversed(_each(active, allowed))}
    for _, _, tool in _each([wanted], allowed):
        if tool.name in there and not _alike(there[tool.name][1], tool):
            return Clash(skill=there[tool.name][0].name, tool=tool.name)
    return None


def loads_skills(given: Mapping[str, object]) -> bool:
    """Whether a tool can be called as the catalogue says that skills are loaded: with a ``name`` and nothing else."""
    (tool,) = read_tools([given])
    schema = tool.schema or {}
    properties, required = schema.get("properties"), schema.get("required")
    takes = isinstance(properties, Mapping) and "name" in properties
    return takes and (not isinstance(required, list) or set(required) <= {"name"})


def _each(skills: Sequence[Skill], allowed: frozenset[str] | None) -> list[tuple[Skill, Mapping[str, object], Tool]]:
    return [
        (skill, given, tool)
        for skill in skills
        for given, tool in zip(skill.tools, read_tools(skill.tools), strict=True)
        if allowed is None or tool.name in allowed
    ]


def _alike(one: Tool, other: Tool) -> bool:
    """Whether a model is told the same of both, in whichever shapes they were given."""
    return _told(one) == _told(other)


def _told(tool: Tool) -> tuple[object, ...]:
    if tool.kind is not ToolKind.FUNCTION:
        return tool.kind, tool.wire, tool.given
    nothing: Fields = {"type": "object", "properties": {}}
    return tool.kind, tool.description, tool.schema or nothing, tool.strict
