"""What one provider sealed and another one cannot read, though both have the same format."""

from collections.abc import Iterable

from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message, ModelRun
from callsheet.graph.values import Opaque, Reasoning
from callsheet.runtime.terms import Terms
from callsheet.wire.names import Wire


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


def _run(terms: Terms, id: RecordId) -> RecordId | None:
    """The run that made a message, where it holds anything that is sealed."""
    record = terms.desk.records[id]
    body = record.body
    if not isinstance(body, Message) or body.wire != Wire.OPENAI_RESPONSES:
        return None
    return record.header.scope.run if any(isinstance(part, Reasoning | Opaque) for part in body.parts) else None
