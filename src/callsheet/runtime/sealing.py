"""What a provider does not take back: what another one sealed, and thoughts that were had behind something else."""

from collections.abc import Iterable

from callsheet.assemble.plans import Rewrite
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message, ModelRun
from callsheet.graph.values import Opaque, Reasoning
from callsheet.runtime.terms import Terms
from callsheet.wire.anthropic.binding import binds
from callsheet.wire.names import Wire

_SAME = frozenset({None, Rewrite.FIRST, Rewrite.EXPIRED, Rewrite.HIGH_WATER, Rewrite.PAYS})
"""Of a set that shows everything verbatim: where what stood before the thoughts stands there as it was."""


def bare_upto(terms: Terms, rewrite: Rewrite | None, wire: Wire) -> int:
    """The position up to which thoughts are left out: where the request was last written anew.

    Of models that take their thoughts back only behind what they had them behind; see
    `callsheet.wire.anthropic.binding`.
    """
    if wire is not Wire.ANTHROPIC or not binds(terms.order.boundary.model):
        return 0
    if rewrite is None or (terms.order.policy.verbatim and rewrite in _SAME):
        return terms.base.sheet.bare if terms.base is not None else 0
    return terms.lineage.upto


def thinking(terms: Terms, messages: Iterable[RecordId], upto: int) -> frozenset[RecordId]:
    """The messages with thoughts, up to a position."""
    return frozenset(id for id in messages if upto and _thinks(terms, id, upto))


def sealed(terms: Terms, messages: Iterable[RecordId], wire: Wire) -> frozenset[RecordId]:
    """The messages with reasoning or kept items of this format that another provider than the request's made.

    Only in OpenAI Responses, which several providers speak, each with a key of its own, and which refuses what it
    cannot open. Whoever made a message is taken to be the same provider where that is not known.
    """
    if wire is not Wire.OPENAI_RESPONSES:
        return frozenset()
    runs = {id: run for id in messages if (run := _run(terms, id)) is not None}
    known = terms.desk.asked
    missing = sorted({run for run in runs.values() if run not in known})
    found = terms.place.ledger.get(terms.place.conversation.key, missing) if missing else []
    known.update(dict.fromkeys(missing))
    known.update((run.id, run.body.requested_provider) for run in found if isinstance(run.body, ModelRun))
    own = terms.order.boundary.provider.strip().lower()
    return frozenset(id for id, run in runs.items() if (known[run] or own).strip().lower() != own)


def _thinks(terms: Terms, id: RecordId, upto: int) -> bool:
    """Whether it is a message up to a position with thoughts in it."""
    record = terms.desk.records[id]
    thinks = isinstance(record.body, Message) and any(isinstance(part, Reasoning) for part in record.body.parts)
    return thinks and record.position <= upto


def _run(terms: Terms, id: RecordId) -> RecordId | None:
    """The run that made a message, where it holds anything that is sealed."""
    record = terms.desk.records[id]
    body = record.body
    if not isinstance(body, Message) or body.wire != Wire.OPENAI_RESPONSES:
        return None
    return record.header.scope.run if any(isinstance(part, Reasoning | Opaque) for part in body.parts) else None
