"""Rollouts of Codex: a line for each item that went to the model or came from it, with events between.

The events repeat what the items say, but for usage, rolled-back turns and compactions. A rollout of a sub-agent names
the thread that spawned it. The oldest rollouts hold the items without an envelope.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from callsheet.audit.exchange.lines import Fork
from callsheet.audit.logs.files import LogFile, Place
from callsheet.audit.logs.jsonlines import count, listed, mapping, moment, objects, reread, text
from callsheet.audit.logs.responses import Kind, kind_of, message, name_of
from callsheet.audit.logs.trees import grown
from callsheet.audit.logs.values import Answered, LoggedConversation, LoggedMessage, Notes
from callsheet.graph.values import Usage
from callsheet.wire.names import Wire

ENVELOPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"})
"""Types of lines."""

_SAID_BY_CODEX = ("<environment_context>", "<user_instructions>", "# AGENTS.md instructions")
"""How messages begin that Codex itself puts before a person's, in the same role."""

_PROVIDERS = {"openai": "openai", "azure": "openai"}


@dataclass(kw_only=True, slots=True)
class _Message:
    """One message: the lines that it stands in."""

    kind: Kind
    places: list[Place]
    parent: str | None
    #: A person said it, so a turn begins with it.
    turn: bool = False
    afresh: bool = False
    answered: Answered | None = None


def read(log: LogFile, notes: Notes) -> Iterator[LoggedConversation]:
    """The conversation of a rollout; each turn that was rolled back leaves a branch behind."""
    rollout = _Rollout(notes)
    for place, line in objects(log, notes):
        rollout.add(place, line)
    yield from rollout.conversations(log)


class _Rollout:
    """The lines of a file, as far as they say what belongs together."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._messages: dict[str, _Message] = {}
        self._newest: str | None = None
        self._afresh = False
        self._id: str | None = None
        self._parent: str | None = None
        self._provider: str | None = "openai"
        self._model: str | None = None
        self._total: object = None
        self._others: list[Answered] = []

    def add(self, place: Place, line: dict[str, object]) -> None:
        kind, payload = line.get("type"), mapping(line.get("payload"))
        if not isinstance(kind, str) or kind not in ENVELOPES:
            self._old(place, line)
        elif kind == "session_meta":
            self._meta(place, payload)
        elif kind == "turn_context":
            self._model = text(payload.get("model")) or self._model
        elif kind == "response_item":
            self._item(place, payload)
        elif kind == "compacted":
            self._compacted(place, payload)
        elif kind == "event_msg":
            self._event(payload)
        else:
            self._notes.pass_over(f"line {kind}")

    def _old(self, place: Place, line: dict[str, object]) -> None:
        if "type" not in line and text(line.get("id")) is not None and "role" not in line:
            self._meta(place, line)
        elif kind_of(line) is not None and "type" in line:
            self._item(place, line)
        else:
            self._notes.pass_over(f"line {line.get('type', line.get('record_type', 'without a type'))}")

    def _meta(self, place: Place, meta: dict[str, object]) -> None:
        if self._id is not None:
            self._notes.pass_over("session_meta of the session that this one goes on from")
            return
        self._id = text(meta.get("id")) or text(meta.get("session_id"))
        named = text(meta.get("model_provider"))
        self._provider = _PROVIDERS.get(named, named) if named is not None else self._provider
        source = meta.get("source")
        spawned = mapping(mapping(mapping(source).get("subagent")).get("thread_spawn"))
        self._parent = text(spawned.get("parent_thread_id"))
        if _instructions(meta) is not None:
            self._new(Kind.INPUT, place)

    def _item(self, place: Place, item: dict[str, object]) -> None:
        kind = kind_of(item)
        newest = self._messages[self._newest] if self._newest is not None else None
        if kind is None:
            self._notes.pass_over(name_of(item))
        elif kind is Kind.ASSISTANT and newest is not None and newest.kind is kind and newest.answered is None:
            newest.places.append(place)
        else:
            self._new(kind, place).turn = _begins_turn(item)

    def _new(self, kind: Kind, place: Place) -> _Message:
        made = _Message(kind=kind, places=[place], parent=self._newest, afresh=self._afresh)
        self._newest = f"line-{place.number}"
        self._messages[self._newest] = made
        self._afresh = False
        return made

    def _compacted(self, place: Place, payload: dict[str, object]) -> None:
        self._afresh = True
        if text(payload.get("message")) is not None:
            self._new(Kind.INPUT, place)
        if payload.get("replacement_history") is not None:
            self._notes.pass_over("history that a compaction leaves, which repeats what stands before")

    def _event(self, event: dict[str, object]) -> None:
        kind = event.get("type")
        if kind == "token_count":
            self._usage(mapping(event.get("info")))
        elif kind == "thread_rolled_back":
            self._roll_back(count(event.get("num_turns")))
        else:
            self._notes.pass_over(f"event {kind}")

    def _usage(self, info: dict[str, object]) -> None:
        total, last = info.get("total_token_usage"), mapping(info.get("last_token_usage"))
        if not last or total == self._total:  # told again, with limits that have changed
            return
        self._total = total
        usage = Usage(
            input=count(last.get("input_tokens")),
            output=count(last.get("output_tokens")),
            cached_input=count(last.get("cached_input_tokens")),
            reasoning=count(last.get("reasoning_output_tokens")),
        )
        answered = Answered(provider=self._provider, model=self._model, usage=usage)
        said = self._unreported()
        if said is not None:
            said.answered = answered
        else:
            self._others.append(answered)

    def _unreported(self) -> _Message | None:
        """The newest response of the model, where its usage is not known yet."""
        key = self._newest
        while key is not None:
            found = self._messages[key]
            if found.kind is not Kind.RESULT:
                return found if found.kind is Kind.ASSISTANT and found.answered is None else None
            key = found.parent
        return None

    def _roll_back(self, turns: int) -> None:
        key = self._newest
        while key is not None and turns:
            found = self._messages[key]
            turns -= found.turn
            key = found.parent
        self._newest = key

    def conversations(self, log: LogFile) -> Iterator[LoggedConversation]:
        id = self._id or log.path.stem
        id = f"{self._parent}/agent-{id}" if self._parent is not None else id
        told = Answered(provider=self._provider, model=self._model)
        others = tuple(self._others)
        for branch in grown({key: one.parent for key, one in self._messages.items()}):
            own = [self._messages[key] for key in branch.keys]
            yield LoggedConversation(
                id=id,
                fork=Fork(name=branch.name, parent=branch.parent, at=branch.at) if branch.parent else None,
                count=len(own),
                read=partial(_read, log, own, told),
                parent=self._parent,
                others=others,
            )
            others = ()


def _read(log: LogFile, messages: Sequence[_Message], told: Answered) -> Iterator[LoggedMessage]:
    with log.reading() as file:
        for one in messages:
            lines = [reread(file, place) for place in one.places]
            more = {"x_at": moment(lines[0].get("timestamp"))}
            yield LoggedMessage(
                message={**_value(lines), **more},
                wire=Wire.OPENAI,
                line=one.places[0].number,
                answered=(one.answered or told) if one.kind is Kind.ASSISTANT else None,
                afresh=one.afresh,
                pieces=len(lines),
                split=partial(_split, lines, more),
            )


def _split(
    lines: Sequence[dict[str, object]], more: Mapping[str, object], at: int
) -> tuple[dict[str, object], dict[str, object]]:
    return {**_value(lines[:at]), **more}, {**_value(lines[at:]), **more}


def _value(lines: Sequence[dict[str, object]]) -> dict[str, object]:
    first = lines[0]
    payload = mapping(first.get("payload"))
    if first.get("type") == "compacted":
        return {"role": "user", "content": payload.get("message"), "x_compact_summary": True}
    if first.get("type") == "session_meta" or "type" not in first:
        return {"role": "system", "content": _instructions(payload or first)}
    return message([mapping(line["payload"]) if line.get("type") == "response_item" else line for line in lines])


def _begins_turn(item: dict[str, object]) -> bool:
    if item.get("role") != "user":
        return False
    said = " ".join(str(mapping(part).get("text", "")) for part in listed(item.get("content")))
    return not said.lstrip().startswith(_SAID_BY_CODEX)


def _instructions(meta: dict[str, object]) -> str | None:
    return text(mapping(meta.get("base_instructions")).get("text")) or text(meta.get("instructions"))
