"""What a store can do: base capabilities every store must have, extended ones it may leave out."""

from enum import StrEnum


class Capability(StrEnum):
    """One family of laws, in the module of the same name."""

    STREAMS = "streams"
    APPENDING = "appending"
    READING = "reading"
    CHAIN = "chain"
    GRAPH = "graph"
    INDEXING = "indexing"
    VECTORS = "vectors"
    PREFIXES = "prefixes"
    TENANTS = "tenants"
    PAYLOADS = "payloads"
    BLOCKS = "blocks"
    ERASURE = "erasure"
    CONCURRENCY = "concurrency"
    CLOSING = "closing"
    #: Heads are signed. Needs `Subject.signer`.
    SIGNING = "signing"
    #: Spoiled projections are rebuilt. Needs `Subject.vandalise`.
    REBUILDING = "rebuilding"
    #: Damage to the medium is noticed. Needs `Subject.lose_blob` and `Subject.alter_blob`.
    DAMAGE = "damage"
    #: Blobs that nothing names are removed. Needs `Subject.advance` and `Subject.collect`.
    LEASES = "leases"
    #: Erased bytes are nowhere on the medium. Needs `Subject.holds`.
    SHREDDING = "shredding"
    #: Everything is still there after closing. Needs `Subject.reopen`.
    PERSISTENCE = "persistence"


EXTENDED = frozenset(
    {
        Capability.SIGNING,
        Capability.REBUILDING,
        Capability.DAMAGE,
        Capability.LEASES,
        Capability.SHREDDING,
        Capability.PERSISTENCE,
    }
)
"""What a store may leave out."""

BASE = frozenset(Capability) - EXTENDED
"""What a store must have."""
