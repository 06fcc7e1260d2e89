"""Requests that go on from a response which their provider keeps: it bills all that stands before them as input."""

from callsheet.errors import CallsheetError
from callsheet.policy.sets import BUILT_IN
from callsheet.policy.settings import MOST_TOKENS
from callsheet.runtime.conversation import Conversation
from callsheet.runtime.hidden_recalls import RECALL
from callsheet.wire.body import Asked
from callsheet.wire.names import Wire
from callsheet.wire.reading import Fields

_WHOLE = BUILT_IN["replay"]
"""Shows everything as it was said."""

_INPUT = "input"


def is_chained(asked: Asked) -> bool:
    """Whether a request goes on from a response, and has its own instructions and tools all the same."""
    return asked.wire is Wire.OPENAI_RESPONSES and asked.previous is not None


def as_billed(asked: Asked, talk: Conversation, provider: str, body: Fields) -> Fields:
    """A client's body as its provider bills it: with the history itself where it goes on from a response.

    That is all that was said, as if each request had been sent as it came; of what the client does not see, nothing.
    """
    if not is_chained(asked):
        return body
    try:
        sheet = talk.assemble(
            provider=provider, model=asked.model, policy=_WHOLE, budget=MOST_TOKENS, reserve=1, recall=False
        )
    except CallsheetError:
        return body  # what cannot be shown as a whole counts as small as it came: then nothing is claimed to be saved
    items = sheet.request()[_INPUT]
    assert isinstance(items, list), "rendering writes a list"
    hidden = {item.get("call_id") for item in items if item.get("name") == RECALL and "call_id" in item}
    shown = [item for item in items if item.get("call_id") not in hidden] if hidden else items
    return {key: value for key, value in body.items() if key != "previous_response_id"} | {_INPUT: shown}
