"""The asynchronous face: the same methods by the same names, each run in a worker thread. No logic of its own."""

import asyncio
import os
import threading
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

from callsheet.assemble.needed import Needed
from callsheet.explain.absence import WhyNot
from callsheet.explain.difference import Difference
from callsheet.explain.sheet import Explained
from callsheet.graph.enums import ArtifactStatus, ForkReason, RunStatus, RuntimeMode
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ToolCall
from callsheet.graph.ports import Clock, Ids, Ledger, Signer
from callsheet.graph.record import Record
from callsheet.policy.sets import PolicySetDocument
from callsheet.recall.request import DEFAULT_LIMIT, Range
from callsheet.runtime.checking import Checked
from callsheet.runtime.comparing import Compared
from callsheet.runtime.conversation import DEFAULT_RESERVE, Conversation, PendingCall, Recorded, call_id
from callsheet.runtime.counters import Counters
from callsheet.runtime.executing import waiting
from callsheet.runtime.executing.approving import ApprovalRequest
from callsheet.runtime.executing.auditing import CallRecord
from callsheet.runtime.executing.executing import PARALLEL, Execution
from callsheet.runtime.executing.job import Executed
from callsheet.runtime.executing.pace import Pace
from callsheet.runtime.executing.tool import AnyTool
from callsheet.runtime.explaining import Rebuilt
from callsheet.runtime.opening import DEFAULT_TENANT
from callsheet.runtime.opening import open as open_sync
from callsheet.runtime.options import Time
from callsheet.runtime.recalling import Recalled
from callsheet.runtime.routing import Provider, Route
from callsheet.runtime.runtime import Runtime
from callsheet.runtime.searching import MOST_FOUND, Finding
from callsheet.runtime.sheet import Sheet
from callsheet.runtime.transcript import Item


async def open_async(
    location: str | os.PathLike[str],
    *,
    tenant: str = DEFAULT_TENANT,
    signer: Signer | None = None,
    ids: Ids | None = None,
    clock: Clock | None = None,
) -> "AsyncRuntime":
    """See `callsheet.open`. Use as ``async with await callsheet.open_async("agent.db") as runtime``."""
    runtime = await asyncio.to_thread(open_sync, location, tenant=tenant, signer=signer, ids=ids, clock=clock)
    return AsyncRuntime(runtime)


class AsyncRuntime:
    """See `Runtime`."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """See `Runtime.close`."""
        await asyncio.to_thread(self._runtime.close)

    @property
    def tenant(self) -> str:
        """See `Runtime.tenant`."""
        return self._runtime.tenant

    @property
    def ledger(self) -> Ledger:
        """See `Runtime.ledger`."""
        return self._runtime.ledger

    async def conversation(self, name: str, *, user: str | None = None) -> "AsyncConversation":
        """See `Runtime.conversation`."""
        return AsyncConversation(await asyncio.to_thread(self._runtime.conversation, name, user=user))

    async def conversations(self) -> list[str]:
        """See `Runtime.conversations`."""
        return await asyncio.to_thread(self._runtime.conversations)

    async def existing(self, name: str) -> "AsyncConversation":
        """See `Runtime.existing`."""
        return AsyncConversation(await asyncio.to_thread(self._runtime.existing, name))

    async def route(
        self,
        talk: "AsyncConversation",
        providers: Sequence[Provider],
        *,
        policy: str | PolicySetDocument | None = None,
    ) -> tuple[Route, ...]:
        """See `Runtime.route`."""
        return await talk.route(providers, policy=policy)


class AsyncConversation:
    """See `Conversation`."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

    @property
    def name(self) -> str:
        """See `Conversation.name`."""
        return self._conversation.name

    @property
    def id(self) -> str:
        """See `Conversation.id`."""
        return self._conversation.id

    @property
    def user(self) -> str | None:
        """See `Conversation.user`."""
        return self._conversation.user

    @property
    def branch_id(self) -> RecordId:
        """See `Conversation.branch_id`."""
        return self._conversation.branch_id

    @property
    def participant_id(self) -> RecordId | None:
        """See `Conversation.participant_id`."""
        return self._conversation.participant_id

    async def record(
        self,
        value: object,
        *,
        sheet: Sheet | str | None = None,
        at: Time | None = None,
        event: str | None = None,
        wire: str | None = None,
        status: ArtifactStatus | str | None = None,
    ) -> Recorded:
        """See `Conversation.record`."""
        return await asyncio.to_thread(
            self._conversation.record, value, sheet=sheet, at=at, event=event, wire=wire, status=status
        )

    async def pending(self) -> tuple[PendingCall, ...]:
        """See `Conversation.pending`."""
        return await asyncio.to_thread(self._conversation.pending)

    async def assemble(
        self,
        *,
        provider: str,
        model: str,
        budget: int | None = None,
        tools: Sequence[Mapping[str, object] | AnyTool] = (),
        policy: str | PolicySetDocument | None = None,
        now: Time | None = None,
        mode: RuntimeMode | str = RuntimeMode.CHAT,
        reserve: int = DEFAULT_RESERVE,
        recall: bool = True,
        needed: Needed | None = None,
    ) -> Sheet:
        """See `Conversation.assemble`."""
        return await asyncio.to_thread(
            self._conversation.assemble,
            provider=provider,
            model=model,
            budget=budget,
            tools=tools,
            policy=policy,
            now=now,
            mode=mode,
            reserve=reserve,
            recall=recall,
            needed=needed,
        )

    async def sheet(self, id: str) -> Sheet:
        """See `Conversation.sheet`."""
        return await asyncio.to_thread(self._conversation.sheet, id)

    async def sheets(self, *, newest: int | None = None) -> list[Sheet]:
        """See `Conversation.sheets`."""
        return await asyncio.to_thread(self._conversation.sheets, newest=newest)

    async def failed(
        self,
        sheet: Sheet | str | None = None,
        *,
        status: RunStatus | str = RunStatus.FAILED,
        error: str = "",
        reply: object = None,
    ) -> RecordId:
        """See `Conversation.failed`."""
        return await asyncio.to_thread(self._conversation.failed, sheet, status=status, error=error, reply=reply)

    async def execute(
        self,
        tools: Sequence[AnyTool],
        *,
        calls: Sequence[str | PendingCall] | None = None,
        parallel: int = PARALLEL,
        cancel: threading.Event | None = None,
        pace: Pace | None = None,
    ) -> Executed:
        """See `Conversation.execute`."""
        wanted = None if calls is None else tuple(call_id(call) for call in calls)
        execution = Execution(tools=tools, calls=wanted, parallel=parallel, cancel=cancel, pace=pace)
        return await waiting.execute(self._conversation._execute, execution)

    async def executions(self) -> tuple[CallRecord, ...]:
        """See `Conversation.executions`."""
        return await asyncio.to_thread(self._conversation.executions)

    async def approvals(self) -> tuple[ApprovalRequest, ...]:
        """See `Conversation.approvals`."""
        return await asyncio.to_thread(self._conversation.approvals)

    async def approve(self, call: str | PendingCall, *, by: str, arguments: str | None = None) -> RecordId:
        """See `Conversation.approve`."""
        return await asyncio.to_thread(self._conversation.approve, call, by=by, arguments=arguments)

    async def refuse(
        self, call: str | PendingCall, *, by: str, reason: str = "", arguments: str | None = None
    ) -> RecordId:
        """See `Conversation.refuse`."""
        return await asyncio.to_thread(self._conversation.refuse, call, by=by, reason=reason, arguments=arguments)

    async def settle(
        self,
        call: str | PendingCall,
        result: object,
        *,
        by: str,
        status: ArtifactStatus | str = ArtifactStatus.OK,
        reason: str = "",
    ) -> RecordId:
        """See `Conversation.settle`."""
        return await asyncio.to_thread(self._conversation.settle, call, result, by=by, status=status, reason=reason)

    async def repeat(self, call: str | PendingCall, *, by: str) -> RecordId:
        """See `Conversation.repeat`."""
        return await asyncio.to_thread(self._conversation.repeat, call, by=by)

    async def give_up(self, call: str | PendingCall, *, by: str, reason: str = "") -> RecordId:
        """See `Conversation.give_up`."""
        return await asyncio.to_thread(self._conversation.give_up, call, by=by, reason=reason)

    async def recall(
        self,
        reference: str,
        *,
        lines: Range | None = None,
        rows: Range | None = None,
        bytes: Range | None = None,
        characters: Range | None = None,
        pointer: str | None = None,
        search: str | None = None,
        limit: int = DEFAULT_LIMIT,
    ) -> Recalled:
        """See `Conversation.recall`."""
        return await asyncio.to_thread(
            self._conversation.recall,
            reference,
            lines=lines,
            rows=rows,
            bytes=bytes,
            characters=characters,
            pointer=pointer,
            search=search,
            limit=limit,
        )

    async def search(self, query: str, limit: int = MOST_FOUND) -> list[Finding]:
        """See `Conversation.search`."""
        return await asyncio.to_thread(self._conversation.search, query, limit)

    async def answer_recall(self, arguments: object) -> str:
        """See `Conversation.answer_recall`."""
        return await asyncio.to_thread(self._conversation.answer_recall, arguments)

    async def promote(
        self,
        *references: str,
        summary: str | None = None,
        payload: object = None,
        extractor: str = "rule",
        confidence: float | None = None,
        attributes: Mapping[str, str] | None = None,
    ) -> RecordId:
        """See `Conversation.promote`."""
        return await asyncio.to_thread(
            self._conversation.promote,
            *references,
            summary=summary,
            payload=payload,
            extractor=extractor,
            confidence=confidence,
            attributes=attributes,
        )

    async def demote(self, reference: str, reason: str) -> RecordId:
        """See `Conversation.demote`."""
        return await asyncio.to_thread(self._conversation.demote, reference, reason)

    async def check(self, memory: str) -> Checked:
        """See `Conversation.check`."""
        return await asyncio.to_thread(self._conversation.check, memory)

    async def branch(
        self,
        *,
        at: str | None = None,
        before: str | None = None,
        name: str | None = None,
        reason: ForkReason | str = ForkReason.FORK,
    ) -> "AsyncConversation":
        """See `Conversation.branch`."""
        made = await asyncio.to_thread(self._conversation.branch, at=at, before=before, name=name, reason=reason)
        return AsyncConversation(made)

    async def on(self, branch: str) -> "AsyncConversation":
        """See `Conversation.on`."""
        return AsyncConversation(await asyncio.to_thread(self._conversation.on, branch))

    async def branches(self) -> dict[str, RecordId]:
        """See `Conversation.branches`."""
        return await asyncio.to_thread(self._conversation.branches)

    async def participant(
        self, name: str, *, provider: str | None = None, model: str | None = None, persona: str | None = None
    ) -> "AsyncConversation":
        """See `Conversation.participant`."""
        made = await asyncio.to_thread(
            self._conversation.participant, name, provider=provider, model=model, persona=persona
        )
        return AsyncConversation(made)

    async def participants(self) -> dict[str, RecordId]:
        """See `Conversation.participants`."""
        return await asyncio.to_thread(self._conversation.participants)

    async def transcript(self, branch: str | None = None) -> list[Item]:
        """See `Conversation.transcript`."""
        return await asyncio.to_thread(self._conversation.transcript, branch)

    async def history(self) -> tuple[list[Record], dict[RecordId, ToolCall]]:
        """See `Conversation.history`."""
        return await asyncio.to_thread(self._conversation.history)

    async def raw(self, artifact: str, *, privileged: bool = False, reason: str | None = None) -> bytes:
        """See `Conversation.raw`."""
        return await asyncio.to_thread(self._conversation.raw, artifact, privileged=privileged, reason=reason)

    async def route(
        self, providers: Sequence[Provider], *, policy: str | PolicySetDocument | None = None
    ) -> tuple[Route, ...]:
        """See `Conversation.route`."""
        return await asyncio.to_thread(self._conversation.route, providers, policy=policy)

    async def counters(self) -> Counters:
        """See `Conversation.counters`."""
        return await asyncio.to_thread(self._conversation.counters)

    async def explain(self, sheet: Sheet | str) -> Explained:
        """See `Conversation.explain`."""
        return await asyncio.to_thread(self._conversation.explain, sheet)

    async def why_not(self, sheet: Sheet | str, record: str) -> WhyNot:
        """See `Conversation.why_not`."""
        return await asyncio.to_thread(self._conversation.why_not, sheet, record)

    async def difference(self, one: Sheet | str, other: Sheet | str) -> Difference:
        """See `Conversation.difference`."""
        return await asyncio.to_thread(self._conversation.difference, one, other)

    async def compare(
        self, before: str | PolicySetDocument, after: str | PolicySetDocument, *, newest: int = 100
    ) -> Compared:
        """See `Conversation.compare`."""
        return await asyncio.to_thread(self._conversation.compare, before, after, newest=newest)

    async def rebuild(self, sheet: Sheet | str) -> Rebuilt:
        """See `Conversation.rebuild`."""
        return await asyncio.to_thread(self._conversation.rebuild, sheet)
