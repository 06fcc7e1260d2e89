"""Random bodies of every kind, derived from their types, so that no field of a new kind is forgotten."""

import types
from collections.abc import Callable, Sequence
from enum import Enum
from functools import cache
from typing import Annotated, Any, Union, cast, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from callsheet.graph.codec import KINDS
from callsheet.graph.cut import Lineage, Segment
from callsheet.graph.ids import ROOT_BRANCH, RecordId
from callsheet.graph.record import Body
from callsheet.graph.times import Instant
from callsheet.graph.values import BlobRef, Payload

POOL = tuple(RecordId(f"r{number}") for number in range(10))
"""Ids that random records have and name, few enough that they meet."""

BRANCHES: tuple[RecordId | None, ...] = (None, ROOT_BRANCH, RecordId("left"), RecordId("right"))
"""Branches that random records stand on."""

_SIMPLE: dict[object, Callable[[], st.SearchStrategy[object]]] = {
    str: lambda: st.text(max_size=4),
    bytes: lambda: st.binary(max_size=8),
    bool: st.booleans,
    int: lambda: st.integers(min_value=0, max_value=2**40),
    float: lambda: st.floats(allow_nan=False, allow_infinity=False),
    type(None): st.none,
    RecordId: lambda: st.sampled_from(POOL),
    Instant: lambda: st.integers(min_value=-(2**50), max_value=2**52),
    #: What no store knows is refused; see the laws on payloads.
    BlobRef: st.nothing,
    Payload: lambda: st.binary(max_size=12).map(lambda content: Payload(size=len(content), inline=content)),
}


def examples(count: int) -> settings:
    """So many random examples, however slow the store is."""
    return settings(max_examples=count, deadline=None, database=None, suppress_health_check=list(HealthCheck))


@cache
def bodies(kind: str) -> st.SearchStrategy[Body]:
    """Random bodies of one kind."""
    return cast("st.SearchStrategy[Body]", _structs(KINDS[kind]))


def any_body() -> st.SearchStrategy[Body]:
    """Random bodies of random kinds."""
    return st.sampled_from(sorted(KINDS)).flatmap(bodies)


def lineages(most: int) -> st.SearchStrategy[Lineage]:
    """What a branch may see of a stream with `most` records: any branches, each up to any position."""
    positions = st.integers(min_value=0, max_value=most + 1)
    branches = st.lists(st.sampled_from([branch for branch in BRANCHES if branch is not None]), unique=True)
    segments = branches.flatmap(
        lambda some: st.tuples(*(st.builds(Segment, branch=st.just(branch), upto=positions) for branch in some))
    )
    return st.builds(Lineage, segments=segments, upto=positions)


def _structs(cls: type[msgspec.Struct]) -> st.SearchStrategy[msgspec.Struct]:
    hints = get_type_hints(cls)
    return st.builds(cls, **{name: _values(hints[name]) for name in cls.__struct_fields__})


def _values(hint: object) -> st.SearchStrategy[Any]:
    if hint in _SIMPLE:
        return _SIMPLE[hint]()
    if isinstance(hint, type) and issubclass(hint, Enum):
        return st.sampled_from(list(hint))
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return _structs(hint)
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _values(parts[0])
    if origin in (Union, types.UnionType):
        return st.one_of(*map(_values, parts))
    if origin is tuple:
        return _tuples(parts)
    return _values(cast("Any", hint).__supertype__)


def _tuples(parts: Sequence[object]) -> st.SearchStrategy[tuple[object, ...]]:
    if parts[-1] is Ellipsis:
        return st.lists(_values(parts[0]), max_size=3).map(tuple)
    return st.tuples(*map(_values, parts))
