"""What a model wrote as arguments: checked against the signature, or told what is wrong with it, and where."""

import json
import math
from collections.abc import Mapping

import msgspec

from callsheet.runtime.executing.tool import Tool

_LONGEST_PROBLEM = 500


class _Refused(ValueError):
    """JSON whose meaning is not certain."""


def read_arguments(tool: Tool[..., object], written: bytes, *, cut_off: bool = False) -> Mapping[str, object] | str:
    """The arguments by name as the function takes them; a text that says what is wrong, for the model to read.

    `cut_off`: the answer that they stand in ended at its token limit, inside them.
    Only what the model gave is passed on, so a function's own defaults hold. Refused beside what the schema refuses:
    names that stand twice, and numbers that are none.
    """
    if cut_off:
        return (
            f"The call of {tool.name} was cut off at the token limit of the answer, it was not run. "
            "Call it again, with shorter arguments or in several calls."
        )
    try:
        given = _object(written)
        read = msgspec.convert(given, tool.signature.arguments)
    except msgspec.ValidationError as problem:
        return _told(tool, str(problem))
    except RecursionError:
        return _told(tool, "nested too deep")
    except ValueError as problem:
        return _told(tool, f"not a JSON object ({problem})")
    return {name: getattr(read, name) for name in given}


def _object(written: bytes) -> Mapping[str, object]:
    if not written.strip():
        return {}
    text = written.decode("utf-8")
    value: object = json.loads(text, object_pairs_hook=_unrepeated, parse_constant=_no_number, parse_float=_finite)
    if not isinstance(value, dict):
        raise _Refused(f"it is {_kind(value)}")
    return value


def _kind(value: object) -> str:
    return {list: "an array", str: "a string", bool: "a truth value"}.get(type(value), "null or a number")


def _unrepeated(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise _Refused(f"{next(name for name in found if names.count(name) > 1)[:60]!r} stands in it twice")
    return found


def _no_number(text: str) -> object:
    raise _Refused(f"{text} is no JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _Refused(f"{text[:20]} is beyond the range of numbers")
    return number


def _told(tool: Tool[..., object], problem: str) -> str:
    expected = tool.signature.schema.get("properties")
    names = ", ".join(expected) if isinstance(expected, Mapping) else ""
    takes = f"it takes: {names}" if names else "it takes no arguments"
    return f"The arguments of {tool.name} are not valid, it was not run: {problem[:_LONGEST_PROBLEM]}; {takes}."
