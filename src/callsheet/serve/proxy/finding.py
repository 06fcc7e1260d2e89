"""Where a history that is sent again stands: the longest beginning of it that is known, and whose it can be."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from msgspec.structs import replace

from callsheet.graph.ids import StreamId
from callsheet.graph.prefix import Prefix
from callsheet.serve.proxy.hashing import Link

Look: TypeAlias = Callable[[Sequence[bytes]], Sequence[Prefix]]
"""Gives what is noted for some marks."""

_NEWEST = 16
"""Links that are looked up at once, the newest first: nearly always the history goes on behind one of them."""

_MORE = 512
"""Links that are looked up at once behind them."""

_CUT = 2
"""A result counts as cut when it is shorter than what it was by this factor: one that was changed is about as long."""


class Unfound(StrEnum):
    """Why a history is nobody's."""

    #: Nothing of it is known, or nothing that was answered here.
    UNKNOWN = "unknown"
    #: It may be one of several conversations.
    SEVERAL = "several"


@dataclass(frozen=True, kw_only=True, slots=True)
class Anchor:
    """The place behind which a history goes on."""

    place: Prefix
    #: How many of its links stand up to there.
    links: int
    #: Whether results in them were cut since.
    cut: bool = False
    #: The places of the links that are known by what they were before results were cut, under what they are now.
    renewed: tuple[Prefix, ...] = ()


def find(look: Look, links: Sequence[Link], within: StreamId | None = None) -> Anchor | Unfound:
    """Where the longest beginning that is known stands.

    Without `within`, it counts only from an answer of ours on, and only where that stands in one conversation alone: a
    history that two began with may be either's, so it is neither's. `within` is a conversation that it belongs to in
    any case. Results that a client has cut since are the same where an answer of ours follows them.
    """
    found = _whole(look, links, within)
    if found is Unfound.SEVERAL:
        return found
    known = found if isinstance(found, Anchor) else None
    stream = known.place.stream if known is not None else within
    cut = _outline(look, links, known.links if known is not None else 0, stream)
    return cut or found


def _whole(look: Look, links: Sequence[Link], within: StreamId | None) -> Anchor | Unfound:
    seen: list[tuple[int, list[Prefix]]] = []
    for at, places in _backwards(look, links, 0, lambda link: link.chain.whole):
        if within is not None:
            inside = [place for place in places if place.stream == within]
            if inside:
                return Anchor(place=_latest(inside), links=at + 1)
            continue
        seen.append((at, places))
        streams = {place.stream for place in places if place.own}
        if len(streams) > 1:
            return Unfound.SEVERAL
        for stream in streams:
            for deepest, others in seen:
                inside = [place for place in others if place.stream == stream]
                if inside:
                    return Anchor(place=_latest(inside), links=deepest + 1)
    return Unfound.UNKNOWN


def _outline(look: Look, links: Sequence[Link], known: int, stream: StreamId | None) -> Anchor | None:
    """A longer beginning, known by its outline, of which every result is as it was, or was cut."""
    last = next((at for at in range(len(links) - 1, known - 1, -1) if links[at].model), -1)
    if last < known or not any(link.results for link in links[known : last + 1]):
        return None
    at: dict[int, list[Prefix]] = {}
    answered: int | None = None
    for place, found in _backwards(look, links, known, lambda link: link.chain.outline):
        inside = [one for one in found if stream in (None, one.stream)]
        if inside:
            at[place] = inside
        if answered is None and any(one.own for one in inside):
            answered = place
    if answered is None:
        return None
    streams = {one.stream for one in at[answered] if one.own}
    if len(streams) > 1:
        return None
    (home,) = streams
    stands = {place: [one for one in found if one.stream == home] for place, found in at.items()}
    for place in range(known, answered + 1):
        if links[place].results and not _cut(links[place], stands.get(place, [])):
            return None
    deepest = answered
    while deepest + 1 < len(links) and not links[deepest + 1].results and stands.get(deepest + 1):
        deepest += 1
    renewed = tuple(
        replace(_latest(stands[place]), mark=links[place].chain.whole, size=0, state=b"")
        for place in range(known, deepest + 1)
        if stands.get(place)
    )
    return Anchor(place=renewed[-1], links=deepest + 1, cut=True, renewed=renewed)


def _cut(link: Link, places: Sequence[Prefix]) -> bool:
    """Whether results are what stands there, or less of it; on every branch, since any of them may be meant."""
    return bool(places) and all(one.state == link.digest or _CUT * link.size <= one.size for one in places)


def _backwards(
    look: Look, links: Sequence[Link], first: int, marked: Callable[[Link], bytes | None]
) -> Iterator[tuple[int, list[Prefix]]]:
    """What is noted for the marks of links, from the last to the first; those without anything are left out."""
    end, portion = len(links), _NEWEST
    while end > first:
        start = max(first, end - portion)
        wanted = {mark: at for at in range(start, end) if (mark := marked(links[at])) is not None}
        found: dict[int, list[Prefix]] = {}
        for one in look(tuple(wanted)) if wanted else ():
            found.setdefault(wanted[one.mark], []).append(one)
        for at in sorted(found, reverse=True):
            yield at, found[at]
        end, portion = start, _MORE


def _latest(places: Sequence[Prefix]) -> Prefix:
    return max(places, key=lambda place: place.position)
