"""The asynchronous face: the same methods by the same names, each run in a worker thread. No logic of its own."""

import asyncio
import os
import threading
from collections.abc import Awaitable, Sequence
from types import TracebackType
from typing import Self

from callsheet.graph.enums import Lifecycle, RunStatus
from callsheet.graph.ids import RecordId
from callsheet.graph.ports import Clock, Embedder, Ids, Ledger, Reranker, Signer
from callsheet.policy.sets import PolicySetDocument
from callsheet.runtime.awaiting import Faced, awaited, opening
from callsheet.runtime.conversation import Conversation, PendingCall, SubAgent
from callsheet.runtime.conversing.calls import call_id
from callsheet.runtime.documenting.knowledge import Knowledge
from callsheet.runtime.executing import waiting
from callsheet.runtime.executing.executing import PARALLEL, Execution
from callsheet.runtime.executing.job import Executed
from callsheet.runtime.executing.pace import Pace
from callsheet.runtime.executing.tool import AnyTool
from callsheet.runtime.opening import DEFAULT_TENANT
from callsheet.runtime.opening import open as open_sync
from callsheet.runtime.routing import Provider, Route
from callsheet.runtime.runtime import Runtime
from callsheet.runtime.skills import Skills
from callsheet.runtime.summarising import AnySummariser
from callsheet.runtime.typed import checked
from callsheet.runtime.working.worker import Worker


async def open_async(
    location: str | os.PathLike[str],
    *,
    tenant: str = DEFAULT_TENANT,
    signer: Signer | None = None,
    ids: Ids | None = None,
    clock: Clock | None = None,
    idle: float | None = None,
    worker: bool = False,
    embedder: str | Embedder | None = None,
    summariser: AnySummariser | None = None,
    reranker: Reranker | None = None,
    policy: str | PolicySetDocument | None = None,
) -> "AsyncRuntime":
    """See `callsheet.open`. Use as ``async with await callsheet.open_async("agent.db") as runtime``."""
    runtime = await asyncio.to_thread(
        open_sync,
        location,
        tenant=tenant,
        signer=signer,
        ids=ids,
        clock=clock,
        idle=idle,
        worker=worker,
        embedder=embedder,
        summariser=summariser,
        reranker=reranker,
        policy=policy,
    )
    return AsyncRuntime(runtime)


def _talk(made: Conversation) -> "AsyncConversation":
    return AsyncConversation(made)


def _sub_agent(made: SubAgent) -> "AsyncSubAgent":
    return AsyncSubAgent(made)


class AsyncRuntime(Faced[Runtime]):
    """See `Runtime`."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def tenant(self) -> str:
        """See `Runtime.tenant`."""
        return self._twin.tenant

    @property
    def ledger(self) -> Ledger:
        """See `Runtime.ledger`."""
        return self._twin.ledger

    @property
    def knowledge(self) -> "AsyncKnowledge":
        """See `Runtime.knowledge`."""
        return AsyncKnowledge(self._twin.knowledge)

    @property
    def skills(self) -> "AsyncSkills":
        """See `Runtime.skills`."""
        return AsyncSkills(self._twin.skills)

    @property
    def worker(self) -> Worker | None:
        """See `Runtime.worker`."""
        return self._twin.worker

    close = awaited(Runtime.close)
    conversation = opening(_talk, Runtime.conversation)
    conversations = awaited(Runtime.conversations)
    existing = opening(_talk, Runtime.existing)
    work = awaited(Runtime.work)

    # What is kept of users.
    remember = awaited(Runtime.remember)
    update = awaited(Runtime.update)
    contradict = awaited(Runtime.contradict)
    propose = awaited(Runtime.propose)
    accept = awaited(Runtime.accept)
    decline = awaited(Runtime.decline)
    pin = awaited(Runtime.pin)
    forget = awaited(Runtime.forget)
    memories = awaited(Runtime.memories)
    memory = awaited(Runtime.memory)

    async def route(
        self,
        talk: "AsyncConversation",
        providers: Sequence[Provider],
        *,
        policy: str | PolicySetDocument | None = None,
        scopes: Sequence[str] = (),
    ) -> tuple[Route, ...]:
        """See `Runtime.route`."""
        return await talk.route(providers, policy=policy, scopes=scopes)


class AsyncKnowledge(Faced[Knowledge]):
    """See `Knowledge`."""

    add = awaited(Knowledge.add)
    replace = awaited(Knowledge.replace)
    remove = awaited(Knowledge.remove)
    get = awaited(Knowledge.get)
    version = awaited(Knowledge.version)
    list = awaited(Knowledge.list)
    search = awaited(Knowledge.search)


class AsyncSkills(Faced[Skills]):
    """See `Skills`."""

    @property
    def any(self) -> Awaitable[bool]:
        """See `Skills.any`."""
        return asyncio.to_thread(lambda: self._twin.any)

    add = awaited(Skills.add)
    get = awaited(Skills.get)
    list = awaited(Skills.list)
    version = awaited(Skills.version)
    remove = awaited(Skills.remove)


class AsyncConversation(Faced[Conversation]):
    """See `Conversation`."""

    @property
    def name(self) -> str:
        """See `Conversation.name`."""
        return self._twin.name

    @property
    def id(self) -> str:
        """See `Conversation.id`."""
        return self._twin.id

    @property
    def user(self) -> str | None:
        """See `Conversation.user`."""
        return self._twin.user

    @property
    def branch_id(self) -> RecordId:
        """See `Conversation.branch_id`."""
        return self._twin.branch_id

    @property
    def participant_id(self) -> RecordId | None:
        """See `Conversation.participant_id`."""
        return self._twin.participant_id

    # Its life.
    @property
    def status(self) -> Awaitable[Lifecycle]:
        """See `Lives.status`."""
        return asyncio.to_thread(lambda: self._twin.status)

    archive = awaited(Conversation.archive)
    reopen = awaited(Conversation.reopen)
    gauge = awaited(Conversation.gauge)
    compact = awaited(Conversation.compact)
    compact_tool = awaited(Conversation.compact_tool)
    answer_compact = awaited(Conversation.answer_compact)

    # What goes in and what comes out.
    record = awaited(Conversation.record)
    scheduled = awaited(Conversation.scheduled)
    pending = awaited(Conversation.pending)
    failed = awaited(Conversation.failed)
    assemble = awaited(Conversation.assemble)
    route = awaited(Conversation.route)
    sheet = awaited(Conversation.sheet)
    sheets = awaited(Conversation.sheets)

    # Tools: those that are async functions run on the caller's own loop.
    @checked
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
        return await waiting.execute(self._twin._execute, execution)

    executions = awaited(Conversation.executions)
    approvals = awaited(Conversation.approvals)
    approve = awaited(Conversation.approve)
    refuse = awaited(Conversation.refuse)
    settle = awaited(Conversation.settle)
    repeat = awaited(Conversation.repeat)
    give_up = awaited(Conversation.give_up)

    # Exact evidence and memories.
    recall = awaited(Conversation.recall)
    search = awaited(Conversation.search)
    answer_recall = awaited(Conversation.answer_recall)
    raw = awaited(Conversation.raw)
    promote = awaited(Conversation.promote)
    demote = awaited(Conversation.demote)
    supersede = awaited(Conversation.supersede)
    conflict = awaited(Conversation.conflict)
    mark_stale = awaited(Conversation.mark_stale)
    check = awaited(Conversation.check)
    retention = awaited(Conversation.retention)
    pin = awaited(Conversation.pin)
    unpin = awaited(Conversation.unpin)
    feedback = awaited(Conversation.feedback)

    # What is kept of the user.
    remember = awaited(Conversation.remember)
    propose = awaited(Conversation.propose)
    remember_tool = awaited(Conversation.remember_tool)
    answer_remember = awaited(Conversation.answer_remember)
    user_memories = awaited(Conversation.user_memories)

    # Other views.
    branch = opening(_talk, Conversation.branch)
    on = opening(_talk, Conversation.on)
    edit = opening(_talk, Conversation.edit)
    regenerate = opening(_talk, Conversation.regenerate)
    send = opening(_talk, Conversation.send)
    merge = awaited(Conversation.merge)
    participant = opening(_talk, Conversation.participant)
    spawn = opening(_sub_agent, Conversation.spawn)
    children = awaited(Conversation.children)
    child = opening(_sub_agent, Conversation.child)

    # Those who take part, and what they are given.
    participants = awaited(Conversation.participants)
    instruct = awaited(Conversation.instruct)
    share = awaited(Conversation.share)
    release = awaited(Conversation.release)
    withdraw = awaited(Conversation.withdraw)

    # Skills and checkpoints.
    offer_skills = awaited(Conversation.offer_skills)
    activate = awaited(Conversation.activate)
    deactivate = awaited(Conversation.deactivate)
    skills = awaited(Conversation.skills)
    answer_skill = awaited(Conversation.answer_skill)
    checkpoint = awaited(Conversation.checkpoint)
    resume = awaited(Conversation.resume)
    checkpoints = awaited(Conversation.checkpoints)

    # Reading and explaining.
    branches = awaited(Conversation.branches)
    transcript = awaited(Conversation.transcript)
    history = awaited(Conversation.history)
    counters = awaited(Conversation.counters)
    explain = awaited(Conversation.explain)
    why_not = awaited(Conversation.why_not)
    trace = awaited(Conversation.trace)
    difference = awaited(Conversation.difference)
    rebuild = awaited(Conversation.rebuild)
    compare = awaited(Conversation.compare)
    memories = awaited(Conversation.memories)


class AsyncSubAgent(AsyncConversation):
    """See `SubAgent`."""

    def __init__(self, twin: SubAgent) -> None:
        super().__init__(twin)
        self._sub_agent = twin

    @property
    def run_id(self) -> RecordId:
        """See `SubAgent.run_id`."""
        return self._sub_agent.run_id

    async def complete(self, report: str | None = None, *, release: Sequence[str] = ()) -> RecordId:
        """See `SubAgent.complete`."""
        return await asyncio.to_thread(self._sub_agent.complete, report, release=release)

    async def fail(self, error: str, *, status: RunStatus | str = RunStatus.FAILED) -> RecordId:
        """See `SubAgent.fail`."""
        return await asyncio.to_thread(self._sub_agent.fail, error, status=status)
