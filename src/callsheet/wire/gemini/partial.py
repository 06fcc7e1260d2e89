"""Arguments of a call that are streamed in pieces, each with the path of what it adds to."""

import re
from typing import Final

from callsheet.wire.reading import Fields, items

_STEP: Final = re.compile(r"\.([^.\[\]]+)|\[(\d{1,4})\]|\['([^']*)'\]")

_VALUES: Final = ("stringValue", "numberValue", "boolValue")


def add_pieces(args: Fields, pieces: object) -> None:
    """Add pieces to arguments: text to what came of it before, other values in their place; odd ones not at all."""
    for piece in items(pieces, "") if isinstance(pieces, list) else ():
        if isinstance(piece, dict) and isinstance(path := piece.get("jsonPath"), str) and path.startswith("$"):
            _add(args, _steps(path[1:]), piece)


def _steps(path: str) -> list[str | int]:
    found = list(_STEP.finditer(path))
    if "".join(step.group() for step in found) != path:
        return []
    return [int(step.group(2)) if step.group(2) is not None else step.group(1) or step.group(3) for step in found]


def _add(args: Fields, steps: list[str | int], piece: Fields) -> None:
    place: object = args
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        before = _at(place, step)
        if following is not None:
            inner: object = [] if isinstance(following, int) else {}
            place = before if isinstance(before, dict | list) else _put(place, step, inner)
        elif isinstance(text := piece.get("stringValue"), str):
            _put(place, step, before + text if isinstance(before, str) else text)
        else:
            _put(place, step, next((piece[key] for key in _VALUES if key in piece), None))


def _at(place: object, step: str | int) -> object:
    if isinstance(place, dict):
        return place.get(step)
    return place[step] if isinstance(place, list) and isinstance(step, int) and step < len(place) else None


def _put(place: object, step: str | int, value: object) -> object:
    if isinstance(place, dict) and isinstance(step, str):
        place[step] = value
    elif isinstance(place, list) and isinstance(step, int) and step <= len(place):
        place[step : step + 1] = [value]
    return value
