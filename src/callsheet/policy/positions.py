"""YAML with positions: safe, bounded, and with errors that name file, line, column, value and what is allowed."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypeVar

from callsheet.errors import PolicyError
from callsheet.policy.settings import LONGEST_LABEL

if TYPE_CHECKING:
    import yaml
    from yaml.nodes import Node

LONGEST = 131_072
"""Characters of one document."""
DEEPEST = 6
MOST_PROBLEMS = 50
"""Problems of one document that are told."""

_WHOLE = re.compile(r"-?[0-9]{1,15}")
_NUMBER = re.compile(r"-?[0-9]{1,15}(\.[0-9]{0,30})?([eE][-+]?[0-9]{1,4})?")
_FLAGS = {"true": True, "false": False}

_E = TypeVar("_E", bound=StrEnum)
_I = TypeVar("_I")
_T = TypeVar("_T")


class Mark(Protocol):
    """Where a node begins, from 0."""

    line: int
    column: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """One document and the name under which errors speak of it."""

    file: str
    #: What the document is, as errors call it.
    what: str = "policy set"
    #: What was found to be wrong where reading went on.
    _found: list[PolicyError] = field(default_factory=list)

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Keep an error for `finish` and go on behind it, so that one reading finds all that is wrong."""
        try:
            yield
        except PolicyError as problem:
            if problem.place is None:
                raise
            self._found.append(problem)

    def each(self, items: Iterable[_I], read: Callable[[_I], _T]) -> list[_T]:
        """Read all items; then raise the first error of several and keep the others for `finish`."""
        found: list[_T] = []
        wrong: list[PolicyError] = []
        for item in items:
            try:
                found.append(read(item))
            except PolicyError as problem:
                if problem.place is None:
                    raise
                if len(wrong) < MOST_PROBLEMS:
                    wrong.append(problem)
        if wrong:
            self._found.extend(wrong[1:])
            raise wrong[0]
        return found

    def finish(self) -> None:
        """Raise what was found to be wrong, if anything was."""
        if self._found:
            found = sorted(self._found, key=lambda problem: problem.place or (0, 0))
            problems = tuple(map(str, found[:MOST_PROBLEMS]))
            raise PolicyError(problems[0], place=found[0].place, problems=problems)

    def tree(self, text: str) -> "Node":
        """The nodes of the document. No tag, no alias and nothing deep gets through, and no object is ever made."""
        import yaml

        if len(text) > LONGEST:
            raise PolicyError(f"{self.file}: {len(text):,} characters; a {self.what} has at most {LONGEST:,}")
        try:
            self._check(yaml.parse(text, Loader=yaml.SafeLoader))
            node = yaml.compose(text, Loader=yaml.SafeLoader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark
            raise self._at(mark, f"not YAML: {error.problem}") from None
        except yaml.YAMLError as error:
            raise PolicyError(f"{self.file}: not YAML: {str(error).splitlines()[0]}") from None
        except (ValueError, OverflowError):
            # A character or a version number that the scanner itself cannot convert.
            raise PolicyError(f"{self.file}: not YAML: a number in it is out of range") from None
        if node is None:
            raise PolicyError(f"{self.file}: the document is empty; it needs name and version")
        return node

    def _check(self, events: "Iterable[yaml.Event]") -> None:
        import yaml

        depth = documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise self._at(event.start_mark, f"a second document begins; a file holds one {self.what}")
            elif isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
                raise self._at(event.start_mark, "anchors and aliases are not allowed; write the value out")
            elif getattr(event, "tag", None) is not None:
                raise self._at(event.start_mark, "tags are not allowed")
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > DEEPEST:
                    raise self._at(event.start_mark, f"nested deeper than {DEEPEST} levels")
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1

    def _at(self, mark: "Mark | None", problem: str) -> PolicyError:
        if mark is None:
            return PolicyError(f"{self.file}: {problem}")
        return self._placed(mark.line + 1, mark.column + 1, problem)

    def _placed(self, line: int, column: int, problem: str) -> PolicyError:
        return PolicyError(f"{self.file}:{line}:{column}: {problem}", place=(line, column))

    def problem(self, node: "Node", problem: str) -> PolicyError:
        """The error to raise for this node."""
        return self._at(node.start_mark, problem)

    def wrong(self, node: "Node", name: str, allowed: str) -> PolicyError:
        """The error for a value that cannot stand there."""
        return self.problem(node, f"{name} is {shown(node)}; it must be {allowed}")

    # ----------------------------------------------------------------------- values

    def mapping(self, node: "Node", name: str, keys: Iterable[str] | None = None) -> Mapping[str, "Node"]:
        """The entries of a mapping in order; with `keys`, no other is allowed."""
        entries: dict[str, Node] = {}
        self._enter(entries, node, name, keys)
        return entries

    def top(self, node: "Node", keys: Iterable[str]) -> tuple[Mapping[str, "Node"], bool]:
        """The entries of the document that are allowed, and whether all were. See `going_on`."""
        entries: dict[str, Node] = {}
        right = False
        with self.going_on():
            self._enter(entries, node, "", keys)
            right = True
        return entries, right

    def _enter(self, entries: "dict[str, Node]", node: "Node", name: str, keys: Iterable[str] | None) -> None:
        from yaml.nodes import MappingNode

        if not isinstance(node, MappingNode):
            raise self.wrong(node, name or "the document", "a mapping, such as `key: value`")
        allowed = None if keys is None else tuple(keys)

        def enter(pair: "tuple[Node, Node]") -> None:
            key_node, value = pair
            key = self.text(key_node, f"a key of {name}" if name else "a key")
            path = f"{name}.{key}" if name else key
            if allowed is not None and key not in allowed:
                raise self.problem(key_node, f"unknown key {path!r}; allowed are: {', '.join(allowed)}")
            if key in entries:
                raise self.problem(key_node, f"{path!r} stands twice")
            entries[key] = value

        self.each(node.value, enter)

    def text(self, node: "Node", name: str) -> str:
        """A label: printable, not empty."""
        value = _scalar(node)
        if value is None or not value or len(value) > LONGEST_LABEL or not value.isprintable():
            raise self.wrong(node, name, f"printable text of 1 to {LONGEST_LABEL} characters")
        return value

    def passage(self, node: "Node", name: str, most: int) -> str:
        """Text of several lines: printable beside its line breaks, not empty."""
        value = _scalar(node)
        if value is None or not value.strip() or len(value) > most or not _readable(value):
            raise self.wrong(node, name, f"printable text of 1 to {most:,} characters")
        return value

    def within(self, text: str, node: "Node", offset: int, problem: str) -> PolicyError:
        """The error for one character of a scalar, in the `text` of the document that it stands in."""
        index = placed(text, node, offset)
        before = _BREAK.split(text[:index])
        return self._placed(len(before), len(before[-1]) + 1, problem)

    def whole(self, node: "Node", name: str, least: int, most: int) -> int:
        """A whole number in the range."""
        value = _plain(node)
        if value is None or not _WHOLE.fullmatch(value) or not least <= int(value) <= most:
            raise self.wrong(node, name, f"a whole number from {least:,} to {most:,}")
        return int(value)

    def number(self, node: "Node", name: str, least: float, most: float) -> float:
        """A number in the range."""
        value = _plain(node)
        if value is None or not _NUMBER.fullmatch(value) or not least <= float(value) <= most:
            raise self.wrong(node, name, f"a number from {least:,} to {most:,}")
        return float(value)

    def flag(self, node: "Node", name: str) -> bool:
        """True or false."""
        found = _FLAGS.get(_plain(node) or "")
        if found is None:
            raise self.wrong(node, name, "true or false")
        return found

    def choice(self, node: "Node", name: str, allowed: Iterable[_E]) -> _E:
        """One of these."""
        members = {member.value: member for member in allowed}
        found = members.get(_scalar(node) or "")
        if found is None:
            raise self.wrong(node, name, f"one of: {', '.join(members)}")
        return found

    def items(self, node: "Node", name: str, read: Callable[["Node", str], _T]) -> tuple[_T, ...]:
        """Each item of a list."""
        from yaml.nodes import SequenceNode

        if not isinstance(node, SequenceNode):
            raise self.wrong(node, name, "a list, such as `[one, two]`")
        return tuple(self.each(enumerate(node.value), lambda item: read(item[1], f"{name}[{item[0]}]")))

    def peeked(self, node: "Node", key: str) -> "Iterator[tuple[Node, str]]":
        """The entries of a list that are mappings with text at a key, and that text, whatever else is wrong in it."""
        from yaml.nodes import MappingNode, SequenceNode

        for entry in node.value if isinstance(node, SequenceNode) else ():
            for at, value in entry.value if isinstance(entry, MappingNode) else ():
                text = _scalar(value)
                if _scalar(at) == key and text is not None:
                    yield entry, text
                    break


def shown(node: "Node") -> str:
    """A value as an error shows it: at most a line."""
    value = _scalar(node)
    if value is None:
        return f"a {type(node).__name__.removesuffix('Node').lower()}"
    return repr(value if len(value) <= 60 else value[:57] + "...")


def placed(text: str, node: "Node", offset: int) -> int:
    """Where a character of a scalar stands in the document: lines may be folded or indented, characters escaped."""
    begin, end = node.start_mark.index, node.end_mark.index
    value = _scalar(node) or ""
    style = getattr(node, "style", None)
    place = begin
    if style in ("|", ">"):
        line_end = text.find("\n", begin, end)
        place = line_end + 1 if line_end >= 0 else end
    elif style is not None:
        place = begin + 1
    for character in value[: offset + 1]:
        # What comes of a line break and indentation is one space or break, or nothing at the beginning of a line.
        while place < end and text[place] != character and text[place] in _SPACE:
            place += 1
        if style == '"':
            place = _over_continued(text, place)
        last, place = place, place + _length(text, place, style)
        if last >= end:
            break
    else:
        return last if offset < len(value) and value else min(place, end)
    return begin


def _over_continued(text: str, place: int) -> int:
    """Behind line breaks that are escaped, which stand for nothing, with the indentation behind them."""
    while text.startswith(("\\\n", "\\\r"), place):
        place += 2
        while place < len(text) and text[place] in _SPACE:
            place += 1
    return place


def _length(text: str, place: int, style: str | None) -> int:
    """Characters of the document that one character of a quoted scalar takes."""
    if style == "'" and text.startswith("''", place):
        return 2
    if style == '"' and text.startswith("\\", place):
        return 2 + _ESCAPED.get(text[place + 1 : place + 2], 0)
    return 1


_SPACE = " \t\r\n"
_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_ESCAPED = {"x": 2, "u": 4, "U": 8}


def _readable(value: str) -> bool:
    return all(character.isprintable() or character in "\n\t" for character in value)


def _scalar(node: "Node") -> str | None:
    value = node.value
    return value if isinstance(value, str) else None


def _plain(node: "Node") -> str | None:
    # What stands in quotes is text, whatever it looks like.
    return _scalar(node) if getattr(node, "style", None) is None else None
