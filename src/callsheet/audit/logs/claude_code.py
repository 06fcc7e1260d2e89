"""Session files of Claude Code: one record a line, each naming the record that it follows.

One response of the model stands in several records with one ``message.id``, and reports its usage in each of them.
Results of parallel calls follow the record of their own call. What a person rewinds and says anew begins a branch.
Sub-agents (``isSidechain``) are conversations of their own, in the same file or in one of theirs.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from callsheet.audit.exchange.lines import Fork
from callsheet.audit.logs.files import LogFile, Place
from callsheet.audit.logs.jsonlines import count, listed, mapping, moment, objects, reread, text
from callsheet.audit.logs.trees import grown, without_cycles
from callsheet.audit.logs.values import Answered, LoggedConversation, LoggedMessage, Notes
from callsheet.graph.values import Usage
from callsheet.wire.names import Wire

RECORDS = frozenset({"user", "assistant", "system", "summary", "file-history-snapshot", "queue-operation"})
"""Types that records of a session file have, in every version."""

_SYNTHETIC = "<synthetic>"
"""The model of what the program itself says in the assistant's place, such as an error of the API."""

_KEPT = {"cwd": "x_cwd", "gitBranch": "x_git_branch", "version": "x_version"}
"""What is kept with a message when it is another than that of the message before."""


@dataclass(kw_only=True, slots=True)
class _Message:
    """One message: the records that it stands in, without their content."""

    key: str
    agent: str | None
    parent: str | None
    places: list[Place]
    #: Calls that it asks for, or that it answers.
    calls: set[str] = field(default_factory=set)
    answers: set[str] = field(default_factory=set)
    #: The newest message that answers them.
    answered: str | None = None
    afresh: bool = False
    usage: Usage | None = None
    model: str | None = None
    response: str | None = None


def read(log: LogFile, notes: Notes) -> Iterator[LoggedConversation]:
    """The conversation of a session file with its branches, then those of its sub-agents."""
    session = _Session(notes)
    for place, record in objects(log, notes):
        session.add(place, record)
    yield from session.conversations(log)


class _Session:
    """All records of a file, as far as they say what follows what."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._id: str | None = None
        #: By record: the one that it follows, for all that are no message and only stand between messages.
        self._between: dict[str, str | None] = {}
        self._boundaries: set[str] = set()
        #: By such a record: the message that is reached over it, and whether over a compaction.
        self._reached: dict[str, tuple[_Message, bool]] = {}
        #: By record of a message: its message. By agent: its messages in order of appearance.
        self._of: dict[str, _Message] = {}
        self._agents: dict[str | None, dict[str, _Message]] = defaultdict(dict)
        self._responses: dict[tuple[str | None, str], _Message] = {}
        self._last: dict[str | None, str] = {}
        self._unnamed = 0

    def add(self, place: Place, record: dict[str, object]) -> None:
        kind, uuid = record.get("type"), text(record.get("uuid"))
        self._id = self._id or text(record.get("sessionId"))
        if uuid is not None and (uuid in self._of or uuid in self._between):
            self._notes.pass_over("record with a uuid that was there before")
            return
        message = mapping(record.get("message"))
        if kind in ("user", "assistant") and message.get("role") == kind:
            if message.get("model") != _SYNTHETIC:
                self._say(place, record, message, uuid or self._own_name())
                return
            self._notes.pass_over("message of the program in the assistant's place")
        else:
            self._notes.pass_over(_named(record))
        if uuid is not None:
            self._stand_between(uuid, record)

    def _own_name(self) -> str:
        self._unnamed += 1
        return f"record {self._unnamed}"

    def _stand_between(self, uuid: str, record: dict[str, object]) -> None:
        parent = text(record.get("parentUuid"))
        if record.get("subtype") == "compact_boundary":
            self._boundaries.add(uuid)
            parent = text(record.get("logicalParentUuid")) or parent or self._last.get(_agent(record))
        self._between[uuid] = parent

    def _say(self, place: Place, record: dict[str, object], message: dict[str, object], uuid: str) -> None:
        agent = self._chain(record, uuid)
        known = self._agents[agent]
        parent, afresh = self._parent(record, agent)
        content = [mapping(part) for part in listed(message.get("content"))]
        answers = {str(part.get("tool_use_id")) for part in content if part.get("type") == "tool_result"}
        calls = {str(part.get("id")) for part in content if part.get("type") == "tool_use"}
        response = text(message.get("id")) if record["type"] == "assistant" else None
        found = self._responses.get((agent, response)) if response is not None else None
        if found is None:
            before = known.get(parent) if parent is not None else None
            found = self._together(known, before, answers)
            if found is None and before is not None and before.calls and not answers:
                # It follows a call; where that is answered already, it was said behind the answers.
                parent = before.answered or parent
        if found is None:
            afresh = afresh or record.get("isCompactSummary") is True
            found = _Message(key=uuid, agent=agent, parent=parent, places=[], afresh=afresh)
            known[uuid] = found
            if answers and before is not None:
                before.answered = uuid
            if response is not None:
                self._responses[agent, response] = found
        found.places.append(place)
        found.answers |= answers
        found.calls |= calls
        if record["type"] == "assistant":
            _report(found, message)
        self._of[uuid] = found
        self._last[agent] = uuid

    def _together(self, known: dict[str, _Message], before: _Message | None, answers: set[str]) -> _Message | None:
        """The message that these answers are a part of: that of other answers to calls of the same response."""
        if before is None or not answers:
            return None
        asking = before if before.calls else known.get(before.parent) if before.parent is not None else None
        if asking is None or not answers <= asking.calls:
            return None
        together = known[asking.answered] if asking.answered is not None else None
        return together if together is not None and together.answers.isdisjoint(answers) else None

    def _chain(self, record: dict[str, object], uuid: str) -> str | None:
        """The agent whose record it is; None: the main one's."""
        if record.get("isSidechain") is not True:
            return None
        named = text(record.get("agentId"))
        if named is not None:
            return named
        before = self._message_before(text(record.get("parentUuid")))[0]
        return before.agent if before is not None and before.agent is not None else uuid

    def _parent(self, record: dict[str, object], agent: str | None) -> tuple[str | None, bool]:
        named = text(record.get("parentUuid"))
        before, afresh = self._message_before(named)
        known = self._agents[agent]
        # A sub-agent's first record may follow what handed the work to it; that stands in another conversation.
        parent = before.key if before is not None and before.agent == agent else None
        if parent is None and known and (named is not None or afresh or record.get("isCompactSummary") is True):
            if not afresh:
                self._notes.pass_over("link to a record that is not there (taken to follow the one before it)")
            parent = self._of[self._last[agent]].key
        return parent, afresh

    def _message_before(self, uuid: str | None) -> tuple[_Message | None, bool]:
        """The message that a record belongs to or comes behind, and whether a compaction stands between."""
        walked: dict[str, None] = {}
        while uuid is not None and uuid not in self._of and uuid not in self._reached and uuid not in walked:
            walked[uuid] = None
            uuid = self._between.get(uuid)
        found, afresh = None, False
        if uuid is not None and uuid not in walked:
            found, afresh = self._reached.get(uuid, (self._of.get(uuid), False))
        for passed in reversed(walked):
            afresh = afresh or passed in self._boundaries
            if found is not None:
                self._reached[passed] = found, afresh
        return found, afresh

    def conversations(self, log: LogFile) -> Iterator[LoggedConversation]:
        session = self._id or log.path.stem
        ordered = sorted(self._agents.items(), key=lambda item: item[0] is not None)
        for agent, messages in ordered:
            id = session if agent is None else f"{session}/agent-{agent}"
            parents, cut = without_cycles({key: message.parent for key, message in messages.items()})
            if cut:
                self._notes.pass_over("link that leads back to its own record", cut)
            for branch in grown(parents):
                own = [messages[key] for key in branch.keys]
                fork = Fork(name=branch.name, parent=branch.parent, at=branch.at) if branch.parent else None
                yield LoggedConversation(
                    id=id,
                    fork=fork,
                    count=len(own),
                    read=partial(_read, log, own),
                    parent=session if agent is not None else None,
                )


def _read(log: LogFile, messages: Sequence[_Message]) -> Iterator[LoggedMessage]:
    said: dict[str, object] = {}
    with log.reading() as file:
        for message in messages:
            records = [reread(file, place) for place in message.places]
            if not records[0]:
                continue
            parts = [mapping(record.get("message")) for record in records]
            now = {key: records[0].get(name) for name, key in _KEPT.items() if text(records[0].get(name))}
            more: dict[str, object] = {key: found for key, found in now.items() if said.get(key) != found}
            said |= now
            for name, key in (("isMeta", "x_meta"), ("isCompactSummary", "x_compact_summary")):
                more |= {key: True} if records[0].get(name) is True else {}
            more["x_at"] = moment(records[0].get("timestamp"))
            answered = None
            if parts[0].get("role") == "assistant":
                answered = Answered(
                    provider="anthropic", model=message.model, response=message.response, usage=message.usage
                )
            yield LoggedMessage(
                message={**_joined(parts), **more},
                wire=Wire.ANTHROPIC,
                line=message.places[0].number,
                answered=answered,
                afresh=message.afresh,
                pieces=len(parts),
                split=partial(_split, parts, more),
            )


def _split(
    parts: Sequence[dict[str, object]], more: dict[str, object], at: int
) -> tuple[dict[str, object], dict[str, object]]:
    return {**_joined(parts[:at]), **more}, {**_joined(parts[at:]), **more}


def _joined(parts: Sequence[dict[str, object]]) -> dict[str, object]:
    """One message of several records."""
    contents = [part.get("content") for part in parts]
    if len(contents) == 1:
        return {"role": parts[0].get("role"), "content": contents[0]}
    blocks: list[object] = []
    for content in contents:
        blocks += [{"type": "text", "text": content}] if isinstance(content, str) else listed(content)
    return {"role": parts[0].get("role"), "content": blocks}


def _report(found: _Message, message: dict[str, object]) -> None:
    """Note what the record says of its response: each counts it from the beginning, so the highest counts, once."""
    found.model = text(message.get("model")) or found.model
    found.response = text(message.get("id")) or found.response
    reported = mapping(message.get("usage"))
    if not reported:
        return
    cached, written = count(reported.get("cache_read_input_tokens")), count(reported.get("cache_creation_input_tokens"))
    usage = Usage(
        input=count(reported.get("input_tokens")) + cached + written,
        output=count(reported.get("output_tokens")),
        cached_input=cached,
        cache_write=written,
    )
    if found.usage is None or usage.output >= found.usage.output:
        found.usage = usage


def _agent(record: dict[str, object]) -> str | None:
    return text(record.get("agentId")) if record.get("isSidechain") is True else None


def _named(record: dict[str, object]) -> str:
    kind, subtype = record.get("type"), record.get("subtype")
    if kind in ("user", "assistant"):
        return f"{kind} record without a message"
    return f"record {kind}" + (f"/{subtype}" if isinstance(subtype, str) else "")
