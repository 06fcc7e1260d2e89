"""Playing a scenario: its steps happen in a store in memory, with a clock that stands still and ids that repeat."""

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import singledispatchmethod

from callsheet.errors import CallsheetError, InputError
from callsheet.evaluate.scenarios import steps as st
from callsheet.evaluate.scenarios.document import Request, Scenario
from callsheet.evaluate.scenarios.marking import Marking
from callsheet.evaluate.scenarios.reading import content_text
from callsheet.graph.ids import RecordId
from callsheet.runtime.conversation import Conversation, SubAgent
from callsheet.runtime.opening import MEMORY, open
from callsheet.runtime.runtime import Runtime
from callsheet.runtime.sheet import Sheet
from callsheet.runtime.sources import RandomIds
from callsheet.testing import FixedClock, SequenceIds

A_TURN = 60.0
"""Seconds before what user or assistant say, where a step does not tell."""

MAIN = "main"


class LongIds(SequenceIds):
    """Ids that are as long as real ones, and the same at each run: requests show their beginnings, which cost tokens."""

    def record(self, kind: str) -> RecordId:
        """The next id of a kind."""
        prefix = RandomIds().record(kind).rpartition("_")[0]
        number = super().record(kind)
        digest = hashlib.sha256(number.encode()).digest()[:15]
        return RecordId(f"{prefix}_{base64.b32encode(digest).decode('ascii').lower()}")


@dataclass(kw_only=True)
class Played:
    """One scenario as it was played for one model."""

    scenario: Scenario
    provider: str
    model: str
    clock: FixedClock
    runtime: Runtime
    talk: Conversation
    marking: Marking
    #: All that was said, called and given back, on all branches and by everybody, in the shape of an OpenAI request.
    said: list[dict[str, object]] = field(default_factory=list)
    #: Records by the name that the document gives them.
    known: dict[str, str] = field(default_factory=dict)
    #: Branches and sub-agents by name.
    views: dict[str, Conversation] = field(default_factory=dict)
    sheet: Sheet | None = None

    # ------------------------------------------------------------------ looking up

    def view(self, on: str | None, by: str | None) -> Conversation:
        """The view of a branch or sub-agent, for a participant. Raises `InputError` for one that there is not."""
        name = on or MAIN
        if name not in self.views:
            raise InputError(f"there is no branch or sub-agent {name!r} yet; there are: {', '.join(self.views)}")
        view = self.views[name]
        return view.participant(by) if by is not None else view

    def id(self, name: str) -> str:
        """The record with this name. Raises `InputError`."""
        if name not in self.known:
            raise InputError(f"no record is called {name!r} yet; there are: {', '.join(self.known) or 'none'}")
        return self.known[name]

    def ids(self, names: str | Sequence[str]) -> tuple[str, ...]:
        """Those with these names."""
        return tuple(map(self.id, (names,) if isinstance(names, str) else names))

    # ------------------------------------------------------------------ doing

    def assemble(self, request: Request) -> tuple[Conversation, Sheet]:
        """The request of a boundary, and the view that it was assembled on."""
        view = self.view(request.on, request.by)
        return view, view.assemble(
            provider=self.provider,
            model=self.model,
            policy=self.scenario.policy,
            budget=request.budget,
            tools=request.tools,
            mode=request.mode,
            checkpoint=self.id(request.checkpoint) if request.checkpoint is not None else None,
            recall=request.recall,
        )

    def play(self) -> None:
        """All steps. Raises `InputError` that names the step that cannot happen."""
        for place, step in zip(self.scenario.step_places, self.scenario.steps, strict=True):
            try:
                self._happen(step)
            except (CallsheetError, ValueError) as problem:
                raise InputError(f"{place}: this step cannot happen: {problem}") from problem

    def _happen(self, step: st.Step) -> None:
        turn = A_TURN if isinstance(step, st.User | st.Assistant | st.Send | st.Edit) else 0.0
        self.clock.advance(turn if step.after is None else step.after)
        made = self._do(step, self.view(step.on, step.by))
        if step.named is not None:
            if made is None:
                raise InputError(f"nothing is recorded that could be called {step.named!r}")
            self.known[step.named] = made

    @singledispatchmethod
    def _do(self, step: st.Step, view: Conversation) -> str | None:
        raise InputError(f"{type(step).__name__.lower()} is no step")

    def _record(self, view: Conversation, message: dict[str, object], status: str | None = None) -> str:
        self.said.append(message)
        return view.record(message, status=status).ids[0]

    @_do.register
    def _(self, step: st.System, view: Conversation) -> str:
        return self._record(view, {"role": "system", "content": step.system})

    @_do.register
    def _(self, step: st.User, view: Conversation) -> str:
        return self._record(view, {"role": "user", "content": step.user})

    @_do.register
    def _(self, step: st.Assistant, view: Conversation) -> str:
        message: dict[str, object] = {"role": "assistant", "content": step.assistant}
        if step.calls:
            message["tool_calls"] = [
                {"id": one.call, "type": "function", "function": {"name": one.tool, "arguments": _arguments(one)}}
                for one in step.calls
            ]
        return self._record(view, message)

    @_do.register
    def _(self, step: st.Result, view: Conversation) -> str:
        message: dict[str, object] = {"role": "tool", "tool_call_id": step.result, "content": content_text(step)}
        self.known[step.result] = self._record(view, message, step.status)
        return self.known[step.result]

    @_do.register
    def _(self, step: st.Promote, view: Conversation) -> str:
        return view.promote(
            *self.ids(step.promote),
            summary=step.summary,
            payload=step.payload,
            extractor=step.extractor,
            confidence=step.confidence,
        )

    @_do.register
    def _(self, step: st.Supersede, view: Conversation) -> None:
        self.marking.supersede(view, self.id(step.current), self.ids(step.supersede), step.reason)

    @_do.register
    def _(self, step: st.Conflict, view: Conversation) -> None:
        one, other = self.ids(step.conflict)
        self.marking.conflict(view, one, other, step.reason)

    @_do.register
    def _(self, step: st.Stale, view: Conversation) -> None:
        self.marking.stale(view, self.ids(step.stale), step.reason)

    @_do.register
    def _(self, step: st.Reclassify, view: Conversation) -> None:
        self.marking.reclassify(view, self.ids(step.reclassify), step.privacy)

    @_do.register
    def _(self, step: st.Pin, view: Conversation) -> None:
        self.marking.pin(view, self.ids(step.pin))

    @_do.register
    def _(self, step: st.Misplace, view: Conversation) -> None:
        self.marking.misplace(view, self.id(step.misplace))

    @_do.register
    def _(self, step: st.Check, view: Conversation) -> None:
        found = view.check(self.id(step.check))
        came = "stale" if found.stale else "repaired" if found.repaired else "whole"
        if came != step.gives:
            raise InputError(f"checking {step.check!r} gives {came!r}, and not {step.gives!r}")

    @_do.register
    def _(self, step: st.Instruct, view: Conversation) -> str:
        self.said.append({"role": "system", "content": step.instruct})
        return view.instruct(step.instruct, scope=step.scope)

    # ------------------------------------------------------------------ branches

    @_do.register
    def _(self, step: st.Branch, view: Conversation) -> None:
        at = self.id(step.at) if step.at is not None else None
        before = self.id(step.before) if step.before is not None else None
        self.views[step.branch] = view.branch(name=step.branch, at=at, before=before)

    @_do.register
    def _(self, step: st.Edit, view: Conversation) -> str:
        self.said.append({"role": "user", "content": step.text})
        return self._begun(step.branch, view.edit(self.id(step.edit), step.text, name=step.branch))

    @_do.register
    def _(self, step: st.Regenerate, view: Conversation) -> None:
        self.views[step.branch] = view.regenerate(self.id(step.regenerate), name=step.branch)

    @_do.register
    def _(self, step: st.Send, view: Conversation) -> str:
        message: dict[str, object] = {"role": "user", "content": step.send}
        self.said.append(message)
        return self._begun(step.branch, view.send(message, parents=self.ids(step.parents), name=step.branch))

    def _begun(self, name: str, view: Conversation) -> str:
        self.views[name] = view
        records, _ = view.history()
        return records[-1].id

    @_do.register
    def _(self, step: st.Merge, view: Conversation) -> str:
        return view.merge(step.merge, *self.ids(step.records))[-1]

    # ------------------------------------------------------------------ participants

    @_do.register
    def _(self, step: st.Participant, view: Conversation) -> None:
        if step.persona is not None:
            self.said.append({"role": "system", "content": step.persona})
        view.participant(step.participant, persona=step.persona, provider=step.provider, model=step.model)

    @_do.register
    def _(self, step: st.Share, view: Conversation) -> str:
        return view.share(*self.ids(step.share), to=_names(step.to))

    @_do.register
    def _(self, step: st.Release, view: Conversation) -> str:
        return view.release(*self.ids(step.release), to=_names(step.to))

    @_do.register
    def _(self, step: st.Withdraw, view: Conversation) -> str:
        return view.withdraw(*self.ids(step.withdraw), to=_names(step.to))

    # ------------------------------------------------------------------ sub-agents and checkpoints

    @_do.register
    def _(self, step: st.Spawn, view: Conversation) -> None:
        self.views[step.spawn] = view.spawn(
            step.goal,
            name=step.spawn,
            role=step.role,
            constraints=step.constraints,
            tools=step.tools,
            context=self.ids(step.context),
            call=step.call,
            batch=step.batch,
            task=step.task,
        )

    @_do.register
    def _(self, step: st.Complete, view: Conversation) -> str:
        return self._child(step.complete).complete(step.report, release=self.ids(step.files))

    @_do.register
    def _(self, step: st.Fail, view: Conversation) -> str:
        return self._child(step.fail).fail(step.error, status=step.status)

    def _child(self, name: str) -> SubAgent:
        child = self.view(name, None)
        if not isinstance(child, SubAgent):
            raise InputError(f"{name!r} is no sub-agent")
        return child

    @_do.register
    def _(self, step: st.Checkpoint, view: Conversation) -> None:
        references = self.ids(step.references)
        self.known[step.checkpoint] = view.checkpoint(step.reason, references=references, batch=step.batch)

    @_do.register
    def _(self, step: st.Resume, view: Conversation) -> None:
        found = view.resume(self.id(step.resume))
        children = {child.name: child.status.value for child in found.children}
        if (found.waits, children) != (step.waits, step.children):
            raise InputError(f"resuming gives waits: {found.waits}, children: {children}")

    # ------------------------------------------------------------------ skills, time, requests

    @_do.register
    def _(self, step: st.Skill, view: Conversation) -> None:
        self.runtime.skills.add(step.skill, summary=step.summary, instructions=step.instructions, tools=step.tools)

    @_do.register
    def _(self, step: st.Offer, view: Conversation) -> str:
        offered = (self.runtime.skills.get(name) for name in _names(step.offer))
        self.said.append({"role": "system", "content": "\n".join(f"- {one.name}: {one.summary}" for one in offered)})
        return view.offer_skills(*_names(step.offer))

    @_do.register
    def _(self, step: st.Activate, view: Conversation) -> None:
        loaded = view.activate(step.activate)
        self.said.append({"role": "system", "content": loaded.instructions})

    @_do.register
    def _(self, step: st.Deactivate, view: Conversation) -> None:
        view.deactivate(step.deactivate)

    @_do.register
    def _(self, step: st.Wait, view: Conversation) -> None:
        self.clock.advance(step.wait)

    @_do.register
    def _(self, step: st.Ask, view: Conversation) -> str:
        made = view.assemble(provider=self.provider, model=self.model, policy=self.scenario.policy, mode=step.mode)
        return made.id


def _arguments(called: st.Called) -> str:
    given = called.arguments
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def _names(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def played(scenario: Scenario, provider: str, model: str) -> Played:
    """Play a scenario for one model. Raises `InputError` that names the step that cannot happen."""
    clock, ids = FixedClock(), LongIds()
    runtime = open(MEMORY, ids=ids, clock=clock)
    talk = runtime.conversation("scenario")
    made = Played(
        scenario=scenario,
        provider=provider,
        model=model,
        clock=clock,
        runtime=runtime,
        talk=talk,
        marking=Marking(runtime, ids, clock),
        views={MAIN: talk},
    )
    made.play()
    return made
