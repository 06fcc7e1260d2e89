"""Spans of OpenTelemetry: each request to a model holds all that was said before, so conversations grow out of them.

Requests belong together by ``gen_ai.conversation.id``, without one by their trace. What an agent does that another
agent invoked is a conversation of its own. Requests whose content was not recorded count with their usage alone.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

from callsheet.audit.exchange.lines import Fork
from callsheet.audit.logs import genai
from callsheet.audit.logs.documents import document_at, documents
from callsheet.audit.logs.files import LogFile, Place, Rereading
from callsheet.audit.logs.jsonlines import text
from callsheet.audit.logs.spans import Logged, Span, spans_of
from callsheet.audit.logs.trees import grown
from callsheet.audit.logs.values import Answered, LoggedConversation, LoggedMessage, Notes
from callsheet.graph.times import instant
from callsheet.wire.names import Wire


class _Where(NamedTuple):
    """A span that asked a model: its document, and which one it is in there."""

    start: int
    place: Place
    #: Its number among what the document holds.
    nth: int
    id: str


@dataclass(kw_only=True, slots=True)
class _Message:
    parent: str | None
    where: _Where
    #: Its number among the messages of the span.
    index: int
    said: str | None
    answered: Answered | None = None
    afresh: bool = False


@dataclass(kw_only=True, slots=True)
class _Conversation:
    messages: dict[str, _Message] = field(default_factory=dict)
    #: By the message before (None: the beginning) and the content: the message.
    children: dict[tuple[str | None, str], str] = field(default_factory=dict)
    #: The content of the first instruction, and the message behind which all others stand.
    instructions: str | None = None
    root: str | None = None
    contents: dict[str, str] = field(default_factory=dict)
    end: str | None = None
    others: list[Answered] = field(default_factory=list)


def read(log: LogFile, notes: Notes) -> Iterator[LoggedConversation]:
    """The conversations of a file of spans, each with its branches."""
    index = _Index()
    for place, document in documents(log, notes):
        if not index.add(place, document):
            notes.pass_over("document without spans")
    if index.aside:
        notes.pass_over("span that asks no model", index.aside)
    for id, parent, places in index.conversations():
        with log.reading() as file:
            grower = _Grower(notes, index, file)
            for where in places:
                grower.add(where)
            found = grower.found
        yield from _branches(log, index, id, parent, found)


class _Index:
    """Where requests stand, and what belongs together."""

    def __init__(self) -> None:
        #: By span: the log records that belong to it, each by its document and which one it is in there.
        self.events: dict[str, list[tuple[Place, int]]] = defaultdict(list)
        self.aside = 0
        self._asked: dict[tuple[str, str], list[_Where]] = defaultdict(list)
        self._parents: dict[str, str | None] = {}
        self._agents: dict[str, str] = {}

    def add(self, place: Place, document: dict[str, object]) -> bool:
        """Note the spans of a document; whether it has any."""
        index = -1
        for index, span in enumerate(spans_of(document)):
            if isinstance(span, Logged):
                if span.event.name.startswith("gen_ai."):
                    self.events[span.span].append((place, index))
                continue
            self._parents[span.id] = span.parent
            if span.attributes.get("gen_ai.operation.name") == "invoke_agent":
                self._agents[span.id] = text(span.attributes.get("gen_ai.agent.name")) or "agent"
            if genai.asks_model(span):
                belongs = text(span.attributes.get("gen_ai.conversation.id")) or span.trace
                start = span.start or _order(span.at)
                self._asked[belongs, span.id].append(_Where(start, place, index, span.id))
            else:
                self.aside += 1
        return index >= 0

    def conversations(self) -> Iterator[tuple[str, str | None, list[_Where]]]:
        """The requests of each conversation in the order in which they began, with its id and its parent's."""
        found: dict[tuple[str, str | None], list[_Where]] = defaultdict(list)
        for (belongs, span), places in self._asked.items():
            invoked = self._invoked(span)
            name = f"{belongs}/agent-{self._agents[invoked]}-{invoked[:8]}" if invoked is not None else belongs
            found[name, belongs if invoked is not None else None] += places
        for (id, parent), places in found.items():
            yield id, parent, sorted(places, key=lambda where: (where.start, where.place.number, where.nth))

    def _invoked(self, span: str) -> str | None:
        """The invocation of an agent by another one that the span happened in; None: it is the outermost one's."""
        within: list[str] = []
        seen: set[str] = set()
        key: str | None = span
        while key is not None and key not in seen:
            seen.add(key)
            if key in self._agents:
                within.append(key)
            key = self._parents.get(key)
        return within[0] if len(within) > 1 else None


class _Grower:
    """Grows one conversation out of its requests."""

    def __init__(self, notes: Notes, index: _Index, file: Rereading) -> None:
        self.found = _Conversation()
        self._notes = notes
        self._index = index
        self._spans = _Spans(index, file)

    def add(self, where: _Where) -> None:
        span = self._spans.at(where)
        if span is None:
            return
        told = genai.answered(span.attributes)
        instructions, before, after = genai.messages(span)
        if not before and not after:
            self._notes.pass_over("request whose content was not recorded (its usage counts)")
            self.found.others.append(told)
            return
        if len(after) > 1:
            self._notes.pass_over("further answer to the same request", len(after) - 1)
        said = [*instructions, *before, *after[:1]]
        try:
            contents = [_content(message) for message in said]
        except RecursionError:
            self._notes.refuse("nested too deep", where.place.number)
            return
        self._grow(where, span, contents, len(instructions), told if after else None)
        if not after:
            self.found.others.append(told)

    def _grow(self, where: _Where, span: Span, contents: list[str], start: int, told: Answered | None) -> None:
        found = self.found
        if start and found.instructions is None and not found.messages:
            found.instructions = contents[0]
            for at in range(start):
                found.root = self._follow(found.root, where, at, contents[at], span.at)
        elif start and contents[0] != found.instructions:
            self._notes.pass_over("instructions that differ from the first of the conversation")
        end = found.root
        stood = self._stood() if (end, contents[start]) not in found.children else {}
        # Where the beginning is gone, but not all, the agent shortened what it sends; it did not begin anew.
        shortened = any(content in stood for content in contents[start:])
        end = found.end if shortened else end
        afresh = shortened
        for at, content in enumerate(contents[start:], start=start):
            if shortened and content in stood:
                continue
            known = len(found.messages)
            end = self._follow(end, where, at, content, span.at)
            if afresh and len(found.messages) > known:
                found.messages[end].afresh, afresh = True, False
        if told is not None and end is not None:
            last = found.messages[end]
            if last.answered is None:
                last.answered = told
            else:  # the same request, answered alike again
                found.others.append(told)
        found.end = end

    def _stood(self) -> dict[str, str]:
        """What stood on the way to the newest message, by content."""
        path: dict[str, str] = {}
        key = self.found.end
        while key is not None:
            path[self.found.contents[key]] = key
            key = self.found.messages[key].parent
        return path

    def _follow(self, parent: str | None, where: _Where, at: int, content: str, said: str | None) -> str:
        key = self.found.children.get((parent, content))
        if key is None:
            key = f"{where.id[:8]}.{len(self.found.messages)}"
            self.found.children[parent, content] = key
            self.found.contents[key] = content
            self.found.messages[key] = _Message(parent=parent, where=where, index=at, said=said)
        return key


class _Spans:
    """Spans by where they stand; the last document is kept, since it often holds the next one too."""

    def __init__(self, index: _Index, file: Rereading) -> None:
        self._index = index
        self._file = file
        self._held: tuple[Place, list[Span | Logged]] | None = None

    def at(self, where: _Where) -> Span | None:
        span = self._found(where.place, where.nth)
        if not isinstance(span, Span):
            return None
        records = (self._found(place, nth) for place, nth in self._index.events.get(where.id, ()))
        logged = [record.event for record in records if isinstance(record, Logged)]
        return replace(span, events=[*span.events, *logged]) if logged else span

    def _found(self, place: Place, nth: int) -> Span | Logged | None:
        if self._held is None or self._held[0] != place:
            self._held = place, list(spans_of(document_at(self._file, place)))
        held = self._held[1]
        return held[nth] if nth < len(held) else None


def _branches(
    log: LogFile, index: _Index, id: str, parent: str | None, found: _Conversation
) -> Iterator[LoggedConversation]:
    others = tuple(found.others)
    branches = grown({key: message.parent for key, message in found.messages.items()})
    if not branches:
        yield LoggedConversation(id=id, count=0, read=lambda: iter(()), parent=parent, others=others)
    for branch in branches:
        own = [found.messages[key] for key in branch.keys]
        yield LoggedConversation(
            id=id,
            fork=Fork(name=branch.name, parent=branch.parent, at=branch.at) if branch.parent else None,
            count=len(own),
            read=partial(_read, log, index, own),
            parent=parent,
            others=others,
        )
        others = ()


def _read(log: LogFile, index: _Index, messages: Sequence[_Message]) -> Iterator[LoggedMessage]:
    with log.reading() as file:
        spans = _Spans(index, file)
        for one in messages:
            span = spans.at(one.where)
            if span is None:
                continue
            instructions, before, after = genai.messages(span)
            said = [*instructions, *before, *after[:1]]
            if one.index >= len(said):
                continue
            message = said[one.index]
            told = one.answered
            if told is None and message["role"] == "assistant":
                told = Answered()
            yield LoggedMessage(
                message={**message, "x_at": one.said},
                wire=Wire.OPENAI,
                line=one.where.place.number,
                answered=told,
                afresh=one.afresh,
            )


def _content(message: genai.Message) -> str:
    """What makes two messages the same: not the reasoning, which is not sent back, nor how JSON was written."""
    calls = message.get("tool_calls")
    told = [message["role"], message.get("content") or None, message.get("tool_call_id"), _canonical(calls)]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _canonical(calls: object) -> object:
    if not isinstance(calls, list):
        return None
    found = []
    for call in calls:
        function = call["function"]
        try:
            arguments = json.loads(function["arguments"])
        except (ValueError, RecursionError):
            arguments = function["arguments"]
        found.append([call["id"], function["name"], arguments])
    return found


def _order(at: str | None) -> int:
    return int(instant(at)) * 1000 if at is not None else 0
