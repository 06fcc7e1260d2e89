"""The named queries of ``queries.sql``: ``-- name --``, a line of purpose, SQL. All SQL on records stands there."""

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import TypeVar

_NAME = re.compile(r"^-- (\w+) --\n-- .+\n", re.MULTILINE)
_MOST = 512

Item = TypeVar("Item")


@cache
def queries() -> Mapping[str, str]:
    """Every query by name."""
    text = files("callsheet.ledger.sqlite").joinpath("queries.sql").read_text(encoding="utf-8")
    _, *parts = _NAME.split(text)
    return {name: sql.strip() for name, sql in zip(parts[::2], parts[1::2], strict=True)}


@cache
def query(name: str, each: int = 0) -> str:
    """One query. With `each`, its ``:each`` stands for so many values and its ``:rows`` for so many rows of one."""
    return queries()[name].replace(":each", ",".join(["?"] * each)).replace(":rows", ",".join(["(?)"] * each))


@lru_cache(maxsize=256)
def all_of(texts: tuple[str, ...]) -> str:
    """One query for what these find, each within its own limit; in no order."""
    return texts[0] if len(texts) == 1 else " UNION ALL ".join(f"SELECT * FROM ({text})" for text in texts)


def portions(items: Sequence[Item]) -> list[list[Item]]:
    """Items in lists short enough for one query, each filled up with its last item to one of few lengths.

    Few lengths make few texts of a query, so that prepared statements are found again.
    """
    found: list[list[Item]] = []
    for start in range(0, len(items), _MOST):
        portion = list(items[start : start + _MOST])
        length = 1 << (len(portion) - 1).bit_length()
        found.append(portion + portion[-1:] * (length - len(portion)))
    return found
