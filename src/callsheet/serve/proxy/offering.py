"""Whether a request can carry a tool of the proxy's own, whose calls its client never sees."""

from collections.abc import Mapping

from callsheet.assemble.blocks import Said
from callsheet.errors import InvalidMessage
from callsheet.graph.enums import Role
from callsheet.runtime.hidden_recalls import RECALL
from callsheet.wire import formats
from callsheet.wire.body import Asked, ToolChoice
from callsheet.wire.gemini.spelling import said
from callsheet.wire.names import Wire

_TEXT = "text"


def takes_tool(asked: Asked, *, listed: bool = False) -> bool:
    """Whether the recall tool may be added, and answers that call it can be made into one.

    The client neither forbids tools nor forces one, has none of this name, and wants one answer, in words: of two JSON
    documents no answer can be made, nor of two recordings of a voice. `listed`: it wants Gemini's stream as a list.
    """
    if asked.choice is not ToolChoice.AUTO or _is_named(asked):
        return False
    if asked.previous is not None and asked.wire is not Wire.OPENAI_RESPONSES:
        return False  # what the tools were lies with the provider
    last = asked.blocks[-1] if asked.blocks else None
    if isinstance(last, Said) and last.role is Role.ASSISTANT:
        return False  # the model is to go on with words that the client began
    match asked.wire:
        case Wire.OPENAI:
            return _chat(asked.rest)
        case Wire.OPENAI_RESPONSES:
            return _responses(asked.rest)
        case Wire.ANTHROPIC:
            return not asked.rest.get("output_format") and not _of(asked.rest, "output_config").get("format")
        case Wire.GEMINI:
            return not listed and _gemini(asked)


def _is_named(asked: Asked) -> bool:
    """Whether the client has a tool of the same name."""
    for place, tool in enumerate(formats.each_tool(asked.tools)):
        try:
            if formats.tool_name(tool, f"tools[{place}]") == RECALL:
                return True
        except InvalidMessage:
            continue
    return False


def _chat(rest: Mapping[str, object]) -> bool:
    # Functions in the older shape are called one at a time, in another place of the message.
    single = rest.get("n") in (None, 1) and not rest.get("functions")
    return single and _is_words(rest, "response_format") and rest.get("modalities") in (None, [], [_TEXT])


def _responses(rest: Mapping[str, object]) -> bool:
    # In the background the answer comes elsewhere; a prompt that the provider keeps may have tools of its own.
    here = not rest.get("background") and rest.get("prompt") is None
    return here and _is_words(_of(rest, "text"), "format")


def _is_words(found: Mapping[str, object], key: str) -> bool:
    return _of(found, key).get("type") in (None, _TEXT)


def _gemini(asked: Asked) -> bool:
    # What is cached at the provider has its tools with it, and its own tools do not stand beside functions.
    functions = all(said(tool, "functionDeclarations") is not None for tool in asked.tools)
    if said(asked.rest, "cachedContent") is not None or not functions:
        return False
    config = said(asked.rest, "generationConfig")
    if not isinstance(config, Mapping):
        return True
    shaped = (said(config, key) for key in ("responseSchema", "responseJsonSchema", "responseModalities"))
    kind = said(config, "responseMimeType")
    return kind in (None, "text/plain") and said(config, "candidateCount") in (None, 1) and not any(shaped)


def _of(found: Mapping[str, object], key: str) -> Mapping[str, object]:
    value = found.get(key)
    return value if isinstance(value, Mapping) else {}
