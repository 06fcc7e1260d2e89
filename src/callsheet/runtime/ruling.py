"""The rules of policy sets made ready: compiled once for each set, by the engine that the extra ``policies`` brings."""

from collections.abc import Callable, Sequence
from functools import lru_cache

from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary, Message, ToolArtifact
from callsheet.graph.ports import Ledger
from callsheet.graph.record import Record, StreamKey
from callsheet.policy.candidate import Candidate
from callsheet.policy.conditions import Rules, Ruling
from callsheet.policy.rules import About
from callsheet.policy.sets import PolicySetDocument
from callsheet.runtime.options import texts


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


def shown(policy: PolicySetDocument, boundary: Boundary, shows: Callable[[Record], bool]) -> Callable[[Record], bool]:
    """Whether a record is shown to the reader by `shows`, and by the set's own rules about visibility.

    For the records behind relations, as they were recorded: what changes made of them since plays no part.
    """
    if not any(rule.about is About.VISIBILITY for rule in policy.rules):
        return shows
    rules = ruling(policy, boundary)
    return lambda record: shows(record) and (rules is None or rules.of(_recorded(record)).unseen is None)


def tool_of(ledger: Ledger, key: StreamKey, id: RecordId) -> str | None:
    """The tool of a result; None: it has none that is known, or is not there."""
    found = ledger.get(key, (id,))
    body = found[0].body if found else None
    return body.tool if isinstance(body, ToolArtifact) else None


def _recorded(record: Record) -> Candidate:
    body, header = record.body, record.header
    artifact = body if isinstance(body, ToolArtifact) else None
    return Candidate(
        record=record.id,
        kind=header.kind,
        scope=header.scope,
        privacy=header.privacy,
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
