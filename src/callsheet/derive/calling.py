"""What a call is found by beside the words of its arguments: its values, its names, and which name has which value.

A number alone says little: many results hold a 14, and one call asked for day 14. So the terms that stand here are
terms of calls alone, and a name stands together with its value. A text says the same where the name stands right before
the value, but for other numbers: ``day 14``, ``quays 9, 10 and 11``.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

from callsheet.derive import terms

MARK = "("
"""Before each of these terms, which no word of a text begins with."""

NAME = MARK + ":"
"""Before those of the tool and of the names of arguments."""

NUMBER = MARK + "#"
"""Before a value that is a short number and nothing else."""

LIMIT = 64
"""Terms that are kept of one call."""

_CUT = MARK + "…"
"""Among the terms of a call with more values than are kept: no text says all of it."""

_VALUES = 16
_LONGEST = 256
_NAMES = 4
_USUAL = 64
"""Characters of a name at most whose words are remembered."""

_DEEP = 8
_DIGITS = 4


def call_terms(tool: str, arguments: str) -> tuple[str, ...]:
    """The terms of a call, distinct, at most `LIMIT`. `arguments` is its JSON; what is none counts as one value."""
    values = list(_values(arguments))
    found: dict[str, None] = {}
    of_tool = _named(tool)
    kept = values[:_VALUES]
    said = [(_named(name), _words(value[:_LONGEST])) for name, value in kept]
    for _, words in said:
        short = len(words) == 1 and _short(words[0])
        found.update(dict.fromkeys((NUMBER if short else MARK) + word for word in words))
    if len(kept) < len(values) or any(len(value) > _LONGEST for _, value in kept) or len(found) > LIMIT // 2:
        found = {_CUT: None, **dict.fromkeys(list(found)[: LIMIT // 2])}
    names = dict.fromkeys((*of_tool, *(word for name, _ in said for word in name)))
    pairs = (
        f"{MARK}{part} {word}"
        for name, words in said
        for part in dict.fromkeys((*name, *of_tool))
        for word in words[:1]
    )
    return tuple(dict.fromkeys((*found, *(NAME + name for name in names), *pairs)))[:LIMIT]


def marked(words: Iterable[str]) -> tuple[str, ...]:
    """What of a call any of these terms of a text, which are those of one word, may be: a value or a name."""
    plain = sorted(terms.compared(words))
    return tuple(mark + word for word in plain for mark in (MARK, NUMBER if _short(word) else NAME))


class Asked(NamedTuple):
    """What a call asks for, from the terms that it is found by."""

    terms: frozenset[str]
    #: Its values that are words, those that are short numbers, and its names.
    words: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]

    @classmethod
    def of(cls, call: Collection[str]) -> "Asked":
        """From the terms of a call."""
        own = [term for term in call if term.startswith(MARK)]
        values = [term[1:] for term in own if " " not in term and not term.startswith(NAME)]
        return cls(
            terms=frozenset(call),
            words=frozenset(value for value in values if not value.startswith("#")),
            numbers=frozenset(value[1:] for value in values if value.startswith("#")),
            names=frozenset(term[len(NAME) :] for term in own if term.startswith(NAME)),
        )


class Said:
    """What a text says of calls."""

    def __init__(self, text: str) -> None:
        words = _words(text[: 16 * _LONGEST], distinct=False)
        self._words = frozenset(words)
        self._pairs = frozenset(_pairs(words))

    @property
    def terms(self) -> tuple[str, ...]:
        """What to look for: names with values, and values that are no short numbers, which many calls have."""
        values = (MARK + word for word in sorted(self._words) if not _short(word))
        return (*sorted(self._pairs), *values)

    def means(self, call: Asked) -> bool:
        """Whether a call is meant: all its values are said, short numbers with their names.

        Where all of them are words, one of its names must be said too.
        """
        if not (call.words or call.numbers) or not self._words.issuperset(call.words):
            return False
        paired = {term.rpartition(" ")[2] for term in self._pairs.intersection(call.terms)}
        if not paired.issuperset(call.numbers):
            return False
        return bool(paired) or not self._words.isdisjoint(call.names - call.words)


def _pairs(words: Sequence[str]) -> Iterator[str]:
    head = ""
    for word in words:
        if head:
            yield f"{MARK}{head} {word}"
        if not word.isdecimal():
            head = word


def _short(word: str) -> bool:
    return word.isdecimal() and len(word) <= _DIGITS


def _named(name: str) -> Sequence[str]:
    """The words of the name of a tool or an argument, the first: there are few names, and they come again."""
    return _known_name(name) if len(name) <= _USUAL else _words(name)[:_NAMES]


@lru_cache(maxsize=1 << 12)
def _known_name(name: str) -> tuple[str, ...]:
    return tuple(_words(name)[:_NAMES])


def _words(text: str, *, distinct: bool = True) -> list[str]:
    """The words of a text as they are compared, names in parts by their parts."""
    found = [plain for word in terms.terms(text) if "_" not in word for plain in sorted(terms.compared((word,)))]
    return list(dict.fromkeys(found)) if distinct else found


def _values(arguments: str) -> Iterator[tuple[str, str]]:
    """The values of a call, each with the name that it has; lists and objects by what they hold."""
    try:
        held = msgspec.json.decode(arguments)
    except (msgspec.DecodeError, RecursionError):
        held = arguments
    waiting: list[tuple[str, object, int]] = [("", held, 0)]
    while waiting:
        name, value, depth = waiting.pop()
        if isinstance(value, dict | list):
            if depth == _DEEP:
                yield name, msgspec.json.encode(value).decode()
                continue
            inside = value.items() if isinstance(value, dict) else ((name, one) for one in value)
            waiting.extend((str(key), one, depth + 1) for key, one in reversed(list(inside)))
        elif isinstance(value, str):
            yield name, value
        elif value is not None and not isinstance(value, bool):
            yield name, str(value)
