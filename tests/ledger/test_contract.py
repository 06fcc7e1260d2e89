"""Both stores keep the whole contract, sealed or not, and the contract notices a store that does not."""

from contextlib import AbstractContextManager

from callsheet.ledger.contract import Capability, LedgerContract, Subject
from callsheet.ledger.crypto.sealers import AesGcmSealer
from tests.ledger.stores import memory_subject, sqlite_subject

SEALER = AesGcmSealer("test", bytes(range(32)))


class TestMemoryLedger(LedgerContract):
    capabilities = frozenset(Capability) - {Capability.PERSISTENCE}

    def subject(self) -> AbstractContextManager[Subject]:
        return memory_subject()


class TestSqliteLedger(LedgerContract):
    def subject(self) -> AbstractContextManager[Subject]:
        return sqlite_subject()


class TestSealedSqliteLedger(LedgerContract):
    # Sealed bytes never lie open on the medium, so there is nothing to see before erasure either.
    capabilities = frozenset(Capability) - {Capability.SHREDDING}

    def subject(self) -> AbstractContextManager[Subject]:
        return sqlite_subject(SEALER)
