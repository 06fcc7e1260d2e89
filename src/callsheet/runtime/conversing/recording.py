"""What goes in: what was said and done, and requests that failed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from callsheet.assemble import blocks
from callsheet.assemble.contents import text_of
from callsheet.errors import InvalidMessage, InvalidOption
from callsheet.graph.enums import ArtifactStatus, Privacy, RunStatus
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message, ToolArtifact
from callsheet.graph.times import instant
from callsheet.recall.tool import NAME as RECALL
from callsheet.runtime import scheduling
from callsheet.runtime.admitting import policy_of
from callsheet.runtime.conversing.calls import PendingCall
from callsheet.runtime.conversing.sheets import Shows
from callsheet.runtime.drafting import Shown
from callsheet.runtime.failing import Failure, failed
from callsheet.runtime.options import Time, choice, label
from callsheet.runtime.recording import Item as Recordable
from callsheet.runtime.recording import Recording, check_sheet, own_sheet, waiting_sheet
from callsheet.runtime.sheet import Sheet
from callsheet.runtime.tail import Tail
from callsheet.wire import formats

_APART = "\x1f"
"""Between the name of an event and the participant whose event it is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Recorded:
    """What one `record` call put into the history."""

    #: Messages and artifacts, in order.
    ids: tuple[RecordId, ...]
    #: Calls that wait for a result on this branch, oldest first.
    pending: tuple[PendingCall, ...] = ()


class Records(Shows):
    """Records what happens."""

    def record(
        self,
        value: object,
        *,
        sheet: Sheet | str | None = None,
        assembled: bool = True,
        at: Time | None = None,
        event: str | None = None,
        wire: str | None = None,
        status: ArtifactStatus | str | None = None,
    ) -> Recorded:
        """Record what was said or done: a message, a provider's response, or a list of them, as one transaction.

        Takes the provider's own shapes, as dict or SDK object; `wire` (``openai`` or ``anthropic``) is recognised by
        the shape where it is not given. A response records the run that produced it, with the usage it reports, and
        is joined to `sheet`; without one, to the sheet that this branch and participant have not answered yet.
        ``assembled=False`` says that the request it answers was not assembled here: it is joined to none. A tool
        result is paired with its call by id and position, and `status` says how the execution ended where the shape
        does not. Sending the same `event` again changes nothing and returns no ids. `at` is when it happened; default:
        now.

        Raises `InvalidMessage` for a shape that is wrong, with the place and the value, and `AmbiguousSheet`; then
        nothing was recorded. What is merely odd (no id, no call, cut-off arguments) is recorded with a defect mark.
        """
        try:
            items = formats.parse(value, formats.wire_named(wire) if wire is not None else None)
        except InvalidMessage as problem:
            # It shows the value that is wrong, which may be a secret.
            problem.args = (self._session.redacting.redaction.text(str(problem)),)
            raise
        if sheet is not None and not isinstance(sheet, Sheet):
            sheet = self.sheet(sheet)
        given = Shown(sheet=sheet.id, record=sheet.record) if sheet is not None else None
        shown = check_sheet(self._session, self._view, items, given)
        if shown is not None and not assembled:
            raise InvalidOption("assembled=False says that there is no sheet, and sheet= names one")
        if shown is None and assembled and any(isinstance(item, blocks.Reply) for item in items):
            shown = waiting_sheet(self._session, self._view)
        recording = Recording(
            items=items,
            shown=shown,
            status=choice(ArtifactStatus, status, "status") if status is not None else None,
            at=instant(at) if at is not None else None,
            event=self._own_event(event) if event is not None else None,
            declared=self._declared(items),
        )
        return self._put(recording)

    def _put(self, recording: Recording) -> Recorded:
        tail, records = self._session.append(self._view, recording.draft)
        ids = tuple(record.id for record in records if isinstance(record.body, Message | ToolArtifact))
        return Recorded(ids=ids, pending=self._pending(tail))

    def scheduled(self, task: str, content: object, *, at: Time | None = None, event: str | None = None) -> Recorded:
        """Record the turn of a scheduled task that has come due: what the user would say, under the task's name.

        `content` is text, or a message of the user in a provider's shape. Go on with ``assemble(mode="scheduled")``,
        which takes the normal path; what is recorded in answer belongs to the task too. `at` and `event` are as in
        `record`: with an `event` of its own each time counts once. Raises `InvalidMessage`, `InvalidOption`.
        """
        recording = Recording(
            items=scheduling.turn(content),
            at=instant(at) if at is not None else None,
            event=self._own_event(event) if event is not None else None,
        )
        due = scheduling.Scheduled(task=label(task, "task"), recording=recording)
        tail, records = self._session.append(self._view, due.draft)
        ids = tuple(record.id for record in records if isinstance(record.body, Message))
        return Recorded(ids=ids, pending=self._pending(tail))

    def _declared(self, items: Sequence[Recordable]) -> Mapping[str, Privacy]:
        """The classes that the contracts of the sheet's policy set declare, where an answer of a recall is recorded."""
        calls = self._session.tail(self._view).open.values()
        answers = any(isinstance(item, blocks.Answer) for item in items)
        shown = self._shown() if answers and any(call.body.tool == RECALL for call in calls) else None
        if shown is None:
            return {}
        tools = policy_of(self._session, shown.pins.policy_set).tools
        return {tool.name: tool.privacy for tool in tools if tool.privacy is not None}

    def _own_event(self, event: str) -> str:
        # Another participant's events must not keep this one's from being recorded. Doubled within a name, the sign
        # stands alone before a participant only: no name of one is that of another.
        name = label(event, "event").replace(_APART, _APART * 2)
        return name if self.participant_id is None else f"{name}{_APART}{self.participant_id}"

    def failed(
        self,
        sheet: Sheet | str | None = None,
        *,
        status: RunStatus | str = RunStatus.FAILED,
        error: str = "",
        reply: object = None,
    ) -> RecordId:
        """Record a model request that failed: how, and what it cost. Returns the run's id.

        `sheet` is what was sent; without one, the sheet that is not answered yet. `status` is ``failed``,
        ``timed_out``, ``cancelled`` or ``refused``. A `reply` that does not count, such as an empty one, gives the
        usage; its message is not recorded. The same sheet can be sent again; no request shows failed attempts. Raises
        `NotFound`, and `InvalidOption` for a sheet of another participant, sub-agent or branch, as `record` does.
        """
        if isinstance(sheet, str):
            sheet = self.sheet(sheet)
        shown = Shown(sheet=sheet.id, record=sheet.record) if sheet is not None else None
        if shown is not None:
            own_sheet(self._session, self._view, shown)
        failure = Failure(status=choice(RunStatus, status, "status"), error=error, reply=reply)
        return failed(self._session, self._view, shown or waiting_sheet(self._session, self._view), failure)

    def pending(self) -> tuple[PendingCall, ...]:
        """The calls that wait for a result here, oldest first; also those that a crash left open.

        A participant's calls are its own: ask the view of the participant for them.
        """
        return self._pending(self._session.tail(self._view, fresh=True))

    def _pending(self, tail: Tail) -> tuple[PendingCall, ...]:
        return tuple(
            PendingCall(
                id=known.id,
                provider_id=known.body.provider_id,
                tool=known.body.tool,
                turn=known.body.message,
                arguments=text_of(self._session.read(known.body.arguments)),
            )
            for known in tail.open.values()
        )
