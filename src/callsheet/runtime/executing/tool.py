"""Python functions as tools: registration, and the shapes in which providers are told of them."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, ParamSpec, TypeAlias, TypeVar, overload

from callsheet.errors import InvalidOption
from callsheet.policy.contracts import ToolContract
from callsheet.runtime.executing.signature import Signature, read_signature
from callsheet.runtime.options import label, shown
from callsheet.wire.formats import wire_of
from callsheet.wire.names import Wire

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

Asks: TypeAlias = Callable[[Mapping[str, object]], bool]
"""Whether a call with these arguments has to be approved by a person."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tool(Generic[P, R_co]):
    """A function that a model may call. Calling it here runs the function and records nothing."""

    function: Callable[P, R_co]
    contract: ToolContract
    #: What the model is told: the function's docstring.
    description: str
    signature: Signature
    asks: Asks | None = None
    #: Finds out whether an interrupted call took effect: takes what the tool takes and returns the tool's result, or
    #: raises `callsheet.errors.NotApplied`.
    reconcile: Callable[..., object] | None = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        return self.function(*args, **kwargs)

    @property
    def name(self) -> str:
        """What the model calls it by."""
        return self.contract.name

    def schema(self, provider: str = "openai") -> dict[str, object]:
        """The tool in the shape that requests of this provider have, as ``assemble(provider=…)`` takes its name."""
        said: dict[str, object] = {"name": self.name}
        if self.description:
            said["description"] = self.description
        wire = wire_of(provider)
        if wire is Wire.ANTHROPIC:
            return said | {"input_schema": dict(self.signature.schema)}
        if wire is Wire.GEMINI:
            return {"functionDeclarations": [said | {"parametersJsonSchema": dict(self.signature.schema)}]}
        if wire is Wire.OPENAI_RESPONSES:
            return {"type": "function", **said, "parameters": dict(self.signature.schema), "strict": False}
        return {"type": "function", "function": said | {"parameters": dict(self.signature.schema)}}


AnyTool: TypeAlias = Tool[..., object] | Callable[..., object]
"""A tool, or a function that becomes one as it is."""


@overload
def tool(function: Callable[P, R], /) -> Tool[P, R]: ...


@overload
def tool(
    *,
    contract: ToolContract | None = None,
    needs_approval: Asks | None = None,
    reconcile: Callable[..., object] | None = None,
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...


def tool(
    function: Callable[P, R] | None = None,
    /,
    *,
    contract: ToolContract | None = None,
    needs_approval: Asks | None = None,
    reconcile: Callable[..., object] | None = None,
) -> Tool[P, R] | Callable[[Callable[P, R]], Tool[P, R]]:
    """Make a tool of a function, sync or async; also as a decorator, bare or with arguments.

    Its schema comes from the annotations and its description from the docstring. `contract` says under which name and
    terms it runs; without one it may have side effects, is never repeated, and gets 120 seconds. `needs_approval` is
    asked with the arguments of each call, beside the contract. `reconcile` is called for a call whose process died
    while it ran: with the same arguments; it returns the result that it finds, or raises
    `callsheet.errors.NotApplied` where the call had no effect, which then runs. Anything else leaves it unknown.

    Raises `InvalidOption` for a parameter without annotation, or that no schema can be made of.
    """
    if function is not None:
        return _made(function, contract, needs_approval, reconcile)

    def decorate(function: Callable[P, R]) -> Tool[P, R]:
        return _made(function, contract, needs_approval, reconcile)

    return decorate


def _made(
    function: Callable[P, R], contract: ToolContract | None, asks: Asks | None, reconcile: Callable[..., object] | None
) -> Tool[P, R]:
    if not callable(function):
        raise InvalidOption(f"{shown(function)} is no function")
    if contract is None:
        contract = ToolContract(name=label(getattr(function, "__name__", None), "the name of the tool"))
    return Tool(
        function=function,
        contract=contract,
        description=inspect.getdoc(function) or "" if inspect.isroutine(function) else "",
        signature=read_signature(function, contract.name, contract.idempotency_key),
        asks=asks,
        reconcile=reconcile,
    )


def by_name(tools: Sequence[AnyTool]) -> dict[str, Tool[..., object]]:
    """The tools by name. Raises `InvalidOption` for a name that stands twice."""
    found: dict[str, Tool[..., object]] = {}
    for given in tools:
        made = given if isinstance(given, Tool) else tool(given)
        if made.name in found:
            raise InvalidOption(f"two tools are called {made.name!r}")
        found[made.name] = made
    return found


def schemas(tools: Sequence[Mapping[str, object] | AnyTool]) -> object:
    """What is offered, as schemas: functions in OpenAI's shape, everything else as it is, to be read or refused."""
    return [_schema(given) for given in tools] if isinstance(tools, list | tuple) else tools


def _schema(given: Mapping[str, object] | AnyTool) -> object:
    if isinstance(given, Tool):
        return given.schema()
    return tool(given).schema() if inspect.isroutine(given) else given
