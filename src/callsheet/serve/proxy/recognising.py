"""Which conversation a request goes on with. Clients send their whole history each time; what is new of it is recorded.

A conversation is known by the beginning of its history, within one credential and user, and only from an answer on that
was given here: so nobody goes on with what another began, nor with one of several that it may be.
`docs/design/0012-recognising-a-conversation.md` says why.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from callsheet.assemble.blocks import Block, Said
from callsheet.errors import InvalidOption, NotFound
from callsheet.graph.ids import RecordId, StreamId, TenantId
from callsheet.graph.ports import Owner
from callsheet.graph.prefix import Prefix
from callsheet.graph.times import Instant
from callsheet.runtime.continuing import place_of
from callsheet.runtime.options import label
from callsheet.runtime.runtime import Runtime
from callsheet.serve.proxy.contents import says
from callsheet.serve.proxy.finding import state_of
from callsheet.serve.proxy.hashing import Chain, mark
from callsheet.serve.proxy.histories import Chains
from callsheet.serve.proxy.homes import Homes
from callsheet.serve.proxy.placed import How, Placed
from callsheet.serve.proxy.placing import Placing, places_of, response_mark
from callsheet.wire.asked import Asked

__all__ = ["How", "Placed", "Recogniser"]


class Recogniser:
    """Places requests in the conversations of one tenant. All methods block, and may be called from any thread."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._ledger = runtime.ledger
        self._tenant = TenantId(runtime.tenant)
        self._homes = Homes()
        self._chains = Chains()
        # Whoever reads the store without its keys cannot tell from a hash what was said.
        address = self._ledger.address(Owner(tenant=self._tenant), b"callsheet.serve.proxy.recognising")
        self._key = address.encode()[-64:]

    def place(
        self, asked: Asked, *, scope: str, named: str | None = None, user: str | None = None, at: Instant | None = None
    ) -> Placed:
        """Find or begin the conversation and the branch that a request goes on with, and record what is new of it.

        `scope` stands for the credential: nothing is ever shared between two, nor between two users of one, and what
        is recorded belongs to a user of the store that stands for both. `named` is what the client calls the
        conversation, or the id that it was told of it; `at` is when the request came (default: now). Keep what is
        returned as long as an answer is awaited: what comes meanwhile then goes on beside it. Raises `NotFound` where
        the request goes on from a response that is not known here (`Asked.previous`), so that only its provider knows
        the history, and `InvalidOption`; then nothing is recorded.
        """
        if not scope:
            raise InvalidOption("scope must not be empty")
        if user is not None:
            label(user, "user")
        whose = mark(b"whose", self._key, _joined(scope, user)).hex()[:32]
        placing = Placing(
            runtime=self._runtime,
            homes=self._homes,
            chains=self._chains,
            asked=asked,
            whose=whose,
            # Memories of a user are of one credential too: what a client calls its user is only its word.
            owner=f"{user}@{whose}" if user is not None else whose,
            at=at,
            start=Chain.empty(mark(b"history", self._key, whose.encode())),
        )
        if asked.previous is not None:
            return placing.following(asked.previous)
        if named is not None:
            return placing.named(label(named, "the conversation's name"))
        return placing.known()

    def answered(
        self, placed: Placed, shown: Said | Sequence[Block], recorded: str, response_id: str | None = None
    ) -> None:
        """Note what a request was answered, so that the next one is known by it.

        `shown` is what the client was shown, `recorded` the message or result that its history goes on behind, and
        `response_id` what the provider calls the response. Raises `NotFound` for a record that is not there.
        """
        self._over(placed)
        stands = place_of(placed.talk, RecordId(recorded))
        if stands is None:
            raise NotFound(f"no message or tool result {recorded!r} in conversation {placed.talk.name!r}")
        branch, position = stands
        blocks = (shown,) if isinstance(shown, Said) else tuple(shown)
        before = placed.awaited.before
        links = before.links((*placed.awaited.trailing, *blocks))
        chain = links[-1].chain if links else before
        place = Prefix(
            mark=chain.whole,
            stream=StreamId(placed.talk.id),
            branch=branch,
            record=RecordId(recorded),
            position=position,
            own=True,
            state=state_of(chain.ids, since_cut=placed.awaited.since_cut),
        )
        # By an answer that says nothing no history can be told from one without it.
        told = any(isinstance(one, Said) and says(one) for one in blocks)
        noted = places_of(links[-1], place) if told else []
        if response_id:
            noted.append(replace(place, mark=response_mark(chain.key, response_id), state=chain.packed()))
        self._ledger.put_prefixes(self._tenant, placed.awaited.whose, noted)

    def failed(self, placed: Placed) -> None:
        """Note that a request was not answered, so that it is no other conversation when it is sent again."""
        self._over(placed)
        again = placed.awaited.again
        if again is not None:
            self._ledger.put_prefixes(self._tenant, placed.awaited.whose, [again])

    def _over(self, placed: Placed) -> None:
        home = self._homes.get(placed.talk.id)
        if home is not None:
            home.settled(placed.talk.branch_id, placed)


def _joined(scope: str, user: str | None) -> bytes:
    """The two as one, each with its length, so that no two pairs are alike; nobody is another than any user."""
    whole = "".join(f"{len(one)}:{one}" for one in (scope, *((user,) if user is not None else ())))
    return whole.encode("utf-8", "surrogatepass")
