"""From records to what planning knows of them: sizes by level, and how far policy lets each be shortened."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from callsheet.assemble import episodes
from callsheet.assemble.contents import Read, is_bytes, memory_text, result_text, text_of
from callsheet.assemble.forms import SAID as SHOWN
from callsheet.assemble.forms import excerpt
from callsheet.assemble.items import Item
from callsheet.assemble.marking import retry_terms
from callsheet.assemble.naming import named_places
from callsheet.assemble.sizes import estimated_tokens, recorded_tokens
from callsheet.assemble.stated import Stated, stated
from callsheet.derive.derived import Derived
from callsheet.derive.document import Document
from callsheet.derive.entities import LIMIT as ENTITIES
from callsheet.derive.narrowing import Manner, choose
from callsheet.derive.reading import read as read_document
from callsheet.graph.enums import FAILURES, INSTRUCTING, Level, Reason, Role
from callsheet.graph.ids import RecordId
from callsheet.graph.index import Index
from callsheet.graph.nodes import Episode, Fact, Message, Milestone, ToolArtifact, ToolCall, ToolMemory
from callsheet.graph.ports import TokenCounter
from callsheet.graph.record import Record
from callsheet.graph.values import CallRef, Media, Text
from callsheet.policy.recovery import RECENT
from callsheet.policy.rehydration import EXACT
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.settings import Manner as Wanted
from callsheet.policy.verdict import Decision
from callsheet.recall.tool import NAME as RECALL

MARK = 8
"""Tokens of a reference and the punctuation around it, or of a mark that something is left out."""

SAID = 55
"""Tokens of a line of what was said, at most about."""

ASKED = 80
"""Tokens of a call in a line, at most about."""

WIDER = 1.2
"""Bytes of a character, from which on a text is counted instead of estimated."""

UNSEEN = 24
"""Tokens of the words that stand for media that no request can show."""

TIMED = 14
"""Tokens of the time before what was said."""

OPEN = 30
"""Tokens of the words that stand for a result that is not there."""

TERMS = 24
"""Tokens of the terms on which a failed result may be tried again, at most about."""

Narrowed: TypeAlias = dict[tuple[RecordId, frozenset[int], frozenset[str]], tuple[tuple[int, ...], int]]
"""The segments of a narrowed result and their tokens (0: none fits), by what of its entities is wanted and what is
looked for."""

SEARCHED = 8_000_000
"""Characters of a result beyond which its text is not searched."""

WIDE = 4
"""A new result stands in full up to so many times the limit to which an older one is narrowed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """A record with what was derived from it, and its place."""

    record: Record
    turn: int
    index: Index | None = None
    derived: Derived | None = None
    used: int = 0
    like: RecordId | None = None
    like_size: int = 0
    #: A call of the message has no result yet.
    open: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Itemiser:
    """Makes items for one request."""

    calls: Mapping[RecordId, ToolCall]
    counter: TokenCounter
    policy: PolicySetDocument
    read: Read
    #: The turn that the request answers.
    turn: int
    #: The tokens to which a long result is narrowed.
    limit: int
    #: What the provider adds around each message, call and result.
    per_message: int = 0
    per_call: int = 0
    per_result: int = 0
    #: Entities now in play: of a narrowed result the parts that touch them are shown first.
    in_play: frozenset[str] = frozenset()
    #: Whether pictures are shown.
    vision: bool = True
    #: What the newest user turn and the calls since then name: what a new result is read for.
    asked: frozenset[str] = frozenset()
    #: Records that the last request did not show. What they name themselves is no reason to show it first.
    new: frozenset[RecordId] = frozenset()
    #: What was narrowed before to the same limit, by the same counter and policy set; filled here.
    narrowed: Narrowed = field(default_factory=dict)

    def item(self, seen: Seen, decision: Decision) -> Item:
        """One record as planning sees it."""
        body = seen.record.body
        if decision.most_hard in (Level.SAFE, Level.NONE):
            return self._muted(seen, decision)
        if isinstance(body, Message):
            return self._message(seen, body, decision)
        if isinstance(body, ToolMemory):
            return self._memory(seen, body, decision)
        if isinstance(body, Episode | Milestone | Fact):
            return self._second_hand(seen, body, decision)
        assert isinstance(body, ToolArtifact)
        return self._result(seen, body, decision)

    def _muted(self, seen: Seen, decision: Decision) -> Item:
        """A record whose content may not be shown: nothing that planning knows of it depends on that content."""
        body = seen.record.body
        parts = body.parts if isinstance(body, Message) else ()
        calls = [self.calls[part.call] for part in parts if isinstance(part, CallRef) and part.call in self.calls]
        tools = body.tools if isinstance(body, ToolMemory) else (getattr(body, "tool", None) or "",)
        size = 2 * MARK + self.counter.count(", ".join(tools)) + sum(call.o200k for call in calls)
        framing = self.per_message + len(calls) * self.per_call
        group = None
        if isinstance(body, ToolArtifact):
            framing += self.per_result
            group = body.message if body.call is not None and body.call in self.calls else None
        elif seen.open:
            framing += len(calls) * (self.per_message + self.per_result)
            size += OPEN
        listed = seen.open or not (isinstance(body, Message) or getattr(body, "tool", None) == RECALL)
        held = Level.NONE if decision.most is Level.NONE else Level.SAFE
        hard = next(one for one in decision.verdicts if one.hard and one.most in (Level.SAFE, Level.NONE))
        return Item(
            id=seen.record.id,
            position=seen.record.position,
            turn=seen.turn,
            group=group or seen.record.id,
            role=body.role if isinstance(body, Message) else None,
            instruction=isinstance(body, Message) and body.role in INSTRUCTING,
            standing={Level.RAW: size, Level.SAFE: size},
            framing=framing,
            noted={Level.SAFE: size} if listed or decision.least is not Level.NONE else {},
            most=held,
            most_hard=decision.most_hard,
            least=Level.NONE if decision.least is Level.NONE and not seen.open else held,
            reason=hard.reason,
            rule=hard.rule,
            used=max(seen.used, seen.turn),
            open=seen.open,
            covers=body.sources if isinstance(body, ToolMemory) else (),
            second_hand=episodes.second_hand(body),
        )

    def _second_hand(self, seen: Seen, body: Episode | Milestone | Fact, decision: Decision) -> Item:
        text = text_of(self.read(body.summary)) if isinstance(body, Episode) else ""
        said = Stated() if isinstance(body, Episode) else stated(self.read(body.value))
        return Item(
            id=seen.record.id,
            # It stands where what it tells of stood.
            position=body.last if isinstance(body, Episode) else seen.record.position,
            turn=seen.turn,
            group=seen.record.id,
            role=None,
            noted=episodes.sizes(seen.record.id, body, text, said, self.counter.count),
            most=decision.most,
            most_hard=decision.most_hard,
            least=decision.least,
            used=max(seen.used, seen.turn),
            reason=Reason.CONFLICT if _contradicted(decision) else decision.reason,
            rule=decision.rule,
            second_hand=episodes.second_hand(body),
            quotes=() if isinstance(body, Episode) else body.sources,
            quotes_line=not isinstance(body, Episode) and episodes.in_line(body),
        )

    def _memory(self, seen: Seen, body: ToolMemory, decision: Decision) -> Item:
        text = memory_text(body, self.read)
        line = 2 * MARK + self.counter.count(text)
        left = 3 * MARK + self.counter.count(", ".join((*body.tools, *body.recheck_tools)))
        return Item(
            id=seen.record.id,
            position=seen.record.position,
            turn=seen.turn,
            group=seen.record.id,
            role=None,
            standing={Level.DENSE: line},
            noted={Level.GIST: line, **dict.fromkeys((Level.STALE, Level.SAFE, Level.REF), left)},
            gist_keeps=1.0,
            most=decision.most,
            most_hard=decision.most_hard,
            least=decision.least,
            used=max(seen.used, seen.turn),
            covers=body.sources,
            reason=Reason.CONFLICT if _contradicted(decision) else decision.reason,
            rule=decision.rule,
        )

    def _message(self, seen: Seen, body: Message, decision: Decision) -> Item:
        tokens = self._tokens(seen.record)
        if self.policy.times and body.role is Role.USER:
            tokens += TIMED
        instruction = body.role in INSTRUCTING
        says = any(getattr(part, "o200k", 0) for part in body.parts)
        calls = sum(isinstance(part, CallRef) for part in body.parts)
        noted = {Level.GIST: min(tokens, self._said(body)) + MARK} if says and not instruction else {}
        if noted and body.role is Role.ASSISTANT:
            noted[Level.REF] = 2 * MARK
        if seen.open:
            # An open call is never gone: the line of its message tells what was asked.
            noted = {Level.DENSE: min(tokens, SAID + ASKED * calls) + 2 * MARK}
        return Item(
            id=seen.record.id,
            position=seen.record.position,
            turn=seen.turn,
            group=seen.record.id,
            role=body.role,
            instruction=instruction,
            standing={Level.RAW: tokens + (OPEN if seen.open else 0)},
            framing=self.per_message
            + calls * (self.per_call + (self.per_message + self.per_result if seen.open else 0)),
            noted=noted,
            most=decision.most,
            # An instruction that was replaced must not govern for one more request.
            most_hard=decision.most if instruction else decision.most_hard,
            least=Level.DENSE if seen.open else _least(body, decision),
            recent=not seen.open and _is_recent(decision),
            reason=decision.reason,
            rule=decision.rule,
            used=seen.turn,
            open=seen.open,
        )

    def _said(self, body: Message) -> int:
        """Tokens of the line of what was said: about a quarter of its characters, or as many where it is not Latin."""
        first = next((part.text for part in body.parts if isinstance(part, Text)), None)
        text = text_of(self.read(first))[:SHOWN] if first is not None else ""
        return SAID if len(text.encode("utf-8", "replace")) < WIDER * len(text) else max(SAID, self.counter.count(text))

    def _tokens(self, record: Record, derived: Derived | None = None) -> int:
        known = recorded_tokens(record, self.calls)
        if known is None and derived is not None:
            # Bytes of no known type are shown as text, so their text was counted.
            return self.counter.converted(derived.raw_tokens) + self._pictures(record)
        if known is None:
            known = estimated_tokens(record, self.calls)
        return max(self.counter.converted(known) + self._pictures(record), 1)

    def _pictures(self, record: Record) -> int:
        body = record.body
        parts = body.parts if isinstance(body, Message) else body.content if isinstance(body, ToolArtifact) else ()
        shown = (part for part in parts if isinstance(part, Media) and not is_bytes(part))
        return sum(
            self.counter.count_picture(width=part.width, height=part.height) if self._may_be_seen(part) else UNSEEN
            for part in shown
        )

    def _may_be_seen(self, part: Media) -> bool:
        """Bytes that say that they are a picture and have no size are none; no provider takes them."""
        if not part.mime.startswith("image/"):
            return True
        return self.vision and (part.data is None or part.width is not None)

    def _result(self, seen: Seen, body: ToolArtifact, decision: Decision) -> Item:
        call = self.calls.get(body.call) if body.call is not None else None
        asked = MARK + min(self.counter.converted(call.o200k) if call is not None else MARK, ASKED)
        derived = seen.derived
        raw = self._tokens(seen.record, derived)
        standing, noted = {Level.RAW: raw, Level.DENSE: raw}, {Level.RAW: raw + asked}
        segments: tuple[int, ...] = ()
        bare = False
        keeps = 0.0
        if derived is not None:
            # What has no shorter form stands as it is.
            dense = self.counter.converted(derived.dense_tokens)
            standing[Level.DENSE] = dense + self._pictures(seen.record)
            noted = {Level.DENSE: dense + asked}
            gist = self.counter.converted(derived.gist_tokens)
            standing[Level.GIST], noted[Level.GIST] = gist + 2 * MARK, gist + MARK
            keeps = _gist_keeps(derived, seen.index)
            limit = self.limit
            if dense > limit:
                segments, narrowed = self._narrowed(seen, body, derived)
                # Under a small budget the limit is lower than the set's, which a gist may take as well.
                bare = not narrowed and standing[Level.GIST] <= self.policy.narrowing.limit
                noted[Level.FOCUS] = noted[Level.GIST] if bare else narrowed + asked
                if seen.turn < self.turn or dense > WIDE * limit or self.policy.history is Level.FOCUS:
                    focus = standing[Level.GIST] if bare else narrowed + self._pictures(seen.record)
                    standing[Level.FOCUS] = focus
        for level in (Level.REF, Level.STALE, Level.SAFE):
            standing[level], noted[level] = 2 * MARK, asked + MARK
        if retry_terms(body):
            standing = {level: size + TERMS for level, size in standing.items()}
            noted = {level: size + TERMS for level, size in noted.items()}
        exact = decision.most is Level.RAW and _exact(decision)
        if exact:
            noted[Level.RAW] = raw + asked
        if body.tool == RECALL and decision.least is Level.NONE:
            # What was shown again is listed where it was found; a list of its own would crowd that out.
            noted = {}
        return Item(
            id=seen.record.id,
            position=seen.record.position,
            turn=seen.turn,
            group=body.message if call is not None and body.message is not None else seen.record.id,
            role=None,
            standing=standing,
            framing=self.per_message + self.per_result,
            noted=noted,
            gist_keeps=keeps,
            # What need not be narrowed is as much as a narrowed form may show.
            most=Level.DENSE if decision.most is Level.FOCUS and Level.FOCUS not in noted else decision.most,
            most_hard=decision.most_hard,
            least=decision.least,
            recent=_is_recent(decision),
            reason=decision.reason,
            rule=decision.rule,
            segments=segments,
            bare=bare,
            used=max(seen.used, seen.turn),
            like=seen.like,
            like_size=seen.like_size,
            exact=exact,
            failed=body.status in FAILURES,
        )

    def _narrowed(self, seen: Seen, body: ToolArtifact, derived: Derived) -> tuple[tuple[int, ...], int]:
        entities = seen.index.entities if seen.index is not None else ()
        in_play = self.asked if seen.record.id in self.new else self.in_play | self.asked
        wanted = frozenset(place for place, entity in enumerate(entities[:256]) if entity in in_play)
        # An index that is full may not have what is asked for, and one entry of its table stands for many rows.
        full = len(entities) >= ENTITIES
        names = self.asked if full else self.asked.intersection(entities)
        names = names if derived.characters <= SEARCHED else frozenset()
        key, unnamed = (seen.record.id, wanted, names), (seen.record.id, wanted, frozenset[str]())
        known = self.narrowed.get(key)
        if known is None:
            text = result_text(body, self.read)
            places = named_places(text, names)
            known = self.narrowed.get(unnamed) if not places else None
            known = self.narrowed[key] = known or self._chosen(body, derived, text, wanted, places)
        return known

    def _chosen(
        self, body: ToolArtifact, derived: Derived, text: str, wanted: frozenset[int], places: Sequence[int]
    ) -> tuple[tuple[int, ...], int]:
        document = read_document(text)
        segments = document.segments
        touched = derived.table.touching(wanted) if wanted else frozenset()
        starts = {segments[index].start for index in touched if index < len(segments)}
        declared = (contract.narrowing for contract in self.policy.tools if contract.name == body.tool)
        meant = next((one for one in declared if one is not None), self.policy.narrowing.manner)
        # A summary is a memory of its own; until it is there, the result stands by its ends.
        manner = Manner.START_END if meant is Wanted.SUMMARY else Manner(meant.value)
        chosen = choose(
            document,
            # With the mark behind it, it takes no more than the limit.
            max(self.limit - 2 * MARK, self.limit // 2),
            self.counter.count,
            touching=(lambda segment: segment.start in starts) if starts else None,
            named=_holding(document, places) if document.text == text else (),
            manner=manner,
        )
        shows = bool(chosen) or any(segment.always for segment in segments)
        return chosen, self.counter.count(excerpt(document, chosen)) + 2 * MARK if shows else 0


def _exact(decision: Decision) -> bool:
    """Whether exact bytes were asked for and are given."""
    return any(verdict.rule == EXACT for verdict in decision.verdicts)


def _contradicted(decision: Decision) -> bool:
    """Whether another record says otherwise, and nothing else speaks against this one."""
    capped = decision.reason is not Reason.INCLUDED
    return not capped and any(verdict.reason is Reason.CONFLICT for verdict in decision.verdicts)


def _holding(document: Document, places: Sequence[int]) -> frozenset[int]:
    """The segments in which these characters stand."""
    segments = document.segments
    before = (bisect_right(segments, place, key=lambda segment: segment.start) - 1 for place in places)
    return frozenset(
        index
        for index, place in zip(before, places, strict=True)
        if index >= 0 and place < segments[index].end and not segments[index].always
    )


def _least(body: Message, decision: Decision) -> Level:
    """What people said is shown as policy says; of what a model said a line stays that refers to it.

    A message that only asks for tools is told by the lines of their results.
    """
    if body.role in INSTRUCTING or body.role is Role.USER or decision.least is Level.NONE:
        return decision.least
    return Level.REF if any(getattr(part, "o200k", 0) for part in body.parts) else Level.NONE


def _is_recent(decision: Decision) -> bool:
    """Whether it stands in some form because it is of the last turns."""
    return any(verdict.rule == RECENT.rule for verdict in decision.verdicts)


def _gist_keeps(derived: Derived, index: Index | None) -> float:
    """The share of the entities of a result that its gist still names."""
    if index is None or not index.entities:
        return 1.0 if derived.gist_tokens >= derived.dense_tokens else 0.5
    line = derived.gist.casefold()
    return sum(entity in line for entity in index.entities) / len(index.entities)
