"""Calls of the recall tool whose arguments are far too long: recorded, and sent again, without them.

The next round shows the model its call. With arguments of megabytes no request has room for that, and the client would
get an error for what only the model did wrong.
"""

from callsheet.runtime.hidden_recalls import LONGEST_ARGUMENTS, RECALL, left_out
from callsheet.serve.proxy.bodies import encoded
from callsheet.wire.reading import Fields

_ARGUMENTS = ("arguments", "input", "args")
"""Where the formats have the arguments of a call, beside its ``name``: as text or as an object."""

_SIGNATURES = frozenset({"thoughtSignature", "thought_signature", "extra_content"})
"""Where Google's models have the signature of a call, beside it."""


def bounded(response: Fields) -> Fields:
    """A response with such arguments left out; itself where there are none."""
    made = _bounded(response)
    return made if isinstance(made, dict) else response


def _bounded(value: object) -> object:
    if isinstance(value, list):
        listed = [_bounded(item) for item in value]
        return listed if any(new is not old for new, old in zip(listed, value, strict=True)) else value
    if not isinstance(value, dict):
        return value
    made = {key: _of_call(item) if _is_call(value, key) else _bounded(item) for key, item in value.items()}
    if all(made[key] is item for key, item in value.items()):
        return value
    # Whoever signed the call refuses it changed; without a signature it takes it.
    return {key: item for key, item in made.items() if key not in _SIGNATURES}


def _is_call(found: Fields, key: str) -> bool:
    return key in _ARGUMENTS and found.get("name") == RECALL


def _of_call(arguments: object) -> object:
    """As text or object like those that came."""
    text = arguments if isinstance(arguments, str) else encoded(arguments).decode()
    if len(text) <= LONGEST_ARGUMENTS:
        return arguments
    instead = left_out(len(text))
    return encoded(instead).decode() if isinstance(arguments, str) else instead
