"""Lines of a log as JSON objects."""

import json
from collections.abc import Iterator

from callsheet.audit.logs.files import LogFile, Place, Rereading
from callsheet.audit.logs.values import Notes
from callsheet.errors import InvalidTime
from callsheet.graph.times import instant

_BOM = b"\xef\xbb\xbf"


def objects(log: LogFile, notes: Notes) -> Iterator[tuple[Place, dict[str, object]]]:
    """Every line that is a JSON object, with its place; the others are refused, each with the reason."""
    for place, line in log.lines(notes):
        try:
            found = decoded(line)
        except ValueError as problem:
            notes.refuse(str(problem), place.number)
            continue
        if isinstance(found, dict):
            yield place, found
        else:
            notes.refuse("not a JSON object", place.number)


def reread(file: Rereading, place: Place) -> dict[str, object]:
    """A line that was a JSON object when it was read before; of one that is none any more, nothing."""
    try:
        found = decoded(file.line(place))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def decoded(line: bytes) -> object:
    """The JSON value of a line. Raises `ValueError` with the reason for what is none."""
    try:
        return json.loads(line.removeprefix(_BOM).decode("utf-8"))
    except UnicodeDecodeError as problem:
        raise ValueError(f"not UTF-8 (byte {problem.start})") from None
    except RecursionError:
        raise ValueError("nested too deep") from None
    except ValueError as problem:
        raise ValueError(f"not JSON ({problem})") from None


def mapping(value: object) -> dict[str, object]:
    """The value where it is an object; nothing where it is not."""
    return value if isinstance(value, dict) else {}


def listed(value: object) -> list[object]:
    """The value where it is a list; nothing where it is not."""
    return value if isinstance(value, list) else []


def text(value: object) -> str | None:
    """The value where it is text and not empty."""
    return value if isinstance(value, str) and value else None


def moment(value: object) -> str | None:
    """The value where it is a time with its zone in ISO 8601; else no time is known."""
    if not isinstance(value, str):
        return None
    try:
        instant(value)
    except InvalidTime:
        return None
    return value


def count(value: object) -> int:
    """The value where it is a number of tokens that can be; else 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else 0
