"""The execution of a branch's open calls, from what the caller asks for to what came of it."""

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from callsheet.assemble.contents import text_of
from callsheet.errors import InvalidOption
from callsheet.graph.enums import ArtifactStatus, Privacy
from callsheet.graph.ids import RecordId
from callsheet.policy.contracts import ToolContract, contracts
from callsheet.policy.sets import PolicySetDocument
from callsheet.runtime.children import at_work, tools_of
from callsheet.runtime.drafting import Drafting, Ran
from callsheet.runtime.executing import holding, results
from callsheet.runtime.executing.asked import of_the_caller, offered, withdrawn
from callsheet.runtime.executing.carrying import Carrying
from callsheet.runtime.executing.claiming import Claiming, Lease
from callsheet.runtime.executing.finding import open_call
from callsheet.runtime.executing.job import Executed, Outcome
from callsheet.runtime.executing.pace import Pace, SystemPace
from callsheet.runtime.executing.tool import AnyTool, Tool, by_name
from callsheet.runtime.options import positive
from callsheet.runtime.session import Session, View
from callsheet.runtime.tail import KnownCall

PARALLEL = 4
"""Calls that run at once unless the caller says otherwise."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Execution:
    """What is to be executed, and on what terms."""

    tools: Sequence[AnyTool]
    calls: Sequence[str] | None = None
    parallel: int = PARALLEL
    cancel: threading.Event | None = None
    loop: asyncio.AbstractEventLoop | None = None
    pace: Pace | None = None


Own: TypeAlias = Mapping[str, Callable[[str], str]]
"""What answers the calls of our own tools, by name, from the arguments that the model wrote."""


def execute(session: Session, view: View, execution: Execution, policy: PolicySetDocument, own: Own) -> Executed:
    """Run the open calls of a view; see `Conversation.execute`. The contracts of the policy set go over the tools'."""
    allowed = tools_of(session, view)
    tools = {name: tool for name, tool in by_name(execution.tools).items() if allowed is None or name in allowed}
    tail = session.tail(view, fresh=True)
    named = None if execution.calls is None else [open_call(session, view, tail, id) for id in execution.calls]
    wanted = frozenset(call.id for call in named) if named is not None else None
    lease = Lease(id=session.ids.record("lease"), holder=holding.holder())
    ours = {name: answer for name, answer in own.items() if name not in tools}

    def is_ours(call: KnownCall) -> bool:
        return call.body.tool in ours and not of_the_caller(session, view, tail.lineage, call)

    claiming = Claiming(
        tools=tools,
        contracts=_terms(tools, policy),
        lease=lease,
        read=session.read,
        handed=lambda: at_work(session, view),
        offered=lambda call: offered(session, tail.lineage, call),
        withdrawn=lambda call: withdrawn(session, view, tail.lineage, call),
        own=is_ours,
        allowed=allowed,
        wanted=wanted,
    )
    carrying = Carrying(
        session=session,
        view=view,
        lease=lease,
        pace=execution.pace or SystemPace(),
        parallel=positive(execution.parallel, "parallel"),
        cancel=execution.cancel,
        loop=execution.loop,
    )
    outcomes = dict(carrying.run(claiming))
    declared = {tool.name: tool.privacy for tool in policy.tools if tool.privacy is not None}
    for call in tail.open.values():
        if is_ours(call) and (wanted is None or call.id in wanted):
            outcomes[call.id] = _answered(session, view, call, declared, ours[call.body.tool])
    order = [*tail.open, *outcomes]
    return Executed(outcomes=tuple(outcomes[id] for id in dict.fromkeys(order) if id in outcomes))


def _answered(
    session: Session, view: View, call: KnownCall, declared: Mapping[str, Privacy], answer: Callable[[str], str]
) -> Outcome:
    """Answer a call of a tool of our own, which changes nothing outside."""
    said = results.said(call.body, answer(text_of(session.read(call.body.arguments))))
    made: list[RecordId] = []

    def draft(drafting: Drafting) -> None:
        drafting.declared = declared
        made.clear()
        if call.id in drafting.tail.open:
            made.append(drafting.answered(said, ArtifactStatus.OK, Ran(call=call)))

    session.append(view, draft)
    return Outcome(
        call=call.id,
        provider_id=call.body.provider_id,
        tool=call.body.tool,
        status=ArtifactStatus.OK,
        artifact=made[0] if made else None,
        attempts=1,
    )


def _terms(tools: Mapping[str, Tool[..., object]], policy: PolicySetDocument) -> dict[str, ToolContract]:
    """The contract of each tool; raises `InvalidOption` where a policy set moves its idempotency key."""
    found = dict(contracts([tool.contract for tool in tools.values()], policy.tools))
    for name, tool in tools.items():
        if found[name].idempotency_key != tool.contract.idempotency_key:
            raise InvalidOption(f"the policy set names another idempotency key of {name!r} than its function takes")
    return found
