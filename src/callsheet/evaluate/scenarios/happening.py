"""What happens in each step of a scenario: one function for each verb."""

import json
from collections.abc import Sequence
from functools import singledispatch

from callsheet.errors import InputError
from callsheet.evaluate.scenarios import steps as st
from callsheet.evaluate.scenarios.reading import content_text
from callsheet.evaluate.scenarios.stage import Played, pass_time
from callsheet.runtime.conversation import Conversation, SubAgent


@singledispatch
def happen(step: st.Step, play: Played, view: Conversation) -> str | None:
    """Let a step happen on a view; returns the id of what it records, where that can be named."""
    raise InputError(f"{type(step).__name__.lower()} is no step")


@happen.register
def _(step: st.System, play: Played, view: Conversation) -> str:
    return play.record(view, {"role": "system", "content": step.system})


@happen.register
def _(step: st.User, play: Played, view: Conversation) -> str:
    return play.record(view, {"role": "user", "content": step.user})


@happen.register
def _(step: st.Assistant, play: Played, view: Conversation) -> str:
    message: dict[str, object] = {"role": "assistant", "content": step.assistant}
    if step.calls:
        message["tool_calls"] = [
            {"id": one.call, "type": "function", "function": {"name": one.tool, "arguments": _arguments(one)}}
            for one in step.calls
        ]
    return play.record(view, message)


@happen.register
def _(step: st.Result, play: Played, view: Conversation) -> str:
    message: dict[str, object] = {"role": "tool", "tool_call_id": step.result, "content": content_text(step)}
    play.known[step.result] = play.record(view, message, step.status)
    return play.known[step.result]


@happen.register
def _(step: st.Promote, play: Played, view: Conversation) -> str:
    return view.promote(
        *play.ids(step.promote),
        summary=step.summary,
        payload=step.payload,
        extractor=step.extractor,
        confidence=step.confidence,
    )


@happen.register
def _(step: st.Supersede, play: Played, view: Conversation) -> None:
    play.marking.supersede(view, play.id(step.current), play.ids(step.supersede), step.reason)


@happen.register
def _(step: st.Conflict, play: Played, view: Conversation) -> None:
    one, other = play.ids(step.conflict)
    play.marking.conflict(view, one, other, step.reason)


@happen.register
def _(step: st.Stale, play: Played, view: Conversation) -> None:
    play.marking.stale(view, play.ids(step.stale), step.reason)


@happen.register
def _(step: st.Reclassify, play: Played, view: Conversation) -> None:
    play.marking.reclassify(view, play.ids(step.reclassify), step.privacy)


@happen.register
def _(step: st.Pin, play: Played, view: Conversation) -> None:
    play.marking.pin(view, play.ids(step.pin))


@happen.register
def _(step: st.Misplace, play: Played, view: Conversation) -> None:
    play.marking.misplace(view, play.id(step.misplace))


@happen.register
def _(step: st.Check, play: Played, view: Conversation) -> None:
    found = view.check(play.id(step.check))
    came = "stale" if found.stale else "repaired" if found.repaired else "whole"
    if came != step.gives:
        raise InputError(f"checking {step.check!r} gives {came!r}, and not {step.gives!r}")


@happen.register
def _(step: st.Instruct, play: Played, view: Conversation) -> str:
    play.said.append({"role": "system", "content": step.instruct})
    return view.instruct(step.instruct, scope=step.scope)


# ------------------------------------------------------------------ branches


@happen.register
def _(step: st.Branch, play: Played, view: Conversation) -> None:
    at = play.id(step.at) if step.at is not None else None
    before = play.id(step.before) if step.before is not None else None
    play.views[step.branch] = view.branch(name=step.branch, at=at, before=before)


@happen.register
def _(step: st.Edit, play: Played, view: Conversation) -> str:
    play.said.append({"role": "user", "content": step.text})
    return _begun(play, step.branch, view.edit(play.id(step.edit), step.text, name=step.branch))


@happen.register
def _(step: st.Regenerate, play: Played, view: Conversation) -> None:
    play.views[step.branch] = view.regenerate(play.id(step.regenerate), name=step.branch)


@happen.register
def _(step: st.Send, play: Played, view: Conversation) -> str:
    message: dict[str, object] = {"role": "user", "content": step.send}
    play.said.append(message)
    return _begun(play, step.branch, view.send(message, parents=play.ids(step.parents), name=step.branch))


def _begun(play: Played, name: str, view: Conversation) -> str:
    play.views[name] = view
    records, _ = view.history()
    return records[-1].id


@happen.register
def _(step: st.Merge, play: Played, view: Conversation) -> str:
    return view.merge(step.merge, *play.ids(step.records))[-1]


# ------------------------------------------------------------------ participants


@happen.register
def _(step: st.Participant, play: Played, view: Conversation) -> None:
    if step.persona is not None:
        play.said.append({"role": "system", "content": step.persona})
    view.participant(step.participant, persona=step.persona, provider=step.provider, model=step.model)


@happen.register
def _(step: st.Share, play: Played, view: Conversation) -> str:
    return view.share(*play.ids(step.share), to=_names(step.to))


@happen.register
def _(step: st.Release, play: Played, view: Conversation) -> str:
    return view.release(*play.ids(step.release), to=_names(step.to))


@happen.register
def _(step: st.Withdraw, play: Played, view: Conversation) -> str:
    return view.withdraw(*play.ids(step.withdraw), to=_names(step.to))


# ------------------------------------------------------------------ sub-agents and checkpoints


@happen.register
def _(step: st.Spawn, play: Played, view: Conversation) -> None:
    play.views[step.spawn] = view.spawn(
        step.goal,
        name=step.spawn,
        role=step.role,
        constraints=step.constraints,
        tools=step.tools,
        context=play.ids(step.context),
        call=step.call,
        batch=step.batch,
        task=step.task,
    )


@happen.register
def _(step: st.Complete, play: Played, view: Conversation) -> str:
    return _child(play, step.complete).complete(step.report, release=play.ids(step.files))


@happen.register
def _(step: st.Fail, play: Played, view: Conversation) -> str:
    return _child(play, step.fail).fail(step.error, status=step.status)


def _child(play: Played, name: str) -> SubAgent:
    child = play.view(name, None)
    if not isinstance(child, SubAgent):
        raise InputError(f"{name!r} is no sub-agent")
    return child


@happen.register
def _(step: st.Checkpoint, play: Played, view: Conversation) -> None:
    references = play.ids(step.references)
    play.known[step.checkpoint] = view.checkpoint(step.reason, references=references, batch=step.batch)


@happen.register
def _(step: st.Resume, play: Played, view: Conversation) -> None:
    found = view.resume(play.id(step.resume))
    children = {child.name: child.status.value for child in found.children}
    if (found.waits, children) != (step.waits, step.children):
        raise InputError(f"resuming gives waits: {found.waits}, children: {children}")


# ------------------------------------------------------------------ skills, time, requests


@happen.register
def _(step: st.Skill, play: Played, view: Conversation) -> None:
    play.runtime.skills.add(step.skill, summary=step.summary, instructions=step.instructions, tools=step.tools)


@happen.register
def _(step: st.Offer, play: Played, view: Conversation) -> str:
    offered = (play.runtime.skills.get(name) for name in _names(step.offer))
    play.said.append({"role": "system", "content": "\n".join(f"- {one.name}: {one.summary}" for one in offered)})
    return view.offer_skills(*_names(step.offer))


@happen.register
def _(step: st.Activate, play: Played, view: Conversation) -> None:
    loaded = view.activate(step.activate)
    play.said.append({"role": "system", "content": loaded.instructions})


@happen.register
def _(step: st.Deactivate, play: Played, view: Conversation) -> None:
    view.deactivate(step.deactivate)


@happen.register
def _(step: st.Wait, play: Played, view: Conversation) -> None:
    pass_time(play.clock, step.wait)


@happen.register
def _(step: st.Ask, play: Played, view: Conversation) -> str:
    made = view.assemble(provider=play.provider, model=play.model, policy=play.scenario.policy, mode=step.mode)
    return made.id


def _arguments(called: st.Called) -> str:
    given = called.arguments
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def _names(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)
