"""How a sub-agent ends, and what its parent gets of its work."""

import json
from dataclasses import dataclass
from typing import NamedTuple

from callsheet.assemble import blocks
from callsheet.assemble.forms import reference as short
from callsheet.errors import InvalidOption
from callsheet.graph.changes import Released, RunEnded
from callsheet.graph.enums import (
    ArtifactStatus,
    Role,
    RunStatus,
)
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message, PolicyDecision, ToolArtifact
from callsheet.graph.record import Record
from callsheet.graph.values import CallRef, Digest, Scope
from callsheet.runtime.children import name_of, status_of
from callsheet.runtime.drafting import Drafting, Release
from callsheet.runtime.options import label, shown
from callsheet.runtime.originals import source
from callsheet.runtime.resolving import resolve
from callsheet.runtime.seeing import Sight, sight
from callsheet.runtime.session import Session, View
from callsheet.wire.cleaning import storable

LONGEST_ERROR = 500
"""Characters of an error that the parent is told."""

ENDED = {
    RunStatus.COMPLETED: ArtifactStatus.OK,
    RunStatus.FAILED: ArtifactStatus.FAILED,
    RunStatus.TIMED_OUT: ArtifactStatus.TIMED_OUT,
    RunStatus.CANCELLED: ArtifactStatus.CANCELLED,
}
"""How a sub-agent may end, and what its parent has then."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """How a sub-agent ends, and what of its work its parent gets."""

    status: RunStatus
    #: None: what it said last.
    report: str | None = None
    error: str | None = None
    #: References to results of the child that the parent may read from here on: files it made, notes on purpose.
    files: tuple[str, ...] = ()
    policy_set: Digest


def error_text(error: object) -> str:
    """What is said of a failure: whatever an exception says, in as much as can be stored and told."""
    if not isinstance(error, str):
        raise InvalidOption(f"error is {shown(error)}; it must be text")
    said = " ".join(storable(error).split())[:LONGEST_ERROR]
    return said or "it did not say why"


def end(session: Session, parent: View, child: View, ending: Ending) -> RecordId:
    """End a sub-agent and put what it gives back on its parent's branch, in one transaction. Returns that result's id.

    Raises `InvalidOption` where it has ended already, or has said nothing and no report is given.
    """
    run = child.carries.sub_agent
    assert run is not None
    seen = sight(session, child)
    files = tuple(_released(seen, reference) for reference in ending.files)
    made: list[RecordId] = []

    def draft(drafting: Drafting) -> None:
        if status_of(session, drafting.tail, run) is not RunStatus.STARTED:
            raise InvalidOption(f"sub-agent {name_of(session, child.branch)!r} has ended already")
        beside = session.beside(drafting, child)
        final = _final(seen, beside, ending)
        text = final.text if final is not None else _recovery(seen, ending)
        privacy = beside.class_of(list(seen.newest()))
        source = f"sub-agent {name_of(session, child.branch)}"
        if files:
            text = "\n".join([text, *(f"released: {_described(record)}" for record in files)])
        release = Release(
            source=source,
            text=text,
            status=ENDED[ending.status],
            privacy=privacy,
            metadata=json.dumps({"sub_agent": run}).encode(),
            copies=(final.record,) if final is not None else (),
        )
        asked = child.carries.parent_call
        call = drafting.tail.open.get(asked) if asked is not None else None
        drafting.join(beside)
        made[:] = [drafting.released(release, call)]
        decision = PolicyDecision(
            kind="release", verdict=ending.status.value, policy_set=ending.policy_set, governs=(run, *made), run=run
        )
        decided = drafting.add(decision, kind="decision")
        if files:
            opened = tuple(record.id for record in files)
            readers = (parent.participant or parent.branch,)
            drafting.add(Released(records=opened, to=readers, reason=decided), kind="released")
        ended = RunEnded(run=run, status=ending.status, error=ending.error, finished=drafting.at)
        # For every branch: it ends once, wherever it is asked for.
        drafting.add(ended, kind="run_ended", scope=Scope())

    session.append(parent, draft, late=True)  # the parent may have ended before its sub-agent
    return made[0]


def _released(seen: Sight, reference: str) -> Record:
    return resolve(seen, label(reference, "a released reference"))


class _Final(NamedTuple):
    """What a sub-agent said last, and where that stands."""

    text: str
    record: RecordId


def _final(seen: Sight, child: Drafting, ending: Ending) -> _Final | None:
    """The report; one that is given is what the child said last."""
    if ending.status is not RunStatus.COMPLETED:
        return None
    if ending.report is not None:
        said = blocks.Said(role=Role.ASSISTANT, parts=(blocks.Text(text=ending.report),))
        return _Final(ending.report, child.said(said))
    for record in seen.newest():
        body = record.body
        if isinstance(body, Message) and body.role is Role.ASSISTANT:
            text = source(seen, record).text or ""
            if text.strip() and not any(isinstance(part, CallRef) for part in body.parts):
                return _Final(text, record.id)
            break
    raise InvalidOption("the sub-agent's last word is no answer; pass report=, or fail() it")


def _recovery(seen: Sight, ending: Ending) -> str:
    """What a parent has to know of a child that did not get through: how it ended and how far it came."""
    calls = [record for record in seen.newest() if isinstance(record.body, ToolArtifact)]
    done = sum(record.body.status is ArtifactStatus.OK for record in calls if isinstance(record.body, ToolArtifact))
    error = " ".join((ending.error or "").split())
    why = f": {error[:LONGEST_ERROR]}" if error else ""
    return f"The sub-agent {ending.status.value.replace('_', ' ')}{why}. {done} of its tool calls had succeeded."


def _described(record: Record) -> str:
    body = record.body
    if isinstance(body, ToolArtifact):
        return f"result of {body.tool or 'a tool'}, {body.size:,} bytes, reference {short(record.id)}"
    return f"message, reference {short(record.id)}"
