"""Skills: a compact catalogue is in every request; full instructions and tools come in when one is activated."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from callsheet.assemble.contents import text_of
from callsheet.errors import InputError, InvalidOption, NotFound, PositionConflict, StoreBusy
from callsheet.graph.canonical import content_digest
from callsheet.graph.changes import Superseded
from callsheet.graph.enums import StreamKind
from callsheet.graph.ids import RecordId, TenantId
from callsheet.graph.nodes import Skill as SkillBody
from callsheet.graph.ports import Append, Clock, Ids, Ledger, Owner
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Draft, Record, Stream
from callsheet.graph.values import Payload
from callsheet.recall.tool import NAME as RECALL
from callsheet.runtime.drafting import text_bytes
from callsheet.runtime.executing.tool import AnyTool, schemas
from callsheet.runtime.options import label, line, shown
from callsheet.runtime.typed import all_checked
from callsheet.wire import formats
from callsheet.wire.cleaning import storable
from callsheet.wire.tools import read_tools

STREAM = "skills"
"""The name of the workspace stream that holds them."""

USE_SKILL = "use_skill"
"""The tool by which a model activates a skill."""

RESERVED = frozenset({RECALL, USE_SKILL})
"""Names of our own tools, which no tool of a skill may have."""

LONGEST_SUMMARY = 400
"""Characters of a summary: the catalogue is in every request."""

_ATTEMPTS = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Skill:
    """One version of a skill."""

    id: RecordId
    name: str
    version: str
    #: What it is for, in a line: all that a model sees of it until it is activated.
    summary: str
    instructions: str
    #: Schemas of the tools that come with it.
    tools: tuple[Mapping[str, object], ...]


@all_checked
class Skills:
    """The skills of a workspace, shared by its conversations: added, replaced by newer versions, removed."""

    def __init__(self, ledger: Ledger, tenant: TenantId, ids: Ids, clock: Clock) -> None:
        self._ledger = ledger
        self._tenant = tenant
        self._ids = ids
        self._clock = clock

    def add(
        self,
        name: str,
        *,
        summary: str,
        instructions: str,
        tools: Sequence[Mapping[str, object] | AnyTool] = (),
        version: str | None = None,
    ) -> RecordId:
        """Add a skill, or a newer version of it, and return the version's id.

        Conversations in which it is active keep the version that they began with. `version` defaults to one made from
        the content; adding the same again changes nothing. `tools` are functions, or schemas in a provider's shape;
        kept are the schemas: `execute` is given the functions. Raises `InvalidOption`, also where a version that is
        there has other content or a tool is named ``recall`` or ``use_skill``, as ours are, and `InvalidMessage` for a
        tool schema that is none.
        """
        line(name, "name")
        if not isinstance(summary, str) or not summary.strip() or "\n" in summary or len(summary) > LONGEST_SUMMARY:
            raise InvalidOption(f"summary is {shown(summary)}; it must be one line of at most {LONGEST_SUMMARY}")
        if not isinstance(instructions, str) or not instructions.strip():
            raise InvalidOption(f"instructions is {shown(instructions)}; it must be text and not empty")
        for name_of, said in (("summary", summary), ("instructions", instructions)):
            if said != storable(said):
                raise InvalidOption(f"{name_of} is {shown(said)}; lone surrogates are not allowed")
        checked = formats.check_tools(schemas(tools))
        # Refuses what no provider takes before a model can activate it.
        ours = [tool.name for tool in read_tools(checked) if tool.name in RESERVED]
        if ours:
            raise InvalidOption(f"a tool of skill {name!r} is named {ours[0]!r}, as one of Callsheet's own; rename it")
        told = msgspec.json.encode(checked)
        made = content_digest(msgspec.json.encode([summary, instructions]) + told)
        body = SkillBody(
            name=name,
            version=label(version, "version") if version is not None else made.rpartition(":")[2][:12],
            summary=summary,
            instructions=self._stash(text_bytes(instructions)),
            tools=self._stash(told) if tools else None,
        )
        for _ in range(_ATTEMPTS):
            try:
                return self._put(body)
            except PositionConflict:
                continue
        raise StoreBusy(f"other writers of the skills were first {_ATTEMPTS} times; try again")

    def get(self, name: str) -> Skill:
        """The newest version of a skill. Raises `NotFound`."""
        found = self._current().get(label(name, "name"))
        if found is None:
            raise NotFound(f"no skill {name!r}; there are: {', '.join(self._current()) or 'none'}")
        return self._read(found)

    @property
    def any(self) -> bool:
        """Whether a skill was ever added."""
        return self._stream() is not None

    def list(self) -> list[Skill]:
        """The newest version of each skill, in the order in which they first came."""
        return [self._read(record) for record in self._current().values()]

    def version(self, id: RecordId) -> Skill:
        """One version. Raises `NotFound`."""
        stream = self._stream()
        found = self._ledger.get(stream.key, (id,)) if stream is not None else []
        if not found or not isinstance(found[0].body, SkillBody):
            raise NotFound(f"no skill {id!r}")
        return self._read(found[0])

    def remove(self, name: str) -> None:
        """Take a skill out of the catalogue; where it is active it stays so. Raises `NotFound`."""
        gone = self.get(name)
        stream = self._stream()
        assert stream is not None
        removed = Superseded(current=gone.id, replaced=(gone.id,), reason="removed")
        draft = Draft(id=self._ids.record("superseded"), at=self._clock.now(), body=removed, nonce=self._ids.nonce())
        self._ledger.append([Append(stream=stream, drafts=(draft,))])

    def _put(self, body: SkillBody) -> RecordId:
        stream = self._stream()
        head = self._ledger.head(stream.key) if stream is not None else None
        for record in self._versions(stream):
            known = record.body
            if isinstance(known, SkillBody) and (known.name, known.version) == (body.name, body.version):
                if _told(self._read(record)) != _told(self._skill(record.id, body)):
                    raise InvalidOption(f"skill {body.name!r} has a version {body.version!r} that says something else")
                if self._current().get(body.name) == record:
                    return record.id
        if stream is None:
            stream = Stream(tenant=self._tenant, id=self._ids.stream(), kind=StreamKind.WORKSPACE, name=STREAM)
        draft = Draft(id=self._ids.record("skill"), at=self._clock.now(), body=body, nonce=self._ids.nonce())
        append = Append(stream=stream, drafts=(draft,), expect=head.position if head is not None else 0)
        try:
            self._ledger.append([append])
        except InputError:
            if self._stream() is None:
                raise
            return self._put(body)  # somebody else began the stream a moment ago
        return draft.id

    def _stream(self) -> Stream | None:
        return self._ledger.stream(self._tenant, StreamKind.WORKSPACE, STREAM)

    def _versions(self, stream: Stream | None) -> Sequence[Record]:
        return self._ledger.nodes(stream.key, NodeQuery(kinds=("skill", "superseded"))) if stream is not None else []

    def _current(self) -> dict[str, Record]:
        """The newest version of each skill that was not removed since."""
        current: dict[str, Record] = {}
        for record in self._versions(self._stream()):
            if isinstance(record.body, SkillBody):
                current[record.body.name] = record
            elif isinstance(record.body, Superseded):
                gone = record.body.replaced
                current = {name: kept for name, kept in current.items() if kept.id not in gone}
        return current

    def _read(self, record: Record) -> Skill:
        assert isinstance(record.body, SkillBody)
        return self._skill(record.id, record.body)

    def _skill(self, id: RecordId, body: SkillBody) -> Skill:
        owner = Owner(tenant=self._tenant)
        tools = msgspec.json.decode(self._ledger.fetch(owner, body.tools)) if body.tools is not None else []
        return Skill(
            id=id,
            name=body.name,
            version=body.version,
            summary=body.summary,
            instructions=text_of(self._ledger.fetch(owner, body.instructions)),
            tools=tuple(tools),
        )

    def _stash(self, raw: bytes) -> Payload:
        return self._ledger.stash(Owner(tenant=self._tenant), raw)


def _told(skill: Skill) -> tuple[object, ...]:
    return skill.summary, skill.instructions, skill.tools
