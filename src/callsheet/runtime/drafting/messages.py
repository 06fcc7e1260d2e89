"""Messages with their calls, and the runs that produced them."""

from dataclasses import dataclass

from msgspec.structs import replace

from callsheet.assemble import blocks
from callsheet.assemble.sizes import RECORDED_IN
from callsheet.graph import values
from callsheet.graph.enums import Defect, InstructionScope, Privacy, Role, RunStatus
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary, ContextAssembly, Message, ModelRun, ToolCall
from callsheet.graph.values import DEFAULT_PRIVACY, Scope
from callsheet.runtime.drafting.content import storable_name
from callsheet.runtime.drafting.drafts import Drafts
from callsheet.runtime.labels import of_sheet
from callsheet.wire.cleaning import storable
from callsheet.wire.tokens import count


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """The sheet that a run was shown."""

    sheet: RecordId
    record: ContextAssembly

    @property
    def boundary(self) -> Boundary:
        """Who was about to generate."""
        return self.record.boundary


@dataclass(kw_only=True, slots=True)
class Messages(Drafts):
    """Drafts what was said, and what it asks for."""

    def said(self, said: blocks.Said, instruction: InstructionScope | None = None) -> RecordId:
        """Draft a message that no request of ours produced; an assistant's gets a run all the same."""
        if said.role is Role.ASSISTANT:
            return self.replied(blocks.Reply(said=said, status=RunStatus.COMPLETED), None)
        if instruction is None and said.role in (Role.SYSTEM, Role.DEVELOPER):
            instruction = InstructionScope.CONVERSATION
        return self.message(said, self.shared(), instruction)

    def replied(self, reply: blocks.Reply, shown: Shown | None) -> RecordId:
        """Draft a run and the message that it produced. Returns the message's id."""
        run = ModelRun(
            status=reply.status,
            requested_provider=shown.boundary.provider if shown else None,
            requested_model=shown.boundary.model if shown else None,
            answered_model=storable_name(reply.model),
            sheet=shown.sheet if shown else None,
            trigger=shown.boundary.trigger if shown else None,
            usage=reply.usage,
            finish=storable_name(reply.finish),
            response=storable_name(reply.response),
            metadata=reply.extras,
        )
        if shown is not None:
            self.carries = replace(self.carries, mode=shown.boundary.mode, task=shown.boundary.task)
        # What a model says of data is as private as the data: its answer is of the class of what it was shown.
        label = of_sheet(shown.record) if shown is not None else DEFAULT_PRIVACY
        made = self.add(run, kind="run", scope=self.private(None), privacy=label)
        # A finished answer is for everyone on the branch; a message that only asks for tools is the run's own work.
        shared = replace(self.shared(), run=made)
        scope = self.worked(self.private(made)) if reply.said.calls else shared
        return self.message(reply.said, scope, None, label)

    def message(
        self,
        said: blocks.Said,
        scope: Scope,
        instruction: InstructionScope | None,
        privacy: Privacy = DEFAULT_PRIVACY,
        cites: tuple[RecordId, ...] = (),
    ) -> RecordId:
        """Draft a message with its calls, in the ownership that is given. Returns the message's id."""
        id = self.ids.record("message")
        call_ids = [self.ids.record("call") for _ in said.calls]
        references = iter(call_ids)
        parts = tuple(
            values.CallRef(call=next(references)) if isinstance(part, blocks.Call) else self._part(part)
            for part in said.parts
        )
        body = Message(
            role=said.role,
            parts=parts,
            form=said.form,
            wire=said.wire,
            name=self._named(said.name),
            instruction=instruction,
            cites=cites,
            event=self.event,
            extras=said.extras,
            defects=said.defects,
        )
        self.add(body, kind="message", scope=scope, id=id, privacy=privacy)
        for index, (call_id, call) in enumerate(zip(call_ids, said.calls, strict=True)):
            self.add(
                self._call(call, id, index), kind="call", scope=self.private(scope.run), id=call_id, privacy=privacy
            )
        return id

    def _call(self, call: blocks.Call, message: RecordId, index: int) -> ToolCall:
        defects = call.defects
        id, tool = storable_name(call.id), self._redaction.name(storable(call.tool))
        if id and self._in_use(id):
            defects = (*defects, Defect.REPEATED_ID)
        return ToolCall(
            message=message,
            index=index,
            tool=tool,
            arguments=self.payload(call.arguments, digest=True),
            o200k=count(tool, RECORDED_IN) + count(call.arguments, RECORDED_IN),
            provider_id=id,
            kind=storable(call.kind),
            wire=call.wire,
            extras=call.extras,
            defects=defects,
        )

    def _in_use(self, id: str) -> bool:
        """Whether a call with this provider's id is open, or was answered in the newest turn."""
        answered = self.tail.answered.values()
        return bool(self.tail.named(id)) or any(known.body.provider_id == id for known in answered)
