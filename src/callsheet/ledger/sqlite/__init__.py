"""The ledger in one SQLite file with a folder of blobs beside it. Needs no server; many processes may share a file."""

from callsheet.ledger.sqlite.backup import restore
from callsheet.ledger.sqlite.connections import Durability
from callsheet.ledger.sqlite.ledger import SqliteLedger

__all__ = ["Durability", "SqliteLedger", "restore"]
