"""Placing one request: behind which record of which branch it goes on, what is recorded of it, and what is noted."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from callsheet.assemble.blocks import Block
from callsheet.errors import Damaged, NotFound, StoreBusy
from callsheet.graph.enums import ForkReason
from callsheet.graph.ids import ROOT_BRANCH, StreamId, TenantId
from callsheet.graph.ports import Ledger
from callsheet.graph.prefix import Prefix
from callsheet.graph.record import StreamKey
from callsheet.graph.times import Instant
from callsheet.runtime.continuing import (
    Recorded,
    Sent,
    Stands,
    begin_beside,
    fresh_name,
    is_newest,
    on,
    record_behind,
    stands_last,
)
from callsheet.runtime.conversation import Conversation
from callsheet.runtime.identified import name_of
from callsheet.runtime.runtime import Runtime
from callsheet.serve.proxy.finding import Anchor, Unfound, find, state_of
from callsheet.serve.proxy.hashing import Chain, Link, mark
from callsheet.serve.proxy.histories import Chains
from callsheet.serve.proxy.homes import Home, Homes
from callsheet.serve.proxy.placed import Awaited, How, Placed
from callsheet.wire.asked import Asked

_ATTEMPTS = 50
"""Times that a request is placed anew because another process went on with the same branch meanwhile."""

_APART = "/"
"""Between the parts of a conversation's name."""


@dataclass(kw_only=True, slots=True)
class Placing:
    """One request on its way into its conversation."""

    runtime: Runtime
    homes: Homes
    chains: Chains
    asked: Asked
    #: Names the credential and the user.
    whose: str
    #: The user that what is recorded belongs to.
    owner: str
    at: Instant | None
    #: The history before that of the request.
    start: Chain

    @property
    def _ledger(self) -> Ledger:
        return self.runtime.ledger

    @property
    def _tenant(self) -> TenantId:
        return TenantId(self.runtime.tenant)

    # ------------------------------------------------------------------ ways to a conversation

    def known(self) -> Placed:
        """In the conversation that its history is known of, or else in a new one."""
        links = self.chains.links(self.start, self.asked.blocks)
        found = find(self._look, links, is_newest=self._is_newest)
        if isinstance(found, Anchor):
            return self._behind(self._home(found.place.stream), links, found)
        again = self._sent_before(links) if found is Unfound.UNKNOWN else None
        if again is not None:
            return again
        home = self._opened(fresh_name(self.runtime))
        with home.lock:
            how = How.AMBIGUOUS if found is Unfound.SEVERAL else How.BEGUN
            placed = self._recorded(home, links, None, how, first=True)
        assert placed is not None, "nobody else knows the name"
        return placed

    def named(self, name: str) -> Placed:
        """In the conversation that its client names, or knows by the id that it was told."""
        links = self.chains.links(self.start, self.asked.blocks)
        home = self._own(name) or self._opened(name)
        found = find(self._look, links, StreamId(home.talk.id))
        return self._behind(home, links, found if isinstance(found, Anchor) else None)

    def following(self, response: str) -> Placed:
        """In the conversation of a response that it goes on from. Raises `NotFound`."""
        places = self._look((response_mark(self.start.key, response),))
        try:
            (place,) = places
            self.start = Chain.unpacked(place.state, self.start.key)
        except (ValueError, msgspec.DecodeError):
            raise NotFound("the response that this request goes on from was not given here") from None
        links = self.chains.links(self.start, self.asked.blocks)
        found = find(self._look, links, place.stream)
        # Its client sends no results again, so it is not seen whether it would have cut them.
        start = Anchor(place=place, links=0, since_cut=self.start.outline is not None)
        anchor = found if isinstance(found, Anchor) else start
        return self._behind(self._home(place.stream), links, anchor)

    def _sent_before(self, links: Sequence[Link]) -> Placed | None:
        """In the conversation that began with the same request, if that failed; it is one request's only."""
        if not links:
            return None
        taken = self._ledger.take_prefixes(self._tenant, self.whose, _waiting(links[-1].chain))
        for place in taken:
            home = self._home(place.stream)
            with home.lock:
                anchor = Anchor(place=place, links=len(links))
                if self._free(home, anchor):
                    return self._recorded(home, links, anchor, How.REPEATED, first=True)
        return None

    # ------------------------------------------------------------------ places in a conversation

    def _behind(self, home: Home, links: Sequence[Link], anchor: Anchor | None) -> Placed:
        """Behind an anchor; None: before everything that was said in the conversation."""
        cut = anchor is None or not anchor.alike
        with home.lock:
            for _ in range(_ATTEMPTS):
                if not self._free(home, anchor):
                    # What goes on there meanwhile may be this very request.
                    found = find(self._look, links, StreamId(home.talk.id), cut=cut)
                    anchor = found if isinstance(found, Anchor) else anchor
                placed = self._recorded(home, links, anchor, self._how(links, anchor))
                if placed is not None:
                    return placed
        raise StoreBusy(f"other writers of {home.talk.name!r} were first {_ATTEMPTS} times; try again")

    @staticmethod
    def _how(links: Sequence[Link], anchor: Anchor | None) -> How:
        if anchor is None:
            return How.BEGUN
        if anchor.links == len(links):
            return How.REPEATED
        return How.CUT if anchor.cut else How.CONTINUED

    @staticmethod
    def _free(home: Home, anchor: Anchor | None) -> bool:
        """Whether the anchor is the newest of its branch, and nobody waits for an answer there."""
        branch, position = (anchor.place.branch, anchor.place.position) if anchor is not None else (ROOT_BRANCH, 0)
        return not home.busy(branch) and stands_last(on(home.talk, branch), position)

    def _recorded(
        self, home: Home, links: Sequence[Link], anchor: Anchor | None, how: How, *, first: bool = False
    ) -> Placed | None:
        """The request behind its anchor, on a branch of its own where that is not free. None: another was quicker.

        `first` says that it is known by nothing yet, neither by an answer of ours in it nor by a name.
        """
        place = anchor.place if anchor is not None else None
        known = anchor.links if anchor is not None else 0
        start = links[known - 1].end if known else 0
        # What says nothing at the end is left out where the rest is known, or it would be recorded each time.
        end = links[-1].end if links else len(self.asked.blocks)
        view = on(home.talk, place.branch if place is not None else ROOT_BRANCH)
        if not self._free(home, anchor):
            reason = ForkReason.REGENERATE if known == len(links) else ForkReason.FORK
            view = begin_beside(view, place.record if place is not None else None, reason)
            how = How.BRANCHED if place is not None else How.REWRITTEN
        sent = Sent(
            blocks=self.asked.blocks[start : max(start, end)],
            instructions=self.asked.instructions,
            calls=links[known - 1].chain.calls if known else self.start.calls,
            at=self.at,
        )
        recorded = record_behind(view, home.governing, sent, behind=place.position if place is not None else 0)
        if recorded is None:
            return None
        if not first:
            self._note(view, links, recorded, anchor)
        placed = Placed(
            talk=view,
            how=how,
            appended=len(recorded.stands),
            awaited=self._awaited(links, self._again(view, links, recorded, place) if first else None, anchor),
        )
        home.awaits(view.branch_id, placed)
        return placed

    def _awaited(self, links: Sequence[Link], again: Prefix | None, anchor: Anchor | None) -> Awaited:
        before, trailing = links[-1].chain if links else self.start, tuple[Block, ...]()
        if links and links[-1].model:
            before, end = (links[-2].chain, links[-2].end) if len(links) > 1 else (self.start, 0)
            trailing = tuple(self.asked.blocks[end : links[-1].end])
        since_cut = anchor is not None and anchor.since_cut
        return Awaited(before=before, trailing=trailing, whose=self.whose, again=again, since_cut=since_cut)

    @staticmethod
    def _again(view: Conversation, links: Sequence[Link], recorded: Recorded, place: Prefix | None) -> Prefix | None:
        """Where a first request is known again if it is not answered."""
        if recorded.newest is None or not links:
            return place
        return _place(view, _waiting(links[-1].chain), recorded.newest)

    def _note(self, view: Conversation, links: Sequence[Link], recorded: Recorded, anchor: Anchor | None) -> None:
        """Note where the new links stand; and the last one anew where other instructions stand behind it now."""
        known = anchor.links if anchor is not None else 0
        start = links[known - 1].end if known else 0
        noted = list(anchor.renewed) if anchor is not None else []
        state = state_of(b"", since_cut=anchor is not None and anchor.since_cut)
        for link in links[known:]:
            stands = recorded.stands[link.end - start - 1] if link is not links[-1] else recorded.newest
            if stands is not None:
                noted += places_of(link, replace(_place(view, link.chain.whole, stands), state=state))
        if known == len(links) > 0 and recorded.newest is not None and anchor is not None:
            place = _place(view, links[-1].chain.whole, recorded.newest)
            again = replace(place, own=anchor.place.own, state=anchor.place.state)
            noted += places_of(links[-1], again)
        self._ledger.put_prefixes(self._tenant, self.whose, noted)

    # ------------------------------------------------------------------ conversations

    def _look(self, marks: Sequence[bytes]) -> list[Prefix]:
        return self._ledger.prefixes(self._tenant, self.whose, marks)

    def _is_newest(self, place: Prefix) -> bool:
        return is_newest(
            self._ledger, StreamKey(tenant=self._tenant, stream=place.stream), place.branch, place.position
        )

    def _home(self, stream: StreamId) -> Home:
        known = self.homes.get(stream)
        if known is not None:
            return known
        name = name_of(self._ledger, self._tenant, stream)
        if name is None:
            raise Damaged(f"stream {stream} does not begin with a conversation. Run callsheet verify.")
        return self._named_home(name)

    def _opened(self, name: str) -> Home:
        return self._named_home(self._full(name))

    def _own(self, id: str) -> Home | None:
        """The conversation with this id, if it is one of this credential and user."""
        name = name_of(self._ledger, self._tenant, StreamId(id))
        return self._named_home(name) if name is not None and name.startswith(self._full("")) else None

    def _full(self, name: str) -> str:
        return _APART.join(("proxy", self.whose, name))

    def _named_home(self, name: str) -> Home:
        return self.homes.keep(self.runtime.conversation(name, user=self.owner))


def _place(view: Conversation, mark: bytes, stands: Stands) -> Prefix:
    return Prefix(
        mark=mark,
        stream=StreamId(view.id),
        branch=view.branch_id,
        record=stands.record,
        position=stands.position,
    )


def places_of(link: Link, place: Prefix) -> list[Prefix]:
    """What is noted of a link that stands at a place: its history, and the outline of that where there is one."""
    if link.chain.outline is None:
        return [place]
    state = link.digest if link.results else place.state
    return [place, replace(place, mark=link.chain.outline, size=link.size, state=state)]


def response_mark(key: bytes, response: str) -> bytes:
    """Marks what a response ends, by the id that its provider gave it."""
    return mark(b"response", key, response.encode("utf-8", "surrogatepass"))


def _waiting(chain: Chain) -> bytes:
    """Marks a first request that was not answered."""
    return mark(b"waiting", chain.key, chain.whole)
