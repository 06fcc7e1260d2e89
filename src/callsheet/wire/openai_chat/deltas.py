"""What chunks add to a message: texts go on, calls go on by their index, and everything else as it looks."""

from typing import Final

from callsheet.wire.reading import Fields

_SAID_ONCE: Final = frozenset({"role", "id", "type", "index", "format", "object"})
"""Keys that some services repeat with every chunk. They are the same every time, and do not go on."""

_CALLED: Final = ("function", "custom")
_INDEX = "index"


def add(message: Fields, delta: Fields, *, but: frozenset[str] = frozenset()) -> None:
    """Add a chunk's delta to the message so far. Null says nothing, except that the key is there."""
    for key, value in delta.items():
        if key in but:
            continue
        if value is None:
            message.setdefault(key, None)
        elif key in _SAID_ONCE:
            message[key] = value
        else:
            message[key] = _gone_on(message.get(key), value)


class _Growing:
    """A text in pieces: put together once, since replies come in thousands of them."""

    __slots__ = ("pieces",)

    def __init__(self, *pieces: str) -> None:
        self.pieces = list(pieces)


def settled(value: object) -> object:
    """A copy of what was gathered, its texts put together."""
    match value:
        case _Growing():
            return "".join(value.pieces)
        case dict():
            return {key: settled(item) for key, item in value.items()}
        case list():
            return [settled(item) for item in value]
    return value


def _gone_on(before: object, value: object) -> object:
    """A value with what a chunk adds to it."""
    match before, value:
        case None, dict():
            return _of_object({}, value)
        case None, list():
            return _of_list([], value)
        case _Growing(), str():
            before.pieces.append(value)
            return before
        case str(), str():
            return _Growing(before, value)
        case dict(), dict():
            return _of_object(before, value)
        case list(), list():
            return _of_list(before, value)
        case list(), str():
            return [*before, {"type": "text", "text": value}] if value else before
        case ((str() | _Growing()), list()):
            text = settled(before)
            return _of_list([{"type": "text", "text": text}] if text else [], value)
    return value


def _of_object(before: Fields, value: Fields) -> Fields:
    add(before, value)
    return before


def _of_list(before: list[object], value: list[object]) -> list[object]:
    """Entries with an index go on with the one before of the same index and type; others are new."""
    for entry in value:
        if not isinstance(entry, dict):
            before.append(entry)
            continue
        same = next((each for each in before if _is_same(each, entry)), None) if _INDEX in entry else None
        if isinstance(same, dict):
            add(same, entry)
        else:
            before.append(_of_object({}, entry))
    return before


def _is_same(each: object, entry: Fields) -> bool:
    if not isinstance(each, dict) or each.get(_INDEX) != entry[_INDEX]:
        return False
    return "type" not in entry or each.get("type") == entry["type"]


class Calls:
    """The calls of a message. Services number them, or name each piece by its id, or number all of them 0."""

    def __init__(self) -> None:
        #: In the order in which they began, without their numbers.
        self.made: list[Fields] = []
        self._numbered: dict[int, Fields] = {}

    def feed(self, pieces: list[object]) -> None:
        """Take the pieces of a chunk."""
        for piece in pieces:
            if isinstance(piece, dict):
                self.take(piece)

    def take(self, piece: Fields) -> int:
        """Take a piece; which of the calls it goes on with."""
        call = self._call_of(piece)
        self._go_on(call, piece)
        return next(at for at in range(len(self.made) - 1, -1, -1) if self.made[at] is call)

    def _call_of(self, piece: Fields) -> Fields:
        index, id = piece.get(_INDEX), piece.get("id") or None
        known: Fields | None
        if isinstance(index, int):
            known = self._numbered.get(index)
        elif id is not None:
            known = next((call for call in self.made if call.get("id") == id), None)
        else:
            known = self.made[-1] if self.made else None
        if known is not None and not (_begins(piece) and id is not None and known.get("id") not in (None, "", id)):
            return known
        new: Fields = {}
        self.made.append(new)
        if isinstance(index, int):
            self._numbered[index] = new
        return new

    def _go_on(self, call: Fields, piece: Fields) -> None:
        if piece.get("id") == "" and call.get("id"):
            piece = {key: value for key, value in piece.items() if key != "id"}
        add(call, piece, but=frozenset({_INDEX, *_CALLED}))
        for inside in _CALLED:
            given = piece.get(inside)
            if isinstance(given, dict):
                self._go_on_inside(call.setdefault(inside, {}), given)

    def _go_on_inside(self, known: object, given: Fields) -> None:
        if not isinstance(known, dict):
            return
        # The name is said once; a service that repeats it says it whole.
        repeated = frozenset({"name"}) if known.get("name") and given.get("name") == known["name"] else frozenset[str]()
        add(known, given, but=repeated)


def _begins(piece: Fields) -> bool:
    """Whether a piece names the tool, as the first of a call does."""
    return any(isinstance(given := piece.get(inside), dict) and given.get("name") for inside in _CALLED)
