"""Conditions in the Common Expression Language (CEL), by the library of the extra ``policies``.

What is allowed of the language ends soon, whatever is written: short expressions, no regular expressions, no clock, and
one walk over a list at most.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from callsheet.errors import MissingExtra
from callsheet.graph.ports import Condition, Flaw

if TYPE_CHECKING:
    from cel import Program

LONGEST = 2_000
"""Characters of an expression."""

FUNCTIONS = ("size", "contains", "startsWith", "endsWith", "int", "double", "string")
MACROS = ("all", "exists")
"""Each walks over a list; one in an expression, so that none stands in another."""
GROWING = ("exists_one", "filter", "map")
"""These add up along a list; what adds up while a list is walked can take time without bound."""
MOST_SUMS = 20
"""Signs ``+`` in a condition, which joins lists too; none where one is walked."""
VARIABLES = ("record", "boundary")

_WALK = re.compile(r"\b(all|exists_one|exists|filter|map)\s*(?://[^\n]*\n\s*)*\(\s*(\w*)")
_NAMED = re.compile(r"[A-Za-z]\w*")
_PLACE = re.compile(r"ERROR: <input>:(\d+):(\d+): (?:Syntax error: )?([^\n]*)")
_FAILURES = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""What the library raises for an operation that has no answer."""


class Cel:
    """The language. Raises `MissingExtra` where the library is not installed."""

    def __init__(self) -> None:
        try:
            from cel import compile as compiling
        except ImportError:
            raise MissingExtra("policies", purpose="a policy set with rules") from None
        self._compile = compiling

    def compiled(self, expression: str) -> Condition | Flaw:
        """See `Conditions.compiled`. An expression that no record can satisfy is no flaw."""
        found = _too_much(expression)
        if found is not None:
            return found
        try:
            program = self._compile(expression)
        except ValueError as problem:
            return _placed(expression, str(problem))
        return _unknown(expression, program) or _Compiled(program)


class _Compiled:
    """A compiled expression."""

    __slots__ = ("_program",)

    def __init__(self, program: "Program") -> None:
        self._program = program

    def holds(self, values: Mapping[str, Mapping[str, object]]) -> bool | None:
        """See `Condition.holds`. What is neither true nor false cannot be told."""
        try:
            found = self._program.execute(dict(values))
        except _FAILURES:
            return None
        return found if isinstance(found, bool) else None


def _too_much(expression: str) -> Flaw | None:
    if len(expression) > LONGEST:
        return Flaw(problem=f"{len(expression):,} characters; a condition has at most {LONGEST:,}", offset=LONGEST)
    for offset, character in enumerate(expression):
        if not (character.isprintable() or character in "\n\t"):
            return Flaw(problem=f"{character!r} cannot stand in a condition", offset=offset)
    walks = list(_WALK.finditer(expression))
    for walk in walks:
        if walk[1] in GROWING:
            return Flaw(problem=f"{walk[1]!r} is not allowed; there are: {', '.join(MACROS)}", offset=walk.start())
    sums = [offset for offset, character in enumerate(expression) if character == "+"]
    most = 0 if walks else MOST_SUMS
    if len(sums) > most:
        allowed = f"a condition with {walks[0][1]!r} has none" if walks else f"a condition has at most {MOST_SUMS}"
        return Flaw(problem=f"'+' too often; {allowed}", offset=sums[most])
    if len(walks) > 1:
        return Flaw(
            problem=f"a second {walks[1][1]!r}; of {', '.join(MACROS)} a condition has one", offset=walks[1].start()
        )
    return None


def _placed(expression: str, message: str) -> Flaw:
    """Where the library says that the expression is wrong: lines and columns from 1."""
    # The message begins with the expression, which could itself look like a place.
    found = _PLACE.search(message, len(expression) if expression in message else 0)
    if found is None:
        return Flaw(problem="not a condition")
    lines = expression.split("\n")
    line = min(int(found[1]), len(lines))
    offset = sum(len(before) + 1 for before in lines[: line - 1]) + int(found[2]) - 1
    problem = found[3].partition(" expecting {")[0].rstrip()
    if "ecursion limit" in problem:
        problem = "nested too deeply"
    elif "<EOF>" in problem and "mismatched" in problem:
        problem = "it ends too early"
    return Flaw(problem=problem[:200], offset=min(max(offset, 0), len(expression)))


def _unknown(expression: str, program: "Program") -> Flaw | None:
    """A function or variable that there is not."""
    for name in program.functions():
        if _NAMED.fullmatch(name) and name not in FUNCTIONS:
            allowed = ", ".join((*FUNCTIONS, "has", *MACROS))
            return Flaw(problem=f"no function {name!r}; there are: {allowed}", offset=_first(expression, name))
    walk = _WALK.search(expression)
    bound = (*VARIABLES, walk[2]) if walk is not None else VARIABLES
    for name in program.variables():
        if _NAMED.fullmatch(name) and name not in bound:
            return Flaw(problem=f"no variable {name!r}; there are: record, boundary", offset=_first(expression, name))
    return None


def _first(expression: str, name: str) -> int:
    found = re.search(rf"\b{re.escape(name)}\b", expression)
    return found.start() if found is not None else 0
