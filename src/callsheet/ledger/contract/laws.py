"""Finding the laws: every public function of a module named after a capability that takes a `Subject`."""

from collections.abc import Callable, Iterable
from importlib import import_module
from inspect import isfunction, signature
from typing import TypeAlias

from callsheet.errors import MissingExtra
from callsheet.ledger.contract.capabilities import Capability
from callsheet.ledger.contract.subject import Subject

Law: TypeAlias = Callable[[Subject], None]
"""What must hold of a store; its docstring says it in one line. Raises `AssertionError`."""


def laws(capabilities: Iterable[Capability] = tuple(Capability)) -> list[tuple[str, Law]]:
    """The laws of some capabilities, each with its name, such as ``appending/all_streams_or_none``."""
    return [
        (f"{capability}/{name}", law)
        for capability in Capability
        if capability in set(capabilities)
        for name, law in _laws_of(f"callsheet.ledger.contract.{capability}")
    ]


def _laws_of(module: str) -> list[tuple[str, Law]]:
    try:
        members = vars(import_module(module)).items()
    except ModuleNotFoundError as problem:
        if (problem.name or "").partition(".")[0] != "hypothesis":
            raise
        raise MissingExtra("test", purpose="the conformance suite") from None
    return [
        (name, member)
        for name, member in members
        if isfunction(member)
        and member.__module__ == module
        and not name.startswith("_")
        and list(signature(member).parameters) == ["subject"]
    ]
