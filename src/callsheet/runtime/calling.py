"""The arguments of a call of the recall tool, in whichever shape a program has the call at hand."""

from collections.abc import Mapping

from callsheet.errors import InvalidMessage
from callsheet.recall.request import PARTS
from callsheet.wire.reading import fields, plain

_OWN = frozenset({"reference", "query", *PARTS})


def arguments_of(value: object) -> str | Mapping[str, object]:
    """What a model wrote: from the arguments themselves (text or object) or from a call, as dict or SDK object.

    A call holds them as ``function.arguments`` or ``arguments`` (OpenAI) or as ``input`` (Anthropic). Raises
    `InvalidMessage` for what is neither.
    """
    found = plain(value, "call")
    if isinstance(found, str):
        return found
    call = fields(found, "call")
    inner = plain(call["function"], "call.function") if "function" in call else None
    held = inner if isinstance(inner, Mapping) else call
    for key in ("arguments", "input"):
        if key not in held or (held is call and _OWN.intersection(call)):
            continue
        arguments = plain(held[key], f"call.{key}")
        return arguments if isinstance(arguments, str) else fields(arguments, f"call.{key}")
    if "function" in call or call.get("type") in ("function", "tool_use", "function_call"):
        raise InvalidMessage("holds no arguments", where="call")
    return call
