"""Model requests that failed: recorded as runs with their outcome and what they cost; no request ever shows them."""

from dataclasses import dataclass

from msgspec.structs import replace

from callsheet.assemble import blocks
from callsheet.errors import InvalidOption
from callsheet.graph.enums import Relation, RunStatus, Visibility
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ModelRun
from callsheet.graph.query import LinkQuery
from callsheet.runtime.drafting import Drafting, Shown
from callsheet.runtime.options import LONGEST_LABEL
from callsheet.runtime.session import Session, View
from callsheet.wire import formats
from callsheet.wire.cleaning import storable

FAILURES = frozenset({RunStatus.FAILED, RunStatus.TIMED_OUT, RunStatus.CANCELLED, RunStatus.REFUSED})
"""How a request can end without an answer that counts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """How a request went wrong."""

    status: RunStatus
    error: str = ""
    #: The response that does not count, where one came.
    reply: object = None


def failed(session: Session, view: View, shown: Shown | None, failure: Failure) -> RecordId:
    """Record a failed attempt and return the run's id. Raises `InvalidOption`, `InvalidMessage`."""
    if failure.status not in FAILURES:
        raise InvalidOption(f"status is {failure.status.value!r}; it must be one of: {', '.join(sorted(FAILURES))}")
    reply = formats.parse_reply(failure.reply) if failure.reply is not None else None
    made: list[RecordId] = []

    def draft(drafting: Drafting) -> None:
        own = Visibility.PARTICIPANT if drafting.participant is not None else Visibility.BRANCH
        scope = replace(drafting.carries, branch=drafting.tail.branch, owner=drafting.participant, visibility=own)
        body = _run(shown, failure, reply, _attempt(drafting, shown))
        made[:] = [drafting.add(replace(body, finished=drafting.at), kind="run", scope=scope)]

    session.tail(view, fresh=True)
    session.append(view, draft)
    return made[0]


def _run(shown: Shown | None, failure: Failure, reply: blocks.Reply | None, attempt: int) -> ModelRun:
    return ModelRun(
        status=failure.status,
        requested_provider=shown.boundary.provider if shown else None,
        requested_model=shown.boundary.model if shown else None,
        answered_model=storable(reply.model) if reply and reply.model else None,
        sheet=shown.sheet if shown else None,
        trigger=shown.boundary.trigger if shown else None,
        attempt=attempt,
        usage=reply.usage if reply else None,
        finish=storable(reply.finish) if reply and reply.finish else None,
        response=storable(reply.response) if reply and reply.response else None,
        error=storable(failure.error[:LONGEST_LABEL]) or None,
        metadata=reply.extras if reply else b"",
    )


def _attempt(drafting: Drafting, shown: Shown | None) -> int:
    """Which request with this sheet it was, from 1."""
    if shown is None:
        return 1
    query = LinkQuery(relation=Relation.SHOWN, targets=(shown.sheet,), lineage=drafting.tail.lineage)
    return 1 + len(drafting.ledger.links(drafting.stream, query))
