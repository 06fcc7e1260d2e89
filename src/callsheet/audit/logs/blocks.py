"""From a logged message to what is recorded: its blocks, and of a model's answer what the log tells of the request."""

import json
from dataclasses import replace

from callsheet.assemble.blocks import Reply, Said
from callsheet.audit.exchange.lines import AT, read_message
from callsheet.audit.logs.values import LoggedMessage, Notes
from callsheet.errors import InvalidMessage
from callsheet.graph.enums import Role, RunStatus
from callsheet.runtime.importing import Dated
from callsheet.wire import formats
from callsheet.wire.names import Wire

AS_TEXT = "x_as_text"
"""The key of a message that is of no provider's shape: it holds why, and the content is the JSON text of what stood."""


def dated(logged: LoggedMessage, notes: Notes) -> Dated:
    """What is recorded of a message. One that is of no provider's shape is refused in `notes`, and stands as text."""
    try:
        found = read_message(logged.message, logged.wire, "message")
    except InvalidMessage as problem:
        notes.refuse(f"{problem}; recorded as text", logged.line)
        found = read_message(_as_text(logged, problem), Wire.OPENAI, "message")
    said = found.items[0] if len(found.items) == 1 else None
    told = logged.answered
    if told is None or not isinstance(said, Said) or said.role is not Role.ASSISTANT:
        return found
    if told.usage is None and told.model is None and told.response is None:
        return found
    reply = Reply(said=said, status=RunStatus.COMPLETED, model=told.model, usage=told.usage, response=told.response)
    return replace(found, items=(reply,))


def chat_messages(logged: LoggedMessage, notes: Notes) -> tuple[list[dict[str, object]], int | None]:
    """The message in the shape of Chat Completions, in as many as that takes, and when it was said.

    The time is in microseconds since 1970; None: not known. What is not neutral is lost.
    """
    found = dated(logged, notes)
    blocks = [item.said if isinstance(item, Reply) else item for item in found.items]
    return formats.export(blocks, Wire.OPENAI), found.at


def _as_text(logged: LoggedMessage, problem: InvalidMessage) -> dict[str, object]:
    role = "assistant" if logged.answered is not None else "user"
    kept = {key: value for key, value in logged.message.items() if key != AT}
    text = json.dumps(kept, ensure_ascii=True)
    return {"role": role, "content": text, AT: logged.message.get(AT), AS_TEXT: str(problem)}
