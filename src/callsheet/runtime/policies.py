"""Policy sets that are not built in, kept in the store under their hash, so that a past request can be explained."""

import msgspec

from callsheet.errors import InputError, PolicyError, PositionConflict, StoreBusy
from callsheet.graph.enums import StreamKind
from callsheet.graph.ids import TenantId
from callsheet.graph.nodes import PolicySet
from callsheet.graph.ports import Append, Clock, Ids, Ledger, Owner
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Draft, Stream
from callsheet.graph.values import Digest
from callsheet.policy.sets import BUILT_IN, DEFAULT, PolicySetDocument, check_known, policy_set
from callsheet.runtime.options import label

STREAM = "policy-sets"
"""The name of the workspace stream that holds them."""

_ATTEMPTS = 20
"""Times that storing begins anew because another writer was first."""


def document_of(policy: str | PolicySetDocument | None) -> PolicySetDocument:
    """The policy set that is meant, by itself or by the name of a built-in one; None: the default.

    Raises `PolicyError` for an unknown name.
    """
    if isinstance(policy, PolicySetDocument):
        return policy
    return policy_set(label(policy, "policy") if policy is not None else DEFAULT)


def keep_policy(ledger: Ledger, tenant: TenantId, ids: Ids, clock: Clock, document: PolicySetDocument) -> None:
    """Store a policy set, unless it is built in or stored already.

    Raises `PolicyError` when its name and version stand for another set in this store.
    """
    if document in BUILT_IN.values():
        return
    for _ in range(_ATTEMPTS):
        stream = ledger.stream(tenant, StreamKind.WORKSPACE, STREAM)
        head = ledger.head(stream.key) if stream is not None else None
        known = _kept(ledger, stream)
        check_known(document, {f"{one.name}@{one.version}": one.hash for one in known})
        if any(one.hash == document.hash for one in known):
            return
        if stream is None:
            stream = Stream(tenant=tenant, id=ids.stream(), kind=StreamKind.WORKSPACE, name=STREAM)
        body = PolicySet(
            name=document.name,
            version=document.version,
            hash=document.hash,
            document=ledger.stash(Owner(tenant=tenant), document.content),
        )
        draft = Draft(id=ids.record("policy_set"), at=clock.now(), body=body, nonce=ids.nonce())
        try:
            ledger.append([Append(stream=stream, drafts=(draft,), expect=head.position if head is not None else 0)])
        except PositionConflict:
            continue
        except InputError:
            if ledger.stream(tenant, StreamKind.WORKSPACE, STREAM) is None:
                raise
            continue  # Somebody else began the stream a moment ago.
        return
    raise StoreBusy(f"other writers of the policy sets were first {_ATTEMPTS} times; try again")


def policy_by_hash(ledger: Ledger, tenant: TenantId, hash: Digest) -> PolicySetDocument:
    """The policy set with this hash, built in or stored.

    Raises `PolicyError` where there is none: it was not stored, or a built-in rule has another version since.
    """
    for built_in in BUILT_IN.values():
        if built_in.hash == hash:
            return built_in
    stream = ledger.stream(tenant, StreamKind.WORKSPACE, STREAM)
    for kept in _kept(ledger, stream):
        if kept.hash == hash:
            document = _read(kept, ledger.fetch(Owner(tenant=tenant), kept.document))
            if document.hash == hash:
                return document
    raise PolicyError(
        f"no policy set with the hash {hash} in this store; rules may have changed since the request was assembled"
    )


def _read(kept: PolicySet, content: bytes) -> PolicySetDocument:
    try:
        return msgspec.json.decode(content, type=PolicySetDocument)
    except (msgspec.DecodeError, PolicyError) as problem:
        raise PolicyError(
            f"policy set {kept.name}@{kept.version}, which is stored here, cannot be read: {problem}. "
            "It was stored before such values were refused; assemble under a corrected set with a new version"
        ) from None


def _kept(ledger: Ledger, stream: Stream | None) -> list[PolicySet]:
    if stream is None:
        return []
    found = ledger.nodes(stream.key, NodeQuery(kinds=("policy_set",)))
    return [record.body for record in found if isinstance(record.body, PolicySet)]
