"""Numbered changes of the stored schema, a folder per kind of database.

A name says its number, its phase and what it does: ``0001_pre_initial.sql``. A ``pre`` migration leaves the release
before it working, so it may run while old processes still do; a ``post`` one may not, and comes with a later release.
A migration that was released is never edited: its checksum is kept in every store.
"""

import hashlib
import re
from enum import StrEnum
from functools import cache
from importlib.resources import files

from callsheet.graph.values import Digest, Value

_NAME = re.compile(r"(\d{4})_(pre|post)_[a-z0-9_]+\.sql")


class Phase(StrEnum):
    """When a migration runs: before or after the last process of the old release has gone."""

    PRE = "pre"
    POST = "post"


class Migration(Value):
    """One step of the schema."""

    name: str
    number: int
    phase: Phase
    sql: str

    @property
    def checksum(self) -> Digest:
        return "sha256:" + hashlib.sha256(self.sql.encode()).hexdigest()


@cache
def migrations(database: str) -> tuple[Migration, ...]:
    """All migrations for a kind of database, such as ``sqlite``, in order."""
    found = []
    for file in files("callsheet.ledger.migrations").joinpath(database).iterdir():
        name = _NAME.fullmatch(file.name)
        if name is not None:
            sql = file.read_text(encoding="utf-8")
            found.append(
                Migration(name=file.name[:-4], number=int(name[1]), phase=Phase(name[2]), sql=sql),
            )
    return tuple(sorted(found, key=lambda migration: migration.number))
