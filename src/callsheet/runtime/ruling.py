"""The rules of policy sets made ready: compiled once for each set, by the engine that the extra ``policies`` brings."""

from collections.abc import Callable, Sequence
from functools import lru_cache

from callsheet.graph.enums import Privacy, StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary, Message, ToolArtifact
from callsheet.graph.ports import Ledger
from callsheet.graph.record import Record, StreamKey
from callsheet.policy.candidate import Candidate
from callsheet.policy.conditions import Rules, Ruling
from callsheet.policy.rules import About
from callsheet.policy.sets import PolicySetDocument
from callsheet.runtime.options import texts
from callsheet.runtime.unseen import Visible


def ready(policy: PolicySetDocument) -> Rules | None:
    """The compiled rules of a set; None: it has none.

    Raises `PolicyError` for a condition that is wrong, `MissingExtra` where there are rules and no engine.
    """
    return _compiled(policy) if policy.rules else None


def granted(scopes: Sequence[str]) -> tuple[str, ...]:
    """What whoever asks is entitled to, each once. One alone may be given as text. Raises `InvalidOption`."""
    return tuple(dict.fromkeys(texts(scopes, "scopes")))


def ruling(policy: PolicySetDocument, boundary: Boundary) -> Ruling | None:
    """What the rules of a set say at a boundary; None: it has none. Raises as `ready` does."""
    rules = ready(policy)
    return rules.at(boundary) if rules is not None else None


def shown(policy: PolicySetDocument, boundary: Boundary, visible: Visible) -> Callable[[Record], bool]:
    """Whether a record is shown to the reader, and not left out by the set's own rules about visibility.

    For the records behind relations, in the class of data that changes have put them into as far as the reader sees
    them: what a rule hides now replaces and contradicts nothing any more.
    """
    shows = visible.shows
    if not any(rule.about is About.VISIBILITY for rule in policy.rules):
        return shows
    rules = ruling(policy, boundary)

    def told(record: Record) -> bool:
        if rules is None or not shows(record):
            return shows(record)
        now = visible.states((StateField.PRIVACY,), (record.id,))[StateField.PRIVACY].get(record.id)
        return rules.of(_standing(record, now)).unseen is None

    return told


def tool_of(ledger: Ledger, key: StreamKey, id: RecordId) -> str | None:
    """The tool of a result; None: it has none that is known, or is not there."""
    found = ledger.get(key, (id,))
    body = found[0].body if found else None
    return body.tool if isinstance(body, ToolArtifact) else None


def _standing(record: Record, privacy: str | None) -> Candidate:
    """A record as rules see it; `privacy` is the class that it was put into since."""
    body, header = record.body, record.header
    artifact = body if isinstance(body, ToolArtifact) else None
    return Candidate(
        record=record.id,
        kind=header.kind,
        scope=header.scope,
        privacy=Privacy(privacy or header.privacy),
        role=body.role if isinstance(body, Message) else None,
        observed=header.at if artifact is not None else None,
        tool=artifact.tool if artifact is not None else None,
        outcome=artifact.status if artifact is not None else None,
        bytes=artifact.size if artifact is not None else 0,
        attributes=getattr(body, "attributes", ()),
        tainted=getattr(body, "tainted", None),
    )


@lru_cache(maxsize=16)
def _compiled(policy: PolicySetDocument) -> Rules:
    from callsheet.engines.cel import Cel

    return Rules(policy, Cel())
