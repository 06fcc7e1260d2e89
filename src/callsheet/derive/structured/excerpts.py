"""Some items or members of a JSON value in the dense notation, with marks where others stood."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from callsheet.derive.structured.inline import name
from callsheet.derive.structured.notation import items_of, member_lines, table_of
from callsheet.derive.structured.outlines import counted, listed
from callsheet.derive.structured.places import Layout
from callsheet.derive.structured.repeats import unmarked
from callsheet.derive.structured.values import Json, Pairs

Kept: TypeAlias = "dict[int, Kept] | None"
"""Which positions of a container are shown and how much of each; None for a value that is shown whole."""


def excerpt(value: Json, layout: Layout, chosen: Sequence[int]) -> str:
    """The chosen segments and those that always stand, under a line that says how many of how many are shown."""
    kept: dict[int, Kept] = {}
    others = 0
    wanted = set(chosen)
    wanted.update(at for at in layout.singles() if layout.segments[at].always)
    main = layout.main_path
    for at in sorted(wanted):
        for path in layout.paths(at):
            _keep(kept, path)
            if not layout.segments[at].always:
                others += path[: len(main)] != main
    title = _title(layout, _units(kept, layout), others)
    return unmarked("\n".join([title, *_container("", value, kept, 0, layout.unit)]))


def _units(kept: dict[int, Kept], layout: Layout) -> int:
    """How many units are shown at least in part."""
    for place in layout.main_path:
        inner = kept.get(place)
        if inner is None:
            return layout.total if place in kept else 0
        kept = inner
    return len(kept)


def _title(layout: Layout, shown: int, others: int) -> str:
    of = f" of {layout.main_pointer}" if layout.main_pointer else ""
    also = f" and {others:,} of {layout.others:,} other parts" if layout.others else ""
    whole = counted(layout.total, layout.unit)
    return f"(excerpt, not JSON: {shown:,} of {whole}{of}{also} shown; a search or query sees all)"


def _keep(kept: dict[int, Kept], path: tuple[int, ...]) -> None:
    for place in path[:-1]:
        inner = kept.setdefault(place, {})
        if inner is None:
            return
        kept = inner
    kept[path[-1]] = None


def _container(start: str, value: Json, kept: dict[int, Kept], indent: int, unit: str) -> Iterator[str]:
    if isinstance(value, tuple):
        if start:
            yield f"{start}:"
            indent += 1
        yield from _object(value, kept, indent)
    elif isinstance(value, list):
        yield from _array(start, value, kept, indent, unit)


def _object(pairs: Pairs, kept: dict[int, Kept], indent: int) -> Iterator[str]:
    pad = " " * indent
    missing: list[str] = []
    for place, (key, value) in enumerate(pairs):
        if place not in kept:
            missing.append(key + _size(value))
            continue
        yield from _gap(pad, missing)
        missing = []
        inner = kept[place]
        if inner is None:
            yield from member_lines(key, value, indent)
        else:
            yield from _container(pad + name(key), value, inner, indent, "items")
    yield from _gap(pad, missing)


def _gap(pad: str, missing: list[str]) -> Iterator[str]:
    if missing:
        yield f"{pad}(… {counted(len(missing), 'keys')} not shown: {listed(missing)})"


def _size(value: Json) -> str:
    if isinstance(value, list):
        return f" ({counted(len(value), 'items')})"
    return f" ({counted(len(value), 'keys')})" if isinstance(value, tuple) else ""


def _array(start: str, items: list[Json], kept: dict[int, Kept], indent: int, unit: str) -> Iterator[str]:
    places = sorted(kept)
    whole = all(inner is None for inner in kept.values())
    table = table_of([items[place] for place in places]) if whole and places else None
    count = f"{len(places):,} of {len(items):,}" if len(places) < len(items) else str(len(items))
    pad = " " * (indent + bool(start)) if table is None else ""
    yield f"{start}[{count}]{table[0] if table else ''}:"
    last = -1
    for at, place in enumerate(places):
        yield from _skipped(pad, place - last - 1, unit)
        last = place
        inner = kept[place]
        if table is not None:
            yield table[1][at]
        elif inner is None:
            yield from items_of(pad, items[place])
        else:
            yield f"{pad}- (part of item {place})"
            yield from _container("", items[place], inner, len(pad) + 2, "items")
    yield from _skipped(pad, len(items) - last - 1, unit)


def _skipped(pad: str, count: int, unit: str) -> Iterator[str]:
    if count:
        yield f"{pad}(… {counted(count, unit)} not shown)"
