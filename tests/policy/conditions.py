"""A language of conditions for tests: tables of what each expression says, in plain Python."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from callsheet.graph.ports import Condition, Flaw

Values: TypeAlias = Mapping[str, Mapping[str, object]]


class Told:
    """A condition that is a function; it counts how often it was asked."""

    def __init__(self, says: Callable[[Values], bool | None]) -> None:
        self.says = says
        self.asked: list[Values] = []

    def holds(self, values: Values) -> bool | None:
        self.asked.append(values)
        return self.says(values)


class Language:
    """Knows the expressions it was given, and no other."""

    def __init__(self, **said: Callable[[Values], bool | None]) -> None:
        self.told = {expression: Told(says) for expression, says in said.items()}

    def named(self, expression: str, says: Callable[[Values], bool | None]) -> Told:
        return self.told.setdefault(expression, Told(says))

    def compiled(self, expression: str) -> Condition | Flaw:
        return self.told.get(expression) or Flaw(problem="nobody says that")
