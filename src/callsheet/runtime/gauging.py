"""How full a view's context is: what its newest request took of the model's window, and what has come since."""

from collections.abc import Sequence
from dataclasses import dataclass

from callsheet.assemble.compacting import over
from callsheet.assemble.sizes import estimated_tokens
from callsheet.errors import InvalidOption
from callsheet.graph.enums import INSTRUCTING
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ContextAssembly, Message, ToolArtifact, ToolCall
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.graph.values import TokenParts
from callsheet.policy.settings import Compaction
from callsheet.runtime.admitting import policy_of
from callsheet.runtime.calibrating import calibrated_counter
from callsheet.runtime.compacting import compactions
from callsheet.runtime.episodes import Mark
from callsheet.runtime.seeing import Sight, newest_sheet, sight
from callsheet.runtime.session import Session, View
from callsheet.runtime.windows import window_of

_AT_A_TIME = 1_000
"""Records read at once of what has come since."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Uncompacted:
    """What no episode stands for yet, against the marks of the policy set of the newest request."""

    turns: int
    #: In o200k_base.
    tokens: int
    #: At the first of these that is gone over, compaction is due; those that are None are no marks.
    marks: Compaction
    #: As far as it can be told without making the next request; never under a set that shows everything verbatim.
    due: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Gauge:
    """How full the context of one view is. Tokens of requests are as counted for the model of the newest one."""

    #: The newest request; None: none was assembled yet.
    sheet: RecordId | None
    provider: str
    model: str
    #: Tokens that the model reads, the reply included, and whether the catalogue says so; else it is an assumption.
    window: int
    listed: bool
    #: Of the newest request, in all and by what takes the room.
    tokens: int
    parts: TokenParts
    exact: bool
    #: What plain replay would have taken then.
    replay_tokens: int
    #: In o200k_base, of what was said and done since then.
    since: int
    compaction: Uncompacted

    @property
    def used(self) -> float:
        """The share of the window that the newest request, with what has come since, takes."""
        return (self.tokens + self.since) / self.window

    @property
    def replay_used(self) -> float:
        """The share that plain replay would take. Above 1 it could not be sent."""
        return (self.replay_tokens + self.since) / self.window


def gauge(session: Session, view: View, provider: str | None, model: str | None) -> Gauge:
    """The gauge of a view; without a model for that of its newest request. Raises `InvalidOption` where it has none.

    Takes time in proportion to what has come since the newest request.
    """
    whole = newest_sheet(session, view)
    sheet = whole.sheet if whole is not None else None
    asked = _asked(provider, model, sheet)
    window, listed = window_of(*asked)
    seen = sight(session, view)
    news = _since(seen, sheet.cut.at(session.conversation.id) if sheet is not None else 0)
    calls = {record.id: record.body for record in news if isinstance(record.body, ToolCall)}
    since = sum(estimated_tokens(record, calls) for record in news)
    return Gauge(
        sheet=whole.id if whole is not None else None,
        provider=asked[0],
        model=asked[1],
        window=window,
        listed=listed,
        tokens=sheet.tokens.total if sheet is not None else 0,
        parts=sheet.tokens if sheet is not None else TokenParts(),
        exact=sheet is None or sheet.exact,
        replay_tokens=sheet.tokens_replayed if sheet is not None else 0,
        since=since,
        compaction=_uncompacted(seen, sheet, news, since, window),
    )


def _asked(provider: str | None, model: str | None, sheet: ContextAssembly | None) -> tuple[str, str]:
    if sheet is not None:
        provider = provider or sheet.boundary.provider
        model = model or sheet.boundary.model
    if provider is None or model is None:
        raise InvalidOption("no request was assembled here yet: say provider= and model=")
    return provider, model


def _since(seen: Sight, cut: int) -> list[Record]:
    """The messages, calls and results behind a position that the view sees."""
    found: list[Record] = []
    while True:
        kinds = ("message", "artifact", "call")
        query = NodeQuery(kinds=kinds, lineage=seen.lineage, after=cut, limit=_AT_A_TIME)
        records = seen.session.ledger.nodes(seen.session.conversation.key, query)
        found += (record for record in records if seen.shows(record))
        if len(records) < _AT_A_TIME:
            return found
        cut = records[-1].position


def _uncompacted(
    seen: Sight, sheet: ContextAssembly | None, news: Sequence[Record], since: int, window: int
) -> Uncompacted:
    mark = compactions(seen).mark()
    turns = sum(map(_is_turn, news)) + (sheet.turns if sheet is not None else 0)
    tokens = since + (sheet.history_o200k if sheet is not None else 0)
    chosen = policy_of(seen.session, sheet.pins.policy_set) if sheet is not None else None
    marks = chosen.compaction if chosen is not None else Compaction()
    left_turns, left = max(0, turns - mark.turn), max(0, tokens - mark.tokens)
    plain = _plain(seen, sheet, news, since, mark) if sheet is not None else since
    budget = sheet.boundary.budget if sheet is not None else window
    due = over(marks, turns=left_turns, tokens=left, plain=plain, budget=budget)
    verbatim = chosen is not None and chosen.verbatim
    return Uncompacted(turns=left_turns, tokens=left, marks=marks, due=due and not verbatim)


def _plain(seen: Sight, sheet: ContextAssembly, news: Sequence[Record], since: int, mark: Mark) -> int:
    """What plain replay of what no episode stands for takes: as `Overdue` counts it, from the newest request on."""
    session, boundary = seen.session, sheet.boundary
    counter, _ = calibrated_counter(session.ledger, session.conversation.key, seen.lineage, boundary)
    said = sum(not isinstance(record.body, ToolCall) for record in news)
    found = sum(isinstance(record.body, ToolArtifact) for record in news)
    # Both sums of framing hold what every request has once.
    before = counter.framing.around(messages=mark.records, calls=mark.results, results=mark.results)
    framing = counter.framing.around(messages=said, calls=found, results=found) - before
    replayed = sheet.tokens_replayed + counter.converted(since) - counter.converted(mark.tokens) + framing
    return counter.bounded(max(0, replayed))


def _is_turn(record: Record) -> bool:
    return isinstance(record.body, Message) and record.body.role not in INSTRUCTING
