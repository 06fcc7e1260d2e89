"""The arguments of tool calls: models write text that should be a JSON object and sometimes is not."""

import json
from decimal import Decimal
from math import isfinite

from callsheet.wire.cleaning import MergedKeys, clean, clean_value, has_nul, has_surrogates
from callsheet.wire.jsonvalue import NESTING_LIMIT, nested_too_deep

WRAPPED = "unparsed_arguments"
"""The key under which arguments that are no JSON object are sent, as text."""

CUSTOM_INPUT = "input"
"""The key under which the free text of a custom tool call is sent where only objects are taken."""

_EXACT_DIGITS = 15
"""A decimal number of at most so many characters, without exponent, comes back from a float as it was."""


class _Unfaithful(ValueError):
    """JSON that a Python value cannot hold exactly."""


def _no_constant(name: str) -> object:
    raise _Unfaithful(name)


def _exact_float(text: str) -> float:
    number = float(text)
    if len(text) <= _EXACT_DIGITS and "e" not in text and "E" not in text:
        return number
    if not isfinite(number) or Decimal(text) != Decimal(repr(number)):
        raise _Unfaithful(text)
    return number


def _unrepeated(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Unfaithful("repeated key")
    return found


_ANY_JSON = json.JSONDecoder(parse_constant=_no_constant)
_EXACT_JSON = json.JSONDecoder(parse_constant=_no_constant, parse_float=_exact_float, object_pairs_hook=_unrepeated)


def _decoded(text: str, decoder: json.JSONDecoder) -> object:
    """The value, or None for what is not JSON or is nested too deep."""
    try:
        value: object = decoder.decode(text)
    except (ValueError, RecursionError):
        return None
    if text.count("[") + text.count("{") > NESTING_LIMIT and nested_too_deep(value):
        return None
    return value


def is_object(text: str) -> bool:
    """Whether the text is a JSON object."""
    return isinstance(_decoded(text, _ANY_JSON), dict)


def exact_object(text: str) -> dict[str, object] | None:
    """The JSON object that the text is; None where a Python value would not say the same.

    So for NaN, numbers beyond a float's range or digits, keys that stand twice, and nesting beyond `NESTING_LIMIT`.
    """
    value = _decoded(text, _EXACT_JSON)
    return value if isinstance(value, dict) else None


def as_text(arguments: str) -> str:
    """Arguments as text that is a JSON object: as they are where they are one, else wrapped; blank ones are none.

    Also wrapped are those in which cleaning would make one key of two.
    """
    if not arguments.strip():
        return "{}"
    cleaned = clean(arguments)
    if is_object(arguments) and (cleaned == arguments or not _merges_keys(arguments, cleaned)):
        return cleaned
    return json.dumps({WRAPPED: cleaned}, ensure_ascii=False)


def _merges_keys(arguments: str, cleaned: str) -> bool:
    return exact_object(arguments) is not None and exact_object(cleaned) is None


def as_object(arguments: str) -> dict[str, object]:
    """Arguments as an object, its keys in their order: parsed where that loses nothing, else wrapped; blank: none."""
    if not arguments.strip():
        return {}
    found = exact_object(arguments)
    if found is None:
        return {WRAPPED: clean(arguments)}
    if "\\u" in arguments or has_nul(arguments) or has_surrogates(arguments):
        try:
            return clean_value(found)
        except MergedKeys:
            return {WRAPPED: clean(arguments)}
    return found


def free_text(arguments: str) -> dict[str, object]:
    """The free text of a custom tool call as an object."""
    return {CUSTOM_INPUT: clean(arguments)}
