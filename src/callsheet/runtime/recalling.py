"""Recalling: exact evidence by reference or search, for a program or for a model that calls the recall tool."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from callsheet.errors import BodyErased, InputError, InvalidOption, NotFound, RecallRefused
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary, ContextAssembly
from callsheet.graph.ports import TableQueries
from callsheet.graph.record import Record
from callsheet.recall.request import DEFAULT_LIMIT, SMALLEST_LIMIT, RecallRequest
from callsheet.recall.serving import Served, serve
from callsheet.recall.tool import parse
from callsheet.runtime.admitting import Admitting, policy_of
from callsheet.runtime.consulting import located, named, note_of, source_of
from callsheet.runtime.heading import turns_of as turns_of_hits
from callsheet.runtime.naming import AROUND, turns_of
from callsheet.runtime.options import texts
from callsheet.runtime.originals import source, turns_source
from callsheet.runtime.querying import available, engine
from callsheet.runtime.redacting import shows_secrets
from callsheet.runtime.resolving import resolve
from callsheet.runtime.searching import found_text, search_all, search_seen
from callsheet.runtime.seeing import Admit, Sight, sight
from callsheet.runtime.session import Session, View
from callsheet.runtime.withholding import withheld_calls

__all__ = ["Recalled", "answer", "answer_for", "recall", "search_all"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Recalled:
    """A part of an artifact or message, exactly as it was recorded, or of some turns."""

    #: For a model: one line that says what it is, what is left out and how to get it, then the content.
    text: str
    #: Of turns, which ``turns 3 to 7`` asks for, those that there are.
    reference: RecordId
    #: What `total` and `shown` count: ``lines``, ``rows``, ``bytes``, ``matches``, ...
    unit: str
    total: int
    shown: int
    #: What to ask for to read on; None: nothing is left of what was asked for.
    more: RecallRequest | None
    #: The content alone, its bytes; those of the slices of one artifact, joined, are the artifact's.
    bytes: bytes


def results(session: Session, view: View, references: Sequence[str]) -> tuple[RecordId, ...]:
    """The tool results that these references mean, as far as the view may see them. Raises `NotFound`."""
    wanted = texts(references, "exact")
    if not wanted:
        return ()
    seen = sight(session, view)
    return tuple(dict.fromkeys(resolve(seen, one).id for one in wanted))


def recall(
    session: Session,
    view: View,
    request: RecallRequest,
    *,
    boundary: Boundary | None = None,
    admit: Admit | None = None,
) -> Recalled:
    """Serve one artifact or message, or a part of it.

    Raises `NotFound` for a reference or part that is not there or may not be seen, `InvalidOption` for a request
    without reference or SQL that is not answered, `RecallRefused`, `BodyErased`, `Damaged`, `MissingExtra` for SQL.
    """
    return recalled(sight(session, view, boundary=boundary, admit=admit), request)


def recalled(seen: Sight, request: RecallRequest, queries: Callable[[], TableQueries] | None = engine) -> Recalled:
    """See `recall`. `queries` makes what answers SQL; None: nothing does."""
    if request.reference is None:
        raise InvalidOption("this asks for no reference; search_all answers a query")
    document = located(seen, request.reference)
    record: Record | None = None
    turns = turns_of(request.reference.strip(AROUND)) if document is None else None
    if turns is not None:
        spoken = turns_source(seen, *turns)
        reference = RecordId(spoken.reference)
        return _recalled(reference, serve(spoken, replace(request, reference=reference), queries), "")
    if document is None:
        try:
            record = resolve(seen, request.reference)
        except NotFound:
            # What is no reference may be the name of a document.
            document = named(seen, request.reference)
            if document is None:
                raise
    if document is not None:
        served = serve(source_of(seen, document), replace(request, reference=document.id), queries)
        return _recalled(document.id, served, note_of(seen, document))
    assert record is not None
    if isinstance(seen.admit, Admitting):
        seen.admit.refuse(record)
    reason = seen.refused(record)
    if reason is not None:
        raise NotFound(f"the content of {record.id} may not be read here ({reason})")
    served = serve(source(seen, record), replace(request, reference=record.id), queries)
    note = seen.admit.note(record) if isinstance(seen.admit, Admitting) else ""
    return _recalled(record.id, served, note)


def _recalled(reference: RecordId, served: Served, note: str) -> Recalled:
    text = served.text
    if note:
        line, end, content = text.partition("\n")
        text = f"{line}\n{note}{end}{content}"
    return Recalled(
        text=text,
        reference=reference,
        unit=served.unit,
        total=served.total,
        shown=served.shown,
        more=served.more,
        bytes=served.content,
    )


def answer(
    session: Session,
    view: View,
    arguments: str | Mapping[str, object],
    *,
    boundary: Boundary | None = None,
    admit: Admit | None = None,
    limit: int = DEFAULT_LIMIT,
) -> str:
    """What to give back for a model's call of the recall tool, with at most `limit` bytes of content.

    Whatever the model wrote, it is answered: the text says what was wrong. Raises only for a store that fails.
    """
    return _answered(sight(session, view, boundary=boundary, admit=admit), arguments, limit)


def answer_for(
    session: Session,
    view: View,
    arguments: str | Mapping[str, object],
    sheet: ContextAssembly | None,
    *,
    limit: int = DEFAULT_LIMIT,
) -> str:
    """What to give back to a model that was shown this sheet: under the sheet's boundary and its policy set.

    What the set's byte budget leaves bounds the answer, and `limit`. Without a sheet visibility alone decides. See
    `answer`.
    """
    if sheet is None:
        return answer(session, view, arguments, limit=limit)
    seen = sight(session, view, boundary=sheet.boundary)
    policy = policy_of(session, sheet.pins.policy_set)
    key = session.conversation.key
    seen = replace(seen, withheld=withheld_calls(session.ledger, key, seen.lineage, seen.boundary, policy))
    admitting = Admitting(seen=seen, policy=policy)
    room = admitting.room(sheet)
    if room < SMALLEST_LIMIT:
        budget = f"{admitting.policy.rehydrate:,} bytes of exact evidence"
        return f"(recall: the {budget} that one request may load are used up; ask again in the next step)"
    secrets = shows_secrets(policy, sheet.boundary.provider)
    return _answered(replace(seen, admit=admitting, secrets=secrets), arguments, min(limit, room))


def _answered(seen: Sight, arguments: str | Mapping[str, object], limit: int) -> str:
    try:
        request = replace(parse(arguments), limit=limit)
        if request.query is not None:
            found = search_seen(seen, request.query)
            turns = turns_of_hits(seen, [one.reference for one in found])
            return found_text(seen.told(request.query), found, limit, turns)
        return recalled(seen, request, engine if available() else None).text
    except (InputError, NotFound, BodyErased, RecallRefused) as problem:
        return f"(recall: {seen.told(str(problem))})"
