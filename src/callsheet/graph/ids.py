"""Names of things. Distinct types, so that one cannot stand where another is due.

All of them are ours: random, opaque, given in from the edge. A provider's tool call id is an attribute of a
call and never a key, because recordings repeat it inside one conversation.
"""

from typing import NewType

TenantId = NewType("TenantId", str)
"""Who is isolated from whom. Part of every key."""

UserId = NewType("UserId", str)
"""The owner of conversations; also the erasure scope: content keys and blob addresses are per user."""

StreamId = NewType("StreamId", str)
"""One ordered history."""

RecordId = NewType("RecordId", str)
"""One record, unique within a tenant."""

ROOT_BRANCH = RecordId("main")
"""The branch that every conversation has; the one record id that is not random (it is unique within its stream)."""
