"""A store with a recogniser, and what its conversations show; the bodies of clients in short."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import callsheet
from callsheet.assemble.blocks import Said
from callsheet.assemble.contents import text_of
from callsheet.graph.enums import Role
from callsheet.graph.nodes import Message, ToolArtifact
from callsheet.graph.values import CallRef, Text
from callsheet.runtime.conversation import Conversation
from callsheet.runtime.opening import MEMORY
from callsheet.serve.proxy.recognising import Placed, Recogniser
from callsheet.wire.asked import read_request
from callsheet.wire.formats import parse_reply
from callsheet.wire.names import Wire

Fields: TypeAlias = dict[str, Any]
"""A message."""


def user(text: object) -> Fields:
    return {"role": "user", "content": text}


def model(text: str | None = None, *calls: tuple[str, str, object]) -> Fields:
    """A turn of the model; calls are id, tool and arguments."""
    said: Fields = {"role": "assistant", "content": text}
    if calls:
        said["tool_calls"] = [
            {
                "id": id,
                "type": "function",
                "function": {"name": tool, "arguments": given if isinstance(given, str) else json.dumps(given)},
            }
            for id, tool, given in calls
        ]
    return said


def result(call: str, text: object) -> Fields:
    return {"role": "tool", "tool_call_id": call, "content": text}


def system(text: str) -> Fields:
    return {"role": "system", "content": text}


class Service:
    """What a proxy is to its clients, without the network: requests are placed, answers recorded and noted."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._numbers = 0
        self.open()

    def open(self) -> None:
        """Open the store as another process does."""
        self.runtime = callsheet.open(self._path if self._path is not None else MEMORY)
        self.recogniser = Recogniser(self.runtime)

    def restart(self) -> None:
        self.runtime.close()
        self.open()

    def ask(
        self,
        messages: Iterable[Fields],
        *,
        scope: str = "key",
        named: str | None = None,
        user: str | None = None,
        wire: Wire = Wire.OPENAI,
        **rest: object,
    ) -> Placed:
        """Place a request."""
        body = {"model": "any", "messages": list(messages), **rest}
        return self.recogniser.place(read_request(body, wire), scope=scope, named=named, user=user)

    def reply(
        self, placed: Placed, answer: Fields | str, *, shown: Said | None = None, response: str | None = None
    ) -> Fields:
        """Record an answer; the message as the client is shown it."""
        message = model(answer) if isinstance(answer, str) else answer
        self._numbers += 1
        body = {"id": f"response-{self._numbers}", "choices": [{"message": message, "finish_reason": "stop"}]}
        recorded = placed.talk.record(body, assembled=False, wire="openai")
        said = shown if shown is not None else parse_reply(body, Wire.OPENAI).said
        self.recogniser.answered(placed, said, recorded.ids[-1], response)
        return message

    def turn(self, messages: Iterable[Fields], answer: Fields | str, **given: Any) -> tuple[Placed, list[Fields]]:
        """Ask and answer; what the client sends next begins with the list."""
        placed = self.ask(messages, **given)
        return placed, [*messages, self.reply(placed, answer)]


def shows(talk: Conversation) -> list[tuple[object, ...]]:
    """What was said and done on a branch, without what stands before everything: role, text, calls; results as such."""
    records, calls = talk.history()
    found: list[tuple[object, ...]] = []
    for record in records:
        body = record.body
        if isinstance(body, ToolArtifact):
            call = calls[body.call] if body.call is not None else None
            found.append(("result", _text(talk, body.content), call.tool if call is not None else None))
        elif isinstance(body, Message) and body.instruction is None:
            made = [calls[part.call] for part in body.parts if isinstance(part, CallRef)]
            asked = [(call.tool, text_of(talk._session.read(call.arguments))) for call in made]
            found.append((body.role.value, _text(talk, body.parts), *asked))
    return found


def _text(talk: Conversation, parts: Sequence[object]) -> str:
    return "".join(text_of(talk._session.read(part.text)) for part in parts if isinstance(part, Text))


def texts(talk: Conversation) -> list[str]:
    """The texts alone."""
    return [str(said[1]) for said in shows(talk)]


def governs(talk: Conversation) -> list[str]:
    """The instructions that the next request holds."""
    request = talk.assemble(provider="openai", model="gpt-5.2").request()
    messages = request["messages"]
    assert isinstance(messages, list)
    return [message["content"] for message in messages if message["role"] in (Role.SYSTEM, Role.DEVELOPER)]


def records(service: Service) -> int:
    """Messages and results in all conversations."""
    return sum(
        record.header.kind in ("message", "artifact")
        for stream in service.runtime.ledger.streams()
        for record in service.runtime.ledger.records(stream.key)
    )
