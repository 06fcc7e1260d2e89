"""Turns a typed function over the shop into a tool: its schema, the check of its arguments, its result as text.

The one place where a tool's exceptions are caught.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Concatenate, Generic, ParamSpec, TypeVar, cast, get_type_hints

import msgspec

from examples.support_desk.shop.shop import Shop
from examples.support_desk.tools.errors import InvalidArguments, ToolError

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What goes back to the model: the result as text, or the error's text."""

    content: str
    failed: bool


class Tool(Generic[P, R]):
    """A function of the shop and keyword arguments, callable with JSON text."""

    def __init__(self, function: Callable[Concatenate[Shop, P], R]) -> None:
        self.name = function.__name__
        self.description = inspect.getdoc(function) or ""
        self._function: Callable[..., R] = function
        hints = get_type_hints(function, include_extras=True)
        self._arguments = _arguments_type(function, hints)
        self._result: msgspec.json.Decoder[R] | None = None
        if hints["return"] is not str:
            self._result = msgspec.json.Decoder(hints["return"])

    def arguments(self, *args: P.args, **kwargs: P.kwargs) -> str:
        """The arguments of a call as the JSON text that a model would write."""
        return msgspec.json.encode(kwargs).decode()

    def run(self, shop: Shop, arguments: str) -> Outcome:
        """Check the arguments, run the function, and give back its result, or what went wrong, as text."""
        try:
            return Outcome(content=self._write(self._function(shop, **self._checked(arguments))), failed=False)
        except ToolError as error:
            return Outcome(content=f"{type(error).__name__}: {error}", failed=True)

    def read(self, content: str) -> R:
        """A result's text as the value that the function returned."""
        return cast("R", content) if self._result is None else self._result.decode(content)

    def schema(self) -> dict[str, object]:
        """The tool's definition in the shape of the chat completions API."""
        _, parts = msgspec.json.schema_components([self._arguments])
        parameters = {key: value for key, value in parts[self.name].items() if key != "title"}
        described = {"name": self.name, "description": self.description, "parameters": parameters}
        return {"type": "function", "function": described}

    def _checked(self, arguments: str) -> dict[str, object]:
        try:
            given = msgspec.json.decode(arguments, type=self._arguments)
        except (msgspec.ValidationError, msgspec.DecodeError) as error:
            raise InvalidArguments(str(error)) from error
        return msgspec.structs.asdict(given)

    def _write(self, value: R) -> str:
        return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def tool(function: Callable[Concatenate[Shop, P], R]) -> Tool[P, R]:
    """Make a tool of a function whose first parameter is the shop and whose others are keywords."""
    return Tool(function)


def _arguments_type(function: Callable[..., object], hints: dict[str, object]) -> type[msgspec.Struct]:
    fields: list[tuple[str, object] | tuple[str, object, object]] = []
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        if parameter.default is inspect.Parameter.empty:
            fields.append((parameter.name, hints[parameter.name]))
        else:
            fields.append((parameter.name, hints[parameter.name], parameter.default))
    return msgspec.defstruct(function.__name__, fields, frozen=True, kw_only=True, forbid_unknown_fields=True)
