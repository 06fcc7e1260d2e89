"""A request in the conversation that it goes on with."""

from dataclasses import dataclass
from enum import StrEnum

from callsheet.assemble.blocks import Block
from callsheet.graph.prefix import Prefix
from callsheet.runtime.conversation import Conversation
from callsheet.serve.proxy.hashing import Chain


class How(StrEnum):
    """What a request is to the conversation that it stands in."""

    #: The first of a conversation.
    BEGUN = "begun"
    #: The same, because its history may be that of several: none of them is gone on with.
    AMBIGUOUS = "ambiguous"
    #: It goes on behind what is newest.
    CONTINUED = "continued"
    #: The same, by a client that has cut old results.
    CUT = "cut"
    #: It was sent before and not answered; nothing of it is recorded again.
    REPEATED = "repeated"
    #: It goes on behind something older: an edit, another answer, another agent with the same beginning.
    BRANCHED = "branched"
    #: It was named, and its history begins otherwise than what its conversation began with.
    REWRITTEN = "rewritten"


@dataclass(frozen=True, kw_only=True, slots=True)
class Awaited:
    """What is needed to know a request again by its answer."""

    #: The history before what the answer goes on in, and that: what the model has said at its end.
    before: Chain
    trailing: tuple[Block, ...]
    #: Names the credential and the user.
    whose: str
    #: Where it is known again if it is not answered; None: it is known in any case.
    again: Prefix | None
    #: Whether results before it stand there longer than its client sent them last.
    since_cut: bool = False


@dataclass(frozen=True, kw_only=True, slots=True, weakref_slot=True, eq=False)
class Placed:
    """A request in its conversation, until it is answered."""

    #: The view to assemble from and to record the answer in.
    talk: Conversation
    how: How
    #: Messages and results that were recorded of it.
    appended: int
    awaited: Awaited

    @property
    def new(self) -> bool:
        """Whether its conversation began with it."""
        return self.how in (How.BEGUN, How.AMBIGUOUS)
