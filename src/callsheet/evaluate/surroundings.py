"""What a value belongs to: the JSON keys that hold it in its sources, or the words beside it in their text.

A value that is shown without any of them is a bare value: the model cannot know what it is.
"""

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from callsheet.evaluate.haystack import Haystack, stands_in
from callsheet.evaluate.messages import Message, parsed

REACH = 80
"""Words farther away (in characters) do not stand beside a value."""

WORDS_EACH_SIDE = 2

MAX_OCCURRENCES = 40
"""Once a value has so many occurrences in text, only the first one of each further text and spelling is looked at."""

_WORD = re.compile(r"[^\W\d_]{3,}")


class Surroundings(Struct, frozen=True, kw_only=True):
    """The surroundings of one value in all its sources, in lower case."""

    keys: frozenset[str]
    #: Per occurrence in text, the words beside it.
    words: tuple[frozenset[str], ...]

    def are_in(self, text: str) -> bool:
        """The text holds one of the keys, or two of the words of one occurrence (all, where it has fewer).

        Any text does if the value has no surroundings.
        """
        if not self.keys and not self.words:
            return True
        lowered = text.lower()
        if any(key in lowered for key in self.keys):
            return True
        return any(sum(word in lowered for word in words) >= min(2, len(words)) for words in self.words)


class Document:
    """A content, or the arguments of a call, in which values have surroundings."""

    def __init__(self, text: str) -> None:
        self.text = text
        document = parsed(text)
        self.is_json = isinstance(document, dict | list)
        held = list(_held(document)) if self.is_json else []
        self._keys = [key.lower() for key, _ in held]
        self._values = Haystack(text for _, text in held)

    def keys_of(self, spellings: tuple[str, ...]) -> Iterator[str]:
        """The keys that hold the value; of a key that is the value, the key above it."""
        return (self._keys[at] for at in self._values.holders(spellings))


def documents(message: Message) -> list[str]:
    """The texts of a message in which values have surroundings."""
    return [message.text, *(call.arguments for call in message.calls)]


def surroundings(spellings: tuple[str, ...], sources: Iterable[Document]) -> Surroundings:
    """The surroundings of a value in its sources."""
    keys: set[str] = set()
    words: list[frozenset[str]] = []
    for source in sources:
        if not stands_in(spellings, source.text):
            continue
        if source.is_json:
            keys.update(source.keys_of(spellings))
            continue
        for spelling in spellings:
            for at in _occurrences(spelling, source.text):
                words.append(_words_beside(source.text, at, at + len(spelling)))
                if len(words) >= MAX_OCCURRENCES:
                    break
    return Surroundings(keys=frozenset(keys), words=tuple(filter(None, words)))


def _held(document: object) -> Iterator[tuple[str, str]]:
    """Each scalar and each inner key of a JSON document as text, with the key that holds it."""
    waiting: list[tuple[str | None, object]] = [(None, document)]
    while waiting:
        holder, current = waiting.pop()
        if isinstance(current, dict):
            if holder:
                yield from ((holder, key) for key in current)
            waiting.extend(current.items())
        elif isinstance(current, list):
            waiting.extend((holder, item) for item in current)
        elif holder is not None:
            yield holder, str(current)


def _occurrences(spelling: str, text: str) -> Iterator[int]:
    at = text.find(spelling)
    while at >= 0:
        yield at
        at = text.find(spelling, at + len(spelling))


def _words_beside(text: str, start: int, end: int) -> frozenset[str]:
    before = _WORD.findall(text[max(0, start - REACH) : start])[-WORDS_EACH_SIDE:]
    after = _WORD.findall(text[end : end + REACH])[:WORDS_EACH_SIDE]
    return frozenset(word.lower() for word in before + after)
