"""The ledger in memory: the fold itself, as a store. For tests, demonstrations and short-lived agents."""

from callsheet.ledger.memory.ledger import MemoryLedger

__all__ = ["MemoryLedger"]
