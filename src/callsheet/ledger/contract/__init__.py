"""The contract of a ledger as a suite that any store can run: ``pip install 'callsheet[test]'``.

    from callsheet.ledger.contract import Capability, LedgerContract, Subject

    class TestMyLedger(LedgerContract):
        capabilities = frozenset(Capability) - {Capability.SHREDDING}

        @contextmanager
        def subject(self):
            ledger = MyLedger()
            yield Subject(ledger=ledger, reopen=…)
            ledger.close()

Base capabilities are required, extended ones optional; `Subject` says which handle each of those needs.
Without pytest, call each of `laws()` with a fresh `Subject`.
"""

from callsheet.ledger.contract.capabilities import BASE, EXTENDED, Capability
from callsheet.ledger.contract.laws import Law, laws
from callsheet.ledger.contract.subject import Subject
from callsheet.ledger.contract.suite import LedgerContract

__all__ = ["BASE", "EXTENDED", "Capability", "Law", "LedgerContract", "Subject", "laws"]
