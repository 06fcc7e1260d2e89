"""The engine that answers SQL over tables, where it is installed."""

from functools import cache
from importlib.util import find_spec

from callsheet.graph.ports import TableQueries


def available() -> bool:
    """Whether SQL can be answered here: the extra ``sql`` is installed. Loads nothing."""
    return find_spec("duckdb") is not None


@cache
def engine() -> TableQueries:
    """What answers SQL. Raises `MissingExtra` where it is not installed."""
    from callsheet.engines.sql.duck import Duck

    return Duck()
