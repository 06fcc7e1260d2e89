"""Comparisons in a condition that can never hold or never fail: a field with what it can never be.

Looked for are facts beside literals, which is where slips of the pen are; what is computed is left alone.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from callsheet.graph.ports import Flaw
from callsheet.policy.facts import Fact, Kind, fact


class _Asked(NamedTuple):
    """A fact that the condition asks for."""

    name: str
    fact: Fact
    offset: int


class _Literal(NamedTuple):
    """A value that is written out."""

    #: None: neither text nor a number nor a truth value, which no fact is.
    kind: Kind | None
    #: Of a text: what it says; None: not known, since characters in it are escaped.
    text: str | None
    shown: str
    offset: int


class _List(NamedTuple):
    items: tuple[_Literal, ...]


class _Sign(NamedTuple):
    """An operator, bracket or name. A name and what has been computed are never part of a comparison here."""

    text: str
    offset: int
    name: bool = False


_Value: TypeAlias = _Asked | _Literal | _List
_Item: TypeAlias = _Value | _Sign

_TOKEN = re.compile(
    r"""
    (?P<space>\s+|//[^\n]*)
    |(?P<text>(?:[rR][bB]?|[bB][rR])(?:'''.*?'''|\"\"\".*?\"\"\"|'[^'\n]*'|"[^"\n]*")
        |[bB]?(?:'''(?:\\.|[^\\])*?'''|\"\"\"(?:\\.|[^\\])*?\"\"\"|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"))
    |(?P<number>0[xX][0-9a-fA-F]+[uU]?|(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?[uU]?)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<sign>&&|\|\||[=!<>]=|[-+*/%!<>?:.,()\[\]{}])
    """,
    re.VERBOSE | re.DOTALL,
)
_PREFIX = re.compile("[rRbB]*")
_EQUAL = ("==", "!=")
_COMPARING = (*_EQUAL, "<", "<=", ">", ">=", "in")
_BEFORE = ("", "(", "[", "{", ",", "&&", "||", "?", ":")
_BEHIND = ("", ")", "]", "}", ",", "&&", "||", "?", ":")
"""What can stand around a comparison that is one of its own, not a part of a longer operation."""
_FLAGS = ("true", "false")


def mismatch(expression: str) -> Flaw | None:
    """The first fact that is compared with what it can never be; None: there is none that shows."""
    items = _items(expression)
    for place, item in enumerate(items):
        if not isinstance(item, _Sign) or item.text not in _COMPARING:
            continue
        if _sign(items, place - 2) not in _BEFORE or _sign(items, place + 2) not in _BEHIND:
            continue
        left, right = _value(items, place - 1), _value(items, place + 1)
        if left is not None and right is not None:
            found = _within(left, right) if item.text == "in" else _compared(left, right, item.text)
            if found is not None:
                return found
    return None


def _compared(left: _Value, right: _Value, sign: str) -> Flaw | None:
    if isinstance(right, _Asked) and not isinstance(left, _Asked):
        left, right = right, left
    if not isinstance(left, _Asked):
        return None
    if isinstance(right, _Asked):
        alike = left.fact.kind is right.fact.kind
        return None if alike else _unlike(left, f"{right.name}, which is {right.fact.kind}", right.offset)
    if isinstance(right, _List):
        if left.fact.kind is Kind.TEXTS:
            return None
        return _unlike(left, "a list; `in` asks for one of several", right.items[0].offset if right.items else 0)
    return _never(left, right) if sign in _EQUAL else _other_kind(left, right)


def _within(left: _Value, right: _Value) -> Flaw | None:
    if isinstance(right, _List):
        if not isinstance(left, _Asked):
            return None
        return next((flaw for item in right.items if (flaw := _never(left, item)) is not None), None)
    if not isinstance(right, _Asked):
        return None
    if right.fact.kind not in (Kind.TEXTS, Kind.MAP):
        problem = f"{right.name} is {right.fact.kind}; what stands behind `in` must be a list or a map"
        return Flaw(problem=problem, offset=right.offset)
    kind = left.fact.kind if isinstance(left, _Asked) else left.kind if isinstance(left, _Literal) else None
    if kind is Kind.TEXT:
        return None
    shown = left.name if isinstance(left, _Asked) else left.shown if isinstance(left, _Literal) else "a list"
    offset = right.offset if isinstance(left, _List) else left.offset
    return Flaw(problem=f"{right.name} is {right.fact.kind}; {shown} is never in it", offset=offset)


def _never(asked: _Asked, literal: _Literal) -> Flaw | None:
    """That a fact is never equal to a literal."""
    found = _other_kind(asked, literal)
    members = asked.fact.members
    if found is not None or literal.text is None or not members or literal.text in members:
        return found
    named = ", ".join(member or "'' (empty)" for member in members)
    return Flaw(problem=f"{asked.name} is never {literal.shown}; it is one of: {named}", offset=literal.offset)


def _other_kind(asked: _Asked, literal: _Literal) -> Flaw | None:
    return None if literal.kind is asked.fact.kind else _unlike(asked, literal.shown, literal.offset)


def _unlike(asked: _Asked, other: str, offset: int) -> Flaw:
    members = asked.fact.members
    named = f", one of: {', '.join(member or chr(39) * 2 for member in members)}" if members else ""
    return Flaw(problem=f"{asked.name} is compared with {other}; it is {asked.fact.kind}{named}", offset=offset)


# --------------------------------------------------------------------------- reading


def _sign(items: Sequence[_Item], place: int) -> str | None:
    """The sign at a place; empty: the condition ends there; None: it is none."""
    if not 0 <= place < len(items):
        return ""
    item = items[place]
    return item.text if isinstance(item, _Sign) and not item.name else None


def _value(items: Sequence[_Item], place: int) -> _Value | None:
    item = items[place] if 0 <= place < len(items) else None
    return None if isinstance(item, _Sign) else item


def _items(expression: str) -> list[_Item]:
    """The condition as facts, literals and signs, without brackets around one value."""
    read: list[_Item] = []
    tokens = [*_tokens(expression)]
    place = 0
    while place < len(tokens):
        asked, taken = _asked(tokens, place)
        read.append(asked if asked is not None else tokens[place])
        place += taken
        _reduce(read)
    return read


def _tokens(expression: str) -> Iterator[_Literal | _Sign]:
    for found in _TOKEN.finditer(expression):
        said, offset = found[0], found.start()
        match found.lastgroup:
            case "text":
                yield _text(said, offset)
            case "number":
                yield _Literal(Kind.NUMBER, None, said, offset)
            case "name" if said in _FLAGS:
                yield _Literal(Kind.FLAG, None, said, offset)
            case "name" if said == "null":
                yield _Literal(None, None, said, offset)
            case "name":
                yield _Sign(said, offset, name=said != "in")
            case "sign":
                yield _Sign(said, offset)


def _text(said: str, offset: int) -> _Literal:
    prefix = _PREFIX.match(said)
    before = prefix[0].lower() if prefix is not None else ""
    if "b" in before:
        return _Literal(None, None, "bytes", offset)
    body = said[len(before) :]
    quotes = 3 if body[:3] in ("'''", '"""') and len(body) >= 6 else 1
    value = body[quotes:-quotes]
    known = value if "r" in before or "\\" not in value else None
    return _Literal(Kind.TEXT, known, said if len(said) <= 60 else said[:57] + "...", offset)


def _asked(tokens: Sequence[_Literal | _Sign], place: int) -> tuple[_Asked | None, int]:
    """The fact that begins at a token, with the number of its tokens; else None and 1."""
    variable = _named(tokens, place)
    if variable not in ("record", "boundary") or _sign(tokens, place - 1) == ".":
        return None, 1
    name, taken = _named(tokens, place + 2), 3
    found = fact(variable, name) if name is not None and _sign(tokens, place + 1) == "." else None
    if found is None or name is None:
        return None, 1
    asked = f"{variable}.{name}"
    tag = _named(tokens, place + 4)
    if found.kind is Kind.MAP and _sign(tokens, place + 3) == "." and tag is not None:
        asked, found, taken = f"{asked}.{tag}", Fact(Kind.TEXT, "a tag", ()), 5
    if _sign(tokens, place + taken) in (".", "[", "(", "{"):
        return None, 1
    return _Asked(asked, found, tokens[place].offset), taken


def _named(tokens: Sequence[_Literal | _Sign], place: int) -> str | None:
    token = tokens[place] if 0 <= place < len(tokens) else None
    return token.text if isinstance(token, _Sign) and token.name else None


def _reduce(read: list[_Item]) -> None:
    """Take a value in brackets, a list of literals or a negative number that has just ended as one value."""
    last = read[-1]
    if isinstance(last, _Literal) and last.kind is Kind.NUMBER:
        if len(read) > 1 and _sign(read, len(read) - 2) == "-" and _begins(read, len(read) - 2):
            read[-2:] = [last._replace(shown=f"-{last.shown}", offset=last.offset - 1)]
        return
    closed = _sign(read, len(read) - 1)
    if closed == ")" and len(read) > 2 and _sign(read, len(read) - 3) == "(" and _begins(read, len(read) - 3):
        inner = read[-2]
        if not isinstance(inner, _Sign):
            read[-3:] = [inner]
    elif closed == "]":
        _list(read)


def _list(read: list[_Item]) -> None:
    items: list[_Literal] = []
    place = len(read) - 2
    while place >= 0 and (item := read[place]) and (isinstance(item, _Literal) or _sign(read, place) == ","):
        if isinstance(item, _Literal):
            items.append(item)
        place -= 1
    if place >= 0 and _sign(read, place) == "[" and _begins(read, place):
        read[place:] = [_List(tuple(reversed(items)))]


def _begins(read: Sequence[_Item], place: int) -> bool:
    """Whether a value can begin at a place: an operator or nothing stands before it."""
    before = _sign(read, place - 1)
    return before is not None and before not in (")", "]", "}", ".")
