"""Results: of executions, of recalls, and of what sub-agents and other branches give."""

from dataclasses import dataclass

from msgspec.structs import replace

from callsheet.assemble import blocks
from callsheet.graph import values
from callsheet.graph.canonical import content_digest
from callsheet.graph.enums import ArtifactStatus, Defect, Privacy
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ToolArtifact
from callsheet.graph.times import Instant
from callsheet.graph.values import DEFAULT_PRIVACY
from callsheet.runtime.drafting.content import storable_name, text_bytes
from callsheet.runtime.drafting.showing_again import ShowingAgain, text_of_recall
from callsheet.runtime.labels import strictest
from callsheet.runtime.matching import Match, match
from callsheet.runtime.naming import TOLD, found_in
from callsheet.runtime.tail import KnownCall


@dataclass(frozen=True, kw_only=True, slots=True)
class Ran:
    """An execution by Callsheet: its call, and what is known beside what came of it."""

    call: KnownCall
    started: Instant | None = None
    retry: values.RetryContract | None = None
    #: The class that the tool's contract declares.
    privacy: Privacy = DEFAULT_PRIVACY
    #: A JSON object.
    metadata: bytes = b""
    defects: tuple[Defect, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """What a sub-agent or another branch gives to this one."""

    #: What it comes from, as a request names it.
    source: str
    text: str
    status: ArtifactStatus = ArtifactStatus.OK
    #: The strictest class of what it rests on.
    privacy: Privacy = DEFAULT_PRIVACY
    retry: values.RetryContract | None = None
    #: A JSON object.
    metadata: bytes = b""
    #: The records whose words it gives again.
    copies: tuple[RecordId, ...] = ()


@dataclass(kw_only=True, slots=True)
class Results(ShowingAgain):
    """Drafts what came of calls."""

    def answered(self, answer: blocks.Answer, status: ArtifactStatus | None, ran: Ran | None = None) -> RecordId:
        """Draft the artifact of a tool execution, paired with the call that ran, or else by position."""
        id, tool = storable_name(answer.call), self._named(answer.tool)
        found = match(id, tool, self.tail) if ran is None else Match(call=ran.call, defects=ran.defects)
        call = found.call
        recalled = text_of_recall(call.body, answer) if call else ""
        original = self._original(call.body, recalled) if call and recalled else None
        raw = [_content_bytes(part) for part in answer.content]
        body = ToolArtifact(
            call=call.id if call else None,
            provider_id=id,
            tool=call.body.tool if call else tool,
            arguments_digest=call.body.arguments.digest if call else None,
            arguments_size=call.body.arguments.size if call else 0,
            content=tuple(self._content(part) for part in answer.content),
            form=answer.form,
            digest=content_digest(raw[0] if len(raw) == 1 else b"".join(raw)),
            size=sum(map(len, raw)),
            status=status or (ArtifactStatus.FAILED if answer.failed else ArtifactStatus.OK),
            started=ran.started if ran else None,
            finished=self.at,
            message=call.body.message if call else None,
            retry=ran.retry if ran else None,
            recalls=original.id if original else None,
            wire=answer.wire,
            event=self.event,
            extras=answer.extras,
            metadata=ran.metadata if ran else b"",
            defects=(*answer.defects, *found.defects),
        )
        # A result belongs to whoever the call belongs to: else answering another's call would hide its answer.
        scope = self.worked(replace(call.scope, branch=self.tail.branch) if call else self.private(None))
        given = self._turns(call.body) if call and recalled.startswith(TOLD) else self._visible(found_in(recalled))
        privacy = self.class_of([original] if original else given)
        if ran is not None:
            privacy = strictest([privacy, ran.privacy])
        return self.add(body, kind="artifact", scope=scope, call=call.body if call else None, privacy=privacy)

    def released(self, release: Release, call: KnownCall | None) -> RecordId:
        """Draft the artifact that shows here what was done elsewhere: as the result of its call where it has one."""
        raw = text_bytes(release.text)
        body = ToolArtifact(
            call=call.id if call else None,
            provider_id=call.body.provider_id if call else None,
            tool=call.body.tool if call else release.source,
            arguments_digest=call.body.arguments.digest if call else None,
            arguments_size=call.body.arguments.size if call else 0,
            content=(values.Text(text=self.payload(release.text), o200k=self._count(release.text)),),
            digest=content_digest(raw),
            size=len(raw),
            status=release.status,
            finished=self.at,
            message=call.body.message if call else None,
            retry=release.retry,
            copies=release.copies,
            metadata=release.metadata,
        )
        # What a participant is given is its own, with a call and without.
        scope = self.worked(replace(call.scope, branch=self.tail.branch) if call else self.private(None))
        return self.add(body, kind="artifact", scope=scope, call=call.body if call else None, privacy=release.privacy)


def _content_bytes(part: blocks.Content) -> bytes:
    if isinstance(part, blocks.Text):
        return text_bytes(part.text)
    return part.raw if isinstance(part, blocks.Opaque) else part.data or b""
