"""Reading exact content that holds secrets: explicit, with a reason, and recorded before anything is given."""

import re

from callsheet.assemble.contents import content_payload
from callsheet.errors import InvalidOption, NotFound
from callsheet.graph.enums import Policy
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import PolicyDecision, ToolArtifact
from callsheet.graph.record import Record
from callsheet.graph.values import Digest
from callsheet.runtime.drafting import Drafting
from callsheet.runtime.options import shown
from callsheet.runtime.session import Session, View

_CODE = re.compile(r"[a-z0-9][a-z0-9_.:-]{0,63}")


def raw(session: Session, view: View, record: Record, *, reason: str | None, policy_set: Digest) -> bytes:
    """The exact bytes of a tool result. With a reason the read is recorded; without one secrets refuse it.

    Raises `InvalidOption`, `NotFound` for what is no tool result, `BodyErased`, `Damaged`.
    """
    body = record.body
    if not isinstance(body, ToolArtifact):
        raise NotFound(f"no tool result {record.id!r} in conversation {session.conversation.name!r}")
    if reason is not None and (not isinstance(reason, str) or _CODE.fullmatch(reason) is None):
        raise InvalidOption(
            f"reason is {shown(reason)}; it must be a code of a-z, 0-9 and _ . : - such as 'incident_4'"
        )
    payloads = [payload for part in body.content if (payload := content_payload(part)) is not None]
    content = b"".join(map(session.read, payloads))
    if reason is not None:
        note(session, view, record.id, reason, policy_set)
    elif session.redacting.marks(record, {}) or session.redacting.redaction.content(content) is not content:
        raise InvalidOption(
            f"{record.id} holds secrets: its exact bytes need privileged=True and a reason, and the read is recorded; "
            "recall gives it with markers in their place"
        )
    return content


def note(session: Session, view: View, artifact: RecordId, reason: str, policy_set: Digest) -> None:
    """Record who reads an artifact as it is, and why: the participant of the view, or else the user."""
    who = view.participant or session.conversation.user or "nobody"

    def draft(drafting: Drafting) -> None:
        decision = PolicyDecision(
            policy=Policy.PRIVACY,
            kind="privileged_read",
            verdict=f"read_by:{who}",
            rule=f"privacy.privileged_read.{reason}",
            policy_set=policy_set,
            governs=(artifact,),
        )
        drafting.add(decision, kind="decision")

    session.append(view, draft)
