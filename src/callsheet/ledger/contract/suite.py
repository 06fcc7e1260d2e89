"""Running the laws under pytest: a class to inherit from."""

from abc import ABC, abstractmethod
from collections.abc import Set
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, ClassVar

from callsheet.ledger.contract.capabilities import BASE, Capability
from callsheet.ledger.contract.laws import Law, laws
from callsheet.ledger.contract.subject import Subject

if TYPE_CHECKING:
    import pytest


class LedgerContract(ABC):
    """Inherit as ``class TestMyLedger(LedgerContract)`` and say how to make a fresh store; every law becomes a test."""

    #: Those of the store. The base ones may not be left out.
    capabilities: ClassVar[Set[Capability]] = frozenset(Capability)

    @abstractmethod
    def subject(self) -> AbstractContextManager[Subject]:
        """A fresh, empty store, removed when the context ends."""

    def pytest_generate_tests(self, metafunc: "pytest.Metafunc") -> None:
        """Make a test of every law."""
        assert self.capabilities >= BASE, f"a ledger must have {', '.join(sorted(BASE - self.capabilities))}"
        if "law" in metafunc.fixturenames:
            found = laws(self.capabilities)
            metafunc.parametrize("law", [law for _, law in found], ids=[name for name, _ in found])

    def test_law(self, law: Law) -> None:
        """One law of the contract holds of the store."""
        with self.subject() as subject:
            law(subject)
